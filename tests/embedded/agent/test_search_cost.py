"""What a recall asks of a file, counted in statements."""

from dataclasses import replace

import numpy as np
import pytest

from engrain.agent.wiring.usage import References
from engrain.agent.wiring.workers import Workers
from engrain.context.recipes import RECIPES
from engrain.domain.requests import Act
from engrain.engines.callables import CallableEmbedder
from engrain.retrieval.presets import PRESETS
from engrain.service import Memory
from tests.support.sample_search import DIMS, vector_of
from tests.support.sqlite_statements import statements
from tests.support.stores import SqliteStore

MOST_STATEMENTS = 10


@pytest.fixture
def store(tmp_path):
    return SqliteStore(str(tmp_path / "agent.db"))


@pytest.fixture
def memory(store):
    embedder = CallableEmbedder(
        lambda texts: np.array([vector_of(text) for text in texts]), name="test:words", dims=DIMS
    )
    with Memory(store, embedder=embedder) as opened:
        agent = opened.agent("aide", session="monday")
        for place in range(30):
            agent.observe(f"The tram number {place} by the river.", speaker=("Ana", "Ben")[place % 2])
        agent.remember("the tram", subject="Ana", predicate="likes")
        agent.rules.add("Take the tram by the river.")
        opened.flush()
        agent.recall("Which tram does Ana take?")  # the process catches up with the file
        opened.parts.references.flush()
        yield opened


@pytest.mark.parametrize("preset", sorted(PRESETS))
def test_a_recall_takes_at_most_ten_statements(memory, store, preset):
    agent = memory.agent("aide")
    with statements(store) as ran:
        agent.recall("Which tram by the river does Ana take in June 2024?", preset=preset)
    assert 0 < len(ran) <= MOST_STATEMENTS, "\n".join(ran)


def test_more_memories_take_no_more_statements(memory, store):
    agent = memory.agent("aide", session="friday")
    for place in range(400):
        agent.observe(f"Another tram, number {place}, by the river.", speaker="Ana")
    memory.flush()
    agent.recall("Which tram does Ana take?")
    with statements(store) as ran:
        assert len(agent.recall("Which tram by the river does Ana take?", limit=50)) == 50
    assert len(ran) <= MOST_STATEMENTS, "\n".join(ran)


def test_the_references_of_several_answers_are_one_transaction_and_a_statement_for_each_memory(memory, store):
    references = References(store.store, Workers())
    agent = memory.agent("aide")
    memories = [hit.memory for hit in agent.recall("tram river", limit=20)]
    with statements(store) as ran:
        for session in ("monday", "friday", "sunday"):
            caller = replace(agent.caller, session=session, request_id=session)
            references.add(Act(caller=caller, at=memory.parts.clock()), memories)
        assert not ran
        references.close()
    assert [sql.split()[0] for sql in ran] == ["BEGIN", "SELECT", *["UPDATE"] * len(memories), "COMMIT"]


@pytest.mark.parametrize("recipe", sorted(RECIPES))
def test_a_context_takes_at_most_21_statements_however_much_there_is(memory, store, recipe):
    """Beside its search three for each of: the newest episodes, the latest reflection, where facts were learned.

    And one for the newest turn of its session, one for the standing rules.
    """
    agent = memory.agent("aide", session="friday")
    told = agent.observe("The tram again.")
    for place in range(200):
        agent.remember(f"tram {place}", subject=f"Ana {place}", predicate="takes", source_episode_id=told.id)
    memory.flush()
    memory.parts.references.flush()
    asked = memory.agent("aide", session="sunday")
    asked.context("Which tram does Ana take?", recipe=recipe)
    memory.parts.references.flush()
    with statements(store) as ran:
        block = asked.context("Which tram does Ana take?", recipe=recipe, recent_episodes=20, budget_tokens=4_000)
    assert len(block.memories) >= 5
    assert len(ran) <= 21, "\n".join(ran)
