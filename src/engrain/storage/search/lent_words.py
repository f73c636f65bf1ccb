"""Words that turns lend to those around them, joined when they are read: each turn's own words are stored once."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from engrain.domain.text import bm25

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray


class StoredWords(NamedTuple):
    """Words of memories as they are stored, in any order: `near` of a row is how often the memory lends the word.

    `lenders` has the docs that lend words to each memory, side by side, as many as `lender_counts` says.
    """

    docs: NDArray[np.int64]
    lengths: NDArray[np.int64]
    sizes: NDArray[np.int64]
    packed: bytes
    lender_counts: NDArray[np.int64]
    lenders: NDArray[np.int64]

    def add(self, others: StoredWords) -> StoredWords:
        """Add the words of other memories."""
        return StoredWords(
            docs=np.concatenate([self.docs, others.docs]),
            lengths=np.concatenate([self.lengths, others.lengths]),
            sizes=np.concatenate([self.sizes, others.sizes]),
            packed=self.packed + others.packed,
            lender_counts=np.concatenate([self.lender_counts, others.lender_counts]),
            lenders=np.concatenate([self.lenders, others.lenders]),
        )


def join_words(
    stored: StoredWords, terms: Collection[str] | None = None, *, among: NDArray[np.int64] | None = None
) -> tuple[NDArray[np.int64], bm25.WordTable]:
    """Join memories' own words with those lent to them: docs, and their words in the order of codes.

    Only the given `terms`, by default all; only docs `among` some, which ascend. Each lender is one of those stored.
    """
    rows = np.frombuffer(stored.packed, bm25.ROW)
    owners = np.repeat(np.arange(len(stored.docs)), stored.sizes // bm25.ROW.itemsize)
    if terms is not None:
        chosen = np.flatnonzero(_find_terms(np.ascontiguousarray(rows["term"]), terms))
        rows, owners = rows[chosen], owners[chosen]
    lent = rows["near"] > 0
    borrowers, lent_rows = _follow_lenders(stored, np.flatnonzero(lent), owners[lent])
    codes = rows["term"].astype(np.uint64)
    keys = np.concatenate(
        [owners.astype(np.uint64) << 32 | codes, borrowers.astype(np.uint64) << 32 | codes[lent_rows]]
    )
    distinct, places = np.unique(keys, return_inverse=True)
    joined = np.zeros(len(distinct), bm25.ROW)
    joined["term"] = distinct & 0xFFFFFFFF
    joined["own"][places[: len(owners)]] = rows["own"]
    near = np.bincount(places[len(owners) :], rows["near"][lent_rows], len(distinct))
    joined["near"] = np.minimum(near, bm25.MOST)
    sizes = np.bincount((distinct >> 32).astype(np.int64), minlength=len(stored.docs)) * bm25.ROW.itemsize
    docs, lengths = stored.docs, stored.lengths
    if among is not None:
        wanted = np.isin(docs, among)
        joined = joined[np.repeat(wanted, sizes // bm25.ROW.itemsize)]
        docs, lengths, sizes = docs[wanted], lengths[wanted], sizes[wanted]
    return docs, bm25.WordTable(joined.tobytes(), sizes, lengths)


def _find_terms(codes: NDArray[np.uint32], terms: Collection[str]) -> NDArray[np.bool_]:
    """Mark the rows of some terms: for a question's dozen, a comparison each is a quarter of a look-up's time."""
    found = np.zeros(len(codes), np.bool_)
    for term in terms:
        found |= codes == bm25.code(term)
    return found


def _follow_lenders(
    stored: StoredWords, rows: NDArray[np.int64], owners: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pair each memory with the rows that others lend it, given those that are lent, by their owners."""
    order = np.argsort(stored.docs)
    places = np.minimum(np.searchsorted(stored.docs, stored.lenders, sorter=order), len(order) - 1)
    lenders = order[places]
    borrowers = np.repeat(np.arange(len(stored.docs)), stored.lender_counts)
    is_there = stored.docs[lenders] == stored.lenders
    lenders, borrowers = lenders[is_there], borrowers[is_there]
    starts = np.searchsorted(owners, lenders)
    counts = np.searchsorted(owners, lenders, side="right") - starts
    firsts = np.repeat(starts - np.cumsum(counts) + counts, counts)
    return np.repeat(borrowers, counts), rows[firsts + np.arange(len(firsts))]
