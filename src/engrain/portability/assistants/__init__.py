"""Coding assistants: their turns, transcripts and projects, as hooks and imports read them."""
