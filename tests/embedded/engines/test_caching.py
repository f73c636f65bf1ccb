"""The same text is not embedded twice in a day, and nobody can tell but by the time it takes."""

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engrain import Memory, metrics
from engrain.engines.embedders.cache import MAX_ENTRIES, TTL_S, CachingEmbedder
from engrain.errors import EngineUnavailable, InvalidInput
from engrain.storage import open_store
from tests.support.engines import FaultyEmbedder, HashEmbedder
from tests.support.models import FakeTime
from tests.support.races import run_together


class Counting(HashEmbedder):
    """Remembers every call, and reads questions unlike documents."""

    def __init__(self, **how):
        super().__init__(**how)
        self.calls = []

    def embed(self, texts, *, role):
        self.calls.append((list(texts), role))
        return super().embed([f"{role} {text}" for text in texts], role=role)


@pytest.fixture
def engine():
    return Counting()


@pytest.fixture
def passing():
    return FakeTime()


@pytest.fixture
def cached(engine, passing):
    return CachingEmbedder(engine, max_entries=4, clock=passing.clock)


def hits_and_misses():
    counts = metrics.snapshot()
    return np.array([counts.get("embedding_cache_hits", 0), counts.get("embedding_cache_misses", 0)])


@pytest.mark.req("G16")
def test_only_what_is_missing_goes_to_the_engine_in_one_call_and_each_text_once(cached, engine):
    before = hits_and_misses()
    cached.embed(["a", "b"], role="document")
    rows = cached.embed(["c", "a", "c", "d", "b"], role="document")
    assert engine.calls == [(["a", "b"], "document"), (["c", "d"], "document")]
    assert (rows == Counting().embed(["c", "a", "c", "d", "b"], role="document")).all()
    assert (hits_and_misses() - before).tolist() == [3, 4]


@given(st.lists(st.lists(st.sampled_from("abcdefg"), min_size=1, max_size=6)))
def test_it_answers_as_the_engine_does(calls):
    cached = CachingEmbedder(Counting(), max_entries=4)
    for texts in calls:
        rows = cached.embed(texts, role="query")
        assert (rows == Counting().embed(texts, role="query")).all()


@pytest.mark.req("G16")
def test_vectors_are_kept_for_a_day(cached, engine, passing):
    assert TTL_S == 24 * 60 * 60
    cached.embed(["a"], role="query")
    passing.now += TTL_S - 1
    cached.embed(["a"], role="query")
    assert len(engine.calls) == 1
    passing.now += 1
    cached.embed(["a"], role="query")
    assert len(engine.calls) == 2


@pytest.mark.req("G16")
def test_ten_thousand_are_kept_and_the_least_recently_used_goes_first(engine):
    cached = CachingEmbedder(engine)
    texts = [f"text {at}" for at in range(10_000)]
    assert len(texts) == MAX_ENTRIES
    cached.embed(texts, role="document")
    cached.embed([*texts[1:], "one more"], role="document")
    assert engine.calls[1:] == [(["one more"], "document")]
    cached.embed(["text 0", "text 5000"], role="document")
    assert engine.calls[2:] == [(["text 0"], "document")]


def test_more_texts_than_there_is_room_for_are_answered_all_the_same(cached):
    texts = [f"text {at}" for at in range(50)]
    assert (cached.embed(texts, role="query") == Counting().embed(texts, role="query")).all()


def test_a_question_is_not_answered_with_a_documents_vector(cached, engine):
    asked = cached.embed(["a"], role="query")
    assert not (asked == cached.embed(["a"], role="document")).all()
    assert len(engine.calls) == 2


def test_what_a_caller_does_to_an_answer_stays_the_callers(cached):
    right = Counting().embed(["a", "b"], role="query")
    for _ in range(3):
        rows = cached.embed(["a", "b"], role="query")
        assert (rows == right).all()
        rows[:] = 7.0


def test_what_an_engine_does_to_its_own_rows_later_changes_nothing():
    class Reusing(Counting):
        def embed(self, texts, *, role):
            self.last = super().embed(texts, role=role)
            return self.last

    engine = Reusing()
    cached = CachingEmbedder(engine)
    right = cached.embed(["a"], role="query")
    engine.last[:] = 7.0
    assert (cached.embed(["a"], role="query") == right).all()


def test_a_row_that_is_kept_keeps_no_batch_alive(cached):
    cached.embed([f"text {at}" for at in range(3)], role="query")
    rows = [cached._rows.get(key) for key in list(cached._rows._entries)]
    assert [row.base for row in rows] == [None] * 3
    assert sum(row.nbytes for row in rows) == 3 * 64 * 4
    assert sys.getsizeof(rows[0]) < 64 * 4 + 200


def test_a_failure_is_not_kept(passing):
    def fault(_):
        raise EngineUnavailable("away")

    engine = FaultyEmbedder(fault)
    cached = CachingEmbedder(engine, clock=passing.clock)
    with pytest.raises(EngineUnavailable, match="away"):
        cached.embed(["a"], role="query")
    engine.fault = None
    assert cached.embed(["a"], role="query").shape == (1, 64)


@pytest.mark.req("B10.1", "B10.2")
def test_nothing_and_no_texts_are_answered_too(cached):
    class Lenient(HashEmbedder):
        def embed(self, texts, *, role):
            return super().embed([text or " " for text in texts], role=role)

    cached = CachingEmbedder(Lenient())
    nothing, empty, space = cached.embed([None, "", " "], role="query")
    assert (nothing == space).all()
    assert (empty == space).all()
    assert cached.embed([], role="query").shape == (0, 64)


def test_threads_get_what_they_asked_for(engine):
    cached, wrong = CachingEmbedder(engine, max_entries=5), []

    def work(seed):
        for step in range(200):
            texts = [f"{(seed + step + at) % 9}" for at in range(4)]
            if not (cached.embed(texts, role="query") == Counting().embed(texts, role="query")).all():
                wrong.append(texts)

    run_together(work, range(4))
    assert wrong == []


class TestWired:
    @pytest.mark.req("G16")
    def test_a_memory_asks_for_the_vector_of_a_question_once(self, engine):
        with Memory(open_store(":memory:"), embedder=engine) as memory:
            agent = memory.agent("ana")
            agent.observe("apples")
            memory.flush()
            for _ in range(3):
                agent.recall("Who likes apples?")
        assert [call for call in engine.calls if call[1] == "query"] == [(["Who likes apples?"], "query")]

    def test_unless_the_settings_want_none_kept(self, engine, tmp_path):
        settings = {"embedding": {"cache_entries": 0}}
        with Memory.open(tmp_path / "a.db", embedder=engine, settings=settings) as memory:
            agent = memory.agent("ana")
            agent.observe("apples")
            memory.flush()
            for _ in range(3):
                agent.recall("Who likes apples?")
        assert sum(role == "query" for _, role in engine.calls) == 3

    def test_also_after_a_change_of_embedder(self, engine, tmp_path):
        with Memory.open(tmp_path / "a.db", embedder=HashEmbedder(name="test:old")) as memory:
            memory.agent("ana").observe("apples")
        with Memory.open(tmp_path / "a.db", embedder=engine) as memory:
            memory.reembed()
            for _ in range(3):
                assert memory.agent("ana").recall("Who likes apples?").degraded == ()
        assert sum(role == "query" for _, role in engine.calls) == 1


def test_one_text_is_not_taken_for_its_letters(engine):
    with Memory(open_store(":memory:"), embedder=engine) as memory:
        for embedder in (memory.embedder, memory.parts.configured_embedder):
            with pytest.raises(InvalidInput, match="a list of texts, not one of 3 characters"):
                embedder.embed("abc", role="document")
    assert engine.calls == []
