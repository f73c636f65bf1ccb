"""Candidates in order, and the choice of those worth ranking by BM25 where an index gives too many."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, overload

import numpy as np

from engrain.domain.requests import Candidate, Ref
from engrain.domain.text import bm25
from engrain.domain.text.indexing import own_terms

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from engrain.domain.records import MemoryRecord

# BM25 ranks the best of a cheaper judgement: this many more are taken than wanted, at least so many.
_DEPTH_FACTOR = 4
_LEAST_DEPTH = 400

# For each term the docs that hold it at all, and those that hold it as a word of their own; each doc once.
Postings = dict[str, "tuple[NDArray[np.int64], NDArray[np.int64]]"]


class RankedDocs(Sequence[Candidate]):
    """Candidates of one channel as two columns, best first, each doc once."""

    __slots__ = ("docs", "raws")

    def __init__(self, docs: NDArray[np.int64], raws: NDArray[np.float64]) -> None:
        """Take `int64[n]` docs and their numbers, `float64[n]`, in their order."""
        self.docs = docs
        self.raws = raws

    def __len__(self) -> int:
        return len(self.docs)

    @overload
    def __getitem__(self, row: int) -> Candidate: ...
    @overload
    def __getitem__(self, row: slice) -> RankedDocs: ...
    def __getitem__(self, row: int | slice) -> Candidate | RankedDocs:
        if isinstance(row, slice):
            return RankedDocs(self.docs[row], self.raws[row])
        return Candidate(int(self.docs[row]), float(self.raws[row]))

    def __iter__(self) -> Iterator[Candidate]:
        return map(Candidate, self.docs.tolist(), self.raws.tolist())

    def where(self, is_wanted: NDArray[np.bool_]) -> RankedDocs:
        """Keep the marked ones, in their order."""
        return RankedDocs(self.docs[is_wanted], self.raws[is_wanted])

    def at_most(self, bound: float) -> RankedDocs:
        """The same, with no number above a bound."""
        return RankedDocs(self.docs, np.minimum(self.raws, bound))

    def only(self, docs: Sequence[int] | NDArray[np.int64]) -> RankedDocs:
        """Keep the ones of some docs, which ascend, in their order."""
        return self.where(contains(np.asarray(docs, np.int64), self.docs))


NONE: Final = RankedDocs(np.empty(0, np.int64), np.empty(0, np.float64))


def list_candidates(pairs: Iterable[Sequence[Any]]) -> RankedDocs:
    """Make columns of docs and numbers, in their order."""
    columns = list(zip(*pairs, strict=True))
    return RankedDocs(np.array(columns[0], np.int64), np.array(columns[1], np.float64)) if columns else NONE


def join_docs(lists: Iterable[RankedDocs]) -> NDArray[np.int64]:
    """Join the docs of several lists, ascending, each once."""
    return sort_docs(*[ranked.docs for ranked in lists])


def sort_docs(*columns: NDArray[np.int64]) -> NDArray[np.int64]:
    """Sort docs, each once: a fifth of the work of `np.unique`, which makes a hash table of so few."""
    if not columns:
        return NONE.docs
    docs = np.concatenate(columns)
    docs.sort()
    is_new = np.ones(len(docs), np.bool_)
    np.not_equal(docs[1:], docs[:-1], out=is_new[1:])
    found: NDArray[np.int64] = docs[is_new]
    return found


def contains(ascending: NDArray[np.int64], docs: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Mark the docs that are among some that ascend: a fifth of the work of `np.isin`."""
    if not len(ascending):
        return np.zeros(len(docs), np.bool_)
    rows = np.minimum(np.searchsorted(ascending, docs), len(ascending) - 1)
    is_there: NDArray[np.bool_] = ascending[rows] == docs
    return is_there


def join(lists: Sequence[RankedDocs]) -> RankedDocs:
    """Put lists without a doc in common one behind the other."""
    if len(lists) <= 1:
        return lists[0] if lists else NONE
    return RankedDocs(
        np.concatenate([ranked.docs for ranked in lists]), np.concatenate([ranked.raws for ranked in lists])
    )


def merge(*lists: RankedDocs, limit: int | None = None) -> RankedDocs:
    """Merge lists without a doc in common into one: the larger number first, then the newer doc, at most `limit`."""
    whole = join(lists)
    order = np.lexsort((-whole.docs, -whole.raws))[: None if limit is None else max(limit, 0)]
    return RankedDocs(whole.docs[order], whole.raws[order])


def take_best(docs: NDArray[np.int64], raws: NDArray[np.float64], limit: int) -> RankedDocs:
    """Take the best so many of those whose number is above 0, best first."""
    chosen = raws > 0
    return merge(RankedDocs(docs[chosen], raws[chosen]), limit=limit)


def count_promising(limit: int) -> int:
    """Count the docs that are worth ranking by BM25 for the best `limit`."""
    return max(limit * _DEPTH_FACTOR, _LEAST_DEPTH)


def choose_promising(
    postings: Postings, corpus: bm25.Corpus, limit: int, among: Sequence[int] | None
) -> NDArray[np.int64]:
    """Choose the docs with the largest sums of IDFs, halved for a neighbour's word: enough for `limit`, with ties.

    Length and repetition seldom outweigh them.
    """
    docs, sums = sum_idfs(postings, corpus, among)
    count = count_promising(limit)
    return docs if len(docs) <= count else docs[sums >= np.partition(sums, -count)[-count]]


def sum_idfs(
    postings: Postings, corpus: bm25.Corpus, among: Sequence[int] | None
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Sum the IDFs of each doc's terms, halved for a neighbour's word: docs, ascending, and sums; only `among` some."""
    lists = [docs for pair in postings.values() for docs in pair]
    if not lists:
        return NONE.docs, NONE.raws
    shares = [corpus.idf(term) * share for term in postings for share in (bm25.NEAR_WEIGHT, 1 - bm25.NEAR_WEIGHT)]
    docs = sort_docs(*lists)
    rows = np.searchsorted(docs, np.concatenate(lists))
    weights = np.repeat(shares, [len(docs_of_term) for docs_of_term in lists])
    sums: NDArray[np.float64] = np.bincount(rows, weights, minlength=len(docs)).astype(np.float64, copy=False)
    if among is None:
        return docs, sums
    is_among = contains(np.array(sorted(among), np.int64), docs)
    return docs[is_among], sums[is_among]


def rank_unindexed(
    memories: Mapping[Ref, MemoryRecord], terms: Collection[str], corpus: bm25.Corpus, limit: int
) -> RankedDocs:
    """Rank a few memories outside the index that hold any of the terms, by their own words; best first."""
    packed = bm25.pack_all([([bm25.encode(own_terms(memory))], ()) for memory in memories.values()])
    return take_best(np.array(list(memories), np.int64), bm25.scores(packed, terms, corpus), limit)
