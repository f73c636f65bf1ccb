"""How a file is asked: which index serves which statement, and how many statements a verb may run."""

import re
from collections.abc import Iterator
from contextlib import closing
from importlib.resources import files

import apsw.ext
import pytest

from engrain.domain.filters import Filter
from engrain.domain.maintenance.backups import Extent
from engrain.domain.maintenance.retention import Retention
from engrain.domain.requests import Request
from engrain.storage.backup.extraction import SqlExtraction
from engrain.storage.backup.tables import BACKED_UP
from engrain.storage.named_sql import load_bodies
from engrain.storage.search import recency
from engrain.storage.sqlite.statements import STATEMENTS
from engrain.storage.transaction import Transaction
from tests.support.new_databases import new_file
from tests.support.sample_records import CALLER, NOON, act, episode, fact, link, request, rule
from tests.support.sqlite_statements import statements
from tests.support.store_calls import LISBON, READS, TEA, TEAM, TRAM, WRITES, fill
from tests.support.store_samples import axis, conversation, embed_all, put
from tests.support.stores import SqliteStore

OWN = load_bodies("sqlite")
SQL = STATEMENTS.named.spell_all()
# Everything but the few rows of the versions of embedders, the handful of sequences, and keys, which are listed whole.
GROWING = [
    *("episodes", "facts", "rules", "speakers", "sessions_consolidations", "rule_applications", "memory_links"),
    *(
        "namespaces",
        "memory_index",
        "memory_vectors",
        "memory_vector_packs",
        "entities",
        "entity_names",
        "memory_entities",
        "memory_events",
    ),
    *("entity_trigrams", "tombstones", "runs"),
    *("pools", "pool_members", "jobs", "memory_metadata", "log_sessions", "log_entries"),
    *("items", "item_index"),
]
# What a check-up of the whole file reads whole, and a change of the embedder.
OF_THE_WHOLE_FILE = {
    *("count_memories", "count_indexed", "count_searched", "count_unembedded"),
    *("missing_words", "unvectored", "stray_words", "missing_entries", "stray_entries", "size"),
    *("tenants", "episode_counts", "count_consolidated", "count_events"),  # a tenant's, by covering indexes
    *("memories_by_kind", "job_vitals"),  # a row for each place, and jobs that are not pruned yet
    *("without_vector", "mark_embedded", "all_names", "names_of_all", "count_trigrams"),
    *("prune_jobs", "agents"),  # of three months; a tenant's scopes and pools
    *("agent_counts", "user_counts"),  # a tenant's memories
    *("scopes_of_user", "runs_of_user"),  # a tenant's scopes and runs, when a user is erased
    *("scopes_of_pool", "knows_user"),  # when a pool is deleted, or a user is asked for of whom there is no memory
    *("knows_agent", "knows_tenant", "remove_jobs"),  # when an agent of whom there is no memory, or a tenant, is erased
}
OF_WHOLE_TENANTS = {"tenants", "backlogs", "clean", "extract"}  # by covering indexes, or in order
# What each index is there for: a named statement, a verb whose statement is composed, or a question.
SERVES = {
    "episodes_id": ["has_memory", "prepare_episode", "get", "touch", "forget_episode", "erase_episodes"],
    "episodes_session": ["prepare_episode", "turns_around", "neighbours", "of a session", "erase_sessions"],
    "episodes_time": ["newest", "since", "unenriched"],
    "episodes_importance": ["important"],
    "episodes_expiry": ["run_out_episodes"],
    "episodes_pending": ["claim", "pending_sessions"],
    "episodes_consolidated": ["oldest_consolidated"],
    "facts_id": ["has_memory", "get", "touch", "supersede_fact", "forget_fact", "confirm_fact", "erase_facts"],
    "facts_active_subject": ["supersede", "find_active_fact", "put_related"],
    "facts_active_entity": ["supersede of an entity"],
    "facts_subject": ["history"],
    "facts_entity": ["history of an entity"],
    "facts_unkeyed": ["has_leftovers"],
    "memory_index_stale": ["has_leftovers"],
    "facts_about": ["mentioning"],
    "facts_time": ["newest", "since", "unenriched"],
    "facts_importance": ["important"],
    "facts_source": ["clear_fact_source"],
    "facts_supersedes": ["clear_supersedes"],
    "rules_id": ["has_memory", "get", "touch", "forget_rule", "confirm_rule", "erase_rules", "mark_rule", "sweep"],
    "rules_time": ["newest", "important", "since"],
    "rules_source": ["clear_rule_source"],
    "rule_applications_rule": ["erase_applications", "applications", "more_applications"],
    "memory_links_target": ["links_in", "linked_to", "erase_links_in"],
    "entities_name": ["has_entity_name"],
    "entities_user": ["entities_of_user"],
    "memory_entities_memory": ["erase_mentions"],
    "memory_entities_time": ["mentioning", "count_mentions"],
    "memory_events_time": ["events", "events after one", "events of turns"],
    "memory_events_type": ["events of a type", "events of a type after one", "learners"],
    "memory_events_memory": [
        "events of a memory",
        "events of a memory after one",
        "erase_event_payloads",
        "was_taken_back",
    ],
    "memory_events_run": ["events of a run", "undo"],
    "memory_events_user": ["erase_payloads_of_user"],
    "runs_running": ["claim"],
    "runs_time": ["runs", "runs after one"],
    "log_sessions_name": ["hold_log", "log_session", "log_parts"],
    "log_sessions_time": ["log_sessions", "more_log_sessions"],
    "log_sessions_user": ["logs_of_user"],
    "log_entries_key": ["known_log_keys", "log_entries_like"],
    "items_key": [
        "hold_item",
        "items_below",
        "more_items_below",
        "indexed_items",
        "unindexed_items",
        "item_namespaces",
    ],
    "items_versions": ["versions_of_item", "drop_key"],
    "items_expiry": ["expired_items"],
    "items_user": ["items_of_user"],
    "pool_members_agent": ["the pools of an agent"],
    "jobs_due": ["take_job"],
    "jobs_dedupe": ["last_firing"],
    "namespaces_number": ["count_words"],
    "memory_index_waiting": ["unembedded", "searched", "count_waiting"],
    "memory_index_expiry": ["searched"],
    "memory_index_gone": ["gone_docs", "of the past"],
    "memory_vectors_doc": ["exact_vectors", "take_out_vectors", "erase_vectors"],
    "memory_vectors_change": ["changed_vectors"],
    "memory_vector_packs_change": ["vector_packs", "pack_centre", "drop_packs"],
}
# What is there to be refused, of a table that needs no index.
CONSTRAINS = {"embedding_versions_state"}
# What no verb asks yet, and the schema is made for.
QUESTIONS = {
    "the pools of an agent": "SELECT pool FROM pool_members WHERE tenant_id = ? AND agent = ?",
}
# Statements of one call, transaction included; a number may fall, and grows only with a reason.
PUT_ONE_EPISODE = 5
PUT_ONE_FACT = 30
GET = 4  # one a kind, and one for the pools of the caller
FIND = 8  # by words and by vector, each with the pools of the caller
ANSWER = 18  # the same, and everything else that a search asks, each for itself
# In one snapshot, BEGIN and COMMIT included, and the look at what is left for later before it.
SEARCH_OF_EPISODES = 10
SEARCH_OF_EVERY_KIND = 12


@pytest.fixture(scope="module")
def used(tmp_path_factory) -> bytes:
    """A used file, which each test has a copy of."""
    path = new_file(tmp_path_factory.mktemp("used") / "agent.db")
    with closing(SqliteStore(str(path))) as store:
        fill(store)
    return path.read_bytes()


@pytest.fixture
def store(tmp_path, used) -> Iterator[SqliteStore]:
    path = new_file(tmp_path / "agent.db", used)
    with closing(SqliteStore(str(path))) as store:
        yield store


def details(plan) -> list[str]:
    return [plan.detail, *(detail for each in plan.sub or () for detail in details(each))]


def plan(store, sql) -> list[str]:
    """What SQLite says it does for a statement, line by line."""
    with store._connections.reading() as db:
        db.execute(SQL["use_vocabulary"])  # a table of the connection, which a search makes
        return details(apsw.ext.query_info(db, sql, explain_query_plan=True).query_plan)


VERBS = {**READS, **WRITES}


def ran_by(store, verb) -> list[str]:
    with statements(store) as ran:
        VERBS[verb](store)
    return [sql for sql in ran if re.match("SELECT|INSERT|UPDATE|DELETE|WITH", sql) and "'merge'" not in sql]


def scans(store, sql) -> list[str]:
    """Where a statement reads a whole table, or a tenant's all; not one page, nor what waits or is gone."""
    lines = plan(store, sql)
    is_a_page = re.search(r" ORDER BY [\w, ]+ LIMIT ", sql) and not any("TEMP B-TREE" in line for line in lines)
    tables = "|".join(GROWING)
    read = rf"SCAN ({tables})\b|SEARCH ({tables}) USING [\w ]+ \(tenant_id=\?\)"
    few = re.compile("USING COVERING INDEX (memory_index_(waiting|gone|stale)|facts_unkeyed)|USING INDEX jobs_due")
    return [line for line in lines if re.search(read, line) and not is_a_page and not few.search(line)]


@pytest.mark.parametrize("whose", [{}, {"tenant_id": "default"}, {"tenant_id": "default", "agent": "aide"}])
def test_rows_are_extracted_in_the_order_of_an_index(store, whose):
    with store._connections.reading() as db:
        ran = []
        db.exec_trace = lambda _, sql, __: ran.append(sql) or True
        extraction = SqlExtraction(Transaction(db, STATEMENTS), Extent(**whose))
        for table in BACKED_UP:
            list(extraction.rows(table))
            if not whose:
                list(extraction.rows(table, exact=True))
        db.exec_trace = None
    pages = {sql for sql in ran if "LIMIT :limit" in sql}
    assert len(pages) > len(BACKED_UP)
    assert [line for sql in pages for line in plan(store, sql) if "TEMP B-TREE" in line] == []


# Its foreign keys look through the names and trigrams of a tenant. That is rare, and an index for it would be taken by
# the searches of names, which it serves worse than their own.
LOOKS_THROUGH_NAMES = {"remove_entity"}


def test_no_statement_reads_a_whole_table(store):
    found = {name: scans(store, SQL[name]) for name in sorted(SQL.keys() - OF_THE_WHOLE_FILE - LOOKS_THROUGH_NAMES)}
    assert {name: where for name, where in found.items() if where} == {}


@pytest.mark.parametrize("verb", [verb for verb in VERBS if verb not in OF_WHOLE_TENANTS])
def test_no_verb_reads_a_whole_table(store, verb):
    found = {sql: scans(store, sql) for sql in ran_by(store, verb)}
    assert found
    assert [sql for sql, where in found.items() if where] == []


@pytest.mark.parametrize("verb", ["newest", "important", "mentioning", "unenriched"])
def test_the_first_of_an_order_are_read_in_that_order(store, verb):
    """What a scope or an entity holds besides is not read: at most those of one moment are sorted by id."""
    asked = [sql for sql in ran_by(store, verb) if "ORDER BY" in sql and "UNION ALL" in sql]
    lines = [line for sql in asked for line in plan(store, sql)]
    assert any("scope=?" in line for line in lines)
    assert [line for line in lines if "TEMP B-TREE" in line and "LAST TERM" not in line] == []
    searches = [line for line in lines if line.startswith("SEARCH")]
    assert [line for line in searches if "scope=?" not in line and "memory_id=?" not in line] == []


@pytest.mark.parametrize(("most_to_sort", "index"), [(4_000, "episodes_session"), (2, "episodes_time")])
def test_the_newest_of_a_short_session_are_looked_for_in_it_alone(store, monkeypatch, most_to_sort, index):
    """Of one that is most of a scope they are the first by time; both ways find the same."""
    monkeypatch.setattr(recency, "_MOST_TO_SORT", most_to_sort)
    put(store, [episode(f"Turn {place}.", session=("monday", "tuesday")[place % 2]) for place in range(8)])
    asked = request(sessions=("monday",))
    with statements(store) as ran:
        newest = [turn.content for turn in store.recent(asked, 2)]
    [sql] = [sql for sql in ran if "ORDER BY event_time" in sql]
    assert any(f"USING INDEX {index} (tenant_id=? AND scope=?" in line for line in plan(store, sql))
    everything = [turn for turn in store.recent(request(), 100) if getattr(turn, "session", None) == "monday"]
    assert newest == [turn.content for turn in everything[:2]]


@pytest.mark.parametrize(("most_to_sort", "index"), [(4_000, "facts_subject"), (2, "facts_time")])
def test_the_newest_facts_of_a_subject_of_few_are_looked_for_by_it(store, monkeypatch, most_to_sort, index):
    monkeypatch.setattr(recency, "_MOST_TO_SORT", most_to_sort)
    put(store, [fact(f"thing {place}", subject=("Ana", "Ben")[place % 2], predicate="owns") for place in range(8)])
    asked = request(kinds=("fact",), subjects=("Ana",))
    with statements(store) as ran:
        newest = [found.content for found in store.recent(asked, 2)]
    [sql] = [sql for sql in ran if "ORDER BY coalesce" in sql]
    assert any(f"INDEX {index} (tenant_id=?" in line for line in plan(store, sql))
    everything = [found.content for found in store.recent(request(), 100) if getattr(found, "subject", None) == "Ana"]
    assert newest == everything[:2]


@pytest.mark.parametrize(
    "verb", ["events", "events of a type", "events of turns", "events after one", "events of a type after one"]
)
def test_what_is_asked_newest_first_is_not_sorted(store, verb):
    """A page of it costs the same however much there is."""
    asked = [sql for sql in ran_by(store, verb) if "memory_events" in sql]
    assert asked
    assert [line for sql in asked for line in plan(store, sql) if "TEMP B-TREE" in line] == []


def test_who_has_work_is_read_off_what_waits(store):
    """Of every tenant, as housekeeping asks: what is done with is not looked at."""
    with statements(store) as ran:
        store.backlogs(NOON)
        store.backlogs(NOON, tenant_id="default")
    every, one = [sql for sql in ran if "FROM episodes" in sql]
    for sql, read in ((every, "SCAN"), (one, "SEARCH")):
        lines = plan(store, sql)
        assert any(line.startswith(f"{read} episodes USING INDEX episodes_pending") for line in lines)
        assert any(line.startswith("SEARCH runs USING") and "runs_running" in line for line in lines)


def test_what_is_claimed_is_read_in_its_order(store):
    asked = [sql for sql in ran_by(store, "claim") if "FROM episodes" in sql]
    lines = [line for sql in asked for line in plan(store, sql)]
    pending, session = "episodes_pending (tenant_id=? AND agent=?", "episodes_session (tenant_id=? AND scope=? AND sess"
    locked = "episodes_id (tenant_id=? AND id=?)"
    searches = [line for line in lines if "episodes" in line]
    assert [next(index for index in (pending, session, locked) if index in line) for line in searches] == [
        *(pending, pending, session, locked),
    ]
    assert all("LAST" in line for line in lines if "TEMP B-TREE" in line)  # only among those that arrived at once


@pytest.mark.req("G18")
@pytest.mark.parametrize(("index", "user"), [(index, user) for index, users in SERVES.items() for user in users])
def test_an_index_serves_what_it_is_there_for(store, index, user):
    asked = [{**SQL, **QUESTIONS}[user]] if user in {**SQL, **QUESTIONS} else ran_by(store, user)
    assert any(index in line for sql in asked for line in plan(store, sql))


def test_every_index_is_there_for_something(store):
    with store._connections.reading() as db:
        found = {
            name for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL")
        }
    assert found == set(SERVES) | CONSTRAINS


def test_every_statement_is_used():
    """A statement that nothing runs is not maintained either."""
    folder = files("engrain.storage")
    rooms = [folder, *(path for path in folder.iterdir() if path.is_dir() and path.name != "postgres")]
    rooms.append(files("engrain.agent"))
    code = "".join(path.read_text() for room in rooms for path in room.iterdir() if path.name.endswith(".py"))
    composed = {
        f"{deed}_{kind}"
        for deed in ("age", "confirm", "count_references_to", "forget")
        for kind in ("episode", "fact", "rule")
    }
    composed |= {"erase_episodes", "erase_facts", "erase_rules"}
    composed |= {f"set_{kind}_confirmation" for kind in ("fact", "rule")}
    assert [name for name in SQL if f'"{name}"' not in code and name not in composed] == []
    assert not OWN.keys() & load_bodies().keys()


def test_putting_one_episode_takes_few_statements_however_many_there_are(store):
    counts = set()
    for size in (0, 300):
        put(store, [episode(f"Number {place}.", session="monday") for place in range(size)])
        put(store, [episode("Known speaker.", session="monday", speaker="Ana")])
        with statements(store) as ran:
            put(store, [episode("One more.", session="monday", speaker="Ana")])
        counts.add(len(ran))
    assert len(counts) == 1
    assert counts.pop() <= PUT_ONE_EPISODE


def test_a_cleanup_asks_once_which_sources_are_needed_however_many_there_are(store):
    done = {"consolidation_status": "consolidated"}
    counts = set()
    for size in (2, 60):
        kept = put(store, [episode(f"Number {place}.", **done) for place in range(size)])
        embed_all(store, {each.id: axis(0) for each in kept})
        [learned] = put(store, [rule("Learned.")])
        for each in kept:
            store.link(act(), link(learned, each, "derived_from"))
        with statements(store) as ran:
            store.clean(act(), Retention(max_entries=0), limit=9)
        counts.add((len(ran), sum("place.state = 2" in sql for sql in ran)))
    assert len(counts) == 1
    [(most, asked)] = counts
    assert (most, asked) == (8, 1)


def test_an_overview_reads_the_newest_of_a_scope_once(store):
    put(store, [fact("Porto"), episode("We moved.")])
    with statements(store) as ran:
        store.standouts(request(), limit=5)
    assert [
        sum(f"FROM {table} " in sql and "octet_length" in sql for sql in ran) for table in ("facts", "episodes")
    ] == [1, 1]


def test_putting_one_fact_takes_few_statements(store):
    with statements(store) as ran:
        put(store, [fact("Porto")])
    assert len(ran) <= PUT_ONE_FACT


def test_a_note_takes_few_statements_more_than_a_fact(store):
    others = put(store, [fact(predicate=str(place)) for place in range(10)])
    with statements(store) as ran:
        store.put_related(act(), fact("Porto"), {each.id: 0.5 for each in others})
    assert len(ran) <= PUT_ONE_FACT + 8 + 2 * len(others)


def test_getting_takes_one_statement_a_kind(store):
    with statements(store) as ran:
        assert len(store.get(CALLER, [LISBON.id, TEA.id, TRAM.id])) == 3
    assert len(ran) <= GET


def test_touching_takes_one_statement_a_kind_and_no_event(store):
    before = store.events(CALLER)
    with statements(store) as ran:
        assert len(store.touch(act(), [LISBON.id, TEA.id, TRAM.id])) == 3
    assert [sql.split()[0] for sql in ran] == ["BEGIN", "SELECT", *["UPDATE"] * 3, "COMMIT"]
    assert store.events(CALLER) == before


def test_an_idle_catch_up_is_one_statement(store):
    def catch_up(snapshot):
        store._vectors.catch_up(snapshot, 1)
        with statements(store) as ran:
            store._vectors.catch_up(snapshot, 1)
        return ran

    assert store._read(CALLER, catch_up) == [SQL["newest_change"]]


@pytest.mark.parametrize("size", [0, 500])
def test_a_whole_search_takes_few_statements_however_many_memories_there_are(store, size):
    put(store, [episode(f"Number {place} of the tram.", session=f"{place % 7}") for place in range(size)])
    asked = Request(caller=CALLER, filter=Filter(), now=NOON)
    store.nearest(asked, axis(0), 10)
    with statements(store) as ran:
        keyword = [each.ref for each in store.keyword(asked, {"tram", "turn"}, 50)]
        nearest = [each.ref for each in store.nearest(asked, axis(0), 50, also=keyword)]
        assert len(ran) <= FIND, "\n".join(ran)
        store.flush_index()
        store.traits(asked, {*keyword, *nearest})
        store.speakers(asked)
        store.load(asked, keyword[:10])
        assert len(ran) <= ANSWER, "\n".join(ran)


def search(store):
    """What a search asks of a store, from the look at what is left for later to the records of its winners."""
    asked = Request(caller=TEAM, filter=Filter(), now=NOON)

    def work():
        keyword = [each.ref for each in store.keyword(asked, {"tram", "turn", "take"}, 100)]
        nearest = [each.ref for each in store.nearest(asked, axis(0), 100, also=keyword)]
        assert store.waiting(TEAM) == 0
        store.speakers(asked)
        store.traits(asked, {*keyword, *nearest})
        return store.load(asked, [*nearest[:10], *nearest[-3:]])

    store.flush_index()
    return {each.kind for each in store.in_one_snapshot(TEAM, work).values()}


def test_a_search_of_episodes_asks_each_thing_once(tmp_path):
    with closing(SqliteStore(str(tmp_path / "agent.db"))) as store:
        turns = put(store, conversation(*(f"Turn {place} of the tram." for place in range(20)), speaker="Ana"))
        embed_all(store, {each.id: axis(0) for each in turns})
        search(store)  # reads the vectors into the process
        with statements(store) as ran:
            assert search(store) == {"episode"}
        assert len(ran) <= SEARCH_OF_EPISODES, "\n".join(ran)
        assert len(set(ran)) == len(ran)


def test_a_search_of_every_kind_asks_two_statements_more(store):
    search(store)
    with statements(store) as ran:
        assert search(store) == {"episode", "fact", "rule"}
    assert len(ran) <= SEARCH_OF_EVERY_KIND, "\n".join(ran)


def test_the_records_of_one_kind_are_not_looked_for_among_others(store):
    """Once their traits are known, their kinds are."""
    asked = Request(caller=TEAM, filter=Filter(), now=NOON)

    def work():
        refs = list(store.traits(asked, [each.ref for each in store.newest(asked, 99)]))
        with statements(store) as ran:
            assert len(store.load(asked, refs[:1])) == 1
        return ran

    assert len(store.in_one_snapshot(TEAM, work)) == 1


def test_what_waits_is_counted_where_anything_does(store):
    def work():
        store.newest(request(), 1)
        with statements(store) as ran:
            return store.waiting(CALLER), len(ran)

    assert store.in_one_snapshot(CALLER, work) == (0, 0)
    put(store, [episode("Not yet embedded.")])
    assert store.in_one_snapshot(CALLER, work) == (1, 1)
    store.flush_index()
    assert store.in_one_snapshot(CALLER, work) == (1, 1)


def test_reading_runs_no_write(store):
    with statements(store) as ran:
        for read in READS.values():
            read(store)
        store.flush_index()
    changes = [sql for sql in ran if not sql.startswith(("SELECT", "WITH", "BEGIN", "COMMIT"))]
    assert [sql for sql in changes if "pool" not in sql] == []  # whose adapter lets callers join the pools they name
