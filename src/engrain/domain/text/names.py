"""Names: the form in which they are compared, and texts that are about a name. Pure."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

# What a program calls the sides of a chat: no name that a person would ask by ("my assistant", "the user manual").
_SIDES = frozenset({"agent", "ai", "assistant", "bot", "chatbot", "human", "system", "tool", "user"})


def name_key(text: str) -> str:
    """Form of a name for comparison: NFKC, case folded, whitespace collapsed and stripped; may be empty.

    Case folding can undo the normal form, so NFKC is applied again: the key of a key is the key itself.
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(unicodedata.normalize("NFKC", folded).split())


@lru_cache(maxsize=1_024)  # of each session's speakers, on every day of it
def is_side(name: str) -> bool:
    """True for what a program calls a side of a chat ("assistant"): a role, not a name."""
    return name_key(name) in _SIDES


def is_sentence_about(text: str, name: str) -> bool:
    """True if a text begins with a name, or has it and ends as a sentence does: no words need to stand before it.

    An article may stand before the name: "the user lives in Milan".
    """
    folded, wanted = text.casefold(), name.casefold()
    start = folded.find(wanted)
    end = start + len(wanted)
    is_named = start >= 0 and not folded[:start][-1:].isalnum() and not folded[end : end + 1].isalnum()
    return is_named and " " in folded[end:].strip() and (folded[:start] in {"", "the "} or folded.endswith("."))
