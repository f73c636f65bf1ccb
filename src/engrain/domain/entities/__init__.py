"""Entities: the registry, their graph and their merges."""
