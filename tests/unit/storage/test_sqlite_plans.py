"""How a file is asked: which index serves which statement, and how many statements a verb may run."""

import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import timedelta

import apsw.ext
import pytest

from engrain.domain.ports import Request
from engrain.domain.query import Filter
from engrain.storage.named_sql import load
from engrain.storage.sqlite.store import SqliteStore
from tests.sample_records import CALLER, NOON, episode, fact, request
from tests.store_samples import axis, conversation, embed_all

SQL = load("engrain.storage.sqlite", "queries.sql")
TABLES = ["episodes", "facts", "memory_index", "memory_terms", "namespaces", "sequences", "speakers", "memory_metadata"]
# What a check-up of the whole file reads whole.
OF_THE_WHOLE_FILE = {
    *("count_memories", "count_indexed", "count_embedded", "count_unembedded"),
    *("unindexed", "stray_words", "unplaced", "lost", "size"),
}
# What each index is there for: a named statement, or a verb whose statement is made of a filter.
SERVES = {
    "episodes_id": ["has_memory", "get"],
    "episodes_session": ["last_turn", "turns_between", "neighbours", "of a session"],
    "episodes_time": ["recent", "since"],
    "facts_id": ["has_memory", "get"],
    "facts_active": ["active_fact"],
    "facts_time": ["recent", "since"],
    "namespaces_number": ["corpus", "count_words"],
    "memory_index_waiting": ["unembedded", "count_waiting"],
    "memory_index_change": ["changed_vectors"],
    "memory_index_expiry": ["has_expired"],
}
# Statements of one call, transaction included; a number may fall, and grows only with a reason.
PUT_ONE_EPISODE = 7
PUT_ONE_FACT = 29
FIND = 12  # by words and by vector
ANSWER = 17  # the same, and everything else that a search asks


@pytest.fixture
def store(tmp_path) -> Iterator[SqliteStore]:
    """A used file, as a search meets it: settled and embedded."""
    with closing(SqliteStore(str(tmp_path / "agent.db"))) as store:
        turns = store.put(conversation(*(f"Turn {place} of the tram." for place in range(20)), speaker="Ana"))
        [lisbon] = store.put([fact("Lisbon")])
        embed_all(store, {each.id: axis(0) for each in [*turns, lisbon]})
        yield store


@contextmanager
def statements(store) -> Iterator[list[str]]:
    """The statements that this thread's verbs run, as they run."""
    ran: list[str] = []

    def note(_, sql, __):
        ran.append(sql)
        return True

    with store._connections.reading() as reader:
        connections = [reader, store._connections._writer]
    for each in connections:
        each.exec_trace = note
    try:
        yield ran
    finally:
        for each in connections:
            each.exec_trace = None


def details(plan) -> list[str]:
    return [plan.detail, *(detail for each in plan.sub or () for detail in details(each))]


def plan(store, sql) -> list[str]:
    """What SQLite says it does for a statement, line by line."""
    with store._connections.reading() as db:
        return details(apsw.ext.query_info(db, sql, explain_query_plan=True).query_plan)


VERBS = {
    "get": lambda store: store.get(CALLER, ["one", "two"]),
    "recent": lambda store: store.recent(request(), 10),
    "since": lambda store: store.recent(request(since=NOON, until=NOON + timedelta(days=1)), 10),
    "of a session": lambda store: store.keyword(request(sessions=("monday",)), {"tram"}, 10),
    "neighbours": lambda store: store.neighbours(request(), episode(session="monday", turn=5), 2),
    "filtered": lambda store: store.keyword(request(speakers=("Ana",), tags=("x",), roles=("user",)), {"tram"}, 10),
    "nearest": lambda store: store.nearest(request(), axis(0), 10, also=[1, 2]),
    "load": lambda store: store.load(request(), [1, 2, 3]),
    "turns": lambda store: store.turns(request(), [1, 2, 3]),
    "speakers": lambda store: store.speakers(request()),
    "stats": lambda store: store.stats(CALLER, NOON),
    "waiting": lambda store: store.waiting(CALLER),
    "unembedded": lambda store: store.unembedded(64),
    "put": lambda store: store.put([episode("One more.", session="monday", speaker="Ben")]),
    "put several": lambda store: store.put(conversation("One.", "Two.", session="friday")),
    "supersede": lambda store: store.put([fact("Porto")]),
    "settle": lambda store: (store.put([episode("One more.", session="monday")]), store.settle()),
    "retire": lambda store: store.retire(CALLER, store.recent(request(), 1)[0].id, at=NOON),
}


def ran_by(store, verb) -> list[str]:
    with statements(store) as ran:
        VERBS[verb](store)
    return [sql for sql in ran if re.match("SELECT|INSERT|UPDATE|DELETE|WITH", sql)]


def scans(store, sql) -> list[str]:
    """Where a statement reads a whole table; not the index of what waits, nor what ends before it begins."""
    if sql.endswith("AND 0") or " AND 0 " in sql:
        return []
    found = [line for line in plan(store, sql) if re.search(rf"\bSCAN ({'|'.join(TABLES)})\b", line)]
    return [line for line in found if "memory_index_waiting" not in line]


@pytest.mark.parametrize("name", sorted(SQL.keys() - OF_THE_WHOLE_FILE))
def test_no_statement_reads_a_whole_table(store, name):
    assert scans(store, SQL[name]) == []


@pytest.mark.parametrize("verb", VERBS)
def test_no_verb_reads_a_whole_table(store, verb):
    found = {sql: scans(store, sql) for sql in ran_by(store, verb)}
    assert found
    assert [sql for sql, where in found.items() if where] == []


@pytest.mark.parametrize(("index", "user"), [(index, user) for index, users in SERVES.items() for user in users])
def test_an_index_serves_what_it_is_there_for(store, index, user):
    asked = [SQL[user]] if user in SQL else ran_by(store, user)
    assert any(index in line for sql in asked for line in plan(store, sql))


def test_every_index_is_there_for_something(store):
    with store._connections.reading() as db:
        found = {
            name for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL")
        }
    assert found == set(SERVES)


def test_every_statement_is_used():
    """A statement that nothing runs is not maintained either."""
    from importlib.resources import files

    folder = files("engrain.storage.sqlite")
    code = "".join(each.read_text() for each in folder.iterdir() if each.name.endswith(".py"))
    assert [name for name in SQL if f'"{name}"' not in code] == []


def test_putting_one_episode_takes_few_statements_however_many_there_are(store):
    counts = set()
    for size in (0, 300):
        store.put([episode(f"Number {place}.", session="monday") for place in range(size)])
        store.put([episode("Known speaker.", session="monday", speaker="Ana")])
        with statements(store) as ran:
            store.put([episode("One more.", session="monday", speaker="Ana")])
        counts.add(len(ran))
    assert len(counts) == 1
    assert counts.pop() <= PUT_ONE_EPISODE


def test_putting_one_fact_takes_few_statements(store):
    with statements(store) as ran:
        store.put([fact("Porto")])
    assert len(ran) <= PUT_ONE_FACT


def test_an_idle_catch_up_is_one_statement(store):
    with store._connections.reading() as db:
        store._vectors.catch_up(db, 1, 4)
        with statements(store) as ran:
            store._vectors.catch_up(db, 1, 4)
    assert ran == [SQL["last_change"]]


@pytest.mark.parametrize("size", [0, 500])
def test_a_whole_search_takes_few_statements_however_many_memories_there_are(store, size):
    store.put([episode(f"Number {place} of the tram.", session=f"{place % 7}") for place in range(size)])
    asked = Request(caller=CALLER, filter=Filter(), now=NOON)
    store.nearest(asked, axis(0), 10)
    with statements(store) as ran:
        keyword = [each.ref for each in store.keyword(asked, {"tram", "turn"}, 50)]
        nearest = [each.ref for each in store.nearest(asked, axis(0), 50, also=keyword)]
        assert len(ran) <= FIND, "\n".join(ran)
        store.settle()
        store.turns(asked, {*keyword, *nearest})
        store.speakers(asked)
        store.load(asked, keyword[:10])
        assert len(ran) <= ANSWER, "\n".join(ran)


def test_reading_what_nobody_has_written_to_runs_no_write(store):
    with statements(store) as ran:
        for verb in (
            "get",
            "recent",
            "filtered",
            "nearest",
            "load",
            "turns",
            "speakers",
            "stats",
            "waiting",
            "unembedded",
        ):
            VERBS[verb](store)
        store.settle()
    assert [sql for sql in ran if not sql.startswith(("SELECT", "WITH"))] == []
