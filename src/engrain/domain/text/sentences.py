"""Sentences: whether a text is one about somebody, so that no words need to stand before it. Pure."""

from __future__ import annotations


def is_sentence_about(text: str, name: str) -> bool:
    """True if a text begins with a name, or has it and ends as a sentence does."""
    folded, wanted = text.casefold(), name.casefold()
    start = folded.find(wanted)
    end = start + len(wanted)
    is_named = start >= 0 and not folded[:start][-1:].isalnum() and not folded[end : end + 1].isalnum()
    return is_named and " " in folded[end:].strip() and (start == 0 or folded.endswith("."))
