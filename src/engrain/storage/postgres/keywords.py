"""Keyword search: reads every memory of a small namespace, and of a large one those that a GIN index gives."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from engrain.domain.text import bm25
from engrain.storage.postgres.index import decode_numbers, near_code, own_code, read_words
from engrain.storage.search import candidates, matching
from engrain.storage.search.lent_words import StoredWords, join_words

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from numpy.typing import NDArray

    from engrain.domain.requests import Request
    from engrain.storage.postgres.common_words import CommonWords
    from engrain.storage.search.candidates import RankedDocs
    from engrain.storage.search.namespaces import SearchSpace
    from engrain.storage.transaction import Transaction
    from engrain.storage.unit_of_work import Snapshot

_ROUNDING = 1e-9  # sums of the same IDFs in another order differ by less


def search_keywords(
    snapshot: Snapshot,
    request: Request,
    where: SearchSpace,
    terms: Collection[str],
    *,
    limit: int,
    narrow: int,
    read_all: int,
    common: CommonWords,
) -> RankedDocs:
    """Find memories that hold any of the terms and match, by `text.bm25`; best first, ties newest first."""
    unique = sorted(set(terms))
    few = _is_read_whole(where, read_all)
    only_live = few or not where.has_expired
    corpus, ask = (
        _read_all(snapshot, request, where, unique)
        if few
        else _read_promising(snapshot, request, where, unique, common=common)
    )
    found = matching.collect_enough(snapshot, request, limit, ask, only_live=only_live, narrow=narrow)
    gone = matching.load_inactive(snapshot, request)
    if gone:
        found = candidates.merge(found, candidates.rank_unindexed(gone, unique, corpus, limit), limit=limit)
    return found


def start_search(
    snapshot: Snapshot,
    request: Request,
    where: SearchSpace,
    terms: Collection[str],
    *,
    read_all: int,
    common: CommonWords,
) -> None:
    """Start the statement that `search_keywords` asks first, where the namespaces are these."""
    if _is_read_whole(where, read_all):
        namespaces = where.namespaces
        snapshot.start("words_of_all", tenant_id=snapshot.tenant_id, namespaces=namespaces, now=request.now)
    else:
        large, unique = _keep_indexed(where), sorted(set(terms))
        indexed = large.namespaces
        known = common.find(snapshot.tenant_id, large, unique)
        asked = [term for term in unique if term not in known]
        snapshot.start("postings", tenant_id=snapshot.tenant_id, **_spell(indexed, asked))
        small = sorted({*where.namespaces}.difference(indexed))
        if small:
            snapshot.start("words_of_all", tenant_id=snapshot.tenant_id, namespaces=small, now=request.now)


def _is_read_whole(where: SearchSpace, read_all: int) -> bool:
    """Tell whether all words are read: those of few memories, or of namespaces that the keyword index does not have."""
    return where.memories <= read_all or not any(space.has_words for space in where.spaces)


def _keep_indexed(where: SearchSpace) -> SearchSpace:
    """Return the part whose words are in the keyword index."""
    return replace(where, spaces=tuple(space for space in where.spaces if space.has_words))


def _read_all(
    snapshot: Snapshot, request: Request, where: SearchSpace, terms: Sequence[str]
) -> tuple[bm25.Corpus, Callable[[int, Sequence[int] | None], RankedDocs]]:
    """Every memory of the namespaces, judged; of those that ran out none, unless the filter is asked about each."""
    [row] = snapshot.rows("words_of_all", tenant_id=snapshot.tenant_id, namespaces=where.namespaces, now=request.now)
    docs, shelf = join_words(read_words(row), terms)
    corpus = bm25.Corpus(memories=len(docs), words=int(shelf.lengths.sum()), frequencies=shelf.frequencies(terms))
    raws = shelf.scores(terms, corpus)
    if not request.filter.is_narrow and len(docs):
        raws[np.frombuffer(row[6], np.bool_)] = 0

    def ask(limit: int, among: Sequence[int] | None) -> RankedDocs:
        chosen = raws if among is None else np.where(np.isin(docs, np.array(among, np.int64)), raws, 0)
        return candidates.take_best(docs, chosen, limit)

    return corpus, ask


def _read_promising(
    snapshot: Snapshot, request: Request, where: SearchSpace, terms: Sequence[str], *, common: CommonWords
) -> tuple[bm25.Corpus, Callable[[int, Sequence[int] | None], RankedDocs]]:
    """The most promising that the index gives, judged, and every memory of the small namespaces.

    Turtle and Flood, "Query evaluation: strategies and optimizations" (1995), which is called MaxScore: once enough
    docs have more than all the common terms that are left could add, no other doc comes before them. Whether these docs
    hold one of those terms is seen in their own words, which are read anyway.
    """
    tenant_id, large = snapshot.tenant_id, _keep_indexed(where)
    indexed = large.namespaces
    counts = common.find(tenant_id, large, terms)
    left = sorted(counts, key=lambda term: (counts[term], term))
    postings: candidates.Postings = {}

    def read(some: Sequence[str]) -> dict[str, int]:
        postings.update(_load_postings(snapshot, tenant_id, indexed, some))
        found = {term: len(postings[term][0]) for term in some}
        common.note(tenant_id, large, found)
        return found

    counts |= read([term for term in terms if term not in counts])
    small = sorted({*where.namespaces}.difference(indexed))
    others, other_words = candidates.NONE.docs, bm25.WordTable(b"", candidates.NONE.docs, candidates.NONE.docs)
    if small:
        [row] = snapshot.rows("words_of_all", tenant_id=tenant_id, namespaces=small, now=request.now)
        others, other_words = join_words(read_words(row), terms)
    elsewhere = other_words.frequencies(terms)
    frequencies = {term: elsewhere[term] + counts[term] for term in terms}
    corpus = bm25.Corpus(memories=where.memories, words=where.words, frequencies=frequencies)

    def choose(limit: int, among: Sequence[int] | None) -> NDArray[np.int64]:
        """Choose docs that hold the most promising, and more where terms are left."""
        count = candidates.count_promising(limit)
        while left:
            docs, sums = candidates.sum_idfs(_in_order(postings), corpus, among)
            most = sum(map(corpus.idf, left)) + _ROUNDING
            bar = _find_bar(sums, count)
            if bar > most:
                return docs[sums >= bar - most]
            read([left.pop(0)])
        return candidates.choose_promising(_in_order(postings), corpus, limit, among)

    def ask(limit: int, among: Sequence[int] | None) -> RankedDocs:
        chosen = choose(limit, among)
        docs, shelf = join_words(_read_with_lenders(snapshot, tenant_id, chosen), terms, among=chosen)
        raws = shelf.scores(terms, corpus)
        if left:
            promising = candidates.choose_promising(_list_postings(docs, shelf, terms), corpus, limit, among)
            raws[~candidates.contains(promising, docs)] = 0
        best = candidates.take_best(docs, raws, limit)
        rest = candidates.take_best(others, other_words.scores(terms, corpus), len(others))
        return candidates.merge(best, rest if among is None else rest.only(sorted(among)), limit=limit)

    return corpus, ask


def _read_with_lenders(tx: Transaction, tenant_id: str, docs: NDArray[np.int64]) -> StoredWords:
    """Read the words of some memories and of those that lend them theirs."""
    [row] = tx.rows("words_of", tenant_id=tenant_id, docs=docs.tolist())
    stored = read_words(row)
    others = np.setdiff1d(stored.lenders, stored.docs)
    if not len(others):
        return stored
    [row] = tx.rows("words_of", tenant_id=tenant_id, docs=others.tolist())
    return stored.add(read_words(row))


def _find_bar(sums: NDArray[np.float64], count: int) -> float:
    """Find the sum that `count` docs reach; 0 where there are fewer."""
    return float(np.partition(sums, -count)[-count]) if len(sums) >= count else 0.0


def _in_order(postings: candidates.Postings) -> candidates.Postings:
    """Return postings in the order of their terms, in which sums are added up."""
    return {term: postings[term] for term in sorted(postings)}


def _list_postings(docs: NDArray[np.int64], shelf: bm25.WordTable, terms: Sequence[str]) -> candidates.Postings:
    """List the postings of terms within some docs, whose words are at hand."""
    rows, owners, codes = shelf.rows, shelf.owners, shelf.codes
    found: candidates.Postings = {}
    for term in terms:
        matches = np.flatnonzero(codes == bm25.code(term))
        holders = docs[owners[matches]]
        found[term] = holders, holders[rows["own"][matches] > 0]
    return found


def _load_postings(
    tx: Transaction, tenant_id: str, namespaces: Collection[int], terms: Sequence[str]
) -> candidates.Postings:
    rows = tx.rows("postings", tenant_id=tenant_id, **_spell(namespaces, terms)) if terms else []
    return {
        term: (decode_numbers(docs, ">i8"), decode_numbers(owners, ">i8"))
        for term, (docs, owners) in zip(terms, rows, strict=True)
    }


def _spell(namespaces: Collection[int], terms: Sequence[str]) -> dict[str, list[str]]:
    """Return the queries of terms in some namespaces, and those of their own words alone."""
    owns = [" | ".join(own_code(namespace, term) for namespace in namespaces) for term in terms]
    nears = [" | ".join(near_code(namespace, term) for namespace in namespaces) for term in terms]
    return {"queries": [f"{own} | {near}" for own, near in zip(owns, nears, strict=True)], "owns": owns}
