"""Names: the form in which they are compared. Pure."""

from __future__ import annotations

import unicodedata

# What a program calls the sides of a chat: no name that a person would ask by ("my assistant", "the user manual").
_SIDES = frozenset({"agent", "ai", "assistant", "bot", "chatbot", "human", "system", "tool", "user"})


def name_key(text: str) -> str:
    """Form of a name for comparison: NFKC, case folded, whitespace collapsed and stripped; may be empty.

    Case folding can undo the normal form, so NFKC is applied again: the key of a key is the key itself.
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(unicodedata.normalize("NFKC", folded).split())


def is_side(name: str) -> bool:
    """True for what a program calls a side of a chat ("assistant"): a role, not a name."""
    return name_key(name) in _SIDES
