"""What a turn costs whoever says it, counted: statements of either database, and calls of functions."""

import gc
import sys
from contextlib import contextmanager

import pytest

from engrain import Memory
from engrain.config import load
from tests.support.recorded import recorded
from tests.support.sqlite_statements import statements
from tests.support.stores import SqliteStore
from tests.support.wiped import fresh_store

SETTINGS = {"entities": {"link": "fast"}}
VERBS = {
    "observe": lambda agent: agent.observe("The tram is late again.", speaker="Ana"),
    "message": lambda agent: agent.hooks.message("The tram is late again.", speaker="Ana"),
}
# As of Python 3.11, which makes a call of each comprehension. A number may fall, and grows only with a reason.
MOST_CALLS = {"observe": 205, "message": 213}


@contextmanager
def remembering(store):
    """An agent in the middle of a session, in a pool, whose background work is done."""
    with Memory(store, settings=load(SETTINGS)) as memory:
        agent = memory.agent("aide", session="monday")
        agent.pools.create("team")
        for verb in VERBS.values():
            verb(agent)
        memory.flush()
        assert memory.parts.queue.wait(None)  # its thread is woken by the next write, which is six calls
        yield agent


@contextmanager
def counted():
    """Every call of a function, of Python's or of C's, that this thread makes.

    None of the garbage collector's: what it ends here is other tests', and Hypothesis times it by a call of its own.
    """
    calls = []
    gc.disable()
    sys.setprofile(lambda _, event, __: calls.append(event) if event in ("call", "c_call") else None)
    try:
        yield calls
    finally:
        sys.setprofile(None)
        gc.enable()


@pytest.mark.parametrize("verb", VERBS)
def test_a_turn_is_three_statements_in_one_transaction_of_a_file(tmp_path, verb):
    store = SqliteStore(str(tmp_path / "agent.db"))
    with remembering(store) as agent, statements(store) as ran:
        VERBS[verb](agent)
    assert [sql.split()[0] for sql in ran] == ["BEGIN", "SELECT", "INSERT", "INSERT", "COMMIT"]


@pytest.mark.parametrize("verb", VERBS)
def test_a_turn_is_few_calls(tmp_path, verb, monkeypatch):
    monkeypatch.delitem(sys.modules, "opentelemetry.trace", raising=False)  # as where no host of ours traces
    with remembering(SqliteStore(str(tmp_path / "agent.db"))) as agent, counted() as calls:
        VERBS[verb](agent)
    assert len(calls) <= MOST_CALLS[verb]


@pytest.mark.parametrize("verb", VERBS)
def test_a_turn_and_its_words_are_seven_statements_in_one_transaction_of_a_server(verb):
    """Besides the three of a file: its namespace, the turns around it, the words of all of these, and the totals."""
    with fresh_store() as store, remembering(store) as agent, recorded(store) as seen:
        VERBS[verb](agent)
        ran = list(seen.statements)
    assert [sql.split()[0] for sql in ran] == ["WITH", "INSERT", "INSERT", "SELECT", "SELECT", "WITH", "UPDATE"]
