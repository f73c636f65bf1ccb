"""The nearest vectors of one namespace, in process: sign bits choose thousands, int8 rows dozens, float32 the answer.

A small namespace is held in float32 alone, which is the answer at once; of a middling one, the float32 rows that were
read once stay.

Every cut keeps the newest among equals, and identical rows score identically wherever they lie (one dot product per
row, never a blocked matrix product), so the order is total even when thousands of vectors are the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from engrain.storage.search.candidates import sort_docs
from engrain.storage.search.doc_slots import DocSlots
from engrain.storage.sqlite.sign_bits import agreement, sign_bits, weighed_agreement

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Docs: TypeAlias = NDArray[np.int64]
Vectors: TypeAlias = NDArray[np.float32]
Slots: TypeAlias = NDArray[np.intp]
Score = TypeVar("Score", np.float32, np.uint16, np.uint32)

WEIGHED_PER_SURVIVOR: Final = 4
# Scanning the bits of this many rows takes as long as decoding one int8 row.
_ROWS_SCANNED_PER_DECODED: Final = 28
# With fewer rows the bits would let all of them pass, so they are not even written.
_FEWEST_ROWS_WITH_BITS: Final = 2048
# More rows than these are not kept in float32: 25 MB of 384 dimensions.
_MOST_EXACT_ROWS: Final = 16_384
_SAMPLED_ROWS: Final = 8192
# Of the mean square distance of rows from their mean. Clustered rows of which the first thousand made the centre lost
# none of their nearest at 0.03, 1.4 % at 0.06 and 5 % at 0.45.
_MOST_OFF_CENTRE: Final = 0.04
# Numbers decoded to float32 at a time: a block is still in the L2 cache when it is multiplied.
_DECODED_NUMBERS: Final = 98_304


class _ExactRows:
    """The float32 rows of the slots that have theirs; none where there are too many slots."""

    def __init__(self, dims: int) -> None:
        self._rows: Vectors = np.empty((0, dims), np.float32)
        self._is_known = np.zeros(0, np.bool_)
        self.is_closed = False

    @property
    def nbytes(self) -> int:
        """Bytes that were written: the system gives no memory for the others."""
        return int(np.count_nonzero(self._is_known) * np.dtype(np.float32).itemsize * self._rows.shape[1])

    def are_known(self, slots: Slots) -> NDArray[np.bool_]:
        """Which slots have their rows."""
        return np.zeros(len(slots), np.bool_) if self.is_closed else self._is_known[slots]

    def is_whole(self, count: int) -> bool:
        """True if each of the first `count` slots has its row."""
        return not self.is_closed and bool(self._is_known[:count].all())

    def at(self, slots: Slots | slice) -> Vectors:
        """The rows of slots that have theirs."""
        return self._rows[slots]

    def make_room(self, slots: int) -> None:
        """Make room for the rows of so many slots, or let all go where those are too many."""
        if slots > _MOST_EXACT_ROWS:
            self.is_closed = True
            self._rows, self._is_known = self._rows[:0].copy(), self._is_known[:0]
        elif not self.is_closed and slots > len(self._rows):
            capacity = min(max(slots, 2 * len(self._rows)), _MOST_EXACT_ROWS)
            self._rows = _widened(self._rows, capacity, axis=0)
            self._is_known = _widened(self._is_known, capacity, axis=0)

    def put(self, slots: Slots, vectors: Vectors) -> None:
        """Add or replace the rows of slots that have room."""
        if not self.is_closed:
            self._rows[slots] = vectors
            self._is_known[slots] = True

    def move(self, holes: Slots, movers: Slots, *, left: int) -> None:
        """Move rows from `movers` to `holes` and keep the first `left` slots."""
        if not self.is_closed:
            self._rows[holes] = self._rows[movers]
            self._is_known[holes] = self._is_known[movers]
            self._is_known[left:] = False


class VectorIndex:
    """Sign bits and int8 rows of one namespace's vectors; the float32 truth stays with the caller.

    Holds 1 + 1/8 bytes per dimension and row, and some 24 bytes per row of bookkeeping. With fewer than 2,048 rows it
    holds float32 instead, and is exact; up to 16,384 it also holds the float32 rows that it was given. Not thread-safe:
    `nearest` only reads, so calls of it may run side by side, but `put`, `keep` and `drop` need the caller's lock
    against everything else.
    """

    def __init__(self, dims: int) -> None:
        assert 0 < dims < 2**16  # agreement is counted in uint16
        self._dims = dims
        self._slots = DocSlots()
        self._exact = _ExactRows(dims)
        self._has_codes = False
        self._codes = np.empty((0, dims), np.int8)
        self._scales = np.empty(0, np.float32)
        self._bits = np.empty((-(-dims // 64), 0), np.uint64)
        self._centre = np.zeros(dims, np.float32)
        self._rows_when_centred = 0
        self._rows_put_since = 0
        self._is_filling = False

    def __len__(self) -> int:
        return len(self._slots)

    @property
    def dims(self) -> int:
        """Length of the vectors."""
        return self._dims

    @property
    def nbytes(self) -> int:
        """Bytes held, spare room for growth included."""
        codes = self._codes.nbytes + self._scales.nbytes + self._bits.nbytes + self._centre.nbytes
        return self._slots.nbytes + codes + self._exact.nbytes

    @property
    def is_exact(self) -> bool:
        """True while the float32 rows of all are here."""
        return self._exact.is_whole(len(self._slots))

    def cosines(self, query: Vectors, docs: Docs) -> tuple[Docs, Vectors]:
        """Those of `docs` whose float32 rows are here, and their exact cosines to the query."""
        if self._exact.is_closed:
            return docs[:0], np.empty(0, np.float32)
        slots = self._slots.find(docs)
        docs, slots = docs[slots >= 0], slots[slots >= 0]
        is_known = self._exact.are_known(slots)
        return docs[is_known], np.vecdot(self._exact.at(slots[is_known]), query)

    def keep(self, docs: Docs, vectors: Vectors) -> None:
        """Keep the float32 rows of docs that were read elsewhere, as far as they are rows of this index."""
        if not self._exact.is_closed:
            slots = self._slots.find(docs)
            self._exact.put(slots[slots >= 0], vectors[slots >= 0])

    def reserve(self, rows: int) -> None:
        """Make room for so many rows, and leave the sign bits of what is put until `flush`, which must follow.

        Rows that grow by themselves are copied and centred again each time they double.
        """
        if rows >= _FEWEST_ROWS_WITH_BITS:
            self._is_filling = True
            self._begin_codes(len(self))
            self._make_room(rows)
            self._exact.make_room(rows)

    def flush(self) -> None:
        """Mark the sides of the rows that were put since `reserve`."""
        if not self._is_filling:
            return
        self._is_filling = False
        if len(self) >= _FEWEST_ROWS_WITH_BITS and self._rows_put_since >= self._rows_when_centred:
            self._recentre()
        elif self._rows_when_centred:
            self._mark(np.arange(len(self)))

    def begin(self, centre: Vectors, rows: int) -> None:
        """Make room in an empty index for so many rows that are packed, with the centre that their bits have."""
        assert not len(self)
        self._has_codes = True
        self._make_room(rows)
        self._exact.make_room(rows)
        self._centre, self._rows_when_centred = centre, rows

    def put_packed(self, docs: Docs, scales: bytes, codes: bytes, bits: bytes) -> None:
        """Adds or replaces rows as the index holds them, once it has begun with their centre."""
        slots = self._find_slots(docs)
        self._make_room(len(self))
        self._exact.make_room(len(self))
        self._scales[slots] = np.frombuffer(scales, np.float32)
        self._codes[slots] = np.frombuffer(codes, np.int8).reshape(len(docs), self._dims)
        self._bits[:, slots] = np.frombuffer(bits, np.uint64).reshape(len(self._bits), len(docs))

    def check_centre(self) -> None:
        """Takes another centre where the one it began with, of a few early rows, lies far off that of all rows."""
        mean = self._decoded(slice(0, len(self), 1 + len(self) // _SAMPLED_ROWS)).mean(axis=0)
        off = mean - self._centre
        if off @ off > _MOST_OFF_CENTRE * (1 - mean @ mean):
            self._recentre()

    def put(self, docs: Docs, vectors: Vectors) -> None:
        """Adds or replaces unit-norm rows `float32[n, dims]`; docs are positive and unique within the call."""
        assert docs.dtype == np.int64
        assert vectors.dtype == np.float32
        assert vectors.shape == (len(docs), self._dims)
        assert len(sort_docs(docs)) == len(docs)
        before = len(self)
        slots = self._find_slots(docs)
        if len(self) >= _FEWEST_ROWS_WITH_BITS:
            self._begin_codes(before)
        self._exact.make_room(len(self))
        self._exact.put(slots, vectors)
        if not self._has_codes:
            return
        self._make_room(len(self))
        self._write(slots, vectors)
        self._rows_put_since += len(docs)
        if self._is_filling:
            return
        if len(self) >= _FEWEST_ROWS_WITH_BITS and self._rows_put_since >= self._rows_when_centred:
            self._recentre()
        elif self._rows_when_centred:
            self._mark(slots)

    def _find_slots(self, docs: Docs) -> Slots:
        """Return the slots of docs, new ones for those that have none."""
        slots = self._slots.find(docs)
        is_new = slots < 0
        slots[is_new] = self._slots.append(docs[is_new])
        return slots

    def drop(self, docs: Docs) -> None:
        """Forgets these docs; unknown ones are ignored."""
        known = sort_docs(docs)
        known = known[self._slots.find(known) >= 0]
        holes, movers = self._slots.drop(known)
        self._exact.move(holes, movers, left=len(self))
        if not self._has_codes:
            return
        self._codes[holes] = self._codes[movers]
        self._scales[holes] = self._scales[movers]
        if self._rows_when_centred:
            self._bits[:, holes] = self._bits[:, movers]

    def nearest(
        self, query: Vectors, limit: int, *, exact: Callable[[Docs], Vectors], among: Docs | None = None
    ) -> tuple[Docs, Vectors]:
        """The at most `limit` docs of greatest cosine to a unit-norm (or zero) query, and those cosines.

        Ordered by cosine, then newest (greatest) doc, both descending. `exact` gives the float32 rows of a few dozen
        docs more than `limit`, in their order. `among`: only these docs count, unknown ones are ignored.
        """
        docs = self.shortlist(query, limit, among=among)
        if not len(docs):
            return docs, np.empty(0, np.float32)
        rows = exact(docs)
        assert rows.shape == (len(docs), self._dims)
        cosines = np.vecdot(rows, query)
        order = np.lexsort((-docs, -cosines))[:limit]
        return docs[order], cosines[order]

    def shortlist(self, query: Vectors, limit: int, *, among: Docs | None = None) -> Docs:
        """The docs among which `nearest` finds its `limit`: those worth their float32 rows, a few dozen more."""
        assert query.shape == (self._dims,)
        assert query.dtype == np.float32
        slots = None if among is None else self._known(among)
        if limit <= 0 or not len(self if slots is None else slots):
            return np.empty(0, np.int64)
        return self._slots.docs[self._shortlist_slots(query, limit, slots)]

    def _known(self, docs: Docs) -> Slots:
        slots = self._slots.find(sort_docs(docs))
        return np.sort(slots[slots >= 0])

    def _shortlist_slots(self, query: Vectors, limit: int, slots: Slots | None) -> Slots:
        """The slots worth their float32 rows, those of greatest int8 cosine; out of all slots if None."""
        if self._rows_when_centred and query.any():
            slots = self._survivors(query, slots, survivor_count(len(self), self._dims, limit))
        if slots is None:
            slots = np.arange(len(self))
        count = shortlist_size(limit)
        if len(slots) <= count:
            return slots
        return slots[_greatest(self._approximate(query, slots), self._slots.docs[slots], count)]

    def _survivors(self, query: Vectors, slots: Slots | None, count: int) -> Slots | None:
        """The slots whose sign bits agree most with the query's; `slots` as it is where int8 alone is as fast."""
        docs = self._slots.docs if slots is None else self._slots.docs[slots]
        weighed = WEIGHED_PER_SURVIVOR * count
        if len(docs) <= weighed + len(self) // _ROWS_SCANNED_PER_DECODED:
            return slots
        bits = self._bits[:, : len(self)]
        alike = agreement(bits, sign_bits(query[None, :], self._centre))
        likely = _likely(alike if slots is None else alike[slots], docs, weighed)
        docs, slots = docs[likely], likely if slots is None else slots[likely]
        return slots[_greatest(weighed_agreement(bits, slots, query, self._centre), docs, count)]

    def _approximate(self, query: Vectors, slots: Slots) -> Vectors:
        """The cosines of the float32 rows where most are here, and of the int8 rows; slots ascend."""
        is_known = self._exact.are_known(slots)
        if 2 * np.count_nonzero(is_known) < len(slots):
            return self._decoded_cosines(query, slots)
        count = len(self._slots)
        cosines: Vectors = np.vecdot(self._exact.at(slice(count) if len(slots) == count else slots), query)
        if not is_known.all():
            cosines[~is_known] = self._decoded_cosines(query, slots[~is_known])
        return cosines

    def _decoded_cosines(self, query: Vectors, slots: Slots) -> Vectors:
        """The cosines of the int8 rows."""
        cosines = np.empty(len(slots), np.float32)
        for block in _blocks(len(slots), self._dims):
            codes = self._codes[block] if len(slots) == len(self) else self._codes.take(slots[block], axis=0)
            np.vecdot(codes.astype(np.float32), query, out=cosines[block])
        cosines *= self._scales[slots]
        return cosines

    def _begin_codes(self, rows: int) -> None:
        """Encode the first rows, which were few enough to have float32 alone until now."""
        if not self._has_codes:
            self._has_codes = True
            self._make_room(rows)
            self._write(np.arange(rows), self._exact.at(slice(rows)))

    def _write(self, slots: Slots, vectors: Vectors) -> None:
        for block in _blocks(len(slots), self._dims):
            self._codes[slots[block]], self._scales[slots[block]] = encode(vectors[block])

    def _make_room(self, rows: int) -> None:
        if rows <= len(self._codes):
            return
        capacity = max(rows, len(self._codes) + len(self._codes) // 4)
        self._codes = _widened(self._codes, capacity, axis=0)
        self._scales = _widened(self._scales, capacity, axis=0)
        self._bits = _widened(self._bits, capacity, axis=1)

    def _recentre(self) -> None:
        """Takes the mean of today's rows as the centre, and marks every row's side of it again.

        Due once as many rows were put as there were the last time: a row pays for it a constant number of times.
        """
        total = np.zeros(self._dims, np.float64)
        for block in _blocks(len(self), self._dims):
            total += self._decoded(block).sum(axis=0)
        self._centre = (total / len(self)).astype(np.float32)
        self._rows_when_centred, self._rows_put_since = len(self), 0
        self._mark(np.arange(len(self)))

    def _mark(self, slots: Slots) -> None:
        """Writes the sign bits of these rows, from int8: rows that are equal there stay equal here."""
        for block in _blocks(len(slots), self._dims):
            self._bits[:, slots[block]] = sign_bits(self._decoded(slots[block]), self._centre)

    def _decoded(self, rows: Slots | slice) -> Vectors:
        return decode(self._codes[rows], self._scales[rows])


def survivor_count(rows: int, dims: int, limit: int) -> int:
    """Count the rows that the bits let pass to int8, for `limit` of them to be the nearest.

    Measured, with four times as many weighed: keeps 0.995 and more of the true nearest at 100k rows of 384 dimensions,
    clustered or of MiniLM, for limits of 10 to 200. Half the dimensions tell half as much, and cost half as much.
    """
    return (200 + 25 * limit + rows // 2000) * -(-384 // dims)


def shortlist_size(limit: int) -> int:
    """Count the rows to compare by their float32 vectors: int8 moves a row by a few ranks at most."""
    return limit + max(16, limit // 8)


def encode(vectors: Vectors) -> tuple[NDArray[np.int8], Vectors]:
    """Rows as int8 and what to multiply them by: the greatest component of each becomes 127."""
    scales = np.maximum(np.abs(vectors).max(axis=1), 1e-30) / np.float32(127)
    return np.rint(vectors / scales[:, None]).astype(np.int8), scales


def decode(codes: NDArray[np.int8], scales: Vectors) -> Vectors:
    """Rows that `encode` has encoded, as the index compares them."""
    return codes.astype(np.float32) * scales[:, None]


def _likely(scores: NDArray[np.uint16], docs: Docs, count: int) -> Slots:
    """Positions of about the `count` greatest scores: at most three times as many, the newest docs first among equals.

    The threshold comes from a sample: partitioning all scores would take longer than the scan that made them.
    """
    sample = scores[:: 1 + len(scores) // _SAMPLED_ROWS]
    wanted = min(len(sample), 8 + count * len(sample) // len(scores))
    likely = np.flatnonzero(scores >= _cut(sample, wanted))
    if len(likely) < count // 2:
        likely = np.arange(len(scores))
    if len(likely) <= 3 * count:
        return likely
    return likely[_greatest(scores[likely], docs[likely], count)]


def _greatest(scores: NDArray[Score], docs: Docs, count: int) -> Slots:
    """Positions of the `count` greatest scores, ascending; among equals at the cut, those of the newest docs."""
    if len(scores) <= count:
        return np.arange(len(scores))
    cut = _cut(scores, count)
    is_chosen = scores >= cut
    surplus = np.count_nonzero(is_chosen) - count
    if surplus:
        level = np.flatnonzero(scores == cut)
        is_chosen[level[np.argpartition(docs[level], surplus)[:surplus]]] = False
    return np.flatnonzero(is_chosen)


def _cut(scores: NDArray[Score], count: int) -> Score:
    """The count-th greatest score, by way of float32: NumPy partitions it several times faster than uint16."""
    place = len(scores) - count
    return scores.dtype.type(np.partition(scores.astype(np.float32), place)[place])


def _blocks(rows: int, dims: int) -> Iterator[slice]:
    step = max(1, _DECODED_NUMBERS // dims)
    return (slice(start, min(rows, start + step)) for start in range(0, rows, step))


def _widened(array: NDArray[Any], capacity: int, axis: int) -> NDArray[Any]:
    wider = np.zeros((*array.shape[:axis], capacity, *array.shape[axis + 1 :]), array.dtype)
    wider[(slice(None),) * axis + (slice(array.shape[axis]),)] = array
    return wider
