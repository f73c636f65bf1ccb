"""The memory as tools of the Model Context Protocol; docs/mcp.md lists them. Needs the extra `mcp`.

Each profile is a file of functions, one call of the library each, and a table that says what calling them does.
"""
