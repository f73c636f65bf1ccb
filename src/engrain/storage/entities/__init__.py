"""Entities: the registry, its names and trigrams, merges, mentions and removal."""
