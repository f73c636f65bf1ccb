"""Candidates in order, and the choice of those worth ranking by BM25 where an index gives too many."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from engrain.domain.requests import Candidate
from engrain.domain.text import bm25
from engrain.domain.text.indexing import own_terms

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from numpy.typing import NDArray

    from engrain.domain.records import MemoryRecord
    from engrain.domain.requests import Ref

# BM25 ranks the best of a cheaper judgement: this many more are taken than wanted, at least so many.
_DEPTH_FACTOR = 4
_LEAST_DEPTH = 400

# For each term the docs that hold it at all, and those that hold it as a word of their own; each doc once.
Postings = dict[str, "tuple[NDArray[np.int64], NDArray[np.int64]]"]


def best_first(candidate: Candidate) -> tuple[float, int]:
    """Return the sort key of every list of candidates: the larger number, then the newer doc."""
    assert isinstance(candidate.ref, int)
    return -candidate.raw, -candidate.ref


def take_best(docs: NDArray[np.int64], raws: NDArray[np.float64], limit: int) -> list[Candidate]:
    """Take the best so many of those whose number is above 0, best first."""
    chosen = np.flatnonzero(raws > 0)
    order = chosen[np.lexsort((-docs[chosen], -raws[chosen]))][:limit]
    return [Candidate(doc, raw) for doc, raw in zip(docs[order].tolist(), raws[order].tolist(), strict=True)]


def choose_promising(postings: Postings, corpus: bm25.Corpus, limit: int, among: Sequence[int] | None) -> list[int]:
    """Choose the docs with the largest sums of IDFs, halved for a neighbour's word: enough for `limit`, with ties.

    Length and repetition seldom outweigh them.
    """
    lists = [docs for pair in postings.values() for docs in pair]
    if not lists:
        return []
    shares = [corpus.idf(term) * share for term in postings for share in (bm25.NEAR_WEIGHT, 1 - bm25.NEAR_WEIGHT)]
    docs, places = np.unique(np.concatenate(lists), return_inverse=True)
    sums = np.bincount(places, np.repeat(shares, [len(docs_of_term) for docs_of_term in lists]), minlength=len(docs))
    if among is not None:
        is_among = np.isin(docs, np.array(among, np.int64))
        docs, sums = docs[is_among], sums[is_among]
    count = max(limit * _DEPTH_FACTOR, _LEAST_DEPTH)
    if len(docs) > count:
        docs = docs[sums >= np.partition(sums, -count)[-count]]
    chosen: list[int] = docs.tolist()
    return chosen


def rank_unindexed(
    memories: Mapping[Ref, MemoryRecord], terms: Collection[str], corpus: bm25.Corpus, limit: int
) -> list[Candidate]:
    """Rank a few memories outside the index that hold any of the terms, by their own words; best first."""
    packed = bm25.pack_all([([bm25.encode(own_terms(memory))], ()) for memory in memories.values()])
    return take_best(np.array(list(memories), np.int64), bm25.scores(packed, terms, corpus), limit)
