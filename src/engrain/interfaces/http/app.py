"""The ASGI application: the routes of all verbs, MCP, monitoring, the page and the middleware around them."""

import uuid
from functools import partial
from typing import TYPE_CHECKING

from fastapi import FastAPI
from fastapi.routing import APIRoute
from starlette.routing import Route

from engrain import __version__
from engrain.interfaces.http import page, problems, routes
from engrain.interfaces.http.files import ImportLimit
from engrain.interfaces.http.middleware.access_log import AccessLog
from engrain.interfaces.http.middleware.concurrency import ConcurrencyLimit
from engrain.interfaces.http.middleware.guards import Bounds, Guards
from engrain.interfaces.http.middleware.head_requests import HeadRequests
from engrain.interfaces.http.monitoring import Monitoring
from engrain.interfaces.http.openapi import document
from engrain.interfaces.http.request_identity import REQUEST_ID
from engrain.interfaces.mcp import over_http
from engrain.interfaces.mcp.instructions import DEFAULT_PROFILE
from engrain.interfaces.redaction import CURRENT_REQUEST_ID
from engrain.verbs.table import VERBS

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from engrain.interfaces.access import Gate
    from engrain.service import Memory

_HEADER = b"x-request-id"
_FILES = tuple(f"/v1{verb.route.split()[1]}" for verb in VERBS if verb.takes)  # whose body goes to disk as it comes


def create_app(
    memory: "Memory",
    *,
    gate: "Gate",
    mcp_profile: str = DEFAULT_PROFILE,
    one_time_key: "page.OneTimeKey | None" = None,
) -> FastAPI:
    """Make the ASGI application of a memory; the caller opens the memory before and closes it after.

    `gate` admits requests by their keys; /mcp has the tools of one profile; the page exchanges `one_time_key`. Other
    routes are included or mounted on the application that this returns.
    """
    app = FastAPI(
        title="engrain",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        openapi_tags=routes.tags(),
    )
    app.state.memory, app.state.gate, app.state.imports = memory, gate, ImportLimit()
    verbs = routes.router()
    problems.install(app, [route for route in verbs.routes if isinstance(route, APIRoute)])
    app.include_router(verbs)
    app.include_router(Monitoring(memory, gate).router)
    app.include_router(page.router(one_time_key))
    app.router.routes.append(Route(over_http.PATH, over_http.McpApp(memory, gate, profile=mcp_profile)))
    app.openapi = partial(document.describe, app)  # type: ignore[method-assign]  # https://fastapi.tiangolo.com/how-to/extending-openapi/
    app.add_middleware(HeadRequests)
    app.add_middleware(ConcurrencyLimit, max_requests=memory.settings.server.max_requests)
    app.add_middleware(AccessLog)
    app.add_middleware(Guards, bounds=Bounds.of(memory.settings.server, files=_FILES))
    app.add_middleware(RequestIds)
    return app


class RequestIds:
    """ASGI middleware that gives each request the id its client sent, or a new one, and names it in the answer."""

    def __init__(self, app: "ASGIApp", *, new: "Callable[[], str]" = lambda: str(uuid.uuid4())) -> None:
        self._app = app
        self._new = new

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        sent = next((value.decode("latin-1") for name, value in scope["headers"] if name == _HEADER), "")
        name = sent if REQUEST_ID.fullmatch(sent) else self._new()
        scope.setdefault("state", {})["request_id"] = name
        called = CURRENT_REQUEST_ID.set(name)

        async def answer(message: "Message") -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), (_HEADER, name.encode())]
            await send(message)

        try:
            await self._app(scope, receive, answer)
        finally:
            CURRENT_REQUEST_ID.reset(called)
