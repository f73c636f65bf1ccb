"""How the outside speaks to a memory: skins over the library, one facade call for each verb, and nothing decided here.

What an error means outside (an exit code, a status) is said here and nowhere below.
"""
