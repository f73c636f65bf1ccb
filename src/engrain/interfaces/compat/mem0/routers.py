"""Routers of all that clients of mem0 ask: its platform, earlier versions of that, and its self-hosted server."""

from engrain.interfaces.compat.mem0 import earlier_routes, routes, server_routes

ROUTERS = (routes.router, earlier_routes.router, server_routes.router)
