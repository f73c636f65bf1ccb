"""Repair of text with lone surrogates, which neither JSON in UTF-8 nor a tokenizer accepts."""

from __future__ import annotations


def replace_surrogates(text: str) -> str:
    """Join surrogate pairs and replace lone surrogates by U+FFFD."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
