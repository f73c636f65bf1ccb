"""Entities: recognition of names, linking to the registry, resolution of a name to candidates, and profiles."""
