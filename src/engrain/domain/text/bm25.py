"""BM25 over what one caller can see: how well a memory's words, and those of its neighbours, answer a query's.

A database's own full text finds the candidates and this ranks them, so that both databases give the same order and no
score depends on, or tells of, what other tenants keep: FTS5's bm25() takes its document count and average length over
the whole table, and its ranking gets worse as other tenants' rows are added.
"""

from __future__ import annotations

import math
import zlib
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from numpy.typing import NDArray

# Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with the usual constants.
K1 = 1.2
B = 0.75
# A word of a neighbouring turn counts this much of an own one.
NEAR_WEIGHT = 0.5

_TERM = np.dtype([("term", "<u4"), ("own", "<u2"), ("near", "<u2")])
_MOST = np.iinfo(np.uint16).max


@dataclass(frozen=True, slots=True)
class IndexedWords:
    """The words of one memory as kept beside it: counts in all, and by term in `packed` (`pack`)."""

    own: int
    near: int
    packed: bytes

    @property
    def length(self) -> int:
        return self.own + self.near


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """What the memories a caller can see add up to. `frequencies`: in how many of them a term occurs."""

    memories: int
    words: int
    frequencies: Mapping[str, int]

    def idf(self, term: str) -> float:
        """ln(1 + (n - df + 0.5) / (df + 0.5)): positive for every term, however common."""
        frequency = min(self.frequencies.get(term, 0), self.memories)
        return math.log1p((self.memories - frequency + 0.5) / (frequency + 0.5))


def pack(own: Sequence[str], near: Sequence[str]) -> IndexedWords:
    """A memory's words, 8 bytes for each distinct one."""
    own_counts, near_counts = Counter(own), Counter(near)
    rows = [
        (code(term), min(own_counts[term], _MOST), min(near_counts[term], _MOST))
        for term in sorted(own_counts.keys() | near_counts.keys())
    ]
    return IndexedWords(len(own), len(near), np.array(rows, _TERM).tobytes())


@dataclass(frozen=True, slots=True)
class WordTable:
    """The words of many memories side by side: their `pack`ed bytes in a row, how many each has, and their lengths."""

    packed: bytes
    sizes: NDArray[np.int64]
    lengths: NDArray[np.int64]

    def frequencies(self, terms: Collection[str]) -> dict[str, int]:
        """In how many of the memories each term occurs."""
        held = self._rows["term"]
        return {term: int(np.count_nonzero(held == code(term))) for term in terms}

    def scores(self, terms: Collection[str], corpus: Corpus) -> NDArray[np.float64]:
        """The score of each memory for the distinct `terms`; 0 where none occurs."""
        rows = self._rows
        places = np.repeat(np.arange(len(self.sizes)), self.sizes // _TERM.itemsize)
        average = max(corpus.words / max(corpus.memories, 1), 1.0)
        penalty = K1 * (1 - B + B * self.lengths / average)
        found = np.zeros(len(self.sizes))
        for term in sorted(set(terms)):
            held = np.flatnonzero(rows["term"] == code(term))
            frequency = rows["own"][held] + NEAR_WEIGHT * rows["near"][held]
            holders = places[held]
            found[holders] += corpus.idf(term) * frequency * (K1 + 1) / (frequency + penalty[holders])
        return found

    @property
    def _rows(self) -> NDArray[Any]:
        return np.frombuffer(self.packed, _TERM)


def build_table(memories: Sequence[IndexedWords]) -> WordTable:
    """Memories side by side, in their order."""
    sizes = np.array([len(each.packed) for each in memories], np.int64)
    lengths = np.array([each.length for each in memories], np.int64)
    return WordTable(b"".join(each.packed for each in memories), sizes, lengths)


def scores(memories: Sequence[IndexedWords], terms: Collection[str], corpus: Corpus) -> NDArray[np.float64]:
    """The score of each memory for the distinct `terms`; 0 where none occurs."""
    return build_table(memories).scores(terms, corpus)


def code(term: str) -> int:
    """32 bits stand for a term; two of one memory and one query share them once in about ten million."""
    return zlib.crc32(term.encode())
