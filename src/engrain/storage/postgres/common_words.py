"""Words that many memories of a large namespace hold: a search reads which only where they can decide."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from engrain.storage.search.namespaces import SearchSpace

COMMON: Final = 20_000  # memories that hold a word: to read which takes the server a tenth of a second
_MOST_WORDS = 10_000
_GROWTH = 1.1

_Key = tuple[str, tuple[int, ...], str]


class CommonWords:
    """Frequencies of common words, by tenant and namespaces. Thread-safe.

    They come from searches of the same tenant and namespaces that have read all of a word, and hold until these have
    grown or shrunk by a tenth. Words of fewer than `least` memories are none of them: these are counted each time.
    """

    def __init__(self, least: int = COMMON) -> None:
        self.least = least
        self._words: OrderedDict[_Key, tuple[int, int]] = OrderedDict()  # frequency, and memories by then
        self._lock = threading.Lock()

    def find(self, tenant_id: str, where: SearchSpace, terms: Iterable[str]) -> dict[str, int]:
        """Return those of some terms that are known to be common, with their frequencies."""
        found: dict[str, int] = {}
        namespaces = tuple(where.namespaces)
        with self._lock:
            for term in terms:
                key = (tenant_id, namespaces, term)
                frequency, memories = self._words.get(key, (0, 0))
                if memories and 1 / _GROWTH <= where.memories / memories <= _GROWTH:
                    self._words.move_to_end(key)
                    found[term] = round(frequency * where.memories / memories)
        return found

    def note(self, tenant_id: str, where: SearchSpace, frequencies: Mapping[str, int]) -> None:
        """Remember how many memories hold each of some terms."""
        namespaces = tuple(where.namespaces)
        with self._lock:
            for term, frequency in frequencies.items():
                if frequency >= self.least:
                    self._words[tenant_id, namespaces, term] = frequency, where.memories
            while len(self._words) > _MOST_WORDS:
                self._words.popitem(last=False)
