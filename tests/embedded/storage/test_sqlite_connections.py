"""Connections to a file: how much of their work is done once."""

from engrain import Memory
from tests.support.stores import SqliteStore

TURNS = 4


def test_a_conversation_prepares_each_statement_once():
    store = SqliteStore(":memory:")  # one connection for all
    with Memory(store) as memory:
        agent = memory.agent("aide")
        prepared = []
        for turn in range(TURNS):
            agent.observe(f"Ben likes tea {turn}.", session="monday")
            agent.context(f"What does Ben like {turn}?")
            agent.remember(f"tea {turn}", subject=f"Ben{turn}", predicate="likes")
            agent.remember(f"Porto {turn}", subject="Ben", predicate="lives in")
            memory.flush()
            prepared.append(store._connections._writer.cache_stats()["misses"])
    assert prepared[0] > 50
    assert prepared[-1] - prepared[-2] < 5
