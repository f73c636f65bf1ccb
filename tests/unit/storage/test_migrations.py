"""The schema's history: one list of revisions, the same for engrain and for a host's Alembic, never edited."""

import hashlib
import io
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from importlib.resources import files

import apsw
import pytest
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.operations import Operations
from alembic.script import ScriptDirectory

from engrain import errors
from engrain.storage import migrations
from engrain.storage.sqlite import schema
from engrain.storage.sqlite.connections import Connections
from engrain.storage.sqlite.store import SqliteStore
from tests.sample_records import episode, request

# SHA-256 of the SQL of every released revision. A released one is never edited: databases have run it as it was.
RELEASED: dict[tuple[str, str], str] = {}
# Not released yet: may still change. At a release its hash moves up, and the next revision stands here.
UNRELEASED = "mem_001"


def history() -> ScriptDirectory:
    config = Config()
    config.set_main_option("script_location", str(files("engrain.storage.migrations")))
    return ScriptDirectory.from_config(config)


def offline_sql() -> str:
    """What Alembic would run on a new SQLite database, as text."""
    scripts, text = history(), io.StringIO()
    options = {"as_sql": True, "output_buffer": text, "script": scripts}
    options["fn"] = lambda found, _: scripts._upgrade_revs("memory@head", found)
    context = MigrationContext.configure(dialect_name="sqlite", opts=options)
    with Operations.context(context):
        context.run_migrations()
    return text.getvalue()


def catalogue(path) -> dict[str, str]:
    """What the file's schema holds, by name, in one spelling."""
    with closing(apsw.Connection(str(path))) as db:
        rows = db.execute("SELECT name, coalesce(sql, '') FROM sqlite_schema").fetchall()
    return {
        name: " ".join(line.split("--")[0].strip() for line in sql.splitlines()).replace(" ", "") for name, sql in rows
    }


def made_by_alembic(path) -> None:
    with closing(apsw.Connection(str(path))) as db:
        db.execute(offline_sql())


def test_alembic_sees_the_revisions_in_order_under_one_label():
    scripts = history()
    found = list(scripts.walk_revisions())[::-1]
    assert tuple(each.revision for each in found) == migrations.REVISIONS
    assert [each.down_revision for each in found] == [None, *migrations.REVISIONS[:-1]]
    assert all("memory" in each.branch_labels for each in found)
    assert scripts.get_current_head() == migrations.HEAD


def test_revisions_are_named_in_order():
    numbered = [f"mem_{number:03}" for number in range(1, len(migrations.REVISIONS) + 1)]
    assert list(migrations.REVISIONS) == numbered


def test_every_revision_has_its_sql_and_no_sql_is_left_over():
    for dialect in ("sqlite",):
        folder = files(f"engrain.storage.{dialect}") / "revisions"
        assert sorted(each.name for each in folder.iterdir()) == [f"{name}.sql" for name in migrations.REVISIONS]
        assert list(migrations.scripts(dialect)) == list(migrations.REVISIONS)


def test_a_released_revision_is_as_it_was_released():
    released = [name for name in migrations.REVISIONS if name != UNRELEASED]
    assert sorted({name for _, name in RELEASED}) == released
    for (dialect, name), expected in RELEASED.items():
        found = hashlib.sha256(migrations.script(dialect, name).encode()).hexdigest()
        assert found == expected, f"{name} ({dialect}) was released: write a new revision instead of editing it"


def test_alembic_builds_the_schema_that_engrain_builds(tmp_path):
    SqliteStore(str(tmp_path / "ours.db")).close()
    made_by_alembic(tmp_path / "theirs.db")
    assert catalogue(tmp_path / "theirs.db") == catalogue(tmp_path / "ours.db")


def test_a_database_that_alembic_made_beside_a_hosts_tables_is_ours(tmp_path):
    path = tmp_path / "host.db"
    with closing(sqlite3.connect(path)) as db:
        db.executescript("PRAGMA application_id = 7; CREATE TABLE customers (name TEXT)")
    made_by_alembic(path)
    with closing(apsw.Connection(str(path))) as db:
        db.execute("INSERT INTO alembic_version VALUES ('a1b2c3')")  # the host's own branch
    with closing(SqliteStore(str(path))) as store:
        assert not store.created
        [stored] = store.put([episode("Beside customers.")])
        assert store.recent(request(), 9) == [stored]
        assert store.health().problems == ()
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA application_id").fetchone() == (7,)
        assert {name for (name,) in db.execute("SELECT version_num FROM alembic_version")} == {
            "a1b2c3",
            migrations.HEAD,
        }


def test_alembic_runs_one_statement_at_a_time():
    """Python's sqlite3, which SQLAlchemy uses, refuses several in one call."""
    for name in migrations.REVISIONS:
        found = migrations.statements("sqlite", name)
        assert all(sqlite3.complete_statement(each) for each in found)
        assert "".join(found) == migrations.script("sqlite", name).rstrip("\n")
        whole = apsw.Connection(":memory:")
        for each in found:
            whole.execute(each)


def test_the_baseline_cannot_be_undone():
    baseline = history().get_revision(migrations.REVISIONS[0])
    with pytest.raises(NotImplementedError, match="delete the database"):
        baseline.module.downgrade()


def test_a_file_that_is_behind_runs_what_it_lacks_and_no_more(tmp_path):
    connections = Connections(str(tmp_path / "agent.db"))
    history_ = {
        "mem_001": "CREATE TABLE one (x)",
        "mem_002": "CREATE TABLE two (x)",
        "mem_003": "CREATE TABLE three (x)",
    }
    with closing(connections):
        with connections.writing() as db:
            schema.upgrade(db, "", dict(list(history_.items())[:1]))
        with connections.writing() as db:
            schema.upgrade(db, "mem_001", history_)
            tables = {name for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
            assert tables == {"alembic_version", "one", "two", "three"}
            assert db.execute("SELECT version_num FROM alembic_version").fetchall() == [("mem_003",)]


@pytest.mark.parametrize("before", [True, False], ids=["new file", "older file"])
def test_a_migration_that_fails_in_the_middle_leaves_nothing(tmp_path, before):
    path = tmp_path / "agent.db"
    broken = "CREATE TABLE extra (x); INSERT INTO extra VALUES (1); CREATE TABLE extra (x)"
    connections = Connections(str(path))
    with closing(connections):
        found = ""
        if not before:
            schema.prepare(connections)
            found = migrations.HEAD
        was = catalogue(path)
        with pytest.raises(errors.StorageError, match="extra already exists"), connections.writing() as db:
            schema.upgrade(db, found, {**migrations.scripts("sqlite"), "mem_999": broken})
        assert catalogue(path) == was
        with connections.reading() as db:
            assert schema.revision(db, str(path)) == found
    with closing(SqliteStore(str(path))) as store:
        assert store.put([episode("As if nothing had happened.")])


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
            schema.upgrade(db, "", migrations.scripts("sqlite"))
            prepared = pool.submit(schema.prepare, second)
            waits.wait()
        ready.set()
        assert prepared.result() == ""
    with closing(SqliteStore(path)) as store:
        assert store.put([episode("Once.")])


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
