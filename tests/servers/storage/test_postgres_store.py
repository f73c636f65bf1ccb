"""A store among others on one PostgreSQL: who comes first, who waits, what a broken connection leaves."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from datetime import timedelta

import numpy as np
import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from engrain import errors
from engrain.config import load
from engrain.domain.maintenance.backups import Extent
from engrain.domain.maintenance.retention import Retention
from engrain.domain.records import Episode
from engrain.domain.runs.jobs import Job
from engrain.domain.runs.plans import Action, Plan
from engrain.domain.runs.runs import Claim
from engrain.service import Memory
from engrain.storage import migrations, open_store
from engrain.storage.postgres import schema
from engrain.storage.write import arrivals
from tests.support.cutting_proxy import CuttingProxy
from tests.support.postgres import server
from tests.support.races import run_together
from tests.support.recorded import Recorded, recorded
from tests.support.sample_records import CALLER, NOON, act, entity, episode, fact, link, request, rule
from tests.support.store_samples import DIMS, EMBEDDER, axis, conversation, embed_all, keyword
from tests.support.stores import PostgresStore, open_verbs
from tests.support.wiped import fresh_store


@pytest.fixture
def url():
    made = server().new_database()
    yield made
    server().drop_database(made)


@pytest.fixture
def store():
    with fresh_store() as store:
        yield store


def as_superuser(url, statement):
    return server().psql(conninfo_to_dict(url)["dbname"], statement)


OPENED = """
import sys
from tests.support.stores import PostgresStore
sys.stdin.readline()
store = PostgresStore(sys.argv[1])
print(store.created, store.health().problems)
store.close()
"""


def test_several_processes_open_a_new_database_at_once(url):
    processes = [
        subprocess.Popen([sys.executable, "-c", OPENED, url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    for each in processes:
        each.stdin.write("now\n")
        each.stdin.flush()
    answers = [each.communicate()[0] for each in processes]
    assert [each.returncode for each in processes] == [0, 0, 0]
    assert all(answer.endswith(" ()\n") for answer in answers)
    assert any(answer.startswith("True") for answer in answers)
    assert as_superuser(url, "SELECT version_num FROM alembic_version") == [(migrations.HEAD,)]


def test_a_store_stands_in_the_schema_that_the_connection_names(url):
    as_superuser(url, f"CREATE SCHEMA memories AUTHORIZATION {server().role}")
    with closing(open_verbs(f"{url}?options=-csearch_path%3Dmemories,public")) as store:
        [stored] = store.put(act(), [episode("Elsewhere.")])
        assert store.get(CALLER, [stored.id]) == [stored]
    tables = as_superuser(url, "SELECT DISTINCT schemaname FROM pg_tables WHERE tablename = 'episodes'")
    assert tables == [("memories",)]


@pytest.mark.parametrize(
    ("before", "options", "said"),
    [
        ("DROP EXTENSION vector", "", "as a superuser: CREATE EXTENSION vector"),
        ("CREATE TABLE facts (x integer)", "", r"tables named as ours \(facts\)"),
        ("SELECT 1", "?options=-csearch_path%3Dnowhere", "nowhere for tables"),
        (
            "CREATE SCHEMA hidden; ALTER EXTENSION vector SET SCHEMA hidden",
            "",
            "vector is in a schema that the role's search_path does not name",
        ),
    ],
)
def test_what_stands_in_the_way_of_a_new_database_is_said_and_nothing_is_made(url, before, options, said):
    as_superuser(url, before)
    with pytest.raises(errors.StorageError, match=said):
        open_store(url + options)
    assert as_superuser(url, "SELECT 1 FROM pg_tables WHERE tablename = 'episodes'") == []


@pytest.mark.parametrize(
    ("found", "said"),
    [
        ((150_004, "15.4", "public", "0.8.0", True), "PostgreSQL 15.4; engrain needs 16"),
        ((160_000, "16.0", "public", "0.7.4", True), "pgvector 0.7.4; engrain needs 0.8"),
    ],
)
def test_a_server_that_is_too_old_is_refused_with_what_is_needed(found, said):
    with pytest.raises(errors.StorageError, match=said):
        schema.check_server(found, "here")


def test_writers_of_one_session_get_distinct_turns_and_each_others_words(store):
    contents = [f"Said{place} here." for place in range(24)]
    with ThreadPoolExecutor(6) as threads:
        stored = list(threads.map(lambda content: store.put(act(), [episode(content, session="monday")])[0], contents))
    assert sorted(each.turn for each in stored) == list(range(1, 25))
    by_turn = {each.turn: each for each in stored}
    for each in stored:
        word = each.content.split()[0].lower()
        around = {by_turn[turn].id for turn in range(each.turn - 2, each.turn + 3) if turn in by_turn}
        assert set(keyword(store, word)) == around
    assert store.health().problems == ()


def test_writers_of_crossing_sessions_and_facts_all_get_done(store):
    def write(number):
        names = ["one", "two", "three"]
        sessions = names[number % 3 :] + names[: number % 3]
        turns = [episode(f"Turn {number}.", session=session) for session in sessions]
        facts = [fact(f"Place {number}", subject=name) for name in reversed(sessions)]
        return store.put(act(), [*turns, *facts])

    with ThreadPoolExecutor(4) as threads:
        stored = [each for call in threads.map(write, range(12)) for each in call]
    assert len(stored) == 72
    for session in ("one", "two", "three"):
        turns = [each.turn for each in stored if isinstance(each, Episode) and each.session == session]
        assert sorted(turns) == list(range(1, 13))
    assert store.stats(CALLER, NOON).facts.live == 3
    assert store.health().problems == ()


def test_the_same_memory_put_by_several_at_once_is_there_once(store):
    memories = [episode("Once.", session="monday"), fact("Lisbon")]
    answers = run_together(lambda _: store.put(act(), memories), range(4))
    assert sorted(len(answer) for answer in answers) == [0, 0, 0, 2]
    assert len(store.recent(request(), 9)) == 2
    assert store.health().problems == ()


class Meanwhile(Recorded):
    """Does something once, right before one statement of a verb runs."""

    def __init__(self, store, before, act):
        super().__init__(store._connections, False, "")
        self._before, self._act = before, act

    def note(self, db, statement, values):
        if self._before in statement and self._act is not None:
            act, self._act = self._act, None
            act()
        super().note(db, statement, values)


def indexed_docs(store):
    """The docs in the keyword index, and those of the memories in the searches."""
    in_searches = "SELECT doc FROM memory_index WHERE state < 3 ORDER BY doc"
    words = as_superuser(url_of(store), "SELECT doc FROM memory_words ORDER BY doc")
    return [doc for (doc,) in words], [doc for (doc,) in as_superuser(url_of(store), in_searches)]


def test_the_keyword_index_gets_all_words_of_a_namespace_that_becomes_large():
    turns = [episode(f"Tram number {place}.", session="monday", speaker="Ana") for place in range(5)]
    with fresh_store(read_all=3) as store, fresh_store() as whole:
        for number, memory in enumerate([*turns[:3], fact("a tram"), *turns[3:]]):
            assert len(indexed_docs(store)[0]) == (4 if number == 5 else 0)
            for each in (store, whole):
                each.put(act(), [memory])
        for asked in (["tram"], ["number", "tram"], ["ana"], ["3"]):
            assert [*keyword(store, *asked)] == [*keyword(whole, *asked)]
        store.forget(act(), turns[0].id)
        assert len(indexed_docs(store)[0]) == 4
        assert store.health().problems == ()


@pytest.mark.parametrize("verb", ["put", "forget"])
def test_a_namespace_may_become_large_while_somebody_else_writes_to_it(verb):
    """They have not seen that the keyword index needs their words, or it has words that they take out."""
    turns = [episode(f"Tram number {place}.", session="monday", speaker="Ana") for place in range(4)]
    with fresh_store(read_all=3) as store:
        store.put(act(), turns[:3])
        inner = store._connections
        beside = PostgresStore(url_of(store), read_all=3)
        others = [episode("A tram by itself.") for _ in range(2)]
        store._connections = Meanwhile(store, "UPDATE namespaces", lambda: beside.put(act(), others))
        try:
            if verb == "put":
                store.put(act(), turns[3:])
            else:
                store.forget(act(), turns[0].id)
        finally:
            store._connections = inner
            beside.close()
        words, docs = indexed_docs(store)
        assert words == docs
        assert len(docs) == {"put": 6, "forget": 4}[verb]
        assert store.health().problems == ()


def test_a_fact_stated_between_a_look_and_a_write_is_superseded_after_all(store):
    other, url = fact("Porto"), url_of(store)
    with closing(PostgresStore(url)) as beside:
        # Past the queue for places: as an engrain would that does not know of it.
        def state():
            with psycopg.connect(url) as connection:
                connection.execute("SET engrain.tenant_id = 'default'")
                connection.execute(
                    "INSERT INTO facts (doc, tenant_id, id, agent, scope, subject, predicate, content, created_at, "
                    "subject_key, predicate_key, value_key) "
                    "VALUES (1, 'default', %s, 'aide', 'global', 'Ana', 'lives in', '', now(), "
                    "%s, %s, %s)",
                    (other.id, other.key.subject, other.key.predicate, other.key.value),
                )

        inner = store._connections
        store._connections = Meanwhile(store, "INSERT INTO facts", state)
        try:
            [stored] = store.put(act(), [fact("Lisbon")])
        finally:
            store._connections = inner
        assert stored.supersedes_id == other.id
        [old] = beside.get(CALLER, [other.id])
        assert old.validity == "superseded"


def test_what_a_fact_names_may_be_erased_meanwhile(store):
    [source] = store.put(act(), [episode("We met.")])
    inner = store._connections
    with closing(PostgresStore(url_of(store))) as beside:
        store._connections = Meanwhile(store, "INSERT INTO facts", lambda: beside.erase(act(), [source.id]))
        try:
            with pytest.raises(errors.InvalidInput, match="names no episode"):
                store.put(act(), [fact("Lisbon", source_episode_id=source.id)])
        finally:
            store._connections = inner
    assert store.recent(request(), 9) == []


@contextmanager
def meanwhile(store, before, deed):
    """Lets somebody else do something right before a statement of the store's; it has to come to that."""
    inner, done = store._connections, []
    store._connections = Meanwhile(store, before, lambda: done.append(deed()))
    try:
        yield
    finally:
        store._connections = inner
    assert done


def is_free(url, id_, lock):
    """Whether somebody else gets a lock of the row of a fact or episode at once."""
    with psycopg.connect(url) as other:
        other.execute("SET engrain.every_tenant = 'on'")
        try:
            for table in ("facts", "episodes"):
                other.execute(f"SELECT 1 FROM {table} WHERE id = %s FOR {lock} NOWAIT", (id_,))
        except psycopg.errors.LockNotAvailable:
            return False
    return True


def learned(store, source):
    """A plan carried out that derives a fact from another."""
    run = store.claim(act(), Claim(kind="summary", worker="me", lease_s=60)).run
    made = Action(kind="new_fact", memory=fact("x", predicate="made"), sources=(source.id,))
    return store.carry_out(act(), run.id, Plan(episode_ids=(), actions=(made,)), {})


def test_what_is_learned_while_somebody_states_it_adds_nothing(store):
    """A race within one action of a plan is not its error: all of the plan is carried out again."""
    known, other = rule("Ask first."), rule("Take it.")
    run = store.claim(act(), Claim(kind="summary", worker="me", lease_s=60)).run
    actions = [Action(kind="new_rule", memory=memory) for memory in (other, known)]
    with (
        closing(PostgresStore(url_of(store))) as beside,
        meanwhile(store, "INSERT INTO rules", lambda: beside.put(act(), [known])),
    ):
        done = store.carry_out(act(), run.id, Plan(episode_ids=(), actions=tuple(actions)), {})
    assert [(result.memory_id, result.error) for result in done] == [(other.id, None), (known.id, None)]
    assert len(store.events(CALLER, event_type="rule_created")) == 2


LINKING = {
    "link": lambda store, one, two: store.link(act(), link(one, two)),
    "put_related": lambda store, one, two: store.put_related(act(), fact("x"), {one.id: 0.5, two.id: 0.5}),
    "carry_out": lambda store, one, two: [learned(store, each) for each in (one, two)],
    "doubt": lambda store, one, two: store.doubt(act(), one.id, two.id),
}


@pytest.mark.parametrize("verb", LINKING)
def test_what_an_edge_leads_to_is_held_until_it_is_written(store, verb):
    """Or an erase that has taken its edges away already would leave this one behind."""
    one, two = store.put(act(), [fact("Lisbon", predicate="was in"), fact("Porto", predicate="will be in")])
    free, url = [], url_of(store)

    def look():
        free.extend(is_free(url, each.id, "UPDATE") for each in ((one,) if verb == "carry_out" else (one, two)))

    with meanwhile(store, "INSERT INTO memory_links", look):
        LINKING[verb](store, one, two)
    assert free
    assert not any(free)


GOING = {
    "erase": lambda store, gone: store.erase(act(), [gone.id]),
    "clean": lambda store, _: store.clean(act(NOON + timedelta(days=99)), Retention(expired_days=0), limit=9),
    "clear": lambda store, _: store.restore("default", lambda into: into.clear(Extent(tenant_id="default"), NOON)),
}


@pytest.mark.parametrize("verb", GOING)
def test_what_goes_is_held_before_its_edges_are_taken_away(store, verb):
    """Or an edge would be written between the two, and whoever mentions it, and lead nowhere."""
    [gone] = store.put(act(), [episode("Gone.", expires_at=NOON)])
    free, url = [], url_of(store)
    with meanwhile(store, "DELETE FROM memory_links", lambda: free.append(is_free(url, gone.id, "KEY SHARE"))):
        GOING[verb](store, gone)
    assert free == [False]
    assert store.get(CALLER, [gone.id]) == []


def test_what_mentions_somebody_is_held_while_he_is_merged(store):
    ana, anita = (store.put_entity(act(), entity(name)) for name in ("Ana", "Anita"))
    [said] = store.put(act(), [episode("Ana was here.")])
    store.mention(act(), said.id, [ana.id])
    free, url = [], url_of(store)
    for moved in (
        lambda: store.merge_entities(act(), ana.id, anita.id),
        lambda: store.unmerge_entities(act(), ana.id),
    ):
        with meanwhile(store, "INSERT INTO memory_entities", lambda: free.append(is_free(url, said.id, "UPDATE"))):
            moved()
    assert free == [False, False]


def test_a_turn_that_is_erased_while_another_is_restored_beside_it_leaves_no_place_in_the_searches(store, tmp_path):
    with (
        Memory(store, settings=load({"embedding": {"model": "none"}})) as memory,
        closing(PostgresStore(f"{url_of(store)}?options=-c%20lock_timeout%3D100ms")) as beside,
    ):
        agent = memory.agent(CALLER.agent, session="monday")
        ids = [agent.observe(content).id for content in ("One.", "Two.", "Three.")]
        memory.backup(tmp_path / "backup")
        agent.forget(ids[1])
        assert memory.cleanup().expired_deleted == 1

        def erase():
            with suppress(errors.DatabaseBusy):
                beside.erase(act(), [ids[0]])

        with meanwhile(store, "INSERT INTO memory_index", erase):
            assert memory.restore(tmp_path / "backup", with_erased=True).memories == 1
        beside.erase(act(), [ids[0]])
        assert memory.health(thorough=True).problems == ()


def test_a_fact_that_is_erased_while_another_casts_doubt_on_it_is_doubted_by_nobody(store):
    old, new = store.put(act(), [fact("Lisbon", predicate="was in"), fact("Porto")])
    with (
        closing(PostgresStore(url_of(store))) as beside,
        meanwhile(store, "FOR NO KEY UPDATE", lambda: beside.erase(act(), [old.id])),
    ):
        assert store.doubt(act(), old.id, new.id) is None
    assert store.links(CALLER, new.id) == []


def test_an_entity_that_is_removed_while_it_is_parted_from_another_is_unknown(store):
    ana, anita = (store.put_entity(act(), entity(name)) for name in ("Ana", "Anita"))
    store.merge_entities(act(), ana.id, anita.id)
    with (
        closing(PostgresStore(url_of(store))) as beside,
        meanwhile(store, "FOR UPDATE", lambda: beside.remove_entities(act(), [anita.id])),
        pytest.raises(errors.NotFound, match="no entity"),
    ):
        store.unmerge_entities(act(), ana.id)


@pytest.mark.parametrize("verb", ["put_mentioning", "introduce"])
def test_whoever_states_a_fact_with_whom_it_mentions_waits_for_its_place(store, verb):
    stating = {
        "put_mentioning": lambda: store.put_mentioning(act(), [fact("Lisbon")], [], lambda _: {}),
        "introduce": lambda: store.introduce(act(), [], [fact("Lisbon")]),
    }
    with recorded(store) as ran:
        stating[verb]()
    assert "pg_advisory_xact_lock" in ran.statements[0]


def test_a_dead_letter_that_is_removed_while_it_is_tried_again_is_none(store):
    dead = Job(id="0199", name="decay", run_at=NOON, created_at=NOON, status="dead_letter", finished_at=NOON)
    store.add_job(dead)
    with (
        closing(PostgresStore(url_of(store))) as beside,
        meanwhile(store, "UPDATE jobs", lambda: beside.prune_jobs(NOON + timedelta(days=1), limit=9)),
    ):
        assert store.retry_job(dead.id, NOON) is None


@pytest.mark.parametrize("verb", ["forget", "erase"])
@pytest.mark.parametrize("before", ["INSERT INTO memory_vectors", "ORDER BY tenant_id, doc FOR NO KEY UPDATE"])
def test_a_vector_that_arrives_while_its_memory_goes_is_not_found(store, verb, before):
    store.use_embedder(EMBEDDER, DIMS)
    gone, _ = store.put(act(), [episode("Gone."), episode("Kept.")])
    refs = [each.ref for each in store.unembedded(9)]
    inner = store._connections
    with closing(PostgresStore(url_of(store))) as beside:
        going = {"forget": lambda: beside.forget(act(), gone.id), "erase": lambda: beside.erase(act(), [gone.id])}
        store._connections = Meanwhile(store, before, going[verb])
        try:
            store.attach(refs, np.array([axis(0), axis(0)]))
        finally:
            store._connections = inner
    everything = request(include_inactive=True)
    found = [each.ref for each in store.nearest(everything, axis(0), 9)]
    assert [each.content for each in store.load(everything, found).values()] == ["Kept."]
    assert store.health().problems == ()


def url_of(store):
    parts = conninfo_to_dict(store._connections._conninfo)
    return "postgresql://{user}:{password}@{host}:{port}/{dbname}".format(**parts)


@pytest.fixture
def cut(store):
    """A store whose connections can be cut, and what cuts them."""
    parts = conninfo_to_dict(store._connections._conninfo)
    with CuttingProxy(int(parts["port"])) as proxy:
        url = "postgresql://{user}:{password}@{host}:{port}/{dbname}".format(**{**parts, "port": proxy.port})
        with closing(PostgresStore(url)) as through:
            yield through, proxy


@pytest.mark.parametrize("is_delivered", [False, True], ids=["lost", "delivered"])
def test_a_put_cut_at_its_commit_is_there_once_and_answers_what_is_there(cut, store, is_delivered):
    through, proxy = cut
    memories = conversation("One.", "Two.")
    proxy.is_delivered, proxy.cuts = is_delivered, 1
    stored = through.put(act(), memories)
    assert proxy.cuts == 0
    assert [each.turn for each in stored] == [1, 2]
    assert store.get(CALLER, [each.id for each in memories]) == stored
    assert len(store.events(CALLER)) == 2


@pytest.mark.parametrize("is_delivered", [False, True], ids=["lost", "delivered"])
def test_a_touch_cut_at_its_commit_has_an_unknown_outcome(cut, store, is_delivered):
    through, proxy = cut
    [stored] = store.put(act(), [episode("Once.")])
    proxy.is_delivered, proxy.cuts = is_delivered, 1
    with pytest.raises(errors.OutcomeUnknown):
        through.touch(act(), [stored.id])
    [found] = store.get(CALLER, [stored.id])
    assert found == replace(
        stored, reference_count=int(is_delivered), last_referenced_at=NOON if is_delivered else None
    )


def test_an_index_is_made_with_a_version_and_goes_with_it(store):
    store.use_embedder(EMBEDDER, DIMS)
    new = store.begin_version("test:wide", 4_001)
    assert indexes(store) == ["memory_vectors_version_1"]
    assert store.switch_version(act(), new.version)
    assert store.prune_vectors(10) == 0
    assert indexes(store) == []
    assert store.health().problems == ()


GRAPH = "SELECT in_graph FROM memory_vectors"


def indexes(store):
    found = "SELECT indexname FROM pg_indexes WHERE indexname LIKE 'memory_vectors_version%' ORDER BY 1"
    return [name for (name,) in as_superuser(store._connections._conninfo, found)]


def index_ids(store):
    found = "SELECT indexrelid::bigint FROM pg_index WHERE indexrelid::regclass::text LIKE 'memory_vectors_version%'"
    return as_superuser(store._connections._conninfo, found)


def test_a_restore_makes_an_empty_index_of_vectors_anew_while_others_search(store):
    store.use_embedder(EMBEDDER, DIMS)
    [before] = index_ids(store)

    def work(_target):
        assert index_ids(store) == []
        assert store.nearest(request(), axis(0), 10) == []
        assert store.use_embedder(EMBEDDER, DIMS) is None  # and does not wait to make one

    store.restore(CALLER.tenant_id, work)
    [after] = index_ids(store)
    assert after != before
    assert store.health().problems == ()


def test_a_restore_leaves_an_index_that_holds_vectors(store):
    store.use_embedder(EMBEDDER, DIMS)
    [stored] = store.put(act(), [episode("Bread.")])
    embed_all(store, {stored.id: axis(0)})
    before = index_ids(store)
    store.restore("other", lambda _target: None)
    assert index_ids(store) == before


def test_a_restore_leaves_an_index_whose_table_is_in_use(store):
    store.use_embedder(EMBEDDER, DIMS)
    before = index_ids(store)
    with psycopg.connect(store._connections._conninfo) as reader:
        reader.execute("SELECT 1 FROM memory_vectors")
        store.restore(CALLER.tenant_id, lambda _target: None)
    assert index_ids(store) == before


def test_a_namespace_that_becomes_large_puts_its_vectors_into_the_graph_by_and_by():
    """Four earlier ones with each new one, or all with a restore; those that are not there are found by a scan."""

    def embed(store, count):
        stored = store.put(act(), [episode("Bread.") for _ in range(count)])
        embed_all(store, {memory.id: axis(place % DIMS) for place, memory in enumerate(stored)})
        return [in_graph for (in_graph,) in as_superuser(store._connections._conninfo, GRAPH)].count(True)

    with fresh_store(read_all=0, scan_all=2) as store:
        assert [embed(store, 8), embed(store, 1)] == [0, 5]
        with recorded(store) as seen:
            assert len(store.nearest(request(), axis(0), 20)) == 9
        assert "in_graph" in "".join(seen.statements)
        store.restore(CALLER.tenant_id, lambda _target: None)
        assert embed(store, 1) == 10
        assert len(store.nearest(request(), axis(0), 20)) == 10
        assert store.health().problems == ()


def test_an_index_of_vectors_is_made_again_after_a_restore_that_failed(store):
    store.use_embedder(EMBEDDER, DIMS)

    def work(_target):
        raise errors.InvalidInput("no")

    with pytest.raises(errors.InvalidInput):
        store.restore(CALLER.tenant_id, work)
    assert len(index_ids(store)) == 1


def test_an_index_of_vectors_that_a_killed_restore_left_out_is_made_at_the_next_opening(store):
    store.use_embedder(EMBEDDER, DIMS)
    as_superuser(store._connections._conninfo, "DROP INDEX memory_vectors_version_1")
    assert "have no index" in store.health().problems[0]
    store.use_embedder(EMBEDDER, DIMS)
    assert store.health().problems == ()


def test_a_snapshot_whose_connection_ends_is_begun_again_from_its_beginning(store):
    [stored] = store.put(act(), [episode("Bread.")])
    seen = []

    def work():
        seen.append([each.raw for each in store.newest(request(), 9)])
        if len(seen) == 1:
            end = "SELECT pg_terminate_backend(%s, 10000)"
            store._read(CALLER, lambda tx: server().psql("postgres", end, [tx.db.session.info.backend_pid]))
        return store.recent(request(), 9)

    assert store.in_one_snapshot(CALLER, work) == [stored]
    assert seen == [[NOON.timestamp()]] * 2
    assert store.put(act(), [episode("Afterwards.")])


def test_a_snapshot_holds_one_connection_and_others_inside_it_take_another(url):
    other = replace(CALLER, tenant_id="other")
    with closing(PostgresStore(url, pool_size=1)) as store:
        store._connections._pool.wait()
        store._connections._timeout_s = 0.1  # from now on, as the one connection is there
        assert store.in_one_snapshot(CALLER, lambda: store.in_one_snapshot(CALLER, lambda: store.waiting(CALLER))) == 0
        with pytest.raises(errors.DatabaseBusy):
            store.in_one_snapshot(CALLER, lambda: store.waiting(other))
        assert store.waiting(other) == 0


@pytest.mark.parametrize("deed", ["DELETE FROM entity_names", "UPDATE entities SET aliases = ARRAY['Annie']"])
def test_a_check_up_finds_names_that_are_not_those_of_the_entities(store, deed):
    store.put_entity(act(), entity("Ana", aliases=("Anita",)))
    assert store.health().problems == ()
    server().psql(conninfo_to_dict(store.location)["dbname"], deed)
    [problem] = store.health().problems
    assert problem.startswith("2 names of entities are missing or nobody's")


@pytest.mark.parametrize("known", [True, False])
def test_who_speaks_in_a_turn_that_is_not_committed_yet_stays_known(store, known):
    """Or whoever erases the speaker's last other turn would forget somebody who has just spoken."""
    if known:
        store.put(act(), [episode("Before.", session="monday", speaker="Ana")])
    taken = "SELECT 1 FROM speakers WHERE speaker = 'Ana' FOR UPDATE NOWAIT"

    def work(unit):
        arrivals.put_unlocked(unit, [episode("Now.", session="monday", speaker="Ana")])
        with psycopg.connect(store._connections._conninfo) as other:
            other.execute("SET engrain.every_tenant = 'on'")
            if known:
                with pytest.raises(psycopg.errors.LockNotAvailable):
                    other.execute(taken)
            else:
                assert other.execute(taken).fetchall() == []

    store._write(act(), work)
    assert store.speakers(request()) == ["Ana"]


def test_docs_of_a_session_that_many_write_ascend_with_its_turns(store):
    """The newest of equals is the one that was said last."""
    with ThreadPoolExecutor(4) as pool:
        said = [episode(f"Number {place}.", session="monday", speaker="Ana") for place in range(40)]
        assert len(list(pool.map(lambda each: store.put(act(), [each]), said))) == 40
    found = store._read(CALLER, lambda tx: tx.ask("SELECT turn FROM episodes ORDER BY doc", {}))
    assert [turn for (turn,) in found] == list(range(1, 41))
