"""A customer leaves, or an agent retires: all of it goes, nothing comes back, and nobody else loses anything."""

import httpx2
import pytest

from engrain import Memory
from engrain.errors import Forbidden, NotFound, Unauthenticated
from engrain.interfaces.access import Gate
from engrain.interfaces.http.app import create_app
from tests.support.asgi import serving
from tests.support.two_tenants import AGENT, Tenant

GONE, STAYS, SUPPORT = "acme", "bolt", "zqsupportzq"
USER = "zquserzq"


@pytest.fixture
def memory(location):
    with Memory.open(location, embedder="none") as memory:
        for name in (GONE, STAYS):
            live_in(memory, name)
        memory.flush()
        yield memory


def live_in(memory, name):
    """Something in every table, of an agent that acts for nobody and of one that acts for a user."""
    Tenant(memory, name).live()
    agent = memory.agent(SUPPORT, tenant=name, user=USER, session=f"zqsession{name}")
    turn = agent.observe(f"The door code of zq{name}zq is 4711", speaker=f"zqspeaker{name}")
    agent.remember(f"zq{name}zq", subject="door", predicate="code", source_episode_id=turn.id)
    agent.entities.create(f"House of zq{name}zq", "place")
    agent.rules.add(f"Never say zq{name}zq")
    agent.log.append([{"content": f"logged zq{name}zq"}])
    agent.store(["kept"]).put("main", {"of": f"zq{name}zq"}, index="of")
    agent.observe("for a moment", session=f"zqshort{name}", ttl_days=1e-9)
    agent.erase([agent.observe("erased before").id])
    agent.working.append(f"in working memory of zq{name}zq")
    retiring = memory.agent(SUPPORT, tenant=name)
    retiring.remember(f"published by zq{name}zq", subject="desk", predicate="is open", scope="global")
    memory.agent(AGENT, tenant=name).pools.add("docs", SUPPORT)
    for user in (None, USER):
        memory.keys.create(role="writer", tenant=name, agent=SUPPORT, user=user, name=f"zqkey{name}")
    memory.jobs.run("decay", tenant=name)
    memory.seal_events(tenant=name)


def rows_of(memory, name):
    """All rows of a tenant in every table that there is, as text."""
    store = memory.parts.store
    if "://" in store.location:
        tables = (
            "SELECT relname FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid WHERE attname = 'tenant_id' "
            "AND relkind = 'r' AND relnamespace = 'public'::regnamespace"
        )
    else:
        tables = (
            "SELECT m.name FROM sqlite_schema AS m JOIN pragma_table_info(m.name) AS c ON c.name = 'tenant_id' "
            "WHERE m.type = 'table'"
        )
    found = {}
    for (table,) in store.inspect(None, lambda tx: tx.db.execute(tables).fetchall()):
        asked = f"SELECT * FROM {table} WHERE tenant_id = :tenant_id"
        rows = store.inspect(None, lambda tx, asked=asked: tx.ask(asked, {"tenant_id": name}))
        if rows:
            found[table] = sorted(str(tuple(row)) for row in rows)
    return found


def left_of(memory, name):
    """The tables that still have a row of a tenant, without what a file keeps of places in its searches: numbers."""
    left = rows_of(memory, name)
    for table in ("memory_index", "memory_vectors"):
        assert all(USER not in row and f"zq{name}zq" not in row for row in left.pop(table, []))
    return left


def test_nothing_of_a_tenant_is_left_but_tombstones_that_name_nobody_and_one_event(memory):
    others = rows_of(memory, STAYS)
    assert len(others) > 20
    planned = memory.erase_tenant(GONE, dry_run=True)
    assert rows_of(memory, STAYS) == others
    erasure = memory.erase_tenant(GONE)
    assert (planned.rows, planned.sha256, planned.dry_run) == (erasure.rows, erasure.sha256, True)
    assert set(erasure.rows) == {
        *("episodes", "facts", "rules", "entities", "runs", "access_keys", "log_sessions", "items")
    }
    left = left_of(memory, GONE)
    assert set(left) == {"tombstones", "memory_events"}
    text = str(left)
    assert [word for word in (USER, SUPPORT, AGENT + "/", f"zq{GONE}zq", "zqsession", "zqkey") if word in text] == []
    [event] = memory.agent("anybody", tenant=GONE).events(event_type="tenant_erased")
    assert (event.payload["rows"], event.payload["sha256"]) == (erasure.rows, erasure.sha256)
    assert rows_of(memory, STAYS) == others
    assert memory.health(thorough=True).problems == ()
    assert memory.verify_events(tenant=GONE).is_whole
    assert memory.verify_events(tenant=STAYS).is_whole
    for agent in (memory.agent(AGENT, tenant=GONE), memory.agent(SUPPORT, tenant=GONE, user=USER)):
        assert (agent.list().items, agent.recall(f"zq{GONE}zq").hits) == ((), ())
        assert agent.log.read(session=f"zqsession{GONE}") == []
        assert list(agent.working.messages()) == []
        assert agent.notes.recall("project:beta") is None
    assert f"zq{STAYS}zq" in str(memory.agent(AGENT, tenant=STAYS).recall(f"zq{STAYS}zq"))
    assert memory.jobs.list(tenant=GONE) == []
    assert len(memory.jobs.list(tenant=STAYS)) == 1
    again = memory.erase_tenant(GONE)
    assert again.rows == {}


def test_an_agent_that_retires_takes_its_own_and_leaves_the_rest(memory):
    others = rows_of(memory, STAYS)
    kept = {memory.content for memory in memory.agent(AGENT, tenant=GONE).list(limit=1000)}
    copied = memory.agent(SUPPORT, tenant=GONE).facts(subject="desk")[0]
    memory.agent(SUPPORT, tenant=GONE).pools.contribute("docs", copied.id)
    [copy] = memory.agent(AGENT, tenant=GONE).pools.query("docs", "published desk", limit=1).hits
    erasure = memory.erase_tenant(GONE, agent=SUPPORT)
    assert erasure.rows == {
        "episodes": 2,
        "facts": 2,
        "rules": 1,
        "access_keys": 2,
        "log_sessions": 1,
        "items": 1,
    }
    assert erasure.copies == (copy.memory.id,)
    left = rows_of(memory, GONE)
    own = {table: [row for row in rows if SUPPORT in row] for table, rows in left.items()}
    named = {table for table, rows in own.items() if rows}
    assert named <= {"tombstones", "memory_events", "namespaces", "facts", "memory_metadata"}
    assert len(own["facts"]) == 1  # the pool's copy
    bare = memory.agent(SUPPORT, tenant=GONE, user=USER).events(limit=1000).items
    assert {
        str(event.payload) for event in bare if event.scope.endswith(SUPPORT) and "erased" not in event.event_type
    } == {"{}"}
    assert {memory.content for memory in memory.agent(AGENT, tenant=GONE).list(limit=1000)} == kept - {
        f"published by zq{GONE}zq"
    } | {copied.content}
    assert SUPPORT not in str(memory.agent(AGENT, tenant=GONE).pools.list())
    assert memory.verify_events(tenant=GONE).is_whole
    assert memory.health(thorough=True).problems == ()
    assert rows_of(memory, STAYS) == others
    assert list(memory.agent(SUPPORT, tenant=GONE, user=USER, session=f"zqsession{GONE}").working.messages()) == []


@pytest.mark.parametrize("whose", ["tenant", "agent"])
def test_what_was_erased_comes_back_by_no_backup_and_by_no_export(memory, tmp_path, whose):
    extent = {} if whose == "tenant" else {"agent": SUPPORT}
    ana = memory.agent(SUPPORT, tenant=GONE, user=USER)
    memory.backup(tmp_path / "tenant", tenant=GONE)
    memory.backup(tmp_path / "agent", tenant=GONE, agent=SUPPORT)
    memory.export_user(USER, tmp_path / "user.jsonl", tenant=GONE)
    memory.export(tmp_path / "agent.jsonl", tenant=GONE, agent=SUPPORT)
    memory.cleanup(GONE)  # what expired leaves no tombstone
    memory.erase_tenant(GONE, **extent)
    before = left_of(memory, GONE)
    for file in ("agent", "tenant"):
        if whose == "tenant" or file == "agent":
            report = memory.restore(tmp_path / file, tenant=GONE)
            assert (report.memories, report.erased > 0) == (0, True)
    after = left_of(memory, GONE)
    restored = {"memory_events"}  # that of the restore alone
    assert {table: rows for table, rows in after.items() if table not in restored} == {
        table: rows for table, rows in before.items() if table not in restored
    }
    assert not [row for row in after["memory_events"] if f"zq{GONE}zq" in row and whose == "tenant"]
    for file, importer in (("user.jsonl", ana), ("agent.jsonl", memory.agent(SUPPORT, tenant=GONE))):
        report = importer.import_file(tmp_path / file)
        assert report.broken == ()
        assert not [memory.content for memory in importer.list(limit=1000) if "4711" in memory.content]
    memory.restore(tmp_path / "tenant", tenant="elsewhere")
    assert not memory.agent(SUPPORT, tenant="elsewhere", user=USER).list().items
    assert memory.restore(tmp_path / "agent", tenant=GONE, with_erased=True).memories > 0
    assert "4711" in str(ana.list())


def test_a_new_tenant_of_the_old_name_begins_anew(memory, tmp_path):
    memory.backup(tmp_path / "bolt", tenant=STAYS)
    memory.erase_tenant(GONE)
    agent = memory.agent(AGENT, tenant=GONE)
    agent.observe("We are new here", session="2026-11-21")
    assert [hit.memory.content for hit in agent.recall("new here").hits] == ["We are new here"]
    memory.backup(tmp_path / "later", tenant=GONE)
    assert memory.restore(tmp_path / "later", tenant=GONE, replace=True).memories == 1
    assert memory.restore(tmp_path / "bolt", tenant=GONE).memories > 10  # another tenant's, older than the erasure
    assert memory.health(thorough=True).problems == ()


def test_the_keys_of_a_tenant_open_nothing_afterwards(memory):
    created = memory.keys.create(role="admin", tenant=GONE)
    other = memory.keys.create(role="admin", tenant=STAYS)
    memory.erase_tenant(GONE)
    with pytest.raises(Unauthenticated):
        memory.keys.authenticate(created.secret)
    assert memory.keys.authenticate(other.secret).tenant_id == STAYS


def test_a_misspelt_name_is_an_error_and_erases_nothing(memory):
    there = rows_of(memory, GONE)
    for call, message in (
        (lambda: memory.erase_tenant("Acme"), "there is no tenant 'Acme'"),
        (lambda: memory.erase_tenant(GONE, agent="nobody"), "tenant acme knows no agent 'nobody'"),
        (lambda: memory.erase_tenant(GONE, agent="nobody", dry_run=True), "knows no agent"),
    ):
        with pytest.raises(NotFound, match=message):
            call()
    with pytest.raises(Forbidden, match="erases itself alone"):
        memory.erase_tenant(GONE, tenant=STAYS)
    assert rows_of(memory, GONE) == there


def test_over_http_a_key_erases_its_own_tenant_or_agent_alone(memory):
    def headers(**bound):
        return {"Authorization": f"Bearer {memory.keys.create(tenant=STAYS, **bound).secret}"}

    others = rows_of(memory, GONE)
    app = create_app(memory, gate=Gate(memory, keys_required=True), mcp_profile="all")
    with serving(app) as url, httpx2.Client(base_url=url, timeout=120) as client:

        def erase(who, **wish):
            return client.post("/v1/tenants/erase", json=wish, headers=who)

        admin = headers(role="admin")
        assert erase(headers(role="writer"), name=STAYS).status_code == 403
        assert erase(headers(role="admin", user=USER), name=STAYS).status_code == 403
        assert erase(admin, name=GONE).status_code == 403
        assert erase(headers(role="admin", agent=SUPPORT), name=STAYS, agent=AGENT).status_code == 403
        assert rows_of(memory, GONE) == others
        narrowed = erase(headers(role="admin", agent=SUPPORT), name=STAYS)
        assert (narrowed.status_code, narrowed.json()["agent"]) == (200, SUPPORT)
        assert f"zq{STAYS}zq" in str(memory.agent(AGENT, tenant=STAYS).list())
        answer = erase(admin, name=STAYS)
        assert (answer.status_code, answer.json()["agent"]) == (200, None)
        assert erase(admin, name=STAYS).status_code == 401
    assert set(left_of(memory, STAYS)) == {"tombstones", "memory_events"}
    assert rows_of(memory, GONE) == others
