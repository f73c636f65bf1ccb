"""Embedders by provider, with what they share: a cache, unit vectors and the HTTP client."""
