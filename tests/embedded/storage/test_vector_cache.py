"""The cache of vectors answers a small namespace without the file, and lets the least used namespaces go."""

import gc
import subprocess
import sys
import tracemalloc
from contextlib import closing

import numpy as np
import pytest

from engrain import Memory
from engrain.domain.records import Caller
from tests.support.engines import HashEmbedder
from tests.support.sample_records import act, episode, request
from tests.support.sqlite_statements import statements
from tests.support.store_samples import put
from tests.support.stores import SqliteStore

DIMS = 16


def unit(rows):
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def vectors(count, seed=1):
    return unit(np.random.default_rng(seed).standard_normal((count, DIMS)))


def fill(store, agent, count):
    """A namespace of an agent, with a vector for each of its turns."""
    turns = put(store, [episode(f"Turn {place}.", agent=agent, scope=agent) for place in range(count)])
    store.flush_index()
    waiting = {each.id: each.ref for each in store.unembedded(count)}
    store.attach([waiting[turn.id] for turn in turns], vectors(count))


def nearest(store, agent, query, limit=5, **asked):
    found = store.nearest(request(caller=Caller(agent=agent), **asked), query, limit)
    return [(each.ref, each.raw) for each in found]


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "agent.db")


def test_a_small_namespace_is_answered_from_this_process_exactly(path):
    [query] = vectors(1, seed=2)
    with closing(SqliteStore(path)) as store:
        store.use_embedder("test:random", DIMS)
        fill(store, "aide", 300)
        first = nearest(store, "aide", query, 20)
        with statements(store) as ran:
            assert nearest(store, "aide", query, 20) == first
        assert not [statement for statement in ran if "memory_vectors" in statement], "\n".join(ran)
        with closing(SqliteStore(path, cache_bytes=0)) as other:
            other.use_embedder("test:random", DIMS)
            assert nearest(other, "aide", query, 20) == first
        stored = vectors(300).astype(np.float16).astype(np.float32)  # in half precision
        cosines = np.sort(np.vecdot(stored, query))[::-1][:20]
        assert [raw for _, raw in first] == pytest.approx(cosines.tolist(), abs=1e-6)


def test_vectors_of_a_middling_namespace_are_read_once(path):
    """A process that begins with packs reads the vectors that decide an answer, and does not read them again."""
    [query] = vectors(1, seed=2)
    with closing(SqliteStore(path)) as store:
        store.use_embedder("test:random", DIMS)
        fill(store, "aide", 5_000)
    with closing(SqliteStore(path)) as store, statements(store) as ran:
        store.use_embedder("test:random", DIMS)
        first = nearest(store, "aide", query, 20)
        assert [statement for statement in ran if "memory_vectors" in statement]
        ran.clear()
        assert nearest(store, "aide", query, 20) == first
        assert not [statement for statement in ran if "memory_vectors" in statement], "\n".join(ran)


def test_what_another_process_takes_out_is_gone(path):
    [query] = vectors(1, seed=2)
    with closing(SqliteStore(path)) as here, closing(SqliteStore(path)) as there:
        for store in (here, there):
            store.use_embedder("test:random", DIMS)
        fill(here, "aide", 40)
        before = nearest(here, "aide", query, 40)
        assert len(before) == 40
        gone = there.recent(request(), 99)[:7]
        with closing(SqliteStore(path)) as third:
            for turn in gone:
                assert third.erase(act(), [turn.id]) == [turn.id]
        after = nearest(here, "aide", query, 40)
        assert after == [pair for pair in before if pair in after]
        assert len(after) == 33
        assert nearest(there, "aide", query, 40) == after


def test_the_least_used_namespaces_leave_and_come_back(path):
    [query] = vectors(1, seed=2)
    agents = [f"agent {number}" for number in range(12)]
    with closing(SqliteStore(path, cache_bytes=30_000)) as store:
        store.use_embedder("test:random", DIMS)
        for agent in agents:
            fill(store, agent, 60)
        found = {agent: nearest(store, agent, query) for agent in agents}
        cache = store.backend._vectors
        assert 0 < cache.nbytes <= 30_000
        assert 1 <= len(cache._namespaces) < len(agents)
        assert {agent: nearest(store, agent, query) for agent in agents} == found
        newest = nearest(store, agents[3], query)
        with statements(store) as ran:
            assert nearest(store, agents[3], query) == newest
        assert not [statement for statement in ran if "memory_vectors" in statement]


def test_an_erased_turn_is_no_longer_known_in_this_process(path):
    with closing(SqliteStore(path)) as store:
        turns = put(store, [episode(f"Where is tram {place}?") for place in range(5)])
        store.recalled_traits(request(), range(1, 9))
        assert len(store.backend.turns) == 5
        store.erase(act(), [turns[1].id, turns[3].id])
        assert len(store.backend.turns) == 3


FIRST_SEARCH = """
import re, sys
from pathlib import Path
import numpy as np
from engrain import Memory

class Vectors:
    name, dims = "test:random", 384
    def embed(self, texts, *, role):
        rows = np.random.default_rng(len(texts)).standard_normal((len(texts), 384), np.float32)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) * 1024

folder = Path(sys.argv[1])
if sys.argv[2] == "fill":
    lines = (f'{{"session": "s{n // 50}", "role": "user", "content": "Turn {n} of a talk."}}' for n in range(30_000))
    (folder / "talk.jsonl").write_text("\\n".join(lines))
    with Memory.open(folder / "agent.db", embedder=Vectors()) as memory:
        memory.agent().import_file(folder / "talk.jsonl", format="jsonl")
        memory.flush()
else:
    with Memory.open(folder / "agent.db", embedder=Vectors()) as memory:
        memory.agent("nobody").recall("nothing", preset="semantic")
        before = peak()
        assert memory.agent().recall("anything", preset="semantic")
        print(peak() - before)
"""


def test_the_first_search_of_a_process_holds_little_more_than_its_index(tmp_path):
    """30,000 vectors are 46 MB in the file, and 13 in this process; a process once held both, and half again."""
    for step in ("fill", "ask"):
        command = [sys.executable, "-c", FIRST_SEARCH, str(tmp_path), step]
        ran = subprocess.run(command, capture_output=True, text=True, check=True)
    assert int(ran.stdout) < 40e6


def test_many_namespaces_stay_within_the_cache_of_a_process(tmp_path):
    """By the bytes of Python and NumPy: nothing is kept of a namespace beyond what the bound counts."""
    turns, tenants = 8, 400
    with Memory.open(
        tmp_path / "a.db", embedder=HashEmbedder(dims=384), settings={"storage": {"cache_mb": 1}}
    ) as memory:
        for number in range(tenants):
            agent = memory.agent("aide", tenant=f"tenant {number}")
            agent.add([{"role": "user", "content": f"Turn {turn}."} for turn in range(turns)], learn="later")
        memory.flush()
        held = []
        tracemalloc.start()
        try:
            for number in range(tenants):
                assert memory.agent("aide", tenant=f"tenant {number}").recall("which turn", preset="semantic")
                if number % 100 == 99:
                    memory.parts.references.flush()  # those of the last second wait to be written, and are no cache
                    gc.collect()
                    held.append(tracemalloc.get_traced_memory()[0])
        finally:
            tracemalloc.stop()
    one_hundred = 100 * turns * 384 * 4  # bytes of so many namespaces' vectors: a whole cache
    assert held[-1] - held[1] < one_hundred / 4, held
