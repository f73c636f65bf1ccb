"""What the schema owes to many tenants: keys and indexes that begin with the tenant, and a wall around every table.

tests/servers/leaks proves that the wall holds against a store that forgets its own.
"""

import re

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from engrain.storage.postgres.schema import OUR_TABLES
from tests.support.postgres import server
from tests.support.sample_records import act, episode, fact
from tests.support.store_samples import DIMS, EMBEDDER
from tests.support.wiped import fresh_store

# Why an index does not begin with the tenant.
OF_EVERY_TENANT = {
    "memory_index_doc": "housekeeping is told docs, and asks whose they are",
    "memory_index_queue": "the oldest that wait for a vector, whoever's they are",
    "memory_events_age": "what is older than the retention of events, by blocks",
    "memory_words_words": "GIN keeps no tenant: a code begins with the number of its namespace, which is one tenant's",
    "memory_vectors_version_1": "HNSW keeps no tenant: what it gives is filtered, and seen by its tenant alone",
}
# Why a table has no wall of its own.
WITHOUT_WALL = {"memory_words": "no GIN index is used behind one; it holds numbers alone"}

_INDEXES = """
SELECT indexrelid::regclass::text, pg_get_indexdef(indexrelid, 1, true) FROM pg_index
JOIN pg_class ON pg_class.oid = indrelid
WHERE relnamespace = current_schema()::regnamespace AND relname <> 'alembic_version'
"""
_FOREIGN_KEYS = """
SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint
WHERE contype = 'f' AND connamespace = current_schema()::regnamespace
"""
_TRIGGERS = "SELECT tgname FROM pg_trigger WHERE NOT tgisinternal"
_TABLES = "SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p')"
_WALLS = """
SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p')
AND relrowsecurity AND relforcerowsecurity AND EXISTS (SELECT 1 FROM pg_policy WHERE polrelid = pg_class.oid)
"""
# Of the role that owns the table; a superuser runs it.
_REVOKED = """DO $$ BEGIN
    EXECUTE format('REVOKE UPDATE ON facts FROM %I', (SELECT tableowner FROM pg_tables WHERE tablename = 'facts'));
END $$"""


@pytest.fixture(scope="module")
def store():
    """A store in which two tenants keep something."""
    with fresh_store() as store:
        store.use_embedder(EMBEDDER, DIMS)
        store.put(act(), [episode("Ours.", session="monday", speaker="Ana"), fact("Lisbon")])
        yield store


@pytest.fixture(scope="module")
def ask(store):
    """What the owner of the tables is answered who says nothing of a tenant."""

    def asked(statement, *settings):
        with psycopg.connect(_url(store)) as connection:
            for setting in settings:
                connection.execute(f"SET {setting}")
            return connection.execute(statement).fetchall()

    return asked


def _url(store):
    return store._connections._conninfo


def test_every_key_and_index_begins_with_the_tenant(ask):
    others = {name for name, first in ask(_INDEXES) if first != "tenant_id"}
    assert others == set(OF_EVERY_TENANT)


def test_every_foreign_key_begins_with_the_tenant_and_nulls_nothing(ask):
    found = dict(ask(_FOREIGN_KEYS))
    assert found
    for definition in found.values():
        assert re.match(r"FOREIGN KEY \(tenant_id, \w+\) REFERENCES \w+\(tenant_id, \w+\)( DEFERRABLE)?$", definition)


def test_there_are_no_triggers(ask):
    assert ask(_TRIGGERS) == []


def test_every_table_is_ours_and_behind_a_wall_that_binds_its_owner(ask):
    tables = {name for (name,) in ask(_TABLES)}
    assert tables == {*OUR_TABLES, "alembic_version"}
    assert tables - {name for (name,) in ask(_WALLS)} == {*WITHOUT_WALL, "alembic_version"}


@pytest.mark.parametrize("table", sorted(set(OUR_TABLES) - set(WITHOUT_WALL)))
def test_whoever_names_no_tenant_sees_nothing(ask, table):
    everything = ask(f"SELECT * FROM {table}", "engrain.every_tenant = 'on'")
    assert ask(f"SELECT * FROM {table}") == []
    assert ask(f"SELECT * FROM {table}", "engrain.tenant_id = ''") == []
    assert ask(f"SELECT * FROM {table}", "engrain.every_tenant = 'off'") == []
    if table in ("episodes", "facts", "memory_index", "namespaces", "memory_events", "embedding_versions"):
        assert everything


def test_a_tenant_reads_what_is_of_the_whole_database_and_does_not_write_it(store, ask):
    versions = "SELECT name FROM embedding_versions"
    assert ask(versions, "engrain.tenant_id = 'other'") == [(EMBEDDER,)]
    with psycopg.connect(_url(store)) as connection:
        connection.execute("SET engrain.tenant_id = 'other'")
        assert connection.execute("UPDATE embedding_versions SET state = 'retired'").rowcount == 0
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("INSERT INTO memory_metadata VALUES ('', 'a', 'b')")


def test_health_says_when_no_wall_binds_the_role(store):
    from tests.support.stores import PostgresStore

    assert store.health().problems == ()
    name = conninfo_to_dict(_url(store))["dbname"]
    as_superuser = PostgresStore(server().url.rsplit("/", 1)[0] + f"/{name}")
    try:
        [problem] = as_superuser.health().problems
    finally:
        as_superuser.close()
    assert "superuser or has BYPASSRLS" in problem


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        ("ALTER TABLE facts NO FORCE ROW LEVEL SECURITY", "row-level security of facts is off"),
        (_REVOKED, "may not write to facts: connect as the role that owns"),
        ("DROP INDEX memory_vectors_version_1", "have no index memory_vectors_version_1"),
        ("DELETE FROM memory_words", "2 memories are missing from the keyword index"),
        ("DELETE FROM memory_index", "2 memories have no place in the searches"),
        ("UPDATE memory_index SET state = 3", "2 memories that are gone are still in the keyword index"),
        ("UPDATE namespaces SET words = words + 1", "2 namespaces have totals"),
        ("UPDATE memory_index SET state = 2", "2 memories have lost their vector"),
        ("DELETE FROM facts", "1 places in the searches belong to no memory"),
        ("UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'facts_time'::regclass", "facts_time is invalid"),
    ],
)
def test_health_says_what_is_wrong(damage, said):
    url = server().new_database()
    from tests.support.stores import PostgresStore

    try:
        store = PostgresStore(url, read_all=0)
        try:
            store.use_embedder(EMBEDDER, DIMS)
            store.put(act(), [episode("Ours.", session="monday", speaker="Ana"), fact("Lisbon")])
            assert store.health().problems == ()
            server().psql(conninfo_to_dict(url)["dbname"], damage)
            problems = store.health().problems
            quick = store.health(thorough=False).problems
        finally:
            store.close()
    finally:
        server().drop_database(url)
    assert any(said in problem for problem in problems), problems
    assert any(said in problem for problem in quick) == damage.startswith(("ALTER", "DROP", "DO", "UPDATE pg_index"))
