"""Serving benchmark: cost of a memory over HTTP, and errors that clients see while its servers fail."""
