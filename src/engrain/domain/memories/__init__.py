"""Memories: decay, importance, notes, and answers about them."""
