"""Reads as every verb does them: searches, lookups, context blocks and the overview."""
