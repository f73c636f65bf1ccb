"""The newest memories, for a query that is compared with nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from engrain.domain.records import Explanation, Hit
from engrain.retrieval.ranking import signals
from engrain.storage.search import recency
from engrain.storage.search.matching import load_matching
from engrain.storage.search.traits import load_traits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engrain.domain.records import MemoryRecord
    from engrain.domain.requests import Request
    from engrain.retrieval.search_query import SearchQuery
    from engrain.storage.unit_of_work import Snapshot

MOST_NEWEST = 5_000
_DEEPER = 8


def list_newest(snapshot: Snapshot, request: Request, query: SearchQuery) -> tuple[Hit, ...]:
    """List the newest memories within the query's limits; nothing is similar to a query without words."""
    if query.min_similarity > 0:
        return ()
    preferred = request if query.category is None else request.with_category(query.category)
    memories = load_newest(snapshot, preferred, query, query.limit)
    if not memories and query.category is not None:
        memories = load_newest(snapshot, request, query, query.limit)
    return make_hits(query, memories)


def make_hits(query: SearchQuery, memories: Sequence[MemoryRecord]) -> tuple[Hit, ...]:
    """Make hits that were compared with nothing."""
    why = Explanation(preset=query.preset.name, contributions=())
    return tuple(Hit(score=0.0, memory=memory, why=why) for memory in memories)


def load_newest(snapshot: Snapshot, request: Request, query: SearchQuery, limit: int) -> Sequence[MemoryRecord]:
    """Load the newest memories of at least the query's effective confidence, among the newest MOST_NEWEST."""
    if query.least_confidence <= 0 or limit <= 0:
        return recency.load_newest(snapshot, request, limit)
    count = limit
    while True:
        docs = [int(candidate.ref) for candidate in recency.find_newest(snapshot, request, count)]
        traits = load_traits(snapshot, request, np.sort(np.array(docs, np.int64)))
        left = signals.effective_confidence(traits, request.now, query.decay)
        passing = {*traits["doc"][left >= query.least_confidence].tolist()}
        if len(passing) >= limit or len(docs) < count or count >= MOST_NEWEST:
            break
        count = min(count * _DEEPER, MOST_NEWEST)
    best = [doc for doc in docs if doc in passing][:limit]
    memories = load_matching(snapshot, request, best)
    return [memories[doc] for doc in best if doc in memories]
