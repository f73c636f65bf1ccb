"""Posting lists of some memories as columns: built, merged, and found by term."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from engrain.domain.text import bm25
from engrain.storage.search import candidates

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from engrain.domain.text.bm25 import Count

    # Of one term: the rows of the memories that hold it, and how often they and their neighbours do.
    Postings: TypeAlias = tuple[NDArray[np.signedinteger], NDArray[Count], NDArray[Count]]

_PLACE_BITS: Final = np.uint64(32)
_PLACES: Final = np.uint64(2**32 - 1)
_LARGEST_BYTE: Final = np.iinfo(np.uint8).max


@dataclass(frozen=True, slots=True)
class WordColumns:
    """Words of memories: `docs` with their lengths, and a posting for each word of each.

    The postings of the term with the code `codes[i]` lie from `starts[i]` to `starts[i + 1]`: the row of the doc, and
    how often the doc and its neighbours hold the term. Other columns hold newer words of the docs that are `outdated`.
    """

    docs: NDArray[np.int64]
    lengths: NDArray[np.int64]
    codes: NDArray[np.uint32]
    starts: NDArray[np.int64]
    rows: NDArray[np.int32]
    owns: NDArray[Count]
    nears: NDArray[Count]
    outdated: NDArray[np.bool_] | None = None

    @property
    def nbytes(self) -> int:
        """Bytes held by the columns."""
        columns = (self.docs, self.lengths, self.codes, self.starts, self.rows, self.owns, self.nears)
        return sum(column.nbytes for column in columns)

    def find(self, codes: NDArray[np.uint32]) -> list[Postings]:
        """Find the postings of some terms."""
        if not len(self.codes):
            return [(self.rows, self.owns, self.nears)] * len(codes)
        places = np.minimum(np.searchsorted(self.codes, codes), len(self.codes) - 1)
        ends = np.where(self.codes[places] == codes, self.starts[places + 1], self.starts[places])
        found = []
        for start, end in zip(self.starts[places].tolist(), ends.tolist(), strict=True):
            rows, owns, nears = self.rows[start:end], self.owns[start:end], self.nears[start:end]
            if self.outdated is not None:
                is_current = ~self.outdated[rows]
                rows, owns, nears = rows[is_current], owns[is_current], nears[is_current]
            found.append((rows, owns, nears))
        return found

    def without(self, docs: NDArray[np.int64]) -> WordColumns:
        """Return these columns with some docs, which ascend, outdated."""
        is_among = candidates.contains(docs, self.docs)
        if not is_among.any():
            return self
        return replace(self, outdated=is_among if self.outdated is None else self.outdated | is_among)


def build_columns(memories: Sequence[tuple[int, int, int, bytes]]) -> WordColumns:
    """Build the columns of some memories: docs, ascending, and their counts as the index stores them."""
    docs, owns, nears, packed = zip(*memories, strict=True) if memories else ((), (), (), ())
    table = bm25.build_table(owns, nears, packed)
    # By term, then by memory: a term and the place of a posting are one number, and NumPy sorts numbers in a third of
    # the time that their order takes.
    keys = table.codes.astype(np.uint64)
    keys <<= _PLACE_BITS
    keys |= np.arange(len(keys), dtype=np.uint64)
    keys.sort()
    terms = (keys >> _PLACE_BITS).astype(np.uint32)
    order = (keys & _PLACES).view(np.int64)
    is_first = np.ones(len(terms), np.bool_)
    np.not_equal(terms[1:], terms[:-1], out=is_first[1:])
    starts = np.flatnonzero(is_first)
    return WordColumns(
        np.array(docs, np.int64),
        table.lengths,
        terms[starts],
        np.append(starts, len(terms)),
        table.owners.astype(np.int32).take(order),
        _narrow(table.rows["own"]).take(order),
        _narrow(table.rows["near"]).take(order),
    )


def merge_columns(columns: Sequence[WordColumns]) -> WordColumns:
    """Merge columns into one, without what is outdated; nothing is sorted, which would take five times as long."""
    codes = np.unique(np.concatenate([part.codes for part in columns]))
    current = [np.ones(len(part.docs), np.bool_) if part.outdated is None else ~part.outdated for part in columns]
    lengths = []  # of each part: how many postings of each of its terms are left
    free = np.zeros(len(codes) + 1, np.int64)  # where the next posting of each term goes
    for part, is_current in zip(columns, current, strict=True):
        left = part.starts if part.outdated is None else _count_before(is_current[part.rows])[part.starts]
        lengths.append(np.diff(left))
        free[1 + np.searchsorted(codes, part.codes)] += lengths[-1]
    free = np.cumsum(free)
    merged = WordColumns(
        np.concatenate([part.docs[is_current] for part, is_current in zip(columns, current, strict=True)]),
        np.concatenate([part.lengths[is_current] for part, is_current in zip(columns, current, strict=True)]),
        codes,
        free.copy(),
        np.empty(free[-1], np.int32),
        np.empty(free[-1], np.result_type(*[part.owns.dtype for part in columns])),
        np.empty(free[-1], np.result_type(*[part.nears.dtype for part in columns])),
    )
    first = 0
    for part, is_current, count in zip(columns, current, lengths, strict=True):
        rows, owns, nears = part.rows, part.owns, part.nears
        if part.outdated is not None:
            is_left = is_current[rows]
            rows, owns, nears = rows[is_left], owns[is_left], nears[is_left]
        term = np.searchsorted(codes, part.codes)
        target = np.repeat((free[term] - np.cumsum(count) + count).astype(np.int32), count)
        target += np.arange(len(target), dtype=np.int32)
        place = _count_before(is_current)[:-1] + np.int32(first)
        merged.rows[target], merged.owns[target], merged.nears[target] = place[rows], owns, nears
        free[term] += count
        first += int(np.count_nonzero(is_current))
    return merged


def _count_before(is_wanted: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Count those that are marked before each place, and before the end."""
    counts = np.zeros(len(is_wanted) + 1, np.int32)
    np.cumsum(is_wanted, out=counts[1:])
    return counts


def _narrow(counts: NDArray[np.uint16]) -> NDArray[Count]:
    """Take a byte for each count where that is enough, as nearly always."""
    return counts.astype(np.uint8) if counts.max(initial=0) <= _LARGEST_BYTE else counts
