"""Pauses of the embedding queue before its work: a burst of writes is indexed at once, and not between two of them."""

import pytest

from engrain import Memory
from engrain.retrieval.embeddings import embedding_queue
from engrain.retrieval.embeddings.embedding_queue import EmbeddingQueue
from tests.support.engines import HashEmbedder
from tests.support.sample_search import WordEmbedder


class Burst:
    """A condition in whose first pauses a write is announced."""

    def __init__(self, queue, writes):
        self.queue, self.writes, self.pauses = queue, writes, []

    def wait_for(self, _, pause):
        self.pauses.append(pause)
        self.queue._announced += len(self.pauses) <= self.writes


@pytest.mark.parametrize(
    ("writes", "pauses"), [(0, [0.02]), (1, [0.02, 0.04]), (2, [0.02, 0.04, 0.08]), (99, [0.02, 0.04, 0.08, 0.16])]
)
def test_a_pause_doubles_while_writes_come_up_to_a_third_of_a_second_in_all(writes, pauses):
    queue = EmbeddingQueue(None, None)
    queue._changed = burst = Burst(queue, writes)
    queue._gather()
    assert burst.pauses == pauses


def test_whoever_waits_for_vectors_waits_for_no_burst(tmp_path, monkeypatch):
    monkeypatch.setattr(embedding_queue, "_GATHER_S", 600.0)
    monkeypatch.setattr(embedding_queue, "_MOST_GATHER_S", 600.0)
    with Memory.open(tmp_path / "memory.db", embedder=WordEmbedder()) as memory:
        agent = memory.agent("aide")
        agent.observe("A heron stood at the lake.")
        answer = agent.recall("heron")
        assert not answer.degraded
        assert {share.channel for share in answer.hits[0].why.contributions} >= {"vector", "keyword"}


@pytest.mark.parametrize(
    ("asked", "embedded"),
    [
        ("Where was the heron?", ["Where was the heron?"]),
        ("Where did Ana see the heron?", ["Where did see the heron?"]),  # without who speaks
        ("user's job", ["my job", "user's job"]),  # as the user would ask it first
    ],
)
def test_a_question_is_embedded_once_beside_the_turn_that_it_waits_for(tmp_path, asked, embedded):
    embedder = HashEmbedder()
    with Memory.open(tmp_path / "memory.db", embedder=embedder) as memory:
        agent = memory.agent("aide", user="nora")
        agent.observe("A heron stood at the lake.", speaker="Ana")
        agent.recall(asked)
        agent.observe("I work at the harbour.", speaker="Nora")
        agent.recall(asked)
        assert embedder.questions == embedded
