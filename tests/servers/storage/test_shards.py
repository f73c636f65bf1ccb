"""Tenants on three PostgreSQL servers: where each is, moves between them, and what ends a move in the middle."""

import functools
import itertools
import json
import os
import signal
import threading
import time
from contextlib import ExitStack, closing, contextmanager

import numpy as np
import pytest
from psycopg.conninfo import conninfo_to_dict

from engrain import Memory, errors
from engrain.domain.maintenance.backups import Extent
from engrain.domain.requests import Act
from engrain.interfaces.cli import main
from engrain.storage import open_store
from engrain.storage.migrations import HEAD, table_names
from engrain.storage.reports import tenants
from engrain.storage.shards.late_store import LateStore
from engrain.storage.shards.moves import move_tenant
from engrain.storage.write.embedding_versions import find_active, find_unembedded
from tests.support.children import Child
from tests.support.clock import Clock
from tests.support.engines import HashEmbedder
from tests.support.one_call import OneCall
from tests.support.postgres import PostgresServer
from tests.support.sample_records import NOON, act, episode, fact, request
from tests.support.store_samples import DIMS, EMBEDDER, axis, keyword

TENANT, AGENT = "ana", "aide"
NAMES = ("home", "b", "c")
# A statement in so many of a move is where it is killed; 1 is before every one.
STEP = 1 if os.environ.get("ENGRAIN_TEST_KILLS") == "all" else 17
TABLES = [name for name in table_names("postgres", HEAD) if name not in {"jobs", "embedding_versions"}]


@pytest.fixture(scope="module")
def servers():
    with ExitStack() as stack:
        yield {name: stack.enter_context(PostgresServer()) for name in NAMES}


@pytest.fixture
def urls(servers):
    made = {name: server.new_database(has_schema=True) for name, server in servers.items()}
    yield made
    for name, url in made.items():
        servers[name].drop_database(url)


@pytest.fixture
def store(urls):
    with closing(opened(urls)) as store:
        yield store


def opened(urls):
    others = {name: url for name, url in urls.items() if name != "home"}
    return OneCall(open_store(urls["home"], shards=others))


def settings_of(urls):
    shards = {name: url for name, url in urls.items() if name != "home"}
    return {"db": urls["home"], "storage": {"shards": shards}, "embedding": {"model": "none"}}


def caller(tenant=TENANT):
    return Act(caller=act().caller.__class__(tenant_id=tenant, agent=AGENT), at=NOON)


def said(content, tenant=TENANT, **changes):
    return episode(content, tenant_id=tenant, agent=AGENT, scope="global", session="monday", speaker="Ana", **changes)


def fill(store, tenant=TENANT):
    """Something in every table that a move takes: turns, facts superseded and retracted, a vector, a word of each."""
    store.use_embedder(EMBEDDER, DIMS)
    [turn, gone, _] = store.put(caller(tenant), [said(f"Turn {place} has bread.", tenant) for place in range(3)])
    for content in ("Lisbon", "Porto"):
        store.put(caller(tenant), [fact(content, tenant_id=tenant, agent=AGENT, scope="global")])
    waiting = store.unembedded(1)
    store.attach(
        [each.ref for each in waiting], np.array([axis(0)] * len(waiting)), tenants=[each.tenant_id for each in waiting]
    )
    assert store.erase(caller(tenant), [gone.id])
    return turn


def rows(servers, urls, name, tenant=TENANT):
    """All that a server has of a tenant, as text by table; without the record of where it is."""
    database = conninfo_to_dict(urls[name])["dbname"]
    condition = 'tenant_id = %(tenant)s AND NOT (to_jsonb(kept) @> \'{"key": "server"}\')'
    selections = [f"SELECT '{table}', kept::text FROM {table} AS kept WHERE {condition}" for table in TABLES]
    found = servers[name].psql(database, f"{' UNION ALL '.join(selections)} ORDER BY 1, 2", {"tenant": tenant})
    return {table: [row for _, row in of_table] for table, of_table in itertools.groupby(found, lambda row: row[0])}


def holders(servers, urls, tenant=TENANT):
    return [name for name in NAMES if rows(servers, urls, name, tenant)]


def texts(store, tenant=TENANT):
    asked = request(caller=caller(tenant).caller)
    return sorted(memory.content for memory in store.recent(asked, 99_999))


def test_new_tenants_are_spread_and_each_is_on_one_server(store, servers, urls):
    names = [f"tenant-{number}" for number in range(30)]
    for name in names:
        store.put(caller(name), [said("Here.", name)])
    places = {name: holders(servers, urls, name) for name in names}
    assert all(len(found) == 1 for found in places.values())
    assert {name for [name] in places.values()} == set(NAMES)
    assert store.inspect(None, tenants.list_tenants) == sorted(names)
    with closing(opened(urls)) as other:
        assert {name: [other.directory.locate(name)] for name in names} == places
        assert all(texts(other, name) == ["Here."] for name in names)
    assert store.health().problems == ()
    assert store.health().memories == 30


def test_the_tenants_of_a_server_stay_there_when_others_are_added(urls):
    with closing(OneCall(open_store(urls["b"]))) as alone:
        alone.put(caller("old"), [said("From before.", "old")])
    with closing(opened(urls)) as store:
        assert texts(store, "old") == ["From before."]
        store.put(caller("old"), [said("And after.", "old")])
    with closing(OneCall(open_store(urls["b"]))) as alone:
        assert texts(alone, "old") == ["And after.", "From before."]


def test_a_move_takes_every_row_as_it_is_and_leaves_none(store, servers, urls):
    fill(store)
    fill(store, "other")
    source, elsewhere = store.directory.locate(TENANT), store.directory.locate("other")
    before, others = rows(servers, urls, source), rows(servers, urls, elsewhere, "other")
    target = next(name for name in NAMES if name != source)
    asked = request(caller=caller().caller)
    found = [store.nearest(asked, axis(0), 9), keyword(store, "bread", asked=asked)]
    assert all(map(len, found))
    report = move_tenant(store.store, TENANT, target)
    assert (report.source, report.target, report.removed) == (source, target, sum(map(len, before.values())))
    assert holders(servers, urls) == [target]
    assert rows(servers, urls, target) == before
    assert rows(servers, urls, elsewhere, "other") == others
    assert [store.nearest(asked, axis(0), 9), keyword(store, "bread", asked=asked)] == found
    again = fact("Braga", tenant_id=TENANT, agent=AGENT, scope="global")
    [stored] = store.put(caller(), [again])
    assert stored.supersedes_id is not None
    assert store.health().problems == ()


def test_a_tenant_that_nobody_knows_is_moved_nowhere_and_leaves_no_trace(store, servers, urls):
    fill(store)
    with pytest.raises(errors.InvalidInput, match="there is no tenant 'anna'"):
        move_tenant(store.store, "anna", "b")
    assert holders(servers, urls, "anna") == []
    assert not store.directory.has("anna")


def test_a_tenant_that_has_no_memories_yet_is_moved(store, monkeypatch, urls, capsys):
    assert texts(store, "new") == []  # by which it is placed
    target = next(name for name in NAMES if name != store.directory.locate("new"))
    monkeypatch.setenv("ENGRAIN_DB", urls["home"])
    monkeypatch.setenv("ENGRAIN_STORAGE__SHARDS", str({n: urls[n] for n in ("b", "c")}).replace("'", '"'))
    assert main(["tenants", "move", "new", "--to", target]) == 0
    assert f"new is on {target} now, and has no rows yet" in capsys.readouterr().out
    with closing(opened(urls)) as other:
        assert other.directory.locate("new") == target


def test_what_changes_while_a_tenant_is_copied_goes_with_it(store, servers, urls):
    """Between the rounds of the copy: rows that are new, changed, gone, and one in the place of another."""
    turn = fill(store)
    source = store.directory.locate(TENANT)
    target = next(name for name in NAMES if name != source)
    changes = iter(
        [
            lambda: store.put(caller(), [said("During the copy.")]),
            lambda: store.erase(caller(), [turn.id]),
            lambda: store.put(caller(), [fact("Faro", tenant_id=TENANT, agent=AGENT, scope="global")]),
            lambda: store.put_entity(caller(), store_entity("Cleo")),
        ]
    )
    kept = []

    def change(step, _rows):
        if step == "copying":
            next(changes, lambda: None)()
            kept[:] = [rows(servers, urls, source)]

    report = move_tenant(store.store, TENANT, target, change)
    assert [rows(servers, urls, target)] == kept
    assert report.last_rows > 0
    assert "During the copy." in texts(store)
    assert holders(servers, urls) == [target]
    assert store.health().problems == ()


def store_entity(name):
    from tests.support.sample_records import entity

    return entity(name, tenant_id=TENANT)


def test_a_process_that_knows_the_old_server_writes_and_reads_on_the_new_one(store, servers, urls):
    fill(store)
    with closing(opened(urls)) as other:
        assert len(texts(other)) == len(texts(store))
        for target in ("b", "c", "home"):
            move_tenant(store.store, TENANT, target)
            other.put(caller(), [said(f"Written at {target}.")])
            assert holders(servers, urls) == [target]
            assert f"Written at {target}." in texts(store)
        assert other.health().problems == ()


class Traffic:
    """Writers and readers of a tenant in threads, until told to stop or one of them fails."""

    def __init__(self):
        self.written, self.erased, self.failures = [], set(), []
        self._is_over, self._threads = threading.Event(), []

    def start(self, job, store, number):
        self._threads.append(threading.Thread(target=self.guard, args=(job, store, number)))
        self._threads[-1].start()

    def guard(self, job, *arguments):
        if self.failures:
            return
        try:
            job(*arguments)
        except BaseException as error:  # noqa: BLE001  # told by the test
            self.failures.append(error)
            self._is_over.set()

    def stop(self):
        self._is_over.set()
        for thread in self._threads:
            thread.join()

    def write(self, store, number):
        for count in itertools.takewhile(lambda _: not self._is_over.is_set(), itertools.count()):
            [turn] = store.put(caller(), [said(f"Writer {number}, turn {count}.")])
            if count % 5 == 4:
                assert store.erase(caller(), [turn.id])
                self.erased.add(turn.content)
            else:
                self.written.append(turn.content)

    def read(self, store, _):
        while not self._is_over.is_set():
            known = list(self.written)
            seen = texts(store)
            assert set(known) <= set(seen), (known, seen)


def test_reads_and_writes_while_a_tenant_moves_lose_nothing(store, servers, urls):
    """In two memories, one of which moves the tenant from server to server."""
    fill(store)
    traffic = Traffic()
    with closing(opened(urls)) as other:
        for job, memory, number in (
            *((traffic.write, memory, number) for number, memory in enumerate((store, other, other))),
            *((traffic.read, memory, 0) for memory in (store, other)),
        ):
            traffic.start(job, memory, number)
        for target in ("b", "c", "home") * 2:
            traffic.guard(move_tenant, store.store, TENANT, target)
        traffic.stop()
    assert traffic.failures == []
    assert len(traffic.written) > 20
    found = texts(store)
    assert set(traffic.written) <= set(found)
    assert not traffic.erased & set(found)
    assert holders(servers, urls) == ["home"]
    assert store.health().problems == ()


def test_a_move_that_is_killed_leaves_the_tenant_whole_on_one_server(store, servers, urls):
    """Before one statement in seventeen, in turn to each of the servers; what was left is cleared by the next move."""
    fill(store)
    expected = texts(store)
    names = itertools.cycle(("b", "c", "home"))
    deaths, count, target = 0, 1, next(names)
    while True:
        with Child("move", TENANT, target, count, *(f"{name}={url}" for name, url in urls.items())) as child:
            finished = child.rest()
            assert child.ended() == (0 if finished else -signal.SIGKILL)
        with closing(opened(urls)) as fresh:
            assert texts(fresh) == expected
            fresh.put(caller(), [said(f"After death {count}.")])
            expected = sorted([*expected, f"After death {count}."])
            assert texts(fresh) == texts(store) == expected
            name = fresh.directory.look_up(TENANT)
            whole = rows(servers, urls, name)
            assert len(whole["episodes"]) == len(expected) - 1  # the facts are one
        if finished:
            break
        deaths += 1
        count += STEP
        target = next(other for other in names if other != name)
    assert deaths > 10
    assert holders(servers, urls) == [target]
    assert rows(servers, urls, target) == whole
    assert store.health().problems == ()


@pytest.mark.parametrize("which", ["first", "last"])
def test_a_move_whose_server_dies_is_completed_by_the_next(store, servers, urls, which):
    fill(store)
    source = store.directory.locate(TENANT)
    target = next(name for name in NAMES if name not in {source, "home"})
    before, dying = rows(servers, urls, source), servers[target]

    def kill(step, _rows):
        if (step == "copying") == (which == "first"):
            dying.kill()

    with pytest.raises(errors.StorageError):
        move_tenant(store.store, TENANT, target, kill)
    dying.start()
    with closing(opened(urls)) as fresh:
        assert texts(fresh) == ["Porto", "Turn 0 has bread.", "Turn 2 has bread."]
        move_tenant(fresh.store, TENANT, target)
        assert rows(servers, urls, target) == before
        assert holders(servers, urls) == [target]


def test_a_tenant_is_erased_where_it_is_and_where_a_move_has_left_a_copy(store, servers, urls):
    fill(store)
    fill(store, "other")
    source = store.directory.locate(TENANT)
    target = next(name for name in NAMES if name != source)
    others = [rows(servers, urls, name, "other") for name in NAMES]

    def stop(_step, _rows):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        move_tenant(store.store, TENANT, target, stop)
    assert sorted(holders(servers, urls)) == sorted([source, target])
    with Memory.open(settings=settings_of(urls)) as memory:
        memory.jobs.run("decay", tenant=TENANT)
        with pytest.raises(errors.NotFound, match="there is no tenant 'anna'"):
            memory.erase_tenant("anna")
        assert not store.directory.has("anna")
        assert memory.erase_tenant(TENANT).rows == {"episodes": 2, "facts": 2}
        assert memory.jobs.list(tenant=TENANT) == []
        assert memory.erase_tenant(TENANT).rows == {}
    assert holders(servers, urls) == [source]
    assert set(rows(servers, urls, source)) == {"tombstones", "memory_events"}
    assert [rows(servers, urls, name, "other") for name in NAMES] == others
    move_tenant(store.store, TENANT, target)
    assert set(rows(servers, urls, target)) == {"tombstones", "memory_events"}
    store.put(caller(), [said("Anew.")])
    assert texts(store) == ["Anew."]
    assert store.health().problems == ()


def test_a_server_with_vectors_of_another_embedder_takes_no_tenant(store, urls):
    fill(store)
    source = store.directory.locate(TENANT)
    target = next(name for name in NAMES if name != source)
    with closing(opened(urls)) as fresh, closing(OneCall(open_store(urls[target]))) as alone:
        alone.begin_version("test:other", 3)
        alone.switch_version(act(), 2)
        with pytest.raises(errors.InvalidInput, match=r"test:other.*engrain reembed"):
            move_tenant(fresh.store, TENANT, target)
        assert fresh.directory.look_up(TENANT) == source


def test_the_nightly_backup_writes_a_file_of_each_server(urls, tmp_path):
    folder, backup = tmp_path / "backups", {"signing_key": "the key of this installation is long"}
    jobs = {"backup_folder": str(folder), "backup_keep": 1}
    names = ["ana", "ben", "x", "y", "z"]
    with Memory.open(settings=settings_of(urls) | {"jobs": jobs, "backup": backup}, clock=Clock(seconds=1)) as memory:
        for name in names:
            memory.agent(AGENT, tenant=name).observe(f"{name} likes trams.")
        done = [memory.jobs.run("backup") for _ in range(2)]
        assert [(job.status, job.report["memories"], job.report["removed"]) for job in done] == [
            ("done", len(names), 0),
            ("done", len(names), len(NAMES)),
        ]
    files = sorted(folder.iterdir())
    assert [file.name[24:] for file in files] == [f"-{name}.backup.gz" for name in sorted(NAMES)]
    settings = {"backup": backup, "embedding": {"model": "none"}}
    with Memory.open(tmp_path / "one.db", settings=settings) as memory:
        for file in files:
            memory.restore(file)
        assert [counts.tenant_id for counts in memory.agents()] == names


def test_servers_are_refused_with_what_to_do(urls, tmp_path):
    for shards, reason in (
        ({"home": urls["b"]}, "names 'home', which is the server of `db`"),
        ({"b": str(tmp_path / "memory.db")}, "server 'b' is at .*postgresql://"),
        ({"b": urls["b"], "c": urls["b"]}, "servers b and c are both"),
        ({"b": urls["home"]}, "servers home and b are both"),
    ):
        with pytest.raises(errors.InvalidInput, match=reason):
            open_store(urls["home"], shards=shards)
    with pytest.raises(errors.InvalidInput, match=r"server 'home' is at .*postgresql://"):
        open_store(tmp_path / "memory.db", shards={"b": urls["b"]})


def test_a_server_that_is_missing_from_the_settings_is_named(store, urls):
    fill(store)
    move_tenant(store.store, TENANT, "c")
    named = pytest.raises(errors.InvalidInput, match=r"'ana' is on the server 'c'.*add 'c' with its URL")
    with closing(opened({name: urls[name] for name in ("home", "b")})) as fewer, named:
        texts(fewer)
    with pytest.raises(errors.InvalidInput, match=r"no server 'd'.*home, b, c"):
        move_tenant(store.store, TENANT, "d")


def test_a_process_with_no_further_server_is_refused_the_tenants_of_the_others(store, urls, tmp_path):
    """It would find nothing of them, and the next move back would remove what it wrote."""
    fill(store)
    fill(store, "stays")
    move_tenant(store.store, TENANT, "c")
    move_tenant(store.store, "stays", "home")
    fresh = next(name for name in map(str, itertools.count()) if store.store.directory.look_up(name) == "b")
    with closing(OneCall(open_store(urls["home"]))) as alone:
        for use in (
            lambda: texts(alone),
            lambda: alone.put(caller(), [said("Lost.")]),
            lambda: alone.store.search(caller().caller, lambda snapshot: snapshot.caller),
        ):
            with pytest.raises(errors.InvalidInput, match=r"'ana' is on the server 'c'.*add 'c' with its URL"):
                use()
        with pytest.raises(errors.InvalidInput, match="is on the server 'b'"):
            alone.put(caller(fresh), [said("Lost.", fresh)])
        assert len(texts(alone, "stays")) == 3
        alone.put(caller("stays"), [said("Found.", "stays")])
        alone.put(caller("new"), [said("Found.", "new")])
        assert alone.extract(Extent(), lambda rows: sum(1 for _ in rows.rows("episodes"))) == 4
    with Memory.open(urls["home"], embedder="none") as memory:
        memory.backup(tmp_path / "home.backup")
        memory.backup(tmp_path / "stays.backup", tenant="stays")
        with pytest.raises(errors.InvalidInput, match="'ana' is on the server 'c'"):
            memory.backup(tmp_path / "ana.backup", tenant=TENANT)
        with pytest.raises(errors.InvalidInput, match="'ana' is on the server 'c'"):
            memory.restore(tmp_path / "stays.backup", tenant=TENANT)
    assert "Found." in texts(store, "stays")
    assert texts(store, "new") == ["Found."]
    assert len(texts(store)) == 3


def test_a_whole_memory_works_on_three_servers(urls, tmp_path):
    """The verbs of every tenant and of one: jobs, learning, keys, counts, backups, readiness and embeddings."""
    with Memory.open(settings=settings_of(urls), embedder=HashEmbedder()) as memory:
        agents = {name: memory.agent(AGENT, tenant=name) for name in ("x", "y", "z", "ana")}
        for name, agent in agents.items():
            agent.observe(f"{name} likes trams.", session="s", speaker="Ana")
            agent.remember(f"City of {name}", subject="Ana", predicate="lives in")
        memory.flush()
        assert {hit.memory.content for hit in agents["x"].recall("trams city")} == {"x likes trams.", "City of x"}
        assert sum(counts.facts for counts in memory.agents(limit=2)) == 2
        page = memory.agents(limit=3)
        assert [counts.tenant_id for counts in [*page, *memory.agents(limit=3, after=page.next)]] == sorted(agents)
        key = memory.keys.create(role="writer", tenant="y", agent=AGENT)
        assert memory.keys.authenticate(key.secret).tenant_id == "y"
        memory.decay()
        assert memory.cleanup() is not None
        job = memory.jobs.run("compaction")
        assert job.status == "done"
        assert memory.health().waiting == 0
        assert memory.readiness().status == "ok"
        backup = tmp_path / "y.backup"
        memory.backup(backup, tenant="y")
        with pytest.raises(errors.InvalidInput, match=r"several servers \(home, b, c\).*name a tenant"):
            memory.backup(tmp_path / "all.backup")
        before = memory.parts.store.directory.look_up("y")
        memory.restore(backup, tenant="y", replace=True, untrusted=True)
        assert memory.parts.store.directory.look_up("y") == before
        move_tenant(memory.parts.store, "y", "b")
        assert {hit.memory.content for hit in agents["y"].recall("trams city")} == {"y likes trams.", "City of y"}
        assert memory.keys.authenticate(key.secret).tenant_id == "y"
        assert memory.health(thorough=True).problems == ()


@pytest.mark.parametrize(("away", "status"), [("b", "degraded"), ("home", "failed")])
def test_a_server_that_is_away_takes_no_tenant_of_another_out_of_service(urls, away, status):
    with PostgresServer() as server, Memory.open(settings=settings_of(urls | {away: server.new_database()})) as memory:
        assert memory.readiness().status == "ok"
        server.kill()
        readiness = memory.readiness()
        assert (readiness.status, readiness.checks[0].name, readiness.checks[0].status) == (status, "database", status)
        assert away == "home" or readiness.checks[0].detail.startswith("no tenant of these servers is served: b: ")
        numbers = memory.metrics()
        assert numbers["database_up"] == 0
        assert ("jobs_overdue" in numbers) == (away != "home")


def tenant_on(store, server):
    """A new tenant that its name draws to a server."""
    return next(name for name in map(str, itertools.count()) if store.directory.look_up(name) == server)


@contextmanager
def away(server):
    """A server is killed for a while; what it yields starts it, as the end does."""
    server.kill()
    start = functools.cache(server.start)
    try:
        yield start
    finally:
        start()


def test_a_memory_opens_while_a_server_is_away_and_serves_its_tenants_once_it_answers(urls, servers, caplog):
    with closing(opened(urls)) as store:
        names = {name: tenant_on(store, name) for name in NAMES}
    with away(servers["c"]) as start, Memory.open(settings=settings_of(urls), embedder=HashEmbedder()) as memory:
        [warning] = [record for record in caplog.records if record.msg == "server is away"]
        assert warning.server == "c"
        for name in ("home", "b"):
            agent = memory.agent(AGENT, tenant=names[name])
            agent.observe("Ana likes trams.")
            agent.remember("Lisbon", subject="Ana", predicate="lives in")
            while memory.parts.store.servers[name].inspect(None, find_unembedded, 1, None):
                time.sleep(0.01)
        absent = memory.agent(AGENT, tenant=names["c"])
        for _ in range(2):
            with pytest.raises(errors.DatabaseUnreachable, match="cannot be reached"):
                absent.observe("Ben likes trains.")
        readiness = memory.readiness()
        assert (readiness.status, readiness.checks[0].status) == ("degraded", "degraded")
        assert readiness.checks[0].detail.startswith("no tenant of these servers is served: c: ")
        start()
        absent.observe("Ben likes trains.")
        memory.flush()
        assert not memory.parts.store.servers["c"].inspect(None, find_unembedded, 1, None)
        [hit] = absent.recall("trains").hits
        assert hit.memory.content == "Ben likes trains."
        assert memory.readiness().checks[0].status == "ok"
        assert memory.health(thorough=True).problems == ()


def test_a_server_that_answers_late_with_vectors_of_another_embedder_is_searched_by_words(store, urls, servers):
    tenant = tenant_on(store, "c")
    with closing(OneCall(open_store(urls["c"]))) as alone:
        alone.use_embedder("test:other", HashEmbedder().dims)
        alone.put(caller(tenant), [said("Trams in Porto.", tenant)])
    with away(servers["c"]) as start, Memory.open(settings=settings_of(urls), embedder=HashEmbedder()) as memory:
        start()
        found = memory.agent(AGENT, tenant=tenant).recall("trams")
        assert [hit.memory.content for hit in found] == ["Trams in Porto."]
        assert [degraded.code for degraded in found.degraded] == ["embedder_mismatch"]


def test_a_server_that_goes_away_again_while_it_is_opened_is_opened_anew(tmp_path, monkeypatch):
    opened = []

    def open_late():
        opened.append(open_store(tmp_path / "memory.db"))
        if len(opened) == 1:
            monkeypatch.setattr(opened[0], "use_embedder", refuse)
        return opened[-1]

    def refuse(*_):
        raise errors.DatabaseUnreachable("away again")

    with closing(LateStore("a server", open_late)) as late:
        assert late.use_embedder(EMBEDDER, DIMS) is None
        assert late.inspect(None, find_active).name == EMBEDDER
        assert late.backend.version == 1
    assert len(opened) == 2


def test_the_first_server_is_needed_to_open_a_memory(urls, servers):
    with away(servers["home"]), pytest.raises(errors.DatabaseUnreachable):
        open_store(urls["home"], shards={"b": urls["b"]})


def test_the_command_line_lists_and_moves_tenants(store, urls, monkeypatch, capsys):
    fill(store)
    monkeypatch.setenv("ENGRAIN_DB", urls["home"])
    assert main(["tenants", "list"]) != 0
    assert "storage.shards" in capsys.readouterr().err
    monkeypatch.setenv("ENGRAIN_STORAGE__SHARDS", str({n: urls[n] for n in ("b", "c")}).replace("'", '"'))
    monkeypatch.setenv("ENGRAIN_EMBEDDING__MODEL", "none")
    target = next(name for name in NAMES if name != store.directory.locate(TENANT))
    assert main(["tenants", "move", TENANT, "--to", target]) == 0
    assert f"ana is on {target} now" in capsys.readouterr().out
    assert main(["tenants", "move", TENANT, "--to", target]) == 0
    assert f"ana is on {target} already" in capsys.readouterr().out
    assert main(["tenants", "list"]) == 0
    assert capsys.readouterr().out.split() == [TENANT, target]
    assert main(["config", "--json"]) == 0
    assert urls["b"] not in capsys.readouterr().out
    assert main(["tenants", "move", "anna", "--to", target]) != 0
    assert "there is no tenant 'anna'" in capsys.readouterr().err
    assert main(["tenants", "move", TENANT, "--to", "nowhere"]) != 0
    assert "home, b, c" in capsys.readouterr().err


def test_the_command_line_migrates_every_server(urls, servers, monkeypatch, capsys):
    urls = {"home": urls["home"]} | {name: servers[name].new_database() for name in ("b", "c")}
    monkeypatch.setenv("ENGRAIN_DB", urls["home"])
    monkeypatch.setenv("ENGRAIN_STORAGE__SHARDS", json.dumps({name: urls[name] for name in ("b", "c")}))
    assert main(["migrate", "--check"]) == 1
    assert capsys.readouterr().out.count("no memory there yet") == 2
    assert main(["migrate"]) == 0
    assert capsys.readouterr().out.count(f"(new) -> {HEAD}") == 2
    assert main(["migrate", "--check", "--json"]) == 0
    assert [server["behind"] for server in json.loads(capsys.readouterr().out)["servers"]] == [False] * 3
    for name in ("b", "c"):
        servers[name].drop_database(urls[name])
