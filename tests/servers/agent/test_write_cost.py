"""What a turn costs whoever says it, counted: statements of either database, and calls of functions."""

import gc
import json
import sys
from contextlib import contextmanager
from itertools import groupby

import pytest

from engrain import Memory
from engrain.config import load
from engrain.domain import ids
from engrain.storage import open_store
from tests.support.recorded import recorded
from tests.support.sample_records import act, fact
from tests.support.sqlite_statements import statements
from tests.support.store_samples import conversation
from tests.support.stores import SqliteStore
from tests.support.wiped import fresh_store

SETTINGS = {"entities": {"link": "fast"}}
VERBS = {
    "observe": lambda agent: agent.observe("The tram is late again.", speaker="Ana"),
    "message": lambda agent: agent.hooks.message("The tram is late again.", speaker="Ana"),
}
# As of Python 3.11, which makes a call of each comprehension. A number may fall, and grows only with a reason.
# Of these, 10 decide whose memory a turn is, and 4 whether it holds a secret.
MOST_CALLS = {"observe": 93, "message": 97}
# Of a turn among many of an imported file, from its line to its words; one says how far a file is trusted.
MOST_CALLS_IN_BULK = 53


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
    monkeypatch.setattr(ids.fresh_id, "_milliseconds", 1 << 47)  # as in a millisecond that has an id already
    with remembering(open_store(tmp_path / "agent.db")) as agent, counted() as calls:
        VERBS[verb](agent)
    assert len(calls) <= MOST_CALLS[verb]


@pytest.mark.parametrize("verb", VERBS)
def test_a_turn_and_its_words_are_seven_statements_in_one_transaction_of_a_server(verb):
    """Besides the three of a file: its namespace, the turns around it, the words of all of these, and the totals."""
    with fresh_store() as store, remembering(store) as agent, recorded(store) as seen:
        VERBS[verb](agent)
        ran = list(seen.statements)
    assert [sql.split()[0] for sql in ran] == ["WITH", "INSERT", "INSERT", "SELECT", "SELECT", "WITH", "UPDATE"]


def one_after_the_other(ran):
    """Statements as they were prepared: one that runs for each of several rows is one."""
    return [sql for sql, _ in groupby(ran)]


def turns(number):
    return conversation(*(f"Tram {place} is late." for place in range(number)), session="tuesday")


def facts(number):
    return [fact(f"Said {place}.", subject=f"Ana {number} {place}") for place in range(number)]


def two_sizes(store, several, recording):
    """The statements of a few memories, and of twenty times as many, that go on with a session if they are turns."""
    store.put(act(), [*turns(2), *facts(2)])
    for number in (3, 60):
        memories = several(number)
        with recording(store) as ran:
            store.put(act(), memories)
            yield one_after_the_other(getattr(ran, "statements", ran))


@pytest.mark.parametrize("several", [turns, facts])
def test_many_memories_are_as_many_statements_of_a_file_as_a_few(tmp_path, several):
    store = SqliteStore(str(tmp_path / "agent.db"))
    few, many = two_sizes(store, several, statements)
    store.close()
    assert few == many


@pytest.mark.parametrize("several", [turns, facts])
def test_many_memories_are_as_many_statements_of_a_server_as_a_few(several):
    with fresh_store() as store:
        few, many = two_sizes(store, several, recorded)
    assert few == many


def test_an_imported_turn_is_few_calls(tmp_path):
    said = {"session": "tuesday", "content": "The tram is late.", "speaker": "Ana", "time": "2026-05-04T08:00:00Z"}
    paths = [tmp_path / "first.jsonl", tmp_path / "second.jsonl"]
    for path in paths:
        lines = [json.dumps(said | {"id": f"{path.stem} {number}"}) for number in range(400)]
        path.write_text("\n".join(lines))
    with remembering(open_store(tmp_path / "agent.db")) as agent:
        agent.import_file(paths[0], format="jsonl")
        with counted() as calls:
            agent.import_file(paths[1], format="jsonl")
    assert len(calls) / len(lines) <= MOST_CALLS_IN_BULK
