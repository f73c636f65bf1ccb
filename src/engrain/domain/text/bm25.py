"""BM25 scores over the memories that one caller can see, by their own words and those of their neighbours.

The full text search of a database finds the candidates and this module ranks them, so that both databases give the
same order, and no score depends on, or reveals, memories of other tenants: FTS5's bm25() takes its document count and
average length over the whole table, and its ranking gets worse as other tenants' rows are added.
"""

from __future__ import annotations

import math
import zlib
from dataclasses import dataclass
from itertools import accumulate, chain, pairwise
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from numpy.typing import NDArray

    Count: TypeAlias = np.uint8 | np.uint16

# Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with the usual constants.
K1 = 1.2
B = 0.75
# Weight of a word of a neighbouring turn; an own one weighs 1.
NEAR_WEIGHT = 0.5

# A word of a memory: its code, and how often the memory and its neighbours hold it.
ROW = np.dtype([("term", "<u4"), ("own", "<u2"), ("near", "<u2")])
MOST = np.iinfo(np.uint16).max
_LARGEST_CODE = np.iinfo(np.uint32).max
_MOST_CODES = 50_000
_NO_CODES = np.zeros(0, np.uint64)


class Terms(NamedTuple):
    """Terms of a text in order, with their codes: a turn lends both to its neighbours."""

    words: Sequence[str]
    codes: NDArray[np.uint64]


_NOROWS = Terms((), _NO_CODES)

# Own words of a memory, and those of its neighbours.
Text = tuple["Sequence[Terms]", "Sequence[Terms]"]


class IndexedWords(NamedTuple):
    """Word counts of one memory, as stored beside it: in total, and by term in `packed` (`pack`)."""

    own: int
    near: int
    packed: bytes

    @property
    def length(self) -> int:
        return self.own + self.near


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """Totals over the memories that a caller can see; `frequencies` is the number of memories with a term."""

    memories: int
    words: int
    frequencies: Mapping[str, int]

    def idf(self, term: str) -> float:
        """ln(1 + (n - df + 0.5) / (df + 0.5)): positive for every term, however common."""
        frequency = min(self.frequencies.get(term, 0), self.memories)
        return math.log1p((self.memories - frequency + 0.5) / (frequency + 0.5))


def encode(terms: Sequence[str]) -> Terms:
    """Look up the codes of terms."""
    return Terms(terms, np.fromiter(map(_CODES.__getitem__, terms), np.uint64, len(terms))) if terms else _NOROWS


def encode_all(several: Sequence[Sequence[str]]) -> list[Terms]:
    """Look up the codes of the terms of many texts, each as `encode` does."""
    lengths = list(map(len, several))
    codes = np.fromiter(map(_CODES.__getitem__, chain.from_iterable(several)), np.uint64, sum(lengths))
    bounds = pairwise(accumulate(lengths, initial=0))
    return [
        Terms(terms, codes[start:end]) if terms else _NOROWS
        for terms, (start, end) in zip(several, bounds, strict=True)
    ]


def pack(own: Sequence[str], near: Sequence[str]) -> IndexedWords:
    """Pack the words of a memory into 8 bytes for each distinct one, in the order of their codes."""
    return pack_all([([encode(own)], [encode(near)])])[0]


def pack_all(memories: Sequence[Text]) -> list[IndexedWords]:
    """Pack the words of many memories at once: a tenth of the work of one after the other."""
    if not memories:
        return []
    codes = [terms.codes for memory in memories for side in memory for terms in side]
    lengths = list(map(len, codes))
    # One number for each word: whose it is, its code, and whether a neighbour said it.
    side = np.repeat(np.arange(2 * len(memories)), [len(side) for memory in memories for side in memory])
    place = np.repeat(side, lengths).astype(np.uint64)
    words = np.concatenate([_NO_CODES, *codes]) << 1 | place >> 1 << 33 | place & 1
    words.sort()
    firsts = np.flatnonzero(_differ(words))
    counts = np.minimum(np.diff(firsts, append=len(words)), MOST).astype(np.uint64)
    distinct, is_near = words[firsts] >> 1, words[firsts] & 1
    # A row as one number, from its lowest bits: its code, how often the memory holds it, and how often its neighbours.
    row = np.flatnonzero(_differ(distinct))
    sums = np.add.reduceat(counts << (is_near << 4) + 32, row) if len(row) else _NO_CODES
    packed = (distinct[row] & _LARGEST_CODE | sums).astype("<u8").tobytes()
    ends = ROW.itemsize * np.searchsorted(distinct[row] >> 32, np.arange(len(memories)), side="right")
    totals = np.bincount(side, lengths, 2 * len(memories)).astype(np.int64).tolist()
    return [
        IndexedWords(own, near, packed[start:end])
        for own, near, (start, end) in zip(totals[::2], totals[1::2], pairwise([0, *ends.tolist()]), strict=True)
    ]


@dataclass(frozen=True, slots=True)
class WordTable:
    """Words of many memories: their `pack`ed bytes in a row, the bytes of each, and their lengths."""

    packed: bytes
    sizes: NDArray[np.int64]
    lengths: NDArray[np.int64]

    def frequencies(self, terms: Collection[str]) -> dict[str, int]:
        """Number of memories with each term."""
        codes = self.codes
        return {term: int(np.count_nonzero(codes == code(term))) for term in terms}

    def scores(self, terms: Collection[str], corpus: Corpus) -> NDArray[np.float64]:
        """Score of each memory for the distinct `terms`; 0 where none occurs."""
        rows, owners, codes = self.rows, self.owners, self.codes
        penalties = penalise(self.lengths, corpus)
        totals = np.zeros(len(self.sizes))
        for term in sorted(set(terms)):
            matches = np.flatnonzero(codes == code(term))
            memories, postings = owners[matches], rows[matches]
            totals[memories] += weigh(corpus.idf(term), postings["own"], postings["near"], penalties[memories])
        return totals

    @property
    def rows(self) -> NDArray[Any]:
        """The words of all memories: code, own and neighbours' count of each."""
        return np.frombuffer(self.packed, ROW)

    @property
    def codes(self) -> NDArray[np.uint32]:
        """The code of each word, side by side: a comparison takes a quarter of what it does across rows."""
        return np.ascontiguousarray(self.rows["term"])

    @property
    def owners(self) -> NDArray[np.int64]:
        """The memory of each word."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes // ROW.itemsize)


def build_table(owns: Sequence[int], nears: Sequence[int], packed: Sequence[bytes]) -> WordTable:
    """Put the words of memories into one table, from the columns of `IndexedWords`."""
    sizes = np.fromiter(map(len, packed), np.int64, len(packed))
    return WordTable(b"".join(packed), sizes, np.array(owns, np.int64) + np.array(nears, np.int64))


def penalise(lengths: NDArray[np.int64], corpus: Corpus) -> NDArray[np.float64]:
    """Compute what each memory's length takes from its words."""
    average = max(corpus.words / max(corpus.memories, 1), 1.0)
    return np.asarray(K1 * (1 - B + B * lengths / average), np.float64)


def weigh(
    idf: float | NDArray[np.float64], owns: NDArray[Count], nears: NDArray[Count], penalties: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Weigh one term, or one for each, in memories that hold it so often."""
    frequency = owns + NEAR_WEIGHT * nears
    return np.asarray(idf * frequency * (K1 + 1) / (frequency + penalties), np.float64)


def scores(memories: Sequence[IndexedWords], terms: Collection[str], corpus: Corpus) -> NDArray[np.float64]:
    """Score of each memory for the distinct `terms`; 0 where none occurs."""
    owns, nears, packed = zip(*memories, strict=True) if memories else ((), (), ())
    return build_table(owns, nears, packed).scores(terms, corpus)


def _differ(ascending: NDArray[Any]) -> NDArray[np.bool_]:
    """True for each value that is not the one before it."""
    return np.concatenate([np.ones(min(len(ascending), 1), np.bool_), ascending[1:] != ascending[:-1]])


class _Codes(dict[str, int]):
    """Codes by term: a look-up takes half the time of one in a cache that forgets the oldest."""

    def __missing__(self, term: str) -> int:
        if len(self) >= _MOST_CODES:
            self.clear()
        number = self[term] = zlib.crc32(term.encode())
        return number


_CODES: Final = _Codes()


def code(term: str) -> int:
    """32-bit code of a term; two terms of one memory and one query share it once in about ten million."""
    return _CODES[term]
