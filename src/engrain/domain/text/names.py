"""Names: the form in which they are compared. Pure."""

from __future__ import annotations

import unicodedata


def name_key(text: str) -> str:
    """Form of a name for comparison: NFKC, case folded, whitespace collapsed and stripped; may be empty.

    Case folding can undo the normal form, so NFKC is applied again: the key of a key is the key itself.
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(unicodedata.normalize("NFKC", folded).split())
