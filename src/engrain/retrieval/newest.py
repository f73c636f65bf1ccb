"""The newest memories, for a query without words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from engrain.retrieval import ranking
from engrain.storage.search import recency
from engrain.storage.search.matching import load_matching
from engrain.storage.search.traits import load_traits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engrain.domain.memories.decay import DecayPolicy
    from engrain.domain.records import MemoryRecord
    from engrain.domain.requests import Request
    from engrain.storage.unit_of_work import Snapshot

MOST_NEWEST = 5_000
_DEEPER = 8


def load_newest(
    snapshot: Snapshot, request: Request, limit: int, *, least_confidence: float, decay: DecayPolicy
) -> Sequence[MemoryRecord]:
    """Load the newest memories of at least that effective confidence, among the newest MOST_NEWEST."""
    if least_confidence <= 0 or limit <= 0:
        return recency.load_newest(snapshot, request, limit)
    count = limit
    while True:
        docs = [int(candidate.ref) for candidate in recency.find_newest(snapshot, request, count)]
        traits = load_traits(snapshot, request, np.sort(np.array(docs, np.int64)))
        left = ranking.effective_confidence(traits, request.now, decay)
        passing = {*traits["doc"][left >= least_confidence].tolist()}
        if len(passing) >= limit or len(docs) < count or count >= MOST_NEWEST:
            break
        count = min(count * _DEEPER, MOST_NEWEST)
    best = [doc for doc in docs if doc in passing][:limit]
    memories = load_matching(snapshot, request, best)
    return [memories[doc] for doc in best if doc in memories]
