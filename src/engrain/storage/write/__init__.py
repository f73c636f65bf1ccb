"""Writes: each mutation of memories with its audit events, aging, cleanup and embedding versions."""
