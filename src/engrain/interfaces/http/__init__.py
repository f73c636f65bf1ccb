"""HTTP interface: the library's verbs as routes, its values as JSON; docs/http.md shows all of it.

`app.create_app` makes the application: the routes of the table of verbs, monitoring and /mcp. `serving` adds the routes
of other systems.
"""
