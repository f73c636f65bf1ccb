"""Who and what memories are about: how a name is known again."""

from __future__ import annotations

import unicodedata


def name_key(text: str) -> str:
    """A name as it is compared: NFKC, case folded, whitespace collapsed and stripped; "" for one that says nothing.

    Folding can undo the normal form, so it is restored at the end: a key is its own key.
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(unicodedata.normalize("NFKC", folded).split())
