"""Who and what memories are about: how a name is known again."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def name_key(text: str) -> str:
    """A name as it is compared: NFKC, case folded, whitespace collapsed and stripped; "" for one that says nothing.

    Folding can undo the normal form, so it is restored at the end: a key is its own key.
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(unicodedata.normalize("NFKC", folded).split())


def new_names(known: Iterable[str], names: Iterable[str]) -> tuple[str, ...]:
    """Those of some names that say something no known one says, each once, in their order; case says nothing."""
    seen = {name_key(name) for name in known} | {""}
    found: dict[str, str] = {}
    for name in names:
        if name_key(name) not in seen:
            found.setdefault(name_key(name), name)
    return tuple(found.values())
