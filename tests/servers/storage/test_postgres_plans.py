"""How PostgreSQL is asked: which index serves which verb, in small namespaces and large, and by how many statements."""

import re
from contextlib import closing
from datetime import timedelta

import numpy as np
import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from engrain.domain.filters import Filter
from engrain.domain.records import Caller
from engrain.domain.requests import Request
from engrain.domain.text.bm25 import pack
from engrain.storage.postgres.index import READ_ALL, near_code, own_code
from engrain.storage.postgres.schema import OUR_TABLES
from tests.support.postgres import server
from tests.support.recorded import recorded
from tests.support.sample_records import CALLER, NOON, act, episode, fact, request, rule
from tests.support.store_calls import READS, WRITES, fill
from tests.support.store_samples import DIMS, EMBEDDER, axis
from tests.support.stores import PostgresStore
from tests.support.wiped import fresh_store

LARGE, SMALL, OTHERS = 101, 102, 103
SCAN_ALL = 4_000  # so that namespaces of 20,000 have their vectors in the graph
NOBODY = Caller(agent="nobody")  # sees the small namespace alone
LATER = NOON + timedelta(days=9)

# Every namespace has a memory in a hundred that says "tram"; its vector lies near the first axis. The vectors of the
# other tenant all lie between the first two, nearer to the first than most of ours.
# The graph of 40,000 vectors is made at once when they are there: a third of what it takes one by one.
_GRAPH = "memory_vectors_version_1"
_FILL = """
DROP INDEX {graph};
INSERT INTO namespaces (tenant_id, kind, scope, namespace, memories, words, has_words) VALUES
    ('default', 'episode', 'aide', 101, 20000, 20000, true), ('default', 'episode', 'global', 102, 60, 60, false),
    ('other', 'episode', 'aide', 103, 20000, 20000, true);
CREATE TEMPORARY TABLE filled AS
    SELECT 'default' AS tenant_id, 101 AS namespace, n AS doc FROM generate_series(1, 20000) AS n
    UNION ALL SELECT 'default', 102, n FROM generate_series(20001, 20060) AS n
    UNION ALL SELECT 'other', 103, n FROM generate_series(20061, 40060) AS n;
INSERT INTO memory_index (tenant_id, doc, namespace, state, own, packed)
    SELECT tenant_id, doc, namespace, 2, 1, CASE WHEN doc % 100 = 0 THEN '{tram}'::bytea ELSE '{bread}'::bytea END
    FROM filled;
INSERT INTO memory_words (tenant_id, doc, words)
    SELECT tenant_id, doc,
        (namespace || 'o' || CASE WHEN doc % 100 = 0 THEN '{tram_code}' ELSE '{bread_code}' END)::tsvector
    FROM filled WHERE namespace <> 102;
INSERT INTO memory_vectors (tenant_id, version, doc, namespace, in_graph, embedding)
    SELECT tenant_id, 1, doc, namespace, namespace <> 102, l2_normalize(CASE
        WHEN tenant_id = 'other' THEN ARRAY[1, 0.2 + doc / 1e6, 0, 0]
        WHEN doc % 100 = 0 THEN ARRAY[1, 0, doc / 1e5, 0]
        ELSE ARRAY[0, sin(doc), cos(doc), doc / 1e4] END::vector)
    FROM filled;
INSERT INTO episodes (doc, tenant_id, id, agent, scope, session, turn, content, event_time, created_at)
    SELECT doc, tenant_id, 'e' || doc, 'aide', CASE namespace WHEN 102 THEN 'global' ELSE 'aide' END,
        's' || doc / 50, doc % 50, 'tram', timestamptz '2024-05-07 12:00Z' + doc * interval '1 second',
        timestamptz '2024-05-07 12:00Z'
    FROM filled;
{definition};
VACUUM (ANALYZE)
"""


@pytest.fixture(scope="module")
def city():
    """A database whose namespaces are of two sizes, with as many memories of another tenant."""
    url = server().new_database(has_schema=True)
    name = conninfo_to_dict(url)["dbname"]
    with closing(PostgresStore(url, scan_all=SCAN_ALL)) as store:
        store.use_embedder(EMBEDDER, DIMS)
        [(definition,)] = server().psql(name, "SELECT indexdef FROM pg_indexes WHERE indexname = %s", [_GRAPH])
        codes = {
            "graph": _GRAPH,
            "definition": definition,
            "tram": "\\x" + pack(["tram"], []).packed.hex(),
            "bread": "\\x" + pack(["bread"], []).packed.hex(),
            "tram_code": own_code(0, "tram")[2:],
            "bread_code": own_code(0, "bread")[2:],
        }
        with psycopg.connect(server().url, dbname=name, autocommit=True) as connection:
            for statement in _FILL.format(**codes).split(";\n"):
                connection.execute(statement)
        yield store
    server().drop_database(url)


def plan_of(store, verb, *, holding):
    """The plan of the one statement a verb ran that holds some words."""
    with recorded(store, explains=True) as seen:
        answer = verb(store)
    [found] = [lines for statement, lines in seen.plans.items() if holding in statement]
    return answer, "\n".join(found)


def all_of(caller):
    return Request(caller=caller, filter=Filter(), now=LATER)


def test_words_of_a_large_namespace_are_found_by_their_index(city):
    found, plan = plan_of(city, lambda store: store.keyword(all_of(CALLER), {"tram"}, 500), holding="@@")
    assert len(found) == 200
    assert "Bitmap Index Scan on memory_words_words" in plan


def test_words_of_a_small_namespace_are_all_read(city):
    found, plan = plan_of(city, lambda store: store.keyword(all_of(NOBODY), {"tram"}, 500), holding="packed")
    assert [each.ref for each in found] == []
    assert "memory_index_namespace" in plan
    assert "Seq Scan" not in plan


def test_both_ways_to_words_find_the_same(city):
    by_index = city.keyword(all_of(CALLER), {"tram", "bread"}, 300)
    city._read_all = 1_000_000
    try:
        assert city.keyword(all_of(CALLER), {"tram", "bread"}, 300) == by_index
    finally:
        city._read_all = READ_ALL


def test_statistics_read_no_large_scope(city):
    """Totals, and of what waits so many as it takes to see that nearly all wait."""
    found, plan = plan_of(city, lambda store: store.stats(CALLER, LATER), holding="expired")
    assert (found.episodes.total, found.episodes.unconsolidated) == (20_060, 20_060)
    assert "Seq Scan on episodes" not in plan
    few = city.stats(NOBODY, LATER).episodes
    assert (few.total, few.unconsolidated, few.first_event_at) == (60, 60, NOON + timedelta(seconds=20_001))


def test_vectors_of_a_large_namespace_are_walked_behind_the_wall(city):
    """Row-level security leaves an index that orders alone: what it protects are the rows that come out of it."""
    found, plan = plan_of(city, lambda store: store.nearest(all_of(CALLER), axis(2), 20), holding="in_graph")
    assert "Index Scan using memory_vectors_version_1" in plan
    assert "current_setting('engrain.tenant_id'" in plan
    assert len(found) == 20
    assert {each.ref <= 20_060 for each in found} == {True}


def test_the_vectors_of_a_large_namespace_are_compared_one_by_one_where_that_is_less_work(city):
    """A walk for the best 500 looks at thousands of each tenant, this one's and the other's, and misses some."""
    with recorded(city) as seen:
        assert len(city.nearest(all_of(CALLER), axis(2), 500)) == 500
    assert not any("in_graph" in statement for statement in seen.statements)


def test_vectors_of_a_small_namespace_are_compared_one_by_one(city):
    found, plan = plan_of(city, lambda store: store.nearest(all_of(NOBODY), axis(2), 20), holding="memory_vectors")
    assert "memory_vectors_namespace" in plan
    assert "memory_vectors_version_1" not in plan
    assert len(found) == 20


def test_a_walk_finds_what_a_scan_finds_with_the_same_numbers(city):
    """Nearly always: in 3 of 25 indexes, which are made by chance, one of these ten walks found none of the best."""
    rng = np.random.default_rng(3)
    shared = 0
    for _ in range(10):
        query = rng.standard_normal(DIMS).astype(np.float32)
        query /= np.linalg.norm(query)
        walked = {each.ref: each.raw for each in city.nearest(all_of(CALLER), query, 20)}
        city._scan_all = 1_000_000
        try:
            scanned = {each.ref: each.raw for each in city.nearest(all_of(CALLER), query, 20)}
        finally:
            city._scan_all = SCAN_ALL
        both = walked.keys() & scanned.keys()
        assert {ref: walked[ref] for ref in both} == {ref: scanned[ref] for ref in both}
        shared += len(both)
    assert shared >= 100


def test_a_walk_that_meets_only_others_gives_way_to_a_scan(city):
    """All that is near is another tenant's: the index gives up before it reaches ours, which are found all the same."""
    query = np.array([1.0, 0.21, 0.0, 0.0], np.float32)
    query /= np.linalg.norm(query)
    with recorded(city) as seen:
        found = city.nearest(all_of(CALLER), query, 60)
    assert any("in_graph" in statement for statement in seen.statements)
    city._scan_all = 1_000_000
    try:
        assert found == city.nearest(all_of(CALLER), query, 60)
    finally:
        city._scan_all = SCAN_ALL


@pytest.fixture
def store():
    """A used database."""
    with fresh_store() as store:
        fill(store)
        yield store


VERBS = {**READS, **WRITES}


@pytest.mark.parametrize(("verb", "index"), [("claim", "episodes_(pending|waiting)"), ("undo", "memory_events_run")])
def test_a_run_is_read_along_indexes_of_its_own(store, verb, index):
    """Where most is of no run and waits for none, as by statistics that are known."""
    done = {"consolidation_status": "consolidated", "session": "done"}
    store.put(act(), [episode(f"Number {place}.", **done) for place in range(1_000)])
    store._connections.write(None, lambda db: db.execute(f"ANALYZE {', '.join(OUR_TABLES)}"))
    with recorded(store, explains=True, settings="SET LOCAL enable_seqscan = off") as seen:
        VERBS[verb](store)
    assert any(re.search(index, line) for lines in seen.plans.values() for line in lines)


@pytest.mark.parametrize("verb", VERBS)
def test_no_verb_reads_a_whole_table(store, verb):
    """The tables are small, so an index that could serve is preferred: where there is none, a table is read whole."""
    with recorded(store, explains=True, settings="SET LOCAL enable_seqscan = off") as seen:
        VERBS[verb](store)
    assert seen.plans
    scans = {
        statement: lines
        for statement, lines in seen.plans.items()
        if any(re.search(rf"Seq Scan on ({'|'.join(OUR_TABLES)})\b", line) for line in lines)
    }
    assert scans == {}


@pytest.mark.parametrize(("table", "made"), [("facts", lambda said: fact(said, subject=said)), ("rules", rule)])
def test_a_database_that_nobody_analysed_fills_without_reading_whole_scopes(table, made):
    """Without statistics any index that begins with the tenant looks as good, and the scope is read for each memory."""
    url = server().new_database(has_schema=True)
    name = conninfo_to_dict(url)["dbname"]

    def read(store):
        store._connections.write(None, lambda db: db.execute("SELECT pg_stat_force_next_flush()"))
        found = "SELECT sum(idx_tup_read)::integer FROM pg_stat_user_indexes WHERE relname = %s"
        return server().psql(name, found, [table])[0][0]

    with closing(PostgresStore(url, pool_size=1)) as store:  # whose statistics come at once when asked for
        store.put(act(), [made(f"Number {place}.") for place in range(500)])
        before = read(store)
        store.put(act(), [made(f"More {place}.") for place in range(500)])
        assert read(store) - before <= 5_000
    server().drop_database(url)


# Statements of one call, without BEGIN and COMMIT, which take a round trip each too; a number may fall, and grows only
# with a reason. One of them looks up the pools that the caller is in, where they decide.
COUNTS = {"put": 7, "supersede": 22, "of words": 3, "of vectors": 3, "forget": 15, "touch": 4, "get": 4}
COUNTED = {
    "put": lambda store: store.put(act(), [episode("One more.", session="monday", speaker="Ana")]),
    "supersede": VERBS["supersede"],
    "of words": lambda store: store.keyword(request(), {"tram"}, 50),
    "of vectors": lambda store: store.nearest(request(), axis(0), 50),
    "forget": lambda store: store.forget(act(), "known"),
    "touch": VERBS["touch"],
    "get": VERBS["get"],
}


@pytest.mark.parametrize("size", [0, 300])
@pytest.mark.parametrize("verb", COUNTS)
def test_a_verb_takes_few_statements_however_many_memories_there_are(verb, size):
    with fresh_store() as store:
        store.use_embedder(EMBEDDER, DIMS)
        store.put(act(), [episode(f"Number {place}.", session="monday", speaker="Ana") for place in range(size)])
        store.put(act(), [episode("Known.", id="known", session="monday", speaker="Ana"), fact("Lisbon")])
        with recorded(store) as seen:
            COUNTED[verb](store)
    assert len(seen.statements) <= COUNTS[verb], "\n".join(seen.statements)


def test_a_large_search_takes_few_statements(city):
    with recorded(city) as seen:
        city.keyword(all_of(CALLER), {"tram", "bread"}, 50)
        assert len(seen.statements) == 5  # one is for the small namespace
        city.nearest(all_of(CALLER), axis(2), 5)
    # The index is made by chance, and where it finds less than is asked, which is rare, one scan follows.
    scans = [statement for statement in seen.statements[9:] if "in_graph" not in statement]
    assert len(scans) <= 1
    assert len(seen.statements) - len(scans) == 10


@pytest.mark.parametrize("verb", ["newest", "important"])
def test_the_first_of_an_order_are_read_along_an_index(city, verb):
    """A page of a large scope costs the same however much there is: at most those of one moment are sorted by id."""
    found, plan = plan_of(city, lambda store: getattr(store, verb)(all_of(CALLER), 10), holding="UNION ALL")
    assert len(found) == 10
    index = {"newest": "episodes_time", "important": "episodes_importance"}[verb]
    assert f"Index Scan Backward using {index}" in plan
    assert "Seq Scan" not in plan


@pytest.fixture
def new_store():
    """A used database that no test had before: what others have deleted leaves pages, which plans go by."""
    url = server().new_database(has_schema=True)
    with closing(PostgresStore(url)) as store:
        fill(store)
        yield store
    server().drop_database(url)


def test_the_newest_that_mention_somebody_are_read_along_an_index(new_store):
    store = new_store
    store.put(act(), [fact(f"City {place}.", subject=f"{place}") for place in range(1_000)])
    store._connections.write(None, lambda db: db.execute(f"ANALYZE {', '.join(OUR_TABLES)}"))
    with recorded(store, explains=True, settings="SET LOCAL enable_seqscan = off") as seen:
        assert len(store.mentioning(request(), ["Ben"], 10)) == 3
    [plan] = ["\n".join(lines) for statement, lines in seen.plans.items() if "happened_at" in statement]
    assert "using memory_entities_time" in plan
    assert "using facts_about" in plan


_MENTION_EVERY_EPISODE = """
INSERT INTO memory_entities (tenant_id, entity_id, memory_kind, memory_id, scope, happened_at, created_at)
SELECT e.tenant_id, m.entity_id, 'episode', e.id, e.scope, e.event_time, e.created_at
FROM episodes AS e, (SELECT min(entity_id) AS entity_id FROM memory_entities) AS m ON CONFLICT DO NOTHING
"""


def test_what_nobody_has_read_again_is_read_along_the_time_of_its_scope(new_store):
    """Also where most were read again: only a nightly job reads this, and an index of its own would cost every turn."""
    store = new_store
    read_again = {"enriched_at": NOON.isoformat()}
    store.put(act(), [episode(f"Number {place}.", metadata=read_again) for place in range(1_000)])
    store.put(act(), [fact(f"City {place}.", subject=f"{place}", metadata=read_again) for place in range(1_000)])
    for statement in (_MENTION_EVERY_EPISODE, f"ANALYZE {', '.join(OUR_TABLES)}"):
        store._connections.write(None, lambda db, statement=statement: db.execute(statement))
    with recorded(store, explains=True, settings="SET LOCAL enable_seqscan = off") as seen:
        assert len(store.unenriched(request(), most_entities=2, limit=2)) == 2
    [plan] = ["\n".join(lines) for statement, lines in seen.plans.items() if "enriched" in statement]
    assert "using episodes_time" in plan
    assert "using facts_time" in plan
    assert "using memory_entities_memory" in plan


SEARCH_OF_TWO_KINDS = 8  # and BEGIN and COMMIT


def test_a_search_takes_one_transaction_and_asks_each_thing_once(store):
    asked = request(kinds=("episode", "fact"))

    def work():
        found = [each.ref for each in store.keyword(asked, {"tram", "turn", "lisbon"}, 100)]
        found += [each.ref for each in store.nearest(asked, axis(0), 100, also=found)]
        assert store.waiting(CALLER) == 0
        store.speakers(asked)
        store.traits(asked, set(found))
        return store.load(asked, set(found))

    with recorded(store) as seen:
        transactions, read = [], seen.read
        seen.read = lambda tenant, begun, **more: (transactions.append(tenant), read(tenant, begun, **more))[1]
        assert {each.kind for each in store.in_one_snapshot(CALLER, work).values()} == {"episode", "fact"}
    assert transactions == [CALLER.tenant_id]
    assert len(seen.statements) <= SEARCH_OF_TWO_KINDS, "\n".join(seen.statements)
    assert len(set(seen.statements)) == len(seen.statements)


def test_settling_asks_nothing(store):
    with recorded(store) as seen:
        assert store.flush_index() == 0
    assert seen.statements == []


def test_a_word_stands_in_the_index_as_a_number_of_its_namespace():
    assert own_code(17, "lisbon") == "17o" + own_code(0, "lisbon")[2:]
    assert near_code(17, "lisbon") == own_code(17, "lisbon").replace("o", "n", 1)
    assert own_code(1, "x") != own_code(1, "y")
