"""An index made otherwise, for as long as it is measured: without neighbours, stems, stop words or the words of a day.

What a memory is indexed under is no setting, because a database whose memories are indexed in two ways answers wrongly.
To learn what each choice is worth, its constant is set for one ingest and the searches of it, and then set back.
"""

from __future__ import annotations

import importlib
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

_INDEXING, _ANALYSIS = "engrain.domain.text.indexing", "engrain.domain.text.analysis"
_NEIGHBOURS = "engrain.storage.search.neighbour_words"
# Caches of stems, and of the words of turns.
_CACHED = ((_ANALYSIS, "_STEMS"), (_ANALYSIS, "_FORMS"), (_INDEXING, "heading_terms"), (_INDEXING, "_cached_terms"))


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexChange:
    """Module, name and value of each constant to set; a name that another module has imported is set there too."""

    name: str
    constants: tuple[tuple[str, str, Any], ...] = ()


def _unstemmed(word: str) -> str:
    """A word as it stands; a number still without its leading zeros, which are no matter of stemming."""
    return word.lstrip("0") or "0" if word.isdigit() else word


AS_SHIPPED = IndexChange(name="as shipped")
CHANGES = (
    IndexChange(
        name="without neighbours",
        constants=((_INDEXING, "NEIGHBOURS", 0), (_NEIGHBOURS, "NEIGHBOURS", 0), (_NEIGHBOURS, "_OFFSETS", ())),
    ),
    IndexChange(name="without stems", constants=((_ANALYSIS, "_stem", _unstemmed),)),
    IndexChange(name="without stop words", constants=((_ANALYSIS, "STOP_WORDS", frozenset[str]()),)),
    IndexChange(name="without day words", constants=((_INDEXING, "_day", lambda _: ""),)),
)


@contextmanager
def made(change: IndexChange) -> Iterator[None]:
    """While open, memories are indexed and questions are read under the change. Not thread-safe: it is the process's.

    Raises:
        AttributeError: a constant has moved; without this the change would be measured as no change.
    """
    shipped = [(module, name, getattr(importlib.import_module(module), name)) for module, name, _ in change.constants]
    _set(change.constants)
    try:
        yield
    finally:
        _set(shipped)


def _set(constants: tuple[tuple[str, str, Any], ...] | list[tuple[str, str, Any]]) -> None:
    for module, name, value in constants:
        setattr(importlib.import_module(module), name, value)
    for module, name in _CACHED:
        cache = getattr(importlib.import_module(module), name)
        (cache.clear if isinstance(cache, dict) else cache.cache_clear)()
