"""Keyword search in posting lists as columns: the answers of an index without a statement."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from engrain.domain.text import bm25
from engrain.storage.search import candidates

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import NDArray

    from engrain.domain.text.bm25 import Count
    from engrain.storage.search.candidates import RankedDocs
    from engrain.storage.search.namespaces import SearchSpace
    from engrain.storage.search.word_columns import Postings, WordColumns

    Rows: TypeAlias = NDArray[np.signedinteger]
    # Of one term: slots among the rows that count, and how often each and its neighbours hold it.
    Matches: TypeAlias = tuple[Rows, NDArray[Count], NDArray[Count]]

_ABSENT: Final = -1
# Sums of IDFs in another order differ by less.
_ROUNDING: Final = 1e-9


@dataclass(frozen=True, slots=True)
class _Parts:
    """Columns one behind the other: a row counts on from those of the parts before its own."""

    columns: Sequence[WordColumns]
    postings: Sequence[Sequence[Postings]]  # by part and term
    firsts: Sequence[int]  # the first row of each part, and the number of all

    def read(self, term: int) -> Matches:
        """Read the rows of a term, ascending, with its counts."""
        if len(self.postings) == 1:
            return self.postings[0][term]
        lists = [of_part[term] for of_part in self.postings]
        rows = [rows + first if first else rows for (rows, _, _), first in zip(lists, self.firsts, strict=False)]
        _, owns, nears = zip(*lists, strict=True)
        return np.concatenate(rows), np.concatenate(owns), np.concatenate(nears)

    def match(self, term: int, slots: NDArray[np.int32]) -> Matches:
        """Read the slots of a term's rows that have one, with its counts."""
        rows, owns, nears = self.read(term)
        at = slots[rows]
        hits = np.flatnonzero(at != _ABSENT)
        return at[hits], owns[hits], nears[hits]

    def describe(self, rows: Rows) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the docs and lengths of some rows, which ascend."""
        if len(self.columns) == 1:
            return self.columns[0].docs[rows], self.columns[0].lengths[rows]
        ends = np.searchsorted(rows, self.firsts).tolist()
        own = [rows[start:end] - first for first, start, end in zip(self.firsts, ends, ends[1:], strict=False)]
        placed = list(zip(self.columns, own, strict=True))
        return (
            np.concatenate([part.docs[at] for part, at in placed]),
            np.concatenate([part.lengths[at] for part, at in placed]),
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
    if not columns or not terms:
        return candidates.NONE
    distinct = sorted(set(terms))
    codes = np.fromiter(map(bm25.code, distinct), np.uint32, len(distinct))
    postings = [part.find(codes) for part in columns]
    counts = [sum([len(of_part[term][0]) for of_part in postings]) for term in range(len(distinct))]
    corpus = bm25.Corpus(
        memories=where.memories, words=where.words, frequencies=dict(zip(distinct, counts, strict=True))
    )
    idfs = list(map(corpus.idf, distinct))
    parts = _Parts(columns, postings, [0, *accumulate([len(part.docs) for part in columns])])
    promising = candidates.count_promising(limit)
    rows, matches = _match_terms(parts, counts, idfs, promising=promising, among=among)
    lengths = [len(at) for at, _, _ in matches]
    at, owns, nears = _join_matches(matches)
    weights = np.repeat(idfs, lengths)
    if len(rows) > promising:
        sums = _sum_idfs(matches, idfs, len(rows))
        is_chosen = sums >= np.partition(sums, -promising)[-promising]
        rows, chosen = rows[is_chosen], is_chosen[at]
        at = (np.cumsum(is_chosen) - 1)[at[chosen]]
        owns, nears, weights = owns[chosen], nears[chosen], weights[chosen]
    docs, sizes = parts.describe(rows)
    scores = bm25.weigh(weights, owns, nears, bm25.penalise(sizes, corpus)[at])
    return candidates.take_best(docs, _add_up(at, scores, len(rows)), limit)


def _match_terms(
    parts: _Parts, counts: Sequence[int], idfs: Sequence[float], *, promising: int, among: Collection[int] | None
) -> tuple[Rows, list[Matches]]:
    """Choose rows, ascending, that the best `promising` sums of IDFs are among, and match each term with them.

    MaxScore, as `sqlite.word_index` does it: once so many rows have more than all the terms that are left could add, a
    row without any of the others comes behind them, and of the commonest terms the chosen rows are looked up alone.
    """
    left = sorted(range(len(idfs)), key=counts.__getitem__, reverse=True)
    sums = np.zeros(parts.firsts[-1])
    least, added, most = 0.0, 0, sum(idfs)
    whole: dict[int, Matches] = {}
    while left:
        term = left.pop()
        rows, owns, _ = whole[term] = parts.read(term)
        sums[rows] += np.where(owns > 0, idfs[term], idfs[term] * bm25.NEAR_WEIGHT)
        added, most = added + counts[term], most - idfs[term]
        if left and added >= promising and among is None and sum([idfs[other] for other in whole]) > most:
            positive = sums[sums > 0]
            least = np.partition(positive, -promising)[-promising] if len(positive) >= promising else 0.0
            if least > most:
                break
    rows = np.flatnonzero(sums >= least - most - _ROUNDING if left else sums > 0)
    if among is not None:
        rows = rows[candidates.contains(np.array(sorted(among), np.int64), parts.describe(rows)[0])]
    slots = np.full(len(sums), _ABSENT, np.int32)
    slots[rows] = np.arange(len(rows), dtype=np.int32)
    if left or among is not None:
        return rows, [parts.match(term, slots) for term in range(len(idfs))]
    return rows, [(slots[whole[term][0]], *whole[term][1:]) for term in range(len(idfs))]


def _sum_idfs(matches: Sequence[Matches], idfs: Sequence[float], count: int) -> NDArray[np.float64]:
    """Sum the IDFs of the terms of each of `count` slots as `candidates.sum_idfs` does."""
    lists, shares = [], []
    for (at, owns, _), idf in zip(matches, idfs, strict=True):
        lists += [at, at[owns > 0]]
        shares += [idf * bm25.NEAR_WEIGHT, idf * (1 - bm25.NEAR_WEIGHT)]
    weights = np.repeat(shares, [len(at) for at in lists])
    return _add_up(np.concatenate(lists), weights, count)


def _add_up(slots: Rows, weights: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    """Add up the weights of each of `count` slots, in their order."""
    sums: NDArray[np.float64] = np.bincount(slots, weights, minlength=count).astype(np.float64, copy=False)
    return sums


def _join_matches(parts: Sequence[Matches]) -> Matches:
    at, owns, nears = zip(*parts, strict=True)
    return np.concatenate(at), np.concatenate(owns), np.concatenate(nears)
