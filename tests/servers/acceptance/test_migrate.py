"""An older schema is brought up to date by a command that needs no embedder, or only told of."""

from contextlib import closing

import apsw
import pytest

from engrain.storage.migrations import HEAD, REVISIONS, scripts
from engrain.storage.postgres import schema as postgres_schema
from engrain.storage.postgres.connections import Connections
from engrain.storage.sqlite import schema as sqlite_schema
from tests.support.postgres import server

OLDEST = REVISIONS[0]


def older(dialect):
    return {OLDEST: scripts(dialect)[OLDEST]}


def make_old_file(path):
    with closing(apsw.Connection(str(path))) as db, db:
        sqlite_schema.upgrade(db, "", older("sqlite"))


def make_old_database(url):
    with closing(Connections(url)) as connections:
        connections.write(None, lambda db: postgres_schema.upgrade(db, "", older("postgres")))


@pytest.fixture(params=["sqlite", "postgres"])
def old(request, database):
    """Where a database of the oldest schema is."""
    if request.param == "sqlite":
        make_old_file(database)
        yield str(database)
    else:
        url = server().new_database()
        make_old_database(url)
        yield url
        server().drop_database(url)


@pytest.fixture
def unusable_embedder(monkeypatch, database):
    """Any command that opens the memory as such fails with it."""
    assert database.name
    monkeypatch.setenv("ENGRAIN_EMBEDDING__MODEL", "nonsense:model")


@pytest.mark.usefixtures("unusable_embedder")
def test_it_says_from_which_revision_to_which_and_then_that_nothing_is_left_to_do(old, process):
    checked = process("migrate", "--check", old)
    assert checked.code == 1
    assert f"schema {OLDEST}, behind {HEAD}" in checked.out
    assert process("migrate", "--check", old).out == checked.out
    assert f"schema {OLDEST} -> {HEAD}" in process("migrate", old).out
    again = process("migrate", old, "--json").json
    assert (again["before"], again["newest"], again["behind"], again["migrated"]) == (HEAD, HEAD, False, False)
    current = process("migrate", "--check", old, "--json")
    assert (current.code, current.json["behind"]) == (0, False)
    assert "secret" not in current.out


def test_without_a_location_it_is_the_memory_of_the_settings(database, process):
    make_old_file(database)
    ran = process("migrate", "--json")
    assert ran.json == {
        "location": str(database.resolve()),
        "before": OLDEST,
        "newest": HEAD,
        "behind": True,
        "migrated": True,
    }
    assert process("observe", "It works.").code == 0


def test_a_check_makes_nothing_and_changes_nothing(database, process):
    ran = process("migrate", "--check")
    assert ran.code == 1
    assert "no memory there yet" in ran.out
    assert not database.exists()
    make_old_file(database)
    before = database.read_bytes()
    process("migrate", "--check")
    assert database.read_bytes() == before


def test_where_there_is_none_it_makes_one(database, process):
    assert f"(new) -> {HEAD}" in process("migrate").out
    assert process("migrate", "--check").code == 0
    assert database.exists()


def test_an_older_source_is_not_copied_before_it_is_migrated(database, process):
    make_old_file(database)
    before = database.read_bytes()
    ran = process("copy", database, "new.db")
    assert ran.code == 2
    assert f"engrain migrate {database.resolve()}" in ran.err
    assert database.read_bytes() == before
    assert not (database.parent / "new.db").exists()


@pytest.mark.parametrize("check", [(), ("--check",)])
def test_what_cannot_be_migrated_is_named_and_left_as_it_was(database, process, check):
    notes = database.parent / "notes.txt"
    notes.write_text("These are notes, and no database at all.\n" * 50, encoding="utf-8")
    make_old_file(database)
    with closing(apsw.Connection(str(database))) as db:
        db.execute("UPDATE alembic_version SET version_num = 'mem_999'")
    for location, code, word in (
        (notes, 3, "not_an_engrain_file"),
        (database, 3, "schema_too_new"),
        (database.parent, 3, "not_an_engrain_file"),
        ("mysql://host/memory", 2, "invalid_input"),
        ("postgresql://nobody:secret@127.0.0.1:1/none", 3, "database_unreachable"),
    ):
        ran = process("migrate", location, *check, "--json")
        assert (ran.code, ran.out, ran.error["code"]) == (code, "", word)
        assert "secret" not in ran.err
    assert notes.read_text(encoding="utf-8").startswith("These are notes")
