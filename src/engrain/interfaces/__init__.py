"""Interfaces of a memory: HTTP, MCP and the command line, with one facade call for each verb and no decisions.

The meaning of an error outside (an exit code, a status) is defined here and nowhere below.
"""
