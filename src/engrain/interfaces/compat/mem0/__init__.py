"""The HTTP API of mem0, over a memory of ours."""
