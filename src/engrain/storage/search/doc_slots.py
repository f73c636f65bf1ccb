"""Hash table from docs to rows in two arrays; a dict takes ten times the memory and the look-up time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_EMPTY: Final = -1  # ends a probe
_GONE: Final = -2  # its doc was dropped: a probe goes on past it
_SMALLEST_TABLE: Final = 16
# 2**64 over the golden ratio: consecutive docs, the usual case, land far apart (Knuth, TAOCP 3, section 6.4).
_GOLDEN: Final = np.uint64(0x9E3779B97F4A7C15)


class DocSlots:
    """The slots 0..n-1 of n docs, dense: a drop moves the last docs into the holes.

    Open addressing with linear probing, done for whole arrays of docs at a time. Not thread-safe for writing.
    """

    def __init__(self) -> None:
        self._docs = np.zeros(2, np.int64)  # never shorter: the entries -1 and -2 index it too, in vain
        self._count = 0
        self._table = np.full(_SMALLEST_TABLE, _EMPTY, np.int32)
        self._filled = 0  # at most so many entries are not _EMPTY

    def __len__(self) -> int:
        return self._count

    @property
    def docs(self) -> NDArray[np.int64]:
        """The docs by slot, `int64[n]`: a view."""
        return self._docs[: self._count]

    @property
    def nbytes(self) -> int:
        """Bytes held by the arrays, spare room included."""
        return self._docs.nbytes + self._table.nbytes

    def find(self, docs: NDArray[np.int64]) -> NDArray[np.intp]:
        """Each doc's slot, or -1."""
        at = self._entries(docs)
        return np.where(at >= 0, self._table[at], -1)

    def append(self, docs: NDArray[np.int64]) -> NDArray[np.intp]:
        """The new slots of docs that have none yet, unique: n, n + 1, ..."""
        start, stop = self._count, self._count + len(docs)
        if stop > len(self._docs):
            self._docs = np.concatenate([self.docs, np.zeros(max(stop, 2 * start) - start, np.int64)])
        self._docs[start:stop] = docs
        self._count = stop
        slots = np.arange(start, stop)
        self._filled += len(docs)
        if 3 * self._filled > 2 * len(self._table):
            self._rebuild()
        else:
            self._insert(docs, slots)
        return slots

    def drop(self, docs: NDArray[np.int64]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Forgets known, unique docs; gives (holes, movers): what lay in slot movers[i] now lies in holes[i]."""
        at = self._entries(docs)
        dropped = self._table[at].astype(np.intp)
        self._table[at] = _GONE
        left = self._count - len(docs)
        holes = dropped[dropped < left]
        is_kept = np.ones(len(docs), np.bool_)
        is_kept[dropped[dropped >= left] - left] = False
        movers = left + np.flatnonzero(is_kept)
        self._table[self._entries(self._docs[movers])] = holes
        self._docs[holes] = self._docs[movers]
        self._count = left
        return holes, movers

    def _entries(self, docs: NDArray[np.int64]) -> NDArray[np.int64]:
        """Find the place of each doc's slot in the table, or -1."""
        at = self._home(docs)
        entry = self._table[at]
        found = np.where(self._is_doc(entry, docs), at, -1)
        seeking = np.flatnonzero((found < 0) & (entry != _EMPTY))
        while seeking.size:
            at[seeking] = (at[seeking] + 1) & (len(self._table) - 1)
            entry = self._table[at[seeking]]
            is_here = self._is_doc(entry, docs[seeking])
            found[seeking[is_here]] = at[seeking[is_here]]
            seeking = seeking[~is_here & (entry != _EMPTY)]
        return found

    def _is_doc(self, entry: NDArray[np.int32], docs: NDArray[np.int64]) -> NDArray[np.bool_]:
        is_doc: NDArray[np.bool_] = (entry >= 0) & (self._docs[entry] == docs)
        return is_doc

    def _insert(self, docs: NDArray[np.int64], slots: NDArray[np.intp]) -> None:
        at = self._home(docs)
        while slots.size:
            is_free = self._table[at] < 0
            self._table[at[is_free]] = slots[is_free]
            has_lost = self._table[at] != slots  # to an earlier doc, or to another of this call
            slots, at = slots[has_lost], (at[has_lost] + 1) & (len(self._table) - 1)

    def _rebuild(self) -> None:
        size = max(_SMALLEST_TABLE, 1 << (2 * self._count - 1).bit_length())
        self._table = np.full(size, _EMPTY, np.int32)
        self._filled = self._count
        self._insert(self.docs, np.arange(self._count))

    def _home(self, docs: NDArray[np.int64]) -> NDArray[np.int64]:
        bits = len(self._table).bit_length() - 1
        return ((docs.astype(np.uint64) * _GOLDEN) >> np.uint64(64 - bits)).astype(np.int64)
