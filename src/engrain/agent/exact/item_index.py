"""Search of items: what is indexed of an item when it is put, and the ranking by words and by meaning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engrain.agent.reads.search import embed_query
from engrain.domain.items import IndexEntry, ItemChange, Namespace, find_texts
from engrain.domain.records import Caller, Degraded
from engrain.domain.text.analysis import lookup_terms, terms
from engrain.errors import UNWRITABLE, EngineUnavailable
from engrain.storage.exact import items

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    import numpy as np
    from numpy.typing import NDArray

    from engrain.agent.wiring.parts import Parts
    from engrain.domain.ports import Embedder
    from engrain.storage.exact.items import ItemRow

_SHARE_OF_WORDS = 0.5  # of a score; the other half is the cosine of the nearest text
_AT_ONCE = 256


def add_entries(parts: Parts, changes: Sequence[ItemChange], texts: Sequence[Sequence[str]]) -> list[ItemChange]:
    """Return changes with what a search reads of each: the texts of one belong to the change of its place."""
    entries = iter(_make_entries(parts, [of_one for of_one in texts if of_one]))
    return [
        change._replace(entry=next(entries)) if of_one else change
        for change, of_one in zip(changes, texts, strict=True)
    ]


def rank(
    parts: Parts, caller: Caller, namespace: Namespace, query: str, *, conditions: Mapping[str, Any], now: datetime
) -> list[ItemRow]:
    """Return the indexed items of a namespace and of those below by how well they answer a query, the best first.

    Those in which none of their fields has a text are left out.

    Half of a score is the cosine of the item's nearest text, half its BM25 as a share of the best; where there are no
    vectors, all of it is BM25. Equal scores go by the last write.
    """
    import numpy as np

    _index_missing(parts, caller, namespace, now=now)
    indexed = parts.store.read(caller, items.list_indexed, namespace, conditions, now=now)
    rows = [(row, row.entry) for row in indexed if row.entry is not None and (row.entry.words or row.entry.vectors)]
    if not rows:
        return []
    scores = _score_words([entry for _, entry in rows], query)
    vector = None if parts.embedder is None else embed_query(parts.embedder, query)
    if parts.embedder is not None and vector is not None and not isinstance(vector, Degraded):
        identity = _identify(parts.embedder)
        cosines = np.array([_find_cosine(entry, vector, identity) for _, entry in rows])
        scores = _SHARE_OF_WORDS * scores + (1 - _SHARE_OF_WORDS) * cosines
    order = np.argsort(-scores, kind="stable")
    return [items.scored(rows[place][0], float(scores[place])) for place in order]


def _score_words(entries: Sequence[IndexEntry], query: str) -> NDArray[np.float64]:
    """Return the BM25 of items as a share of the best."""
    from engrain.domain.text import bm25  # loads NumPy, which `import engrain` does not

    wanted = set(lookup_terms(query)[0])
    table = bm25.build_table(
        [entry.words for entry in entries], [0] * len(entries), [entry.packed for entry in entries]
    )
    words = sum(entry.words for entry in entries)
    corpus = bm25.Corpus(memories=len(entries), words=words, frequencies=table.frequencies(wanted))
    scores = table.scores(wanted, corpus)
    return scores / max(float(scores.max()), 1e-9)


def _identify(embedder: Embedder) -> str:
    """Return what tells vectors of one length from those of another, which the same model may make."""
    return f"{embedder.name} {embedder.dims}"


def _find_cosine(entry: IndexEntry, vector: NDArray[np.float32], identity: str) -> float:
    """Return the cosine of the nearest text of an item, 0 without a vector of this embedder."""
    import numpy as np

    if not entry.vectors or entry.embedder != identity:
        return 0.0
    return max(float((np.frombuffer(entry.vectors, "<f4").reshape(-1, len(vector)) @ vector).max()), 0.0)


def _index_missing(parts: Parts, caller: Caller, namespace: Namespace, *, now: datetime) -> None:
    """Index the items that a restore brought, or that have vectors of another embedder or none."""
    identity = None if parts.embedder is None else _identify(parts.embedder)
    missing = parts.store.read(caller, items.list_unindexed, namespace, identity, now=now)
    for start in range(0, len(missing), _AT_ONCE):
        batch = missing[start:][:_AT_ONCE]
        texts = [find_texts(item.value, item.fields) for item in batch]
        entries = list(zip(batch, _make_entries(parts, texts), strict=True))
        try:
            parts.store.maintain(caller.tenant_id, items.index_all, caller.tenant_id, entries)
        except UNWRITABLE:  # the search goes on with what is indexed
            return


def _make_entries(parts: Parts, texts: Sequence[Sequence[str]]) -> list[IndexEntry]:
    """Return what a search reads of items, by their texts; without vectors where the embedder cannot answer."""
    from engrain.domain.text import bm25  # loads NumPy, which `import engrain` does not

    packed = bm25.pack_all([([bm25.encode(terms(text)) for text in of_one], []) for of_one in texts])
    entries = [IndexEntry(words.own, words.packed) for words in packed]
    if parts.embedder is None or not texts:
        return entries
    try:
        vectors = parts.embedder.embed([text for of_one in texts for text in of_one], role="document")
    except EngineUnavailable:  # the next search tries again
        return entries
    identity, start, complete = _identify(parts.embedder), 0, []
    for entry, of_one in zip(entries, texts, strict=True):
        rows = vectors[start : start + len(of_one)]
        start += len(of_one)
        complete.append(entry._replace(embedder=identity, vectors=rows.astype("<f4").tobytes()))
    return complete
