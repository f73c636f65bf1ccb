"""Posting lists of some memories as columns, and their keyword search: the answers of an index without a statement."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import numpy as np

from engrain.domain.text import bm25
from engrain.storage.search import candidates

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import NDArray

    from engrain.storage.search.candidates import RankedDocs
    from engrain.storage.search.namespaces import SearchSpace

    # Of one term: the rows of the memories that hold it, and how often they and their neighbours do.
    Postings: TypeAlias = tuple[NDArray[np.signedinteger], NDArray[np.uint16], NDArray[np.uint16]]

_Number = TypeVar("_Number", bound=np.generic)


@dataclass(frozen=True, slots=True)
class WordColumns:
    """Words of memories: `docs`, ascending, with their lengths, and a posting for each word of each.

    The postings of the term with the code `codes[i]` lie from `starts[i]` to `starts[i + 1]`: the row of the doc, and
    how often the doc and its neighbours hold the term. Other columns hold newer words of the docs that are `outdated`.
    """

    docs: NDArray[np.int64]
    lengths: NDArray[np.int64]
    codes: NDArray[np.uint32]
    starts: NDArray[np.int64]
    rows: NDArray[np.int32]
    owns: NDArray[np.uint16]
    nears: NDArray[np.uint16]
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
    postings = table.rows
    return _sort_postings(
        np.array(docs, np.int64),
        table.lengths,
        terms=table.codes,
        rows=table.owners.astype(np.int32),
        owns=postings["own"],
        nears=postings["near"],
    )


def search_words(
    columns: Sequence[WordColumns],
    where: SearchSpace,
    terms: Collection[str],
    limit: int,
    *,
    among: Collection[int] | None,
) -> RankedDocs:
    """Find memories that hold any of the terms, by `domain.text.bm25`; best first, ties newest first.

    The arithmetic, the docs that are chosen for it among them, is that of `candidates.choose_promising`, to the bit.
    """
    if not columns:
        return candidates.NONE
    distinct = sorted(set(terms))
    codes = np.fromiter(map(bm25.code, distinct), np.uint32, len(distinct))
    docs = _join([part.docs for part in columns])
    postings = _find_postings(columns, codes)
    frequencies = {term: len(rows) for term, (rows, _, _) in zip(distinct, postings, strict=True)}
    corpus = bm25.Corpus(memories=where.memories, words=where.words, frequencies=frequencies)
    idfs = [corpus.idf(term) for term in distinct]
    is_promising = _choose_promising(postings, idfs, docs, limit=limit, among=among)
    lengths = _join([part.lengths for part in columns])
    totals = np.zeros(len(docs))
    penalties = bm25.penalise(lengths, corpus)
    for (rows, owns, nears), idf in zip(postings, idfs, strict=True):
        totals[rows] += bm25.weigh(idf, owns, nears, penalties[rows])
    totals[~is_promising] = 0
    return candidates.take_best(docs, totals, limit)


def merge_columns(columns: Sequence[WordColumns]) -> WordColumns:
    """Merge columns into one, without what is outdated."""
    current = [np.ones(len(part.docs), np.bool_) if part.outdated is None else ~part.outdated for part in columns]
    is_current = np.concatenate(current)
    is_posted = np.concatenate([is_there[part.rows] for is_there, part in zip(current, columns, strict=True)])
    docs = np.concatenate([part.docs for part in columns])
    order = np.argsort(docs[is_current])
    place = np.empty(len(docs), np.int32)
    place[np.flatnonzero(is_current)[order]] = np.arange(len(order), dtype=np.int32)
    firsts = np.cumsum([0, *(len(part.docs) for part in columns)])
    rows = np.concatenate([part.rows + first for part, first in zip(columns, firsts, strict=False)])
    return _sort_postings(
        docs[is_current][order],
        np.concatenate([part.lengths for part in columns])[is_current][order],
        terms=np.concatenate([np.repeat(part.codes, np.diff(part.starts)) for part in columns])[is_posted],
        rows=place[rows[is_posted]],
        owns=np.concatenate([part.owns for part in columns])[is_posted],
        nears=np.concatenate([part.nears for part in columns])[is_posted],
    )


def _find_postings(columns: Sequence[WordColumns], codes: NDArray[np.uint32]) -> list[Postings]:
    """Find the postings of each term in all columns, whose rows follow one another."""
    if len(columns) == 1:
        return columns[0].find(codes)
    firsts = np.cumsum([0, *(len(part.docs) for part in columns)])
    found = [part.find(codes) for part in columns]
    return [
        (
            np.concatenate([rows + first for (rows, _, _), first in zip(parts, firsts, strict=False)]),
            np.concatenate([owns for _, owns, _ in parts]),
            np.concatenate([nears for _, _, nears in parts]),
        )
        for parts in zip(*found, strict=True)
    ]


def _choose_promising(
    postings: Sequence[Postings],
    idfs: Sequence[float],
    docs: NDArray[np.int64],
    *,
    limit: int,
    among: Collection[int] | None,
) -> NDArray[np.bool_]:
    """Mark the rows that `candidates.choose_promising` would choose."""
    sums = np.zeros(len(docs))
    for (rows, owns, _), idf in zip(postings, idfs, strict=True):
        sums[rows] += idf * bm25.NEAR_WEIGHT
        sums[rows[owns > 0]] += idf * (1 - bm25.NEAR_WEIGHT)
    if among is not None:
        sums[~candidates.contains(np.array(sorted(among), np.int64), docs)] = 0
    count = candidates.count_promising(limit)
    is_promising: NDArray[np.bool_] = sums > 0
    if np.count_nonzero(is_promising) > count:
        is_promising = sums >= np.partition(sums, -count)[-count]
    return is_promising


def _sort_postings(
    docs: NDArray[np.int64],
    lengths: NDArray[np.int64],
    *,
    terms: NDArray[np.uint32],
    rows: NDArray[np.int32],
    owns: NDArray[np.uint16],
    nears: NDArray[np.uint16],
) -> WordColumns:
    """Put postings in the order of their terms, then of their rows."""
    order = np.argsort(terms.astype(np.uint64) << np.uint64(32) | rows.astype(np.uint64))
    terms = terms[order]
    starts = np.flatnonzero(np.concatenate([np.ones(min(len(terms), 1), np.bool_), terms[1:] != terms[:-1]]))
    return WordColumns(
        docs, lengths, terms[starts], np.append(starts, len(terms)), rows[order], owns[order], nears[order]
    )


def _join(parts: Sequence[NDArray[_Number]]) -> NDArray[_Number]:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)
