"""Keyword search: reads every memory of a small namespace, and of a large one those that a GIN index gives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from engrain.domain.text import bm25
from engrain.storage.postgres.index import near_code, own_code
from engrain.storage.search import candidates, matching

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from numpy.typing import NDArray

    from engrain.domain.requests import Request
    from engrain.storage.search.candidates import RankedDocs
    from engrain.storage.search.namespaces import SearchSpace
    from engrain.storage.transaction import Transaction
    from engrain.storage.unit_of_work import Snapshot

# Up to so many memories, reading them all takes less than finding out which are worth it.
READ_ALL = 1_000

Ask = "Callable[[int, Sequence[int] | None], RankedDocs]"


def search_keywords(
    snapshot: Snapshot,
    request: Request,
    where: SearchSpace,
    terms: Collection[str],
    *,
    limit: int,
    narrow: int,
    read_all: int,
) -> RankedDocs:
    """Find memories that hold any of the terms and match, by `text.bm25`; best first, ties newest first."""
    unique = sorted(set(terms))
    few = where.memories <= read_all
    only_live = few or not where.has_expired
    corpus, ask = _read_all(snapshot, request, where, unique) if few else _read_promising(snapshot, where, unique)
    found = matching.collect_enough(snapshot, request, limit, ask, only_live=only_live, narrow=narrow)
    gone = matching.load_inactive(snapshot, request)
    if gone:
        found = candidates.merge(found, candidates.rank_unindexed(gone, unique, corpus, limit), limit=limit)
    return found


def _read_all(
    snapshot: Snapshot, request: Request, where: SearchSpace, terms: Sequence[str]
) -> tuple[bm25.Corpus, Callable[[int, Sequence[int] | None], RankedDocs]]:
    """Every memory of the namespaces, judged; of those that ran out none, unless the filter is asked about each."""
    [row] = snapshot.rows("words_of_all", tenant_id=snapshot.tenant_id, namespaces=where.namespaces, now=request.now)
    docs, shelf = _read_shelf(row)
    corpus = bm25.Corpus(memories=len(docs), words=int(shelf.lengths.sum()), frequencies=shelf.frequencies(terms))
    raws = shelf.scores(terms, corpus)
    if not request.filter.is_narrow and len(docs):
        raws[np.frombuffer(row[4], np.bool_)] = 0

    def ask(limit: int, among: Sequence[int] | None) -> RankedDocs:
        chosen = raws if among is None else np.where(np.isin(docs, np.array(among, np.int64)), raws, 0)
        return candidates.take_best(docs, chosen, limit)

    return corpus, ask


def _read_promising(
    snapshot: Snapshot, where: SearchSpace, terms: Sequence[str]
) -> tuple[bm25.Corpus, Callable[[int, Sequence[int] | None], RankedDocs]]:
    """What the index gives for each term, and the most promising of it judged."""
    tenant_id = snapshot.tenant_id
    postings = _load_postings(snapshot, tenant_id, where.namespaces, terms)
    frequencies = {term: len(docs) for term, (docs, _) in postings.items()}
    corpus = bm25.Corpus(memories=where.memories, words=where.words, frequencies=frequencies)

    def ask(limit: int, among: Sequence[int] | None) -> RankedDocs:
        chosen = candidates.choose_promising(postings, corpus, limit, among)
        [row] = snapshot.rows("words_of", tenant_id=tenant_id, docs=chosen.tolist())
        docs, shelf = _read_shelf(row)
        return candidates.take_best(docs, shelf.scores(terms, corpus), limit)

    return corpus, ask


def _load_postings(
    tx: Transaction, tenant_id: str, namespaces: Collection[int], terms: Sequence[str]
) -> candidates.Postings:
    owns = [" | ".join(own_code(namespace, term) for namespace in namespaces) for term in terms]
    nears = [" | ".join(near_code(namespace, term) for namespace in namespaces) for term in terms]
    queries = [f"{own} | {near}" for own, near in zip(owns, nears, strict=True)]
    rows = tx.rows("postings", tenant_id=tenant_id, queries=queries, owns=owns)
    return {
        term: (_decode_numbers(docs, ">i8"), _decode_numbers(owners, ">i8"))
        for term, (docs, owners) in zip(terms, rows, strict=True)
    }


def _read_shelf(row: Sequence[Any]) -> tuple[NDArray[np.int64], bm25.WordTable]:
    """Docs and their words, from aggregates of one scan, which are in one order therefore."""
    docs, lengths, sizes, packed, *_ = row
    return _decode_numbers(docs, ">i8"), bm25.WordTable(
        packed or b"", _decode_numbers(sizes, ">i4"), _decode_numbers(lengths, ">i4")
    )


def _decode_numbers(sent: bytes | None, kind: str) -> NDArray[np.int64]:
    """Numbers as the server writes them to the wire, one after the other: an array of them takes twelve bytes each."""
    return np.frombuffer(sent or b"", kind).astype(np.int64)
