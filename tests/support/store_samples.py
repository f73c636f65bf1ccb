"""What suites that speak to a store share: conversations, vectors, and answers with ids instead of a backend's refs."""

from datetime import UTC, datetime, timedelta
from itertools import groupby

import numpy as np

from engrain.domain.access.scopes import GLOBAL_SCOPE
from engrain.domain.filters import Filter
from engrain.domain.records import Caller, Entity, Episode, MemoryRecord
from engrain.domain.requests import Act, Ref, Request
from tests.support.one_call import OneCall
from tests.support.sample_records import CALLER, NOON, act, author, entity, episode, request

DIMS = 4
EMBEDDER = "test:axes"
LONG_AGO = datetime.min.replace(tzinfo=UTC)


def conversation(*contents: str, session: str = "monday", **changes) -> list[Episode]:
    """Turns of one session, a minute apart."""
    return [
        episode(content, **{"session": session, "event_time": NOON + timedelta(minutes=place), **changes})
        for place, content in enumerate(contents)
    ]


def axis(place: int) -> np.ndarray:
    """The unit vector along one of DIMS axes: cosines with it are exact, so ties are too."""
    return np.eye(DIMS, dtype=np.float32)[place]


def put(store: OneCall, memories: list[MemoryRecord], *, by: Caller | None = None) -> list[MemoryRecord]:
    """Memories put when the last of them was made: by whoever may write them, in one act for each such author."""

    def wall(memory: MemoryRecord) -> tuple[str, str]:
        shared = memory.scope == GLOBAL_SCOPE or memory.scope.startswith("pool:")
        return memory.tenant_id, "aide" if shared else memory.scope

    return [
        stored
        for _, run in groupby(memories, wall)
        for written in [list(run)]
        for stored in store.put(Act(caller=by or author(*written), at=max(m.created_at for m in written)), written)
    ]


def know(store: OneCall, *names: str, **changes) -> list[Entity]:
    """Entities of these names, put into the registry."""
    return [store.put_entity(act(), entity(name, **changes)) for name in names]


def flush_index(store: OneCall) -> None:
    """Finish whatever was left for later."""
    while store.flush_index():
        pass


def refs(store: OneCall, caller: Caller = CALLER, words: set[str] = frozenset()) -> dict[Ref, str]:
    """Settled, the ids behind the refs of all `caller` may find that waits for a vector, has one, or says any word."""
    flush_index(store)
    everything = Request(caller=caller, filter=Filter(include_inactive=True), now=LONG_AGO)
    handles = [each.ref for each in store.unembedded(100_000)]
    handles += [each.ref for each in store.nearest(everything, axis(0), 100_000)]
    handles += [each.ref for each in store.keyword(everything, words, 100_000)]
    return {ref: memory.id for ref, memory in store.load(everything, handles).items()}


def embed_all(store: OneCall, vectors: dict[str, np.ndarray], caller: Caller = CALLER) -> dict[Ref, str]:
    """Give memories their vectors by id; the ids behind all refs."""
    store.use_embedder(EMBEDDER, DIMS)
    known = refs(store, caller)
    chosen = {ref: vectors[id_] for ref, id_ in known.items() if id_ in vectors}
    store.attach(list(chosen), np.array(list(chosen.values()), np.float32).reshape(-1, DIMS))
    return known


def keyword(store: OneCall, *terms: str, asked: Request | None = None, limit: int = 1_000) -> dict[str, float]:
    """What the keyword channel finds: scores by id, best first."""
    asked = request() if asked is None else asked
    found = store.keyword(asked, set(terms), limit)
    assert len({each.ref for each in found}) == len(found)
    memories = store.load(asked, [each.ref for each in found])
    return {memories[each.ref].id: each.raw for each in found}


def nearest(store: OneCall, vector: np.ndarray, known: dict[Ref, str], *, limit: int = 1_000, **conditions):
    """What the vector channel finds: cosines by id, best first."""
    found = store.nearest(request(**conditions), vector, limit)
    assert len({each.ref for each in found}) == len(found)
    return {known[each.ref]: each.raw for each in found}
