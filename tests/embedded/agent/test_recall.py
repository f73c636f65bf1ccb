"""What recall does besides searching: counts what was found, and takes rankings of one's own."""

import json
import subprocess
import sys
import threading
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from engrain import metrics
from engrain.config import load
from engrain.domain.records import Degraded
from engrain.errors import DatabaseReadOnly, InvalidInput
from engrain.service import Memory
from engrain.storage.write.changes import count_references
from tests.support.clock import Clock
from tests.support.one_call import OneCall
from tests.support.races import run_together
from tests.support.sample_records import NOON
from tests.support.sample_search import DIMS, vector_of
from tests.support.stores import InMemoryStore


class Words:
    """An embedder of words that notes which thread it was asked in."""

    name = "test:words"
    dims = DIMS

    def __init__(self):
        self.threads = []

    def embed(self, texts, *, role):
        if role == "query":
            self.threads.append(threading.current_thread())
        return np.array([vector_of(text) for text in texts], np.float32).reshape(-1, DIMS)


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def clock():
    return Clock(NOON)


@pytest.fixture
def memory(clock):
    with Memory.open(":memory:", embedder=Words(), clock=clock) as opened:
        yield opened


@pytest.mark.req("B08.3")
def test_every_hit_counts_one_reference_at_the_time_of_the_recall(memory, clock):
    agent = memory.agent("aide")
    turn, other = agent.observe("tram"), agent.observe("zeppelin")
    known, guidance = agent.remember("tram", subject="Ana", predicate="likes"), agent.rules.add("Take the tram.")
    clock.now = NOON + timedelta(hours=1)
    answer = agent.recall("tram", preset="keyword")
    assert {hit.memory.reference_count for hit in answer} == {0}  # as they were when they were found
    clock.now = NOON + timedelta(hours=2)
    agent.recall("tram", preset="keyword", limit=1, kinds="fact")
    memory.parts.references.flush()
    stored = OneCall(memory.parts.store).get(agent.caller, [turn.id, other.id, known.id, guidance.id])
    assert [each.reference_count for each in stored] == [1, 0, 2, 1]
    assert [each.last_referenced_at for each in stored] == [
        NOON + timedelta(hours=1),
        None,
        NOON + timedelta(hours=2),
        NOON + timedelta(hours=1),
    ]


@pytest.mark.req("B08.3")
def test_the_next_get_counts_after_the_recall(memory):
    agent = memory.agent("aide")
    turn = agent.observe("tram")
    agent.recall("tram")
    assert agent.get(turn.id).reference_count == 2


@pytest.mark.req("B08.3")
def test_what_was_found_last_is_counted_when_the_memory_is_closed(tmp_path):
    with Memory.open(tmp_path / "a.db", embedder="none") as memory:
        turn = memory.agent("aide").observe("tram")
        memory.agent("aide").recall("tram")
    with Memory.open(tmp_path / "a.db", embedder="none") as memory:
        assert memory.agent("aide").get(turn.id).reference_count == 2


@pytest.mark.req("B08.3")
def test_what_was_found_last_is_counted_when_the_process_ends_with_its_memory_open(tmp_path):
    script = (
        "import sys; from engrain import Memory; agent = Memory.open(sys.argv[1], embedder='none').agent('aide'); "
        "agent.observe('tram'); agent.recall('tram')"
    )
    subprocess.run([sys.executable, "-c", script, str(tmp_path / "a.db")], check=True)
    with Memory.open(tmp_path / "a.db", embedder="none") as memory:
        assert [hit.memory.reference_count for hit in memory.agent("aide").recall("tram")] == [1]


def test_a_question_about_the_past_counts_nothing(memory):
    agent = memory.agent("aide")
    turn = agent.observe("tram")
    assert len(agent.recall("tram", as_of=NOON)) == 1
    memory.parts.references.flush()
    assert OneCall(memory.parts.store).get(agent.caller, [turn.id])[0].reference_count == 0


def test_nothing_is_counted_where_no_reference_is_asked_for(memory):
    agent = memory.agent("aide")
    turns = [agent.observe(text, session="monday") for text in ("tram", "The tram is late.")]
    assert len(agent.recall("tram", count_references=False)) == 2
    assert agent.context("tram", count_references=False).memories
    assert agent.get(turns[0].id, count_references=False) == turns[0]
    memory.parts.references.flush()
    stored = OneCall(memory.parts.store).get(agent.caller, [turn.id for turn in turns])
    assert [turn.reference_count for turn in stored] == [0, 0]
    with pytest.raises(InvalidInput, match="count_references must be true or false"):
        agent.recall("tram", count_references="no")


def test_what_stands_in_a_context_block_counts_and_what_was_left_out_does_not(memory):
    agent = memory.agent("aide")
    short, long = agent.observe("tram", session="monday"), agent.observe("bus and tram " * 99, session="friday")
    block = agent.context("tram", budget_tokens=30)
    assert [each.id for each in block.memories] == [short.id]
    memory.parts.references.flush()
    assert [each.reference_count for each in OneCall(memory.parts.store).get(agent.caller, [short.id, long.id])] == [
        1,
        0,
    ]


@pytest.mark.req("B08.2")
def test_a_ranking_by_recency_sees_the_references_of_every_recall_before_it(memory):
    agent = memory.agent("aide")
    for place in range(3):
        agent.observe(f"tram {place}", session=f"s{place}")
    first = agent.recall("tram", preset="keyword", limit=1)[0].memory
    by_id = {hit.memory.id: hit for hit in agent.recall("tram", preset="recall")}
    gained = {
        id_: share.raw for id_, hit in by_id.items() for share in hit.why.contributions if share.channel == "recency"
    }
    assert gained == {id_: 1.0 if id_ == first.id else 0.0 for id_ in by_id}


def test_a_database_that_cannot_be_written_answers_and_tells_what_was_not_counted():
    class ReadOnly(InMemoryStore):
        def write(self, act, work, *arguments):
            if work is count_references:
                raise DatabaseReadOnly("read-only")
            return self.store.write(act, work, *arguments)

    store = ReadOnly()
    with Memory(store, clock=lambda: NOON) as memory:
        agent = memory.agent("aide")
        agent.observe("tram")
        before = metrics.snapshot().get("references_not_counted", 0)
        assert len(agent.recall("tram")) == 1
        memory.parts.references.flush()
        assert metrics.snapshot()["references_not_counted"] - before == 1


def test_the_vector_of_a_question_is_made_in_another_thread_than_the_callers(clock):
    words = Words()
    with Memory.open(":memory:", embedder=words, clock=clock) as memory:
        agent = memory.agent("aide")
        agent.observe("tram")
        memory.flush()
        assert agent.recall("tram")[0].why.contributions[0].channel == "vector"
    assert [each is threading.current_thread() for each in words.threads] == [False]


def test_without_an_embedder_no_thread_is_started_for_one():
    with Memory.open(":memory:", embedder="none") as memory:
        before = set(threading.enumerate())
        assert memory.agent("aide").recall("tram").degraded == (
            Degraded(code="no_embedder", message="keywords alone: no embedder is configured"),
        )
        assert set(threading.enumerate()) <= before


def test_many_threads_asking_at_once_get_what_each_asked_for(clock):
    with Memory.open(":memory:", embedder=Words(), clock=clock) as memory:
        agent = memory.agent("aide")
        words = ["tram", "river", "coffee", "guitar", "walk", "rain", "music", "garden"]
        for word in words:
            agent.observe(word)
        memory.flush()

        def ask(word):
            return [agent.recall(word, limit=1)[0].memory.content for _ in range(5)]

        assert run_together(ask, words) == [[word] * 5 for word in words]


def test_a_ranking_of_ones_own_is_asked_for_by_its_name(monkeypatch):
    own = {"mine": {"base": "engrain", "weights": {"keyword": 1.2, "session": 0, "statement": 0}}}
    Path("engrain.toml").write_text(
        '[retrieval.presets.mine]\nbase = "engrain"\n'
        "[retrieval.presets.mine.weights]\nkeyword = 1.2\nsession = 0\nstatement = 0\n",
        encoding="utf-8",
    )
    from_file = load()
    Path("engrain.toml").unlink()
    monkeypatch.setenv("ENGRAIN_RETRIEVAL__PRESETS", json.dumps(own))
    from_environment = load()
    monkeypatch.delenv("ENGRAIN_RETRIEVAL__PRESETS")
    called = {"presets": own, "preset": "mine"}
    for settings in (from_file, from_environment, load({"retrieval": called})):
        assert settings.retrieval.presets == own
    with Memory.open(":memory:", embedder="none", settings={"retrieval": called}) as memory:
        agent = memory.agent("aide")
        agent.observe("tram", session="monday")
        for answer in (agent.recall("tram"), agent.recall("tram", preset="mine")):
            assert answer.preset == "mine"
            assert [(each.channel, each.weight) for each in answer[0].why.contributions] == [("keyword", 1.2)]
        with pytest.raises(InvalidInput, match=r"choose one of: engrain, .*, mine"):
            agent.recall("tram", preset="yours")


def test_a_ranking_that_is_none_is_refused_when_the_memory_is_opened(tmp_path):
    with pytest.raises(InvalidInput, match="channel of preset mine 'keywords' is unknown; did you mean keyword"):
        Memory.open(
            tmp_path / "a.db",
            settings={"retrieval": {"presets": {"mine": {"weights": {"keywords": 1}}}}},
            embedder="none",
        )


def test_an_environment_that_is_no_json_is_refused(monkeypatch):
    monkeypatch.setenv("ENGRAIN_RETRIEVAL__PRESETS", "{")
    with pytest.raises(
        InvalidInput, match=r"setting retrieval.presets, given by ENGRAIN_RETRIEVAL__PRESETS, is no JSON"
    ):
        load()


@pytest.mark.parametrize(
    "options",
    [{"neighbours": 6}, {"neighbours": -1}, {"neighbours": True}, {"explain": 1}, {"min_confidence": 1.5}],
    ids=str,
)
def test_options_out_of_range_are_refused(memory, options):
    with pytest.raises(InvalidInput):
        memory.agent("aide").recall("tram", **options)


def test_turns_around_a_hit_and_what_was_dropped_come_when_asked_for(memory):
    agent = memory.agent("aide", session="monday")
    turns = [agent.observe(content) for content in ("where?", "zeppelin", "when?")]
    answer = agent.recall("zeppelin", preset="keyword", limit=1, neighbours=1, explain=True)
    assert [each.id for each in answer[0].neighbours] == [turns[0].id, turns[2].id]
    assert {(each.id, each.reason) for each in answer.dropped} == {
        (turns[0].id, "below the limit"),
        (turns[2].id, "below the limit"),
    }
    assert json.loads(json.dumps(answer.to_dict()))["dropped"][0]["reason"] == "below the limit"


def test_a_fact_about_the_user_counts_as_what_the_user_said(memory):
    agent = memory.agent("aide", user="ana")
    own = agent.remember("trams and boats", subject="user", predicate="likes")
    agent.remember("trams and boats", subject="Ben", predicate="likes")
    shares = {
        hit.memory.id: {share.channel: share.value for share in hit.why.contributions}
        for hit in agent.recall("Which trams do I like?")
    }
    assert {id_ for id_, of_channel in shares.items() if "speaker" in of_channel} == {own.id}
