"""Writes as every verb does them: memories stored, names linked, turns parsed, and hooks that fail open."""
