"""MCP interface: the memory as tools of the Model Context Protocol; docs/mcp.md lists them. Needs the extra `mcp`.

A profile is a table of tools with their effects: functions with one call of the library each.
"""
