"""Upgrades of a database from each revision to the newest, by engrain and by a host's Alembic."""

import itertools
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from importlib.resources import files
from pathlib import Path

import apsw
import pytest
from alembic import command
from alembic.config import Config

from engrain import errors
from engrain.domain.text.analysis import terms
from engrain.storage import migrations
from engrain.storage.sqlite import schema
from engrain.storage.sqlite.connections import Connections
from tests.support.children import Child
from tests.support.rows_of_old import CATS, ERASED, GUIDANCE, LISBON, PORTO, TURN, add_cats, contents, fill, make_old
from tests.support.sample_records import CALLER, act, episode, fact, request
from tests.support.schemas import DATABASES, Sqlite, dump, empty_database
from tests.support.store_samples import axis, keyword, put
from tests.support.stores import SqliteStore
from tests.support.write_kills import PLACES

OURS = files("engrain.storage.migrations")


@pytest.fixture(params=DATABASES)
def database(request, tmp_path) -> Iterator[Sqlite]:
    """An empty database of either kind."""
    with empty_database(request.param, tmp_path) as made:
        yield made


# A host application's own Alembic environment.
ENV = """
from alembic import context
context.configure(connection=context.config.attributes["connection"])
with context.begin_transaction():
    context.run_migrations()
"""
HOSTS = {
    "a1": "op.create_table('customers', sa.Column('name', sa.String(40)))",
    "a2": "op.add_column('customers', sa.Column('age', sa.Integer))",
}


class Host:
    """An application that keeps tables of its own in our database, and runs our branch with its own."""

    def __init__(self, database: Sqlite, folder: Path) -> None:
        self._database = database
        self._folder = folder / "host"
        (self._folder / "versions").mkdir(parents=True)
        (self._folder / "env.py").write_text(ENV)
        for name, before in (("a1", None), ("a2", "a1")):
            label = "('host',)" if before is None else None
            (self._folder / "versions" / f"{name}.py").write_text(
                "import sqlalchemy as sa\nfrom alembic import op\n"
                f"revision, down_revision, branch_labels, depends_on = {name!r}, {before!r}, {label}, None\n"
                f"def upgrade():\n    {HOSTS[name]}\n"
            )

    def upgrade(self, target: str) -> None:
        config = Config()
        config.set_main_option("script_location", str(self._folder))
        config.set_main_option("path_separator", "os")
        config.set_main_option("version_locations", f"{self._folder / 'versions'}:{OURS / 'versions'}")
        engine = self._database.engine()
        with engine.begin() as connection:
            config.attributes["connection"] = connection
            command.upgrade(config, target)
        engine.dispose()


def catalogue(database: Sqlite) -> dict[str, str]:
    """What the schema is made of, a host's own table left out."""
    return {name: definition for name, definition in database.definitions().items() if "customers" not in name}


def revisions(database: Sqlite) -> set[str]:
    return {name for (name,) in database.rows("SELECT version_num FROM alembic_version")}


def test_a_host_runs_our_branch_beside_its_own_and_the_store_opens_that(database, tmp_path):
    host = Host(database, tmp_path)
    host.upgrade("a1")
    host.upgrade("heads")
    assert revisions(database) == {"a2", migrations.HEAD}
    with database.raw() as db:
        db.execute("INSERT INTO customers (name, age) VALUES ('Ana', 40)")
    before = catalogue(database)
    with closing(database.open()) as store:
        assert not store.created
        [stored] = put(store, [episode("Beside customers.")])
        assert store.recent(request(), 9) == [stored]
        assert store.health().problems == ()
    assert catalogue(database) == before
    assert revisions(database) == {"a2", migrations.HEAD}
    assert database.rows("SELECT name, age FROM customers") == [("Ana", 40)]


def test_alembic_builds_the_schema_that_engrain_builds(database, tmp_path):
    Host(database, tmp_path).upgrade("memory@head")
    theirs = catalogue(database)
    with database.raw() as db:
        for table in reversed(database.columns()):
            if not table.startswith("memory_words_"):
                db.execute(f"DROP TABLE IF EXISTS {table}" + (" CASCADE" if database.name == "postgres" else ""))
    database.open().close()
    assert catalogue(database) == theirs


def test_a_host_takes_our_newer_revisions_with_its_own(database, tmp_path):
    host = Host(database, tmp_path)
    host.upgrade("mem_002")
    written = fill(database)
    before = contents(database, written)
    host.upgrade("heads")
    assert contents(database, written) == before
    with closing(database.open()) as store:
        assert not store.created
        assert store.get(CALLER, [TURN.id]) == [TURN]


# Filled by statements of each database's own, or by the migration.
MADE_BY_HAND = {"alembic_version", "sequences", "memory_words", "memory_vector_packs"} | {
    f"memory_words_{each}" for each in ("config", "data", "docsize", "idx")
}


@pytest.mark.parametrize("revision", migrations.REVISIONS)
def test_an_older_database_is_brought_up_to_date_with_all_that_is_in_it(database, revision):
    written = make_old(database, revision)
    assert {*migrations.table_names(database.name, revision), *MADE_BY_HAND} >= database.columns().keys()
    if database.name == "postgres":
        written["memory_index"].remove("packed")  # the words of turns are stored anew
    before = contents(database, written)
    assert all(before.values())
    assert database.columns().keys() - written.keys() <= MADE_BY_HAND
    with closing(database.open()) as store:
        assert not store.created
        assert contents(database, written) == before
        assert revisions(database) == {migrations.HEAD}
        assert_reads_as_it_was_written(store, written)


def assert_reads_as_it_was_written(store, written):
    assert store.get(CALLER, [TURN.id, PORTO.id, LISBON.id, GUIDANCE.id]) == [TURN, PORTO, LISBON, GUIDANCE]
    assert store.history(CALLER, LISBON.id) == [PORTO, LISBON]
    assert [link.target_id for link in store.links(CALLER, LISBON.id)] == [PORTO.id]
    assert store.speakers(request()) == ["Ana"]
    assert list(keyword(store, "bread")) == [TURN.id]
    assert store.use_embedder("test:axes", 4) is None
    assert [each.raw for each in store.nearest(request(), axis(1), 9)] == [1]
    assert len(store.unembedded(9)) == 2
    assert len(store.events(CALLER, memory_id=TURN.id)) == ("memory_events" in written)
    assert len(store.entities(CALLER, ["e1"])) == ("entities" in written)
    assert len(put(store, [fact("Back again", id=ERASED, subject="Zoe")])) == ("tombstones" not in written)
    [again] = put(store, [episode("And jam.", session="monday")])
    assert again.turn == 2
    [new] = put(store, [fact("Braga")])
    assert new.supersedes_id == LISBON.id
    assert set(store.erase(act(), [TURN.id])) == {TURN.id}
    assert store.health().problems == ()


@pytest.mark.parametrize("revision", migrations.REVISIONS[: migrations.REVISIONS.index("mem_007")])
@pytest.mark.parametrize("by_host", [False, True], ids=["by engrain", "by Alembic"])
def test_what_was_indexed_by_english_stems_is_found_by_those_of_its_language(database, tmp_path, revision, by_host):
    """With the turn beside it, which has its words as a neighbour; nothing of the rest is written."""
    make_old(database, revision)
    add_cats(database)
    if by_host:
        Host(database, tmp_path).upgrade("memory@head")
    with closing(database.open()) as store:
        assert list(keyword(store, *terms("Кошка, Москва"))) == [CATS.id, TURN.id]
        assert list(keyword(store, "bread")) == [TURN.id, CATS.id]
        assert store.health().problems == ()
    with database.raw() as db:
        assert list(db.execute("SELECT doc FROM memory_index WHERE stale = 1")) == []


@pytest.mark.parametrize("database", ["postgres"], indirect=True)
@pytest.mark.parametrize("revision", migrations.REVISIONS[: migrations.REVISIONS.index("mem_016")])
def test_turns_are_stored_with_their_own_words_and_found_by_those_that_others_lend_them(database, revision):
    make_old(database, revision)
    add_cats(database)
    with closing(database.open()) as store:
        assert list(keyword(store, *terms("Кошка, Москва"))) == [CATS.id, TURN.id]
        assert list(keyword(store, "bread")) == [TURN.id, CATS.id]
        assert store.health().problems == ()
    lenders = dict(database.rows("SELECT doc, lenders FROM memory_index WHERE lenders IS NOT NULL"))
    assert {doc: int.from_bytes(lender) for doc, lender in lenders.items()} == {1: 5, 5: 1}
    assert database.rows("SELECT doc FROM memory_index WHERE stale = 1") == []


@pytest.mark.parametrize("database", ["postgres"], indirect=True)
@pytest.mark.parametrize("revision", migrations.REVISIONS[: migrations.REVISIONS.index("mem_013")])
def test_the_keyword_index_keeps_the_words_of_large_namespaces_alone(database, revision):
    make_old(database, revision)
    with database.raw() as db:
        db.execute("UPDATE namespaces SET memories = memories + 1000 WHERE kind = 'episode'")
    database.open().close()
    assert database.rows("SELECT doc FROM memory_words") == [(1,)]
    assert database.rows("SELECT DISTINCT kind FROM namespaces WHERE has_words") == [("episode",)]


@pytest.mark.parametrize("database", ["postgres"], indirect=True)
@pytest.mark.parametrize("revision", migrations.REVISIONS[: migrations.REVISIONS.index("mem_015")])
@pytest.mark.parametrize("is_large", [False, True], ids=["small", "large"])
def test_vectors_are_halved_and_those_of_large_namespaces_put_into_a_graph(database, revision, is_large):
    make_old(database, revision)
    with database.raw() as db:
        db.execute(f"UPDATE namespaces SET memories = memories + {20_000 * is_large} WHERE kind = 'episode'")
    database.open().close()
    assert database.rows("SELECT CAST(pg_typeof(embedding) AS text), in_graph FROM memory_vectors") == [
        ("halfvec", is_large)
    ]
    [(graph,)] = database.rows("SELECT indexdef FROM pg_indexes WHERE indexname = 'memory_vectors_version_1'")
    assert "in_graph" in graph


EARLIER = ["", *migrations.REVISIONS[:-1]]


_STEP = 11
_FAR_STEP = 63
_LOOK = 8  # one kill in so many is looked after


def statements_to_kill(database: str, earlier: str) -> Iterator[int]:
    """Every statement of the first missing revision, few of those that other runs begin with, more at the commit."""
    following = migrations.REVISIONS[EARLIER.index(earlier)]
    alone = 10 + len(migrations.statements(database, following)) if earlier else 1
    last = max(alone, count_statements(database, earlier))
    return itertools.chain(range(1, alone), range(alone, last, _FAR_STEP), itertools.count(last, _STEP))


def count_statements(database: str, earlier: str) -> int:
    """Count the statements of an upgrade: a new file takes the newest schema at once, others the missing revisions."""
    if database == "sqlite" and not earlier:
        return len(migrations.single_statements((files("engrain.storage.sqlite") / "schema.sql").read_text()))
    missing = migrations.REVISIONS[EARLIER.index(earlier) :]
    return sum(len(migrations.statements(database, revision)) for revision in missing)


def upgrade_and_kill(location: str, count: int, *place: str) -> bool:
    """Open a database in a process that SIGKILL ends at a statement or write call; False where it had fewer of them."""
    with Child("upgrade", location, count, *place) as child:
        steps = child.rest()
        assert child.ended() == (0 if steps else -signal.SIGKILL)
    return not steps


@pytest.mark.parametrize("earlier", EARLIER)
def test_an_upgrade_killed_before_any_statement_leaves_what_was_there(database, tmp_path, earlier):
    """Each process opens what the one before it has left, and is killed one statement later; the last is not killed.

    Nothing is committed before the last statement, so that what one of them leaves is there to be seen after others.
    """
    (tmp_path / "whole").mkdir()
    with empty_database(database.name, tmp_path / "whole") as whole:
        make_old(whole, earlier)
        whole.open().close()
        new = dump(whole)
    make_old(database, earlier)
    old = last = dump(database)
    kills, least = 0, count_statements(database.name, earlier)
    for place, count in enumerate(statements_to_kill(database.name, earlier)):
        if not upgrade_and_kill(database.location, count):
            break
        assert last == old
        kills = count
        if count >= least or place % _LOOK == 0:
            last = dump(database)
    assert last in (old, new)
    assert kills > least
    assert dump(database) == new


@pytest.mark.parametrize("earlier", EARLIER)
def test_a_file_killed_at_any_write_of_its_upgrade_is_upgraded_by_the_next_opening(tmp_path, earlier):
    """Within a commit, a checkpoint and the change to a write-ahead log: before a write call, in it, and after it."""
    (tmp_path / "whole").mkdir()
    whole = Sqlite(tmp_path / "whole")
    make_old(whole, earlier)
    old = Path(whole.location).read_bytes() if earlier else b""
    whole.open().close()
    new, states = dump(whole), []
    for count, place in zip(itertools.count(1, _STEP), itertools.cycle(PLACES), strict=False):
        folder = tmp_path / str(count)
        folder.mkdir()
        database = Sqlite(folder)
        Path(database.location).write_bytes(old)
        if not upgrade_and_kill(database.location, count, place):
            break
        states.append(revisions(database) if "alembic_version" in database.columns() else set())
        database.open().close()
        assert dump(database) == new
    assert [state for state, _ in itertools.groupby(states)] == [{earlier} - {""}, {migrations.HEAD}]


@pytest.mark.parametrize("before", [True, False], ids=["new database", "older database"])
def test_a_migration_that_fails_in_the_middle_leaves_nothing(database, before):
    broken = "CREATE TABLE extra (x INTEGER);\nINSERT INTO extra VALUES (1);\nCREATE TABLE extra (x INTEGER);\n"
    found = "" if before else migrations.HEAD
    if not before:
        database.open().close()
    was = catalogue(database)
    with pytest.raises(Exception, match=r"extra.* already exists"), database.raw() as db:
        database.upgrade(db, found, {**migrations.scripts(database.name), "mem_999": broken})
    assert catalogue(database) == was
    with closing(database.open()) as store:
        assert store.created == before
        assert put(store, [episode("As if nothing had happened.")])


@pytest.mark.parametrize("unknown", [f"mem_{len(migrations.REVISIONS) + 1:03}", "mem_999"])
def test_a_newer_schema_is_refused_by_name_and_left_as_it_is(database, unknown):
    database.open().close()
    with database.raw() as db:
        db.execute(f"UPDATE alembic_version SET version_num = '{unknown}'")
    was = catalogue(database)
    with pytest.raises(errors.SchemaTooNew, match=rf"{unknown}.*knows up to {migrations.HEAD}.*upgrade engrain"):
        database.open()
    assert (catalogue(database), revisions(database)) == (was, {unknown})


@pytest.mark.parametrize("revision", migrations.REVISIONS)
def test_a_database_without_the_tables_of_its_revision_is_refused_and_left_as_it_is(database, revision):
    """As a chain of revisions that was never released left it: the same names, other tables."""
    make_old(database, revision)
    with database.raw() as db:
        *_, newest = migrations.table_names(database.name, revision)
        db.execute(f"DROP TABLE {newest}")
    was = catalogue(database)
    with pytest.raises(errors.StorageError, match=rf"{revision} but lacks tables of it \({newest}\).*restore a backup"):
        database.open()
    assert (catalogue(database), revisions(database)) == (was, {revision})


@pytest.mark.req("C19")
def test_opening_again_changes_nothing(database):
    with closing(database.open()) as store:
        assert store.created
        [stored] = put(store, [episode("Once.")])
    was = catalogue(database)
    for _ in range(2):
        with closing(database.open()) as store:
            assert not store.created
            assert store.get(CALLER, [stored.id]) == [stored]
    assert (catalogue(database), revisions(database)) == (was, {migrations.HEAD})


def test_who_comes_second_to_a_new_file_finds_it_ready(tmp_path):
    """It sees an empty file, waits for the one that is creating it, and must look again."""
    path, waits, ready = str(tmp_path / "agent.db"), threading.Event(), threading.Event()

    def wait(_):
        waits.set()
        return ready.wait()

    with closing(Connections(path)) as first, closing(Connections(path)) as second, ThreadPoolExecutor() as pool:
        first.use_write_ahead_log()
        second._writer.set_busy_handler(wait)
        with first.writing() as db:
            schema.create(db)
            prepared = pool.submit(schema.prepare, second)
            waits.wait()
        ready.set()
        assert prepared.result() == ""
    with closing(SqliteStore(path)) as store:
        assert put(store, [episode("Once.")])


def test_a_file_of_the_newest_schema_is_opened_without_a_write(tmp_path):
    path = tmp_path / "agent.db"
    SqliteStore(str(path)).close()
    before = path.read_bytes()
    with closing(SqliteStore(str(path), busy_timeout_s=0)) as store, closing(apsw.Connection(str(path))) as other:
        other.execute("BEGIN IMMEDIATE")
        SqliteStore(str(path), busy_timeout_s=0).close()
        other.execute("ROLLBACK")
        assert store.recent(request(), 9) == []
    assert path.read_bytes() == before
