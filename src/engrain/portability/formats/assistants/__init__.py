"""Formats of coding assistants: the files in which they keep their sessions."""
