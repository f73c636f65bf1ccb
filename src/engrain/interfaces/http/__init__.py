"""The memory over HTTP: the library's verbs as routes, its values as JSON; docs/http.md shows all of it.

`app.create_app` makes the application. A room of verbs is a module with a `Room`; what else answers on the same port
(operations, /mcp, other systems' routes) is mounted by `create_app`.
"""
