"""Packs of a file's vectors: a process that begins with them finds what one finds that reads every vector."""

from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from engrain.storage.sqlite import vector_packs
from engrain.storage.sqlite.statements import STATEMENTS
from engrain.storage.sqlite.vector_cache import VectorCache
from engrain.storage.transaction import Transaction
from tests.support.sample_records import act, episode, request
from tests.support.sqlite_statements import statements
from tests.support.store_samples import put
from tests.support.stores import SqliteStore

DIMS = 16
EMBEDDER = "test:random"
# Four packs, and some vectors that are in none.
MEMORIES = 4 * vector_packs.ROWS + 300


def unit(rows):
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def vectors(count, seed=1):
    return unit(np.random.default_rng(seed).standard_normal((count, DIMS)))


def add(store, count, seed=1):
    """Turns, each with a vector, of which 64 are stored at a time."""
    turns = put(store, [episode(f"Turn {place} of {seed}.") for place in range(count)])
    while store.flush_index():
        pass
    waiting = {each.id: each.ref for each in store.unembedded(count)}
    refs, rows = [waiting[turn.id] for turn in turns], vectors(count, seed)
    for start in range(0, count, 64):
        store.attach(refs[start : start + 64], rows[start : start + 64])
    return turns


@pytest.fixture
def store(tmp_path):
    with closing(SqliteStore(str(tmp_path / "agent.db"))) as store:
        store.use_embedder(EMBEDDER, DIMS)
        yield store


@pytest.fixture
def turns(store):
    return add(store, MEMORIES)


def stretches(store):
    """The packs of the only namespace: how many vectors each holds."""
    with store.backend._connections.reading() as db:
        return [
            count for (count,) in db.execute("SELECT length(docs) / 8 FROM memory_vector_packs ORDER BY last_change")
        ]


def begin(store):
    """The index of a process that begins now, by doc: the row as it is compared, and the statements it took."""
    with statements(store) as ran, store.backend._connections.snapshot() as db:
        cache = VectorCache()
        cache.catch_up(Transaction(db, STATEMENTS), 1)
    [seen] = cache._namespaces.values()
    index = seen.index
    rows = zip(index._slots.docs.tolist(), index._codes, index._scales.tolist(), strict=False)
    return {doc: (code.tobytes(), scale) for doc, code, scale in rows}, [sql for sql in ran if "embedding END" in sql]


def begin_without_packs(store):
    with store.backend._connections.writing() as db:
        db.execute("DELETE FROM memory_vector_packs")
    return begin(store)


def nearest(store, query):
    return [(found.ref, found.raw) for found in store.nearest(request(), query, 20)]


def nearest_of_another(store, query):
    with closing(SqliteStore(store.location)) as other:
        other.use_embedder(EMBEDDER, DIMS)
        return nearest(other, query)


def test_a_process_begins_with_packs_and_the_few_vectors_that_are_in_none(store, turns):
    assert len(turns) == MEMORIES
    assert stretches(store) == [vector_packs.ROWS] * 4
    packed, ran = begin(store)
    assert len(ran) == 1
    rows, _ = begin_without_packs(store)
    assert packed == rows
    assert len(rows) == MEMORIES


def test_what_changed_after_it_was_packed_counts(store, turns):
    store.forget(act(), turns[7].id)
    store.erase(act(), [turns[2_000].id, turns[2_001].id])
    add(store, 200, seed=2)
    packed, _ = begin(store)
    queries = vectors(5, seed=3)
    found = [nearest_of_another(store, query) for query in queries]
    rows, _ = begin_without_packs(store)
    assert packed == rows
    assert len(rows) == MEMORIES + 200 - 3
    assert found == [nearest_of_another(store, query) for query in queries]
    assert found == [nearest(store, query) for query in queries]


def test_an_erased_vector_takes_its_pack_which_is_made_again_without_it(store, turns):
    row = vectors(MEMORIES)[1_500]
    code = np.rint(row / (np.abs(row).max() / np.float32(127))).astype(np.int8).tobytes()
    file = Path(store.location)
    store.backend.compact()
    assert code in file.read_bytes()
    store.erase(act(), [turns[1_500].id])
    assert stretches(store) == [vector_packs.ROWS] * 3
    assert code not in file.read_bytes()
    add(store, vector_packs.ROWS, seed=2)
    # What was erased is a change of the last pack, too.
    assert stretches(store) == [vector_packs.ROWS - missing for missing in (0, 1, 0, 0, 1)]
    packed, _ = begin(store)
    assert packed == begin_without_packs(store)[0]


@pytest.mark.usefixtures("turns")
def test_packs_of_a_retired_embedder_go_with_its_vectors(store):
    version = store.begin_version("test:other", DIMS)
    refs = [memory.ref for memory in store.unembedded(MEMORIES, version=version.version)]
    store.attach(refs, vectors(MEMORIES, seed=5), version=version.version)
    assert len(stretches(store)) == 8
    assert store.switch_version(act(), version.version)
    while store.prune_vectors(1_000):
        pass
    assert stretches(store) == [vector_packs.ROWS] * 4
