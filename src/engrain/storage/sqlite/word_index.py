"""The keyword index: whose words stand beside whose, how a namespace is glued to them, and how they are searched."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from engrain.domain import bm25
from engrain.domain.indexing import NEIGHBOURS, near_terms, own_terms, turn_terms
from engrain.domain.requests import Candidate
from engrain.storage.dialects import moment

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from engrain.domain.records import MemoryRecord
    from engrain.domain.requests import Ref
    from engrain.storage.transaction import Transaction

# BM25 ranks the best of a cheaper judgement: this many more are taken than wanted, at least so many.
_DEPTH_FACTOR = 4
_LEAST_DEPTH = 400
# SQLite takes 500 SELECTs in one statement.
_POSTINGS_AT_ONCE = 400

Postings = dict[str, "tuple[NDArray[np.int64], NDArray[np.int64]]"]


@dataclass(frozen=True, slots=True)
class Turn:
    """What the index needs of an episode: its place in the session, its words, and whether it lends them to others."""

    doc: int
    turn: int
    own: Sequence[str]
    content: str
    lends: bool


def turns_of(rows: Iterable[Sequence[Any]]) -> list[Turn]:
    """Turns from rows of (doc, turn, speaker, event_time, content, whether it is live)."""
    return [
        Turn(doc, turn, turn_terms(content, speaker=speaker, event_time=moment(event_time)), content, bool(is_live))
        for doc, turn, speaker, event_time, content, is_live in rows
    ]


def index_turns(tx: Transaction, namespace: int, session: Sequence[Turn], turns: Collection[int]) -> None:
    """Index those `turns` of a stretch of a session, each with the words of the live ones near it."""
    words = {each.doc: (each.own, near_terms(_texts_around(session, each))) for each in session if each.turn in turns}
    index(tx, namespace, words)


def index(tx: Transaction, namespace: int, words: Mapping[int, tuple[Sequence[str], Sequence[str]]]) -> None:
    """Index docs under their own words and those of their neighbours, in place of what they were indexed under."""
    packed = {doc: bm25.pack(own, near) for doc, (own, near) in words.items()}
    before = _lengths(tx, words)
    tx.run_each(
        "replace_words",
        [
            {"doc": doc, "own": _glued(namespace, own), "near": _glued(namespace, near)}
            for doc, (own, near) in words.items()
        ],
    )
    tx.run_each(
        "set_terms",
        [{"doc": doc, "own": each.own, "near": each.near, "packed": each.packed} for doc, each in packed.items()],
    )
    change = sum(each.length for each in packed.values()) - sum(before.values())
    _count(tx, namespace, memories=len(packed) - len(before), words=change)


def drop(tx: Transaction, namespace: int, doc: int) -> None:
    """Take a memory out of the index."""
    before = _lengths(tx, [doc])
    tx.run("drop_words", doc=doc)
    _count(tx, namespace, memories=-len(before), words=-sum(before.values()))


def search(
    tx: Transaction,
    namespaces: Collection[int],
    terms: Collection[str],
    limit: int,
    *,
    tenant_id: str,
    among: Sequence[int] | None = None,
) -> list[Candidate]:
    """The memories of the namespaces that hold any of the terms, by `domain.bm25`; best first, ties newest first.

    FTS5 gives the docs of each term, a fifth of the work of its own bm25(). The IDFs of a memory's terms, halved for a
    neighbour's, choose those worth counting: length and repetition seldom outweigh them.
    """
    postings = _postings(tx, namespaces, terms)
    corpus = _corpus(tx, tenant_id, namespaces, postings)
    docs = _promising(postings, corpus, max(limit * _DEPTH_FACTOR, _LEAST_DEPTH), among)
    rows = tx.rows("terms_of", docs=tx.dialect.listed(docs))
    words: dict[Ref, bm25.IndexedWords] = {doc: bm25.IndexedWords(own, near, packed) for doc, own, near, packed in rows}
    return _ranked(words, terms, corpus)[:limit]


def search_outside(
    tx: Transaction,
    namespaces: Collection[int],
    terms: Collection[str],
    memories: Mapping[Ref, MemoryRecord],
    *,
    tenant_id: str,
) -> list[Candidate]:
    """Those of a few memories outside the index which hold any of the terms, by their own words; best first."""
    words = {ref: bm25.pack(own_terms(memory), ()) for ref, memory in memories.items()}
    corpus = _corpus(tx, tenant_id, namespaces, _postings(tx, namespaces, terms))
    return [each for each in _ranked(words, terms, corpus) if each.raw > 0]


def _ranked(words: Mapping[Ref, bm25.IndexedWords], terms: Collection[str], corpus: bm25.Corpus) -> list[Candidate]:
    raws = bm25.scores(list(words.values()), terms, corpus).tolist()
    found = [Candidate(ref, raw) for ref, raw in zip(words, raws, strict=True)]
    return sorted(found, key=best_first)


def best_first(candidate: Candidate) -> tuple[float, int]:
    """The order of every list of candidates: the larger number, then the newer doc."""
    assert isinstance(candidate.ref, int)
    return -candidate.raw, -candidate.ref


def _postings(tx: Transaction, namespaces: Collection[int], terms: Collection[str]) -> Postings:
    """For each term the docs that hold it at all, and those that hold it as a word of their own; each doc once."""
    asked = sorted(set(terms)) if namespaces else []
    matches = [f"{column}({_glued_any(namespaces, term)})" for term in asked for column in ("", "own : ")]
    found: list[NDArray[np.int64]] = []
    for start in range(0, len(matches), _POSTINGS_AT_ONCE):
        batch = matches[start : start + _POSTINGS_AT_ONCE]
        rows = tx.db.execute(" UNION ALL ".join([tx.speech.statements["postings"]] * len(batch)), batch)
        found.extend(np.fromstring(docs or "", np.int64, sep=",") for (docs,) in rows)
    return {term: (found[2 * place], found[2 * place + 1]) for place, term in enumerate(asked)}


def _promising(postings: Postings, corpus: bm25.Corpus, count: int, among: Sequence[int] | None) -> list[int]:
    """The docs with the largest sums of IDFs: `count` of them, and what ties with the last."""
    lists = [docs for pair in postings.values() for docs in pair]
    if not lists:
        return []
    shares = [corpus.idf(term) * share for term in postings for share in (bm25.NEAR_WEIGHT, 1 - bm25.NEAR_WEIGHT)]
    docs, places = np.unique(np.concatenate(lists), return_inverse=True)
    sums = np.bincount(places, np.repeat(shares, [len(each) for each in lists]), minlength=len(docs))
    if among is not None:
        kept = np.isin(docs, np.array(among, np.int64))
        docs, sums = docs[kept], sums[kept]
    if len(docs) > count:
        docs = docs[sums >= np.partition(sums, -count)[-count]]
    chosen: list[int] = docs.tolist()
    return chosen


def _corpus(tx: Transaction, tenant_id: str, namespaces: Collection[int], postings: Postings) -> bm25.Corpus:
    [(memories, words)] = tx.rows("corpus", tenant_id=tenant_id, namespaces=tx.dialect.listed(sorted(namespaces)))
    frequencies = {term: len(docs) for term, (docs, _) in postings.items()}
    return bm25.Corpus(memories=memories, words=words, frequencies=frequencies)


def _lengths(tx: Transaction, docs: Iterable[int]) -> dict[int, int]:
    """How many words each of the docs that are indexed has."""
    return {row[0]: row[1] for row in tx.rows("lengths", docs=tx.dialect.listed(docs))}


def _count(tx: Transaction, namespace: int, *, memories: int, words: int) -> None:
    tx.run("count_words", namespace=namespace, memories=memories, words=words)


def _texts_around(session: Sequence[Turn], turn: Turn) -> list[str]:
    return [each.content for each in session if each.lends and 0 < abs(each.turn - turn.turn) <= NEIGHBOURS]


def _glued(namespace: int, terms: Iterable[str]) -> str:
    """Terms as FTS5 keeps them: `n17xlisbon`, so that posting lists and document frequencies are a namespace's own."""
    return " ".join([f"n{namespace}x{term}" for term in terms])


def _glued_any(namespaces: Collection[int], term: str) -> str:
    """An FTS5 expression for a term in any of the namespaces; quoting leaves no operator alive."""
    words = (f"n{namespace}x{term}".replace('"', '""') for namespace in sorted(namespaces))
    return " OR ".join(f'"{word}"' for word in words)
