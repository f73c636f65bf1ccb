"""Texts that an embedder refuses cost themselves their vectors, and no other memory, of whichever tenant."""

import pytest

from engrain import Memory, metrics
from engrain.errors import EngineUnavailable
from tests.support.engines import HashEmbedder


class Refusing(HashEmbedder):
    """Refuses every batch with a text that says "poison"."""

    calls = 0

    def embed(self, texts, *, role):
        self.calls += 1
        if any("poison" in text for text in texts):
            raise ValueError("not this")
        return super().embed(texts, role=role)


def test_all_other_memories_get_their_vectors_and_flush_names_the_refused(location):
    failures = metrics.snapshot().get("embedding_failures", 0)
    with Memory.open(location, embedder=Refusing()) as memory:
        agent, other = memory.agent("ana"), memory.agent("ben", tenant="other")
        refused = [agent.observe(f"poison {place}") for place in range(3)]
        for place in range(70):
            agent.observe(f"Turn {place}")
        other.observe("Of another tenant")
        assert memory.parts.queue.wait(60)
        assert (agent.stats().pending_embeddings, other.stats().pending_embeddings) == (3, 0)
        with pytest.raises(EngineUnavailable, match=rf"refuses the texts of 3 memories \({refused[0].id}"):
            memory.flush()
        assert memory.readiness().checks[2].status == "ok"
    assert metrics.snapshot().get("embedding_failures", 0) == failures + 1  # of the flush when it was closed


def test_refused_texts_are_not_embedded_again_by_writes_and_searches_but_by_the_next_process(location):
    first, second = Refusing(), Refusing()
    with Memory.open(location, embedder=first) as memory:
        agent = memory.agent("ana")
        agent.observe("poison")
        assert memory.parts.queue.wait(60)
        before = first.calls
        agent.observe("A turn about apples")
        assert agent.recall("A turn about apples", preset="semantic")[0].memory.content == "A turn about apples"
        agent.recall("A turn about apples")
        assert memory.parts.queue.wait(60)
        assert first.calls == before + 2  # the turn and the question
        with pytest.raises(EngineUnavailable, match="by words alone"):
            memory.reembed()
        agent.observe("A turn about pears")
        assert memory.parts.queue.wait(60)
        assert agent.stats().pending_embeddings == 1
    with Memory.open(location, embedder=second) as memory:
        memory.agent("ana").observe("A turn about plums")
        assert memory.parts.queue.wait(60)
        assert memory.agent("ana").stats().pending_embeddings == 1


def test_once_the_embedder_takes_it_a_flush_makes_its_vector(location):
    class Mended(Refusing):
        def embed(self, texts, *, role):
            return HashEmbedder.embed(self, texts, role=role) if self.is_mended else super().embed(texts, role=role)

    embedder = Mended()
    embedder.is_mended = False
    with Memory.open(location, embedder=embedder) as memory:
        agent = memory.agent("ana")
        agent.observe("poison")
        assert memory.parts.queue.wait(60)
        embedder.is_mended = True
        memory.flush()
        assert agent.stats().pending_embeddings == 0
