"""The second wall: in a transaction of one tenant PostgreSQL shows no row of another, whatever the statement forgets.

The words of the keyword index are outside of it, since no GIN index is used behind it: of them only numbers are there.
"""

import json
import os
import re
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from engrain.domain.access.scopes import GLOBAL_SCOPE
from engrain.domain.records import RELATIONS, Caller, Episode
from engrain.domain.text.names import name_key
from engrain.domain.text.similarity import trigrams
from engrain.errors import StorageError
from engrain.storage.dialects import as_json
from engrain.storage.postgres.connections import Connections
from engrain.storage.postgres.schema import OUR_TABLES
from engrain.storage.postgres.statements import STATEMENTS
from tests.servers.leaks.hearing import said
from tests.servers.leaks.store_probes import READS, SEARCHES, Reader, answers_in_one_snapshot
from tests.servers.leaks.world import CANARY, READ_AT, Append, live, sees
from tests.servers.leaks.worlds import make_world
from tests.support.postgres import server
from tests.support.sample_search import vector_of
from tests.support.wiped import fresh_store

SEEDS = range(2)
# A statement that names no tenant is one of every node, which Citus refuses where it joins tables.
_IS_CLUSTER = "ENGRAIN_TEST_CITUS" in os.environ
of_one_server = pytest.mark.skipif(_IS_CLUSTER, reason="a cluster refuses statements that name no tenant")
_REFUSED = {"42501", "0A000"} if _IS_CLUSTER else {"42501"}
_NOTHING = {0, "0A000"} if _IS_CLUSTER else {0}
UNWALLED = "memory_words"
_OWN = re.compile(
    r"\b(?:\w+\.)?(?:tenant_id = %\(tenant_id\)s|(?:scope|namespace|user_id) = ANY\(CAST\(%\(\w+\)s AS \w+\[\]\)\)"
    r"|scope = %\(scope(?:_\d+)?\)s)"
)
# Every table has a row of somebody else's: those that a store does not write yet, by hand.
_MORE_ROWS = """
INSERT INTO pools (tenant_id, name, created_at)
    SELECT tenant_id, 'team', now() FROM (SELECT DISTINCT tenant_id FROM namespaces) ON CONFLICT DO NOTHING;
INSERT INTO pool_members (tenant_id, pool, agent, joined_at)
    SELECT tenant_id, name, 'aide', now() FROM pools ON CONFLICT DO NOTHING;
INSERT INTO jobs (tenant_id, id, name, run_at, created_at)
    SELECT tenant_id, 'a', 'sweep', now(), now() FROM namespaces GROUP BY tenant_id;
INSERT INTO runs (tenant_id, id, kind, agent, worker, lease_until, started_at)
    SELECT tenant_id, 'a', 'summary', 'aide', 'w', now(), now() FROM namespaces GROUP BY tenant_id;
INSERT INTO access_keys (tenant_id, id, role, digest, created_at)
    SELECT tenant_id, 'a', 'admin', 'd', now() FROM namespaces GROUP BY tenant_id;
INSERT INTO memory_metadata (tenant_id, key, value) SELECT tenant_id, 'a', 'b' FROM namespaces GROUP BY tenant_id;
INSERT INTO rule_applications (tenant_id, id, rule_id, agent, outcome, created_at)
    SELECT tenant_id, 'a', 'b', 'aide', 'helpful', now() FROM namespaces GROUP BY tenant_id;
INSERT INTO entities (tenant_id, id, canonical_name, entity_type, created_at, updated_at)
    SELECT tenant_id, 'a', 'Zoe', 'person', now(), now() FROM namespaces GROUP BY tenant_id;
INSERT INTO entity_names (tenant_id, name, entity_id) SELECT tenant_id, 'zoe', 'a' FROM namespaces GROUP BY tenant_id;
INSERT INTO memory_entities (tenant_id, entity_id, memory_kind, memory_id, scope, happened_at, created_at)
    SELECT tenant_id, 'a', 'fact', 'b', 'global', now(), now() FROM namespaces GROUP BY tenant_id;
INSERT INTO sessions_consolidations (tenant_id, scope, session, last_turn, first_seen_at)
    SELECT tenant_id, 'global', 'elsewhere', 0, now() FROM namespaces GROUP BY tenant_id;
INSERT INTO tombstones (tenant_id, id, kind, scope, digest, erased_at)
    SELECT tenant_id, 'a', 'fact', 'global', 'b', now() FROM namespaces GROUP BY tenant_id;
INSERT INTO embedding_versions (tenant_id, version, name, dims, state, created_at)
    SELECT tenant_id, 1, 'own', 3, 'retired', now() FROM namespaces GROUP BY tenant_id
"""


@cache
def bare(statement):
    """A statement that asks for every tenant, scope and namespace."""
    return _OWN.sub("TRUE", statement)


@dataclass
class Bare:
    """A connection that forgets whose rows were asked for."""

    db: psycopg.Connection

    def execute(self, statement, values=None):
        return self.db.execute(bare(statement), values)


@dataclass
class BareConnections:
    """A store's connections, on which it asks without its own wall; row-level security is left, or not even that."""

    inner: Connections
    walled: bool = True

    def read(self, tenant, work, *, user=None):
        return self.inner.read(tenant if self.walled else None, lambda db: work(Bare(db)), user=user)

    def __getattr__(self, name):
        """Whatever else is asked of connections: writes stay walled."""
        return getattr(self.inner, name)


@dataclass(frozen=True)
class Town:
    """A database of several tenants, and its superuser, whom no wall binds."""

    store: object
    world: object
    refs: dict

    @property
    def tenants(self):
        return sorted({caller.tenant_id for caller in self.world.callers})

    def as_superuser(self, statement, parameters=None):
        name = conninfo_to_dict(self.store.location)["dbname"]
        return server().psql(name, statement, parameters)

    def within(self, tenant, statement, parameters=None, *, user=None):
        """What one tenant's transaction is answered, of one user or of every one; an error as its SQLSTATE."""

        def work(db):
            cursor = db.cursor().execute(statement, parameters)
            return cursor.fetchall() if cursor.description else cursor.rowcount

        try:
            return self.store._connections.write(tenant, work, user=user)
        except StorageError as error:
            if error.__cause__.sqlstate is None:  # it never reached the server
                raise
            return error.__cause__.sqlstate


@contextmanager
def settle(seed):
    """A world in PostgreSQL, with rows of every tenant in every table."""
    with fresh_store(read_all=0) as store:
        world = make_world(seed, length=90)
        refs = live(store, world)
        made = Town(store, world, refs)
        made.as_superuser(_MORE_ROWS)
        yield made


@pytest.fixture(scope="module", params=SEEDS)
def town(request):
    """A town that is shared: its tests read it, and try in vain to change it."""
    with settle(request.param) as made:
        yield made


def own_names(world, tenant):
    """The canaries that stand anywhere in what one tenant's agents are and did."""
    steps = [step for step in world.steps if tenant in repr(step)]
    callers = [caller for caller in world.callers if caller.tenant_id == tenant]
    return {*CANARY.findall(repr((steps, callers)))}


@of_one_server
@pytest.mark.req("B29.2", "N12")
@pytest.mark.parametrize(
    ("seed", "sizes"),
    [(0, {}), (1, {}), (0, {"narrow": 0, "read_all": 0, "scan_all": 0})],
    ids=["small", "other", "large"],
)
def test_a_store_that_forgets_its_own_wall_still_finds_one_tenant_alone(seed, sizes):
    world, verbs = make_world(seed), SEARCHES if sizes else READS
    with fresh_store(**sizes) as store:
        refs = live(store, world)
        for caller in world.callers[:: len(world.callers) // 2]:
            reader = Reader(store, caller, world, refs)
            own, walled = own_names(world, caller.tenant_id), store._connections
            others = [each for each in world.memories if each.user_id not in {None, caller.user}]
            store._connections = BareConnections(walled)
            heard = {
                f"{verb}({asked})": said(answer, refs)
                for verb in verbs
                for asked, answer in answers_in_one_snapshot(reader, READS[verb])
            }
            store._connections = walled
            for asked, answer in heard.items():
                assert {*CANARY.findall(answer)} <= own, f"seed {seed}: {caller} asked {asked}"
                assert not any(each.content in answer for each in others), f"seed {seed}: {caller} asked {asked}"
            tenants = [each for each in world.memories if each.tenant_id == caller.tenant_id and not sees(caller, each)]
            beyond = [each for each in tenants if each not in others]
            assert any(each.content in answer for each in beyond for answer in heard.values())


@of_one_server
def test_without_both_walls_everybody_finds_everything():
    """Or what the test above takes away would be nothing."""
    world = make_world(0)
    with fresh_store() as store:
        refs = live(store, world)
        walled, caller = store._connections, Caller(tenant_id="nowhere", agent="nobody")
        store._connections = BareConnections(walled, walled=False)
        reader = Reader(store, caller, world, refs)
        found = {
            verb: said([each for _, each in READS[verb](reader)], refs)
            for verb in ("get", "recent", "events", "traits")
        }
        store._connections = walled
    for verb, text in found.items():
        assert all(own_names(world, each.tenant_id) & {*CANARY.findall(text)} for each in world.callers), verb


def test_no_table_shows_a_row_of_another_tenant(town):
    tables = [name for (name,) in town.as_superuser("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")]
    assert {*tables} == {*OUR_TABLES, "alembic_version"}
    for tenant in town.tenants:
        own = own_names(town.world, tenant)
        for table in OUR_TABLES:
            rows = town.within(tenant, f"SELECT to_jsonb({table})::text FROM {table}")
            said_ = "\n".join(row for (row,) in rows)
            if table == UNWALLED:
                assert not {*CANARY.findall(re.sub(r'"tenant_id": "[^"]*"', "", said_))}
                continue
            assert {*CANARY.findall(said_)} <= own, f"{tenant} in {table}"
            assert {json.loads(row)["tenant_id"] for (row,) in rows} <= {tenant, ""}, f"{tenant} in {table}"
            assert rows, f"{tenant} in {table}"


@pytest.mark.parametrize("user", ["", "ana"])
def test_no_table_shows_a_row_of_another_user(town, user):
    """Whatever the statement forgets, also the scope: a transaction says for whom it acts."""
    tables = {
        name
        for (name,) in town.as_superuser(
            "SELECT DISTINCT tablename FROM pg_policies WHERE schemaname = 'public' AND qual LIKE '%%user_id%%'"
        )
    }
    asked = "SELECT relname FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid WHERE attname = 'user_id'"
    assert tables == {name for (name,) in town.as_superuser(f"{asked} AND relkind = 'r'")} - {"access_keys"}
    hidden = set()
    for tenant in town.tenants:
        for table in tables:
            [everybody] = town.within(tenant, f"SELECT array_agg(DISTINCT user_id) FROM {table}")
            found = town.within(tenant, f"SELECT DISTINCT user_id FROM {table}", user=user)
            assert {name for (name,) in found} <= {"", user}, f"{tenant} in {table}"
            hidden |= {(table, name) for name in everybody[0] or () if name not in {"", user}}
            theirs = f"user_id NOT IN ('', '{user}')"
            assert town.within(tenant, f"DELETE FROM {table} WHERE {theirs}", user=user) == 0
    # What is erased, and who is mentioned, of a user, is not in every world.
    assert {table for table, _ in hidden} >= tables - {"tombstones", "memory_entities"}


def test_the_words_of_the_keyword_index_are_numbers(town):
    words = [word for (word,) in town.as_superuser("SELECT unnest(tsvector_to_array(words)) FROM memory_words")]
    assert words
    assert [word for word in words if not re.fullmatch(r"\d+[on][0-9a-f]{8}", word)] == []


def test_no_table_takes_changes_to_rows_of_another_tenant(town):
    ours, theirs = town.tenants[:2]
    for table in OUR_TABLES:
        if table == UNWALLED:
            continue
        count = f"SELECT count(*) FROM {table} WHERE tenant_id = %s"
        [before] = town.as_superuser(count, [theirs])
        columns = [
            name
            for (name,) in town.as_superuser(
                "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 AND attgenerated = ''",
                [table],
            )
        ]
        names = ", ".join(columns)
        [(row,)] = town.as_superuser(
            f"SELECT to_jsonb({table})::text FROM {table} WHERE tenant_id = %s LIMIT 1", [theirs]
        )
        insertion = f"INSERT INTO {table} ({names}) SELECT {names} FROM jsonb_populate_record(NULL::{table}, %s::jsonb)"
        assert before > (0,)
        assert town.within(ours, f"UPDATE {table} SET tenant_id = tenant_id WHERE tenant_id = %s", [theirs]) in {
            0,
            *_REFUSED - {"42501"},
        }
        assert town.within(ours, f"UPDATE {table} SET tenant_id = %s WHERE tenant_id = %s", [ours, theirs]) in {
            0,
            *_REFUSED - {"42501"},
        }
        assert town.within(ours, f"DELETE FROM {table} WHERE tenant_id = %s", [theirs]) == 0
        assert town.within(ours, insertion, [row]) in _REFUSED
        assert town.within(ours, f"UPDATE {table} SET tenant_id = %s WHERE tenant_id = %s", [theirs, ours]) in _REFUSED
        assert town.as_superuser(count, [theirs]) == [before]


# What these answer is no matter of anybody's rows: the next number, the catalogue, the planner's guess, a setting.
_OF_NOBODY = frozenset(
    "how_many_vectors oldest_transaction size invalid_indexes has_index walls_down walk_settings "
    "queue_for_indexes are_indexes_free index_settings unknown_tables"
    " bypasses_walls tables_not_writable along_indexes may_index queue_for_slots schema_revisions".split()
)


@of_one_server
@pytest.mark.req("B29.2", "N12")
@pytest.mark.parametrize("seed", SEEDS)
def test_no_named_statement_answers_otherwise_when_the_other_tenants_are_gone(seed):
    """Each with its tenant, scope and namespace conditions taken out, and asked for what others have."""
    with settle(seed) as town:
        check_named_statements(town)


def check_named_statements(town):
    ours = town.tenants[0]
    asked = {
        name: bare(statement)
        for name, statement in STATEMENTS.named.spell_all().items()
        if statement.startswith("SELECT") and name not in _OF_NOBODY and UNWALLED not in statement
    }
    values = _hostile_values(town, ours)
    before = {name: _rows(town.within(ours, statement, values)) for name, statement in asked.items()}
    unbound = {name: _rows(town.within(None, statement, values)) for name, statement in asked.items()}
    for table in OUR_TABLES:
        deletion = sql.SQL("DELETE FROM {} WHERE tenant_id NOT IN ('', {})").format(sql.Identifier(table), ours)
        town.as_superuser("SET session_replication_role = replica; " + deletion.as_string())
    after = {name: _rows(town.within(ours, statement, values)) for name, statement in asked.items()}
    assert before == after
    assert len({name for name in asked if unbound[name] != after[name]}) > len(asked) / 2


def _rows(answer):
    return answer if isinstance(answer, str) else sorted(map(repr, answer))


def _hostile_values(town, ours):
    """What others' memories could be asked for by."""
    theirs = next(each for each in town.world.memories if each.tenant_id != ours and isinstance(each, Episode))
    somebody = next(each for each in town.world.entities if each.tenant_id != ours)
    docs = [doc for (doc,) in town.as_superuser("SELECT doc FROM memory_index")]
    scopes = sorted({each.scope for each in town.world.memories})
    return {
        "tenant_id": theirs.tenant_id,
        "tenants": town.tenants,
        "tables": list(OUR_TABLES),
        "queues": [1, 2],
        "scopes": scopes,
        "scope": theirs.scope,
        "users": ["", *sorted({each.user for each in town.world.callers if each.user})],
        "user_id": "",
        "namespaces": [each for (each,) in town.as_superuser("SELECT namespace FROM namespaces")],
        "kind": "episode",
        "id": theirs.id,
        "rule_id": theirs.id,
        "agent": theirs.agent,
        "pool": "team",
        "ids": sorted(town.world.ids),
        "doc": docs[0],
        "docs": docs,
        "session": theirs.session or "monday",
        "speaker": theirs.speaker or "Ana",
        "slots": as_json(
            [[0, theirs.scope, "lives in", somebody.id, "Ana"], [1, theirs.scope, "lives in", None, "Ana"]]
        ),
        "speakers": as_json([[theirs.scope, theirs.speaker or "Ana"]]),
        "sessions": as_json([[theirs.scope, theirs.session or "monday"]]),
        "source_kind": "episode",
        "source_id": theirs.id,
        "target_kind": "episode",
        "target_id": theirs.id,
        "relation": "derived_from",
        "stretches": as_json([[0, theirs.scope, theirs.session or "monday", -10, 1_000]]),
        "canonical_name": somebody.canonical_name,
        "name": somebody.canonical_name,
        "type": somebody.entity_type,
        "names": sorted({name_key(each) for other in town.world.entities for each in other.aliases}),
        "entity_type": somebody.entity_type,
        "entity_id": somebody.id,
        "pattern": "%",
        "trigrams": sorted({each for other in town.world.entities for each in trigrams(other.canonical_name)}),
        "least": 1,
        "types": ["entity_created"],
        "kept": ["memory_erased"],
        "event_type": "entity_created",
        "key": "audit_seal/5",
        "memory_id": theirs.id,
        "log": "chat",
        "subkey": "",
        "namespace": "/chat/monday/",
        "item_key": "main",
        "keys": as_json([[theirs.scope, "/chat/monday/", "main"]]),
        "sequence": 1,
        "entry_key": "u1",
        "low": "/",
        "high": "0",
        "embedder": "some:embedder",
        "session_id": next(step.id for step in town.world.steps if isinstance(step, Append)),
        "now": READ_AT,
        "before": READ_AT,
        "since": READ_AT,
        "said_at": datetime(2000, 1, 1, tzinfo=UTC),
        "after_at": READ_AT,
        "after_id": theirs.id,
        "limit": 100_000,
        "count": 100_000,
        "needed": 100_000,
        "graph_from": 0,
        "index": "memory_vectors",
        "version": 1,
        "vector": vector_of(theirs.content),
        "past": True,
        "state": "active",
        "relations": list(RELATIONS),
    }


def test_the_words_before_and_after_a_tenant_are_no_way_around_the_wall(town):
    """A tenant's name reaches the server as a literal: whatever it holds is a name."""
    for name in ("' OR ''='", "x'; SET LOCAL engrain.every_tenant = 'on", "\\", "%", town.tenants[0].upper(), " "):
        assert town.within(name, "SELECT count(*) FROM episodes") == [(0,)], name


def test_everybodys_scope_is_one_tenants(town):
    caller = replace(town.world.callers[0], tenant_id="nowhere", agent=GLOBAL_SCOPE)
    assert town.store.get(caller, sorted(town.world.ids)) == []
