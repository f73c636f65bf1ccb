"""Memories: decay, maturity, importance, notes, and answers about them."""
