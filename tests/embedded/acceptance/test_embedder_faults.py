"""An embedder may be wrong, broken or slow: that costs vectors, and it is said; writes and keywords go on."""

import math
import threading

import pytest

from engrain import Memory, metrics
from engrain.errors import EngineUnavailable, InvalidInput
from engrain.retrieval.embeddings.embedding_queue import EmbeddingQueue
from engrain.storage import open_store
from tests.support.engines import FaultyEmbedder, HashEmbedder, HeldEmbedder
from tests.support.stores import open_verbs


@pytest.mark.parametrize("dims", [0, -1, 2.5, True, None, "64", 70_000])
def test_an_embedder_of_impossible_dimensions_is_refused(dims):
    with pytest.raises(InvalidInput, match="dims"):
        Memory(open_store(":memory:"), embedder=HashEmbedder(dims=dims))


@pytest.mark.parametrize("name", [None, 7, "", "n" * 513])
def test_an_embedder_without_a_usable_name_is_refused(name):
    with pytest.raises(InvalidInput, match="the embedder's name"):
        Memory(open_store(":memory:"), embedder=HashEmbedder(name=name))


def raises(error):
    def fault(_):
        raise error

    return fault


FAULTS = {
    "NaN": lambda rows: rows * math.nan,
    "infinity": lambda rows: rows / 0.0,
    "too short": lambda rows: rows[:, 1:],
    "flat": lambda rows: rows.ravel(),
    "too few": lambda rows: rows[1:],
    "too many": lambda rows: [*rows, rows[0]],
    "never normalised": lambda rows: rows * 3,
    "nothing": lambda _: None,
    "text": lambda rows: ["a vector"] * len(rows),
    "unavailable": raises(EngineUnavailable("the embedder test:hash is out of order")),
    "a bug": raises(ValueError("a text that nobody shall see in a log")),
    "memory": raises(MemoryError()),
    "recursion": raises(RecursionError()),
}


@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning")
@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_an_embedder_that_fails_costs_vectors_and_nothing_else(caplog, fault):
    embedder = FaultyEmbedder(fault)
    failures = metrics.snapshot().get("embedding_failures", 0)
    with Memory(open_store(":memory:"), embedder=embedder) as memory:
        agent = memory.agent("ana", session="s")
        episode = agent.observe("A turn about apples")
        fact = agent.remember("apples", subject="Ana", predicate="likes")
        assert not memory.parts.queue.wait(60)  # by then the thread has failed as well
        for preset in ("engrain", "semantic", "hybrid", "keyword"):
            answer = agent.recall("Who likes apples?", preset=preset)
            assert {hit.memory.id for hit in answer} == {episode.id, fact.id}
            [note] = answer.degraded or [None]
            assert note is None if preset == "keyword" else note.detail.startswith("the embedder test:hash")
        assert str(agent.context("apples").degraded[0]).startswith("keywords alone")
        with pytest.raises(EngineUnavailable, match="the embedder test:hash"):
            memory.flush()
        assert agent.stats().pending_embeddings == 2
        embedder.fault = None
        memory.flush()
        answer = agent.recall("A turn about apples", preset="semantic")
        assert (answer[0].memory.id, answer.degraded) == (episode.id, ())
    assert metrics.snapshot()["embedding_failures"] > failures
    stopped = next(each for each in caplog.records if each.msg == "embedding stopped")
    assert (stopped.error, stopped.embedder) == ("EngineUnavailable", "test:hash")
    assert "nobody shall see" not in caplog.text


@pytest.mark.parametrize("error", [EngineUnavailable("out of order"), ValueError("a bug"), SystemExit(1)])
def test_the_queue_tries_again_whatever_the_engine_raised(caplog, error):
    tried = []
    twice = threading.Event()

    def fault(rows):
        tried.append(len(rows))
        if len(tried) >= 2:
            twice.set()
        raise error

    embedder = FaultyEmbedder(fault)
    store = open_verbs(":memory:")
    store.use_embedder(embedder.name, embedder.dims)
    with Memory(store) as memory:
        memory.agent("ana").observe("A turn")
        queue = EmbeddingQueue(store, embedder, pause_after_failure_s=0)
        queue.announce()
        assert twice.wait(60)
        embedder.fault = None
        memory.agent("ana").observe("Another turn")
        queue.announce()
        while memory.agent("ana").stats().pending_embeddings:
            queue.wait(60)
        queue.close(flush=False)
    reasons = {record.reason for record in caplog.records if record.msg == "embedding stopped"}
    name = type(error).__name__
    assert reasons == {"out of order" if isinstance(error, EngineUnavailable) else f"unforeseen: {name}"}


def test_a_slow_embedder_holds_up_neither_writes_nor_searches(tmp_path):
    embedder = HeldEmbedder()
    settings = {"embedding": {"wait_s": 0}}
    with Memory.open(tmp_path / "memory.db", embedder=embedder, settings=settings) as memory:
        agent = memory.agent("ana", session="s")
        agent.observe("The first turn")
        assert embedder.reached.wait(60)
        agent.observe("The second turn")
        answer = agent.recall("second turn")
        assert [hit.memory.content for hit in answer] == ["The second turn", "The first turn"]
        assert agent.stats().pending_embeddings == 2
        embedder.release.set()
        memory.flush()
        assert agent.stats().pending_embeddings == 0
        [hit] = agent.recall("The second turn", preset="semantic", limit=1)
        assert hit.memory.content == "The second turn"
        assert sorted(embedder.embedded) == ["The first turn", "The second turn"]
