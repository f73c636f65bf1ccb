"""Text as quotes are compared: what a model changes when it copies makes no difference. Pure."""

from __future__ import annotations

import unicodedata
from typing import NewType

FoldedText = NewType("FoldedText", str)

# Typographic quotes, dashes and dots as a keyboard has them; what nobody sees is nothing.
_PLAIN = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u02bc\u00b4`", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u00ab\u00bb\u2033", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
        "\u2026": "...",
        **dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff\u00ad", None),
    }
)


def fold(text: str) -> FoldedText:
    """One case, one sort of quote and dash, single spaces; folding again changes nothing."""
    plain = unicodedata.normalize("NFKC", text.translate(_PLAIN)).translate(_PLAIN)
    return FoldedText(" ".join(unicodedata.normalize("NFKC", plain.casefold()).split()))


def strip_marks(text: str) -> FoldedText:
    """Folded, without the marks that stand around words: quotation marks and stops."""
    return FoldedText(fold(text).strip("\"' .,;:!?"))
