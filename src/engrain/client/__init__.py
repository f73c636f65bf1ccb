"""The memory of a server: the verbs of `Memory` and `Agent`, each sent as a request of the HTTP API under /v1."""
