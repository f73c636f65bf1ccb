"""Name finders by provider."""
