"""The work of a recall in counts, which no load of the machine changes: our own calls and statements."""

import numpy as np
import pytest

from engrain import Memory
from engrain.errors import EngineUnavailable
from engrain.retrieval.evidence import MOST_JUDGED
from tests.support.own_calls import count_calls
from tests.support.sample_search import WORDS, vector_of
from tests.support.sqlite_statements import statements

MOST_CALLS = 470  # ten of them let a server take several statements at once
MOST_STATEMENTS = 5


class Words:
    """Vectors that depend on the words of a text alone."""

    name, dims = "test:words", 8

    def embed(self, texts, *, role):  # noqa: ARG002  # a question's is made as a document's is
        return np.array([vector_of(text) for text in texts], np.float32)


@pytest.fixture(params=[100, 400])
def agent(request, tmp_path):
    with Memory.open(tmp_path / "agent.db", embedder=Words()) as memory:
        agent = memory.agent("aide")
        for place in range(request.param):
            said = f"{WORDS[place % 9]} {WORDS[place // 9 % 9]} number {place}."
            agent.observe(said, speaker=("Ana", "Ben")[place % 2], session=f"day {place // 20}")
        memory.flush()
        for _ in range(10):  # until its words are in the process
            agent.recall("tram river", limit=10)
        yield agent


def test_a_recall_makes_no_call_for_each_candidate(agent):
    agent.recall("What about the road and the cat?", limit=10)  # compiles patterns, once in a process
    calls = count_calls(lambda: agent.recall("What about the tram and the river?", limit=10))
    assert calls.total() <= MOST_CALLS, calls.most_common(20)


def test_a_recall_takes_few_statements_and_reads_no_content_but_the_winners(agent):
    agent.recall("What about the tram and the river?", limit=10)
    with statements(agent._parts().store.backend) as ran:
        assert len(agent.recall("What about the tram and the river?", limit=10)) == 10
    assert len(ran) <= MOST_STATEMENTS, "\n".join(ran)
    assert sum("content" in statement for statement in ran) == 1


def test_a_block_says_why_of_the_hits_alone_that_evidence_is_judged_by(agent):
    calls = count_calls(lambda: agent.context("What about the tram and the river?", budget_tokens=1_000))
    assert 0 < calls["own_terms"] <= 2 * MOST_JUDGED  # explained, and read for other words
    assert calls["build_entry"] > 5 * MOST_JUDGED


def test_a_question_that_was_asked_before_takes_its_vector_from_the_cache_and_no_thread(agent):
    asked = [count_calls(lambda: agent.recall("Was the river wide?")) for _ in range(2)]
    assert ["Workers.start" in calls for calls in asked] == [True, False]
    first, again = (agent.recall(question) for question in ("Was the river wide?", "Was the river wide?"))
    assert [hit.why for hit in again] == [hit.why for hit in first]


def test_a_question_whose_cache_cannot_be_asked_is_embedded_as_any_other(tmp_path):
    class Away(Words):
        """An embedder whose service goes away after it was asked for its dimensions."""

        is_away = False

        @property
        def dims(self):
            if self.is_away:
                raise EngineUnavailable("the service does not answer")
            return Words.dims

    embedder = Away()
    with Memory.open(tmp_path / "agent.db", embedder=embedder) as memory:
        agent = memory.agent("aide")
        agent.observe("The tram by the river.")
        memory.flush()
        embedder.is_away = True
        answer = agent.recall("tram")
        assert len(answer) == 1
        assert [reason.code for reason in answer.degraded] == ["embedder_unavailable"]
