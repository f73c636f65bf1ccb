"""Keyword index: words with their namespace as a prefix, and the search for them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

import numpy as np

from engrain.domain.text import bm25
from engrain.storage.dialects import as_json
from engrain.storage.search import candidates

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from numpy.typing import NDArray

    from engrain.domain.records import MemoryRecord
    from engrain.domain.requests import Ref
    from engrain.storage.search.candidates import RankedDocs
    from engrain.storage.search.namespaces import SearchSpace
    from engrain.storage.search.neighbour_words import Words
    from engrain.storage.transaction import Transaction

GONE: Final = 3  # the state of a memory that left the searches

# Up to so many memories, reading the docs of a common term takes less than finding out that it is common.
READ_ALL = 4_000
# SQLite takes 500 SELECTs in one statement.
_POSTINGS_AT_ONCE = 400


def index_words(
    tx: Transaction, namespaces: Mapping[int, int], words: Words, *, new: AbstractSet[int] = frozenset()
) -> dict[int, bm25.IndexedWords]:
    """Index docs of some namespaces under their own words and those of their neighbours, in place of earlier ones.

    Those that are `new` have no earlier ones. Returns the counts to store with the docs.
    """
    packed = dict(zip(words, bm25.pack_all(list(words.values())), strict=True))
    memories, lengths = Counter([namespaces[doc] for doc in words]), Counter[int]()
    for doc, (own, near, _) in packed.items():
        lengths[namespaces[doc]] += own + near
    before = sorted([doc for doc in words if doc not in new])
    for _, _, namespace, length in tx.rows("indexed_lengths", docs=tx.dialect.listed(before)):
        if length is not None:
            memories[namespace] -= 1
            lengths[namespace] -= length
    # Ascending, else FTS5 begins a segment anew wherever a doc comes before the last.
    for name, docs in (("replace_words", before), ("add_words", sorted(words.keys() & new))):
        for namespace in memories if docs else ():
            of_namespace = {doc: words[doc] for doc in docs if namespaces[doc] == namespace}
            tx.run_each(name, _glue_all(namespace, of_namespace))
    _add_to_totals(tx, memories, lengths)
    return packed


def drop_words(tx: Transaction, docs: Iterable[int]) -> list[int]:
    """Take memories out of the keyword index, and return those that were still in the searches."""
    rows = tx.rows("indexed_lengths", docs=tx.dialect.listed(docs))
    searched = [row for row in rows if row[1] != GONE]
    leaving = [doc for doc, *_ in searched]
    tx.run("drop_words", docs=tx.dialect.listed(leaving))
    memories, lengths = Counter[int](), Counter[int]()
    for _, _, namespace, length in searched:
        if length is not None:
            memories[namespace] -= 1
            lengths[namespace] -= length
    _add_to_totals(tx, memories, lengths)
    return leaving


def search_words(
    tx: Transaction,
    where: SearchSpace,
    terms: Collection[str],
    limit: int,
    *,
    among: Sequence[int] | None = None,
    read_all: int = READ_ALL,
) -> RankedDocs:
    """Find memories of the namespaces that hold any of the terms, by `domain.text.bm25`; best first, ties newest first.

    FTS5 gives the docs of each term, a fifth of the work of its own bm25(). The IDFs of a memory's terms, halved for a
    neighbour's, choose those worth counting: length and repetition seldom outweigh them.
    """
    if where.memories <= read_all:
        postings = _load_postings(tx, where.namespaces, terms)
        corpus = _build_corpus(where, postings)
    else:
        corpus = bm25.Corpus(
            memories=where.memories,
            words=where.words,
            frequencies=_count_memories(tx, where.namespaces, terms),
        )
        postings = _load_rarest(tx, where.namespaces, corpus, count=candidates.count_promising(limit), among=among)
    chosen = candidates.choose_promising(postings, corpus, limit, among)
    rows = tx.rows("terms_of", docs=tx.dialect.listed(chosen.tolist())) if len(chosen) else []
    if not rows:
        return candidates.NONE
    docs, owns, nears, packed = zip(*rows, strict=True)
    raws = bm25.build_table(owns, nears, packed).scores(terms, corpus)
    return candidates.take_best(np.array(docs, np.int64), raws, limit)


def search_unindexed(
    tx: Transaction, where: SearchSpace, terms: Collection[str], memories: Mapping[Ref, MemoryRecord], *, limit: int
) -> RankedDocs:
    """Rank a few memories outside the index that hold any of the terms, by their own words; best first."""
    corpus = _build_corpus(where, _load_postings(tx, where.namespaces, terms))
    return candidates.rank_unindexed(memories, terms, corpus, limit)


def _load_rarest(
    tx: Transaction, namespaces: Collection[int], corpus: bm25.Corpus, *, count: int, among: Sequence[int] | None
) -> candidates.Postings:
    """The postings of a query's terms, of common ones only as far as they can decide which `count` docs are promising.

    Turtle and Flood, "Query evaluation: strategies and optimizations" (1995), which is called MaxScore: once `count`
    docs have more than all the terms that are left could add, no other doc comes before them. Of those terms the docs
    that hold a rarer one are read, a tenth of the work of reading them all.
    """
    left = sorted(corpus.frequencies, key=lambda term: (corpus.frequencies[term], term))
    postings: candidates.Postings = {}
    expected = 0
    while left:
        rarest = [left.pop(0)]
        expected += corpus.frequencies[rarest[0]]
        while left and expected < count:
            expected += corpus.frequencies[left[0]]
            rarest.append(left.pop(0))
        postings |= _load_postings(tx, namespaces, rarest)
        _, sums = candidates.sum_idfs(postings, corpus, among)
        most = sum(map(corpus.idf, left))
        if len(sums) >= count and np.partition(sums, -count)[-count] > most:
            break
    postings |= _load_postings(tx, namespaces, left, within=list(postings))
    return {term: postings[term] for term in sorted(postings)}


def _count_memories(tx: Transaction, namespaces: Collection[int], terms: Collection[str]) -> dict[str, int]:
    """The number of memories that hold each term, without reading which."""
    tx.run("use_vocabulary")
    distinct = sorted(set(terms))
    keys = [[place, f"n{namespace}x{term}"] for place, term in enumerate(distinct) for namespace in namespaces]
    counts = Counter[int]()
    for place, count in tx.rows("memories_of_terms", terms=as_json(keys)):
        counts[place] += count
    return {term: counts[place] for place, term in enumerate(distinct)}


def _load_postings(
    tx: Transaction, namespaces: Collection[int], terms: Collection[str], *, within: Collection[str] = ()
) -> candidates.Postings:
    """For each term the docs that hold it at all, and those that hold it as a word of their own; each doc once.

    `within`: only the docs that hold one of these terms, too.
    """
    distinct = sorted(set(terms)) if namespaces else []
    others = f" AND ({' OR '.join(_match_any(namespaces, term) for term in within)})" if within else ""
    matches = [f"({column}({_match_any(namespaces, term)})){others}" for term in distinct for column in ("", "own : ")]
    found: list[NDArray[np.int64]] = []
    for start in range(0, len(matches), _POSTINGS_AT_ONCE):
        batch = matches[start : start + _POSTINGS_AT_ONCE]
        rows = tx.db.execute(" UNION ALL ".join([tx.statements.named["postings"]] * len(batch)), batch)
        found.extend(np.fromstring(docs or "", np.int64, sep=",") for (docs,) in rows)
    return {term: (found[2 * place], found[2 * place + 1]) for place, term in enumerate(distinct)}


def _build_corpus(where: SearchSpace, postings: candidates.Postings) -> bm25.Corpus:
    frequencies = {term: len(docs) for term, (docs, _) in postings.items()}
    return bm25.Corpus(memories=where.memories, words=where.words, frequencies=frequencies)


def _add_to_totals(tx: Transaction, memories: Mapping[int, int], words: Mapping[int, int]) -> None:
    for namespace in sorted(memories.keys() | words.keys()):
        tx.run("count_words", namespace=namespace, memories=memories[namespace], words=words[namespace])


def _glue_all(namespace: int, words: Words) -> Iterator[tuple[int, str, str]]:
    """Yield docs with their own words and those of their neighbours, glued; what several share is glued once."""
    several = {id(terms): terms for sides in words.values() for side in sides for terms in side}
    glued = {key: _glue(namespace, terms.words) for key, terms in several.items()}

    def join(side: Sequence[bm25.Terms]) -> str:
        return " ".join(map(glued.__getitem__, map(id, side)))

    for doc, (own, near) in words.items():
        yield doc, join(own), join(near)


def _glue(namespace: int, terms: Sequence[str]) -> str:
    """Terms as FTS5 keeps them: `n17xlisbon`, so that posting lists and document frequencies are a namespace's own."""
    return f"n{namespace}x" + f" n{namespace}x".join(terms) if terms else ""


def _match_any(namespaces: Collection[int], term: str) -> str:
    """An FTS5 expression for a term in any of the namespaces; quoting leaves no operator alive."""
    escaped = term.replace('"', '""')
    return " OR ".join([f'"n{namespace}x{escaped}"' for namespace in sorted(namespaces)])
