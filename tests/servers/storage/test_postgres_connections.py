"""Connections to a real PostgreSQL: transactions, tenants, and what becomes of work when something breaks."""

import contextlib
import logging
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import numpy as np
import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict
from psycopg_pool import PoolTimeout

from engrain import errors
from engrain.storage.postgres.connections import Connections, _is_alive
from tests.support.cutting_proxy import CuttingProxy
from tests.support.ports import free_port
from tests.support.postgres import PostgresServer, server

TENANT = "default"
COUNT = "SELECT count(*) FROM notes"
SETTING = "SELECT current_setting('engrain.tenant_id', true)"


def one(connection, query, *values):
    """The one value a query answers."""
    [[value]] = connection.execute(query, values).fetchall()
    return value


def noting(number):
    """Work that writes one row and says so; again does no harm."""

    def write(connection):
        connection.execute("INSERT INTO notes VALUES (%s) ON CONFLICT DO NOTHING", (number,))
        return number

    return write


def count(connections):
    return connections.read(TENANT, lambda connection: one(connection, COUNT))


def terminate(connection):
    """End the connection's backend as an administrator does, and wait until it is gone."""
    backend_pid = getattr(connection, "session", connection).info.backend_pid
    server().psql("postgres", "SELECT pg_terminate_backend(%s, 10000)", [backend_pid])


def ready(connections):
    """Wait until the pool has its first connection, which a time that is over soon is not about."""
    connections._pool.wait()
    return connections


def with_table(url):
    with psycopg.connect(url) as connection:
        connection.execute("CREATE TABLE notes (number integer PRIMARY KEY)")
    return url


@pytest.fixture
def url():
    made = server().new_database()
    yield with_table(made)
    server().drop_database(made)


@pytest.fixture
def connections(url):
    with closing(Connections(url)) as opened:
        yield opened


class Once:
    """Something that happens the first time only."""

    def __init__(self, act):
        self.act = act
        self.runs = 0

    def __call__(self, *arguments):
        self.runs += 1
        if self.runs == 1:
            self.act(*arguments)


def test_what_work_returns_is_returned_and_what_it_wrote_is_there(connections):
    assert connections.write(TENANT, noting(7)) == 7
    assert count(connections) == 1


@pytest.mark.parametrize("error", [ValueError("no"), KeyboardInterrupt(), errors.NotFound("no")])
def test_work_that_fails_leaves_nothing_and_is_run_once(connections, error):
    runs = []

    def failing(connection):
        runs.append(noting(1)(connection))
        raise error

    with pytest.raises(type(error)) as raised:
        connections.write(TENANT, failing)
    assert raised.value is error
    assert len(runs) == 1
    assert count(connections) == 0


def test_a_read_cannot_write(connections):
    with pytest.raises(errors.DatabaseReadOnly):
        connections.read(TENANT, noting(1))
    assert count(connections) == 0


def test_a_statement_that_failed_is_one_of_our_errors_and_quotes_no_row(connections):
    def broken(connection):
        connection.execute("INSERT INTO notes VALUES (4711), (4711)")

    with pytest.raises(errors.IntegrityViolated, match="notes_pkey") as raised:
        connections.write(TENANT, broken)
    assert isinstance(raised.value.__cause__, psycopg.errors.UniqueViolation)
    assert "4711" not in str(raised.value)


def test_a_failure_that_work_kept_to_itself_is_not_taken_for_a_commit(connections):
    def silent(connection):
        noting(1)(connection)
        with pytest.raises(psycopg.errors.DivisionByZero):
            connection.execute("SELECT 1 / 0").fetchone()

    with pytest.raises(errors.StorageError, match="rolled back"):
        connections.write(TENANT, silent)
    assert count(connections) == 0


def test_what_the_server_finds_wrong_only_at_the_commit_is_said_once(connections):
    """It is an answer, not a lost connection: nothing was written, and again would end alike."""
    deferred = "CREATE TABLE checked (number integer UNIQUE DEFERRABLE INITIALLY DEFERRED)"
    connections.write(TENANT, lambda db: db.execute(deferred))
    twice = Once(lambda db: db.execute("INSERT INTO checked VALUES (1), (1)"))
    with pytest.raises(errors.IntegrityViolated):
        connections.write(TENANT, twice, repeatable=False)
    assert twice.runs == 1


def test_a_connection_whose_work_failed_is_used_again(url):
    with closing(Connections(url, pool_size=1)) as connections:
        used = []
        for broken in ("SELECT 1 / 0", "SELECT no"):
            with pytest.raises(errors.StorageError):
                connections.write(TENANT, lambda db, query=broken: (used.append(db), db.execute(query)))
        connections.read(TENANT, used.append)
        assert len({id(db.session) for db in used}) == 1


@pytest.mark.parametrize("tenant", ["default", "it's", 'a\\"b', "'; DROP TABLE notes; --", "Zoë 🦊", "*"])
def test_the_tenant_is_set_inside_and_gone_after(url, tenant):
    with closing(Connections(url, pool_size=1)) as connections:
        assert connections.read(tenant, lambda connection: one(connection, SETTING)) == tenant
        assert connections.write(tenant, lambda connection: one(connection, SETTING)) == tenant
        held = []
        connections.read(tenant, held.append)
        assert one(held[0].session, SETTING) == ""
        assert count(connections) == 0


@pytest.mark.parametrize("tenant", ["", "*\0", "\0"])
def test_a_tenant_that_quoting_would_cut_short_is_refused(connections, tenant):
    with pytest.raises(errors.InvalidInput, match="NUL"):
        connections.read(tenant, lambda connection: one(connection, SETTING))
    assert count(connections) == 0


def test_row_level_security_sees_the_tenant(connections):
    def fence(connection):
        connection.execute("CREATE TABLE kept (tenant_id text)")
        connection.execute("ALTER TABLE kept ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")
        every = "current_setting('engrain.every_tenant', true) = 'on'"
        wall = f"tenant_id = current_setting('engrain.tenant_id', true) OR {every}"
        connection.execute(f"CREATE POLICY one_tenant ON kept USING ({wall})")

    def put(connection):
        connection.execute("INSERT INTO kept VALUES (current_setting('engrain.tenant_id'))")

    connections.write(None, fence)
    for tenant in ("ours", "theirs"):
        connections.write(tenant, put)
    seen = {
        tenant: connections.read(tenant, lambda connection: one(connection, "SELECT count(*) FROM kept"))
        for tenant in ("ours", "nobody", None)
    }
    assert seen == {"ours": 1, "nobody": 0, None: 2}


@pytest.mark.parametrize(("tenant", "user"), [(None, None), ("ours", None), ("ours", ""), ("ours", "ana")])
def test_no_plan_is_compiled_whatever_the_server_does_for_others(connections, tenant, user):
    """A search of 20,000 memories took 655 ms with it, and 176 without; a server with LLVM does it by itself."""
    outside = connections.read(tenant, lambda connection: connection.session)
    assert one(outside, "SELECT current_setting('jit')") == "on"
    for verb in (connections.read, connections.write):
        assert verb(tenant, lambda connection: one(connection, "SELECT current_setting('jit')"), user=user) == "off"


def test_a_read_whose_backend_is_ended_is_run_again(connections):
    end = Once(terminate)

    def work(connection):
        end(connection)
        return one(connection, "SELECT 5")

    assert connections.read(TENANT, work) == 5
    assert end.runs == 2


def test_a_write_whose_backend_is_ended_in_the_middle_is_run_again_and_is_there_once(connections):
    end = Once(terminate)

    def work(connection):
        place = one(connection, COUNT)
        connection.execute("INSERT INTO notes VALUES (%s)", (place,))
        end(connection)
        connection.execute("INSERT INTO notes VALUES (%s)", (place + 100,))

    connections.write(TENANT, work, repeatable=False)
    assert end.runs == 2
    assert connections.read(TENANT, lambda db: db.execute("TABLE notes").fetchall()) == [(0,), (100,)]


def test_connections_that_ended_while_they_lay_idle_are_not_handed_out(connections):
    held = []
    with ThreadPoolExecutor(3) as threads:
        together = threading.Barrier(3)

        def take(connection):
            held.append(connection.session)
            together.wait()

        list(threads.map(lambda _: connections.read(TENANT, take), range(3)))
    assert [_is_alive(connection) for connection in held] == [True] * 3
    for connection in held:
        terminate(connection)
    assert [_is_alive(connection) for connection in held] == [False] * 3
    found = []
    for _ in range(4):
        connections.read(TENANT, lambda db: found.append(db.session))
    assert len(found) == 4
    assert not set(map(id, found)) & set(map(id, held))


def test_a_connection_that_always_breaks_is_given_up_on_in_time(url):
    with closing(ready(Connections(url, timeout_s=0.1))) as connections, pytest.raises(errors.DatabaseUnreachable):
        connections.read(TENANT, lambda connection: (terminate(connection), one(connection, "SELECT 1")))


def test_a_connection_that_takes_too_long_to_make_is_not_one_in_use(url, monkeypatch):
    with closing(ready(Connections(url, timeout_s=0.1))) as connections:
        monkeypatch.setattr(connections._pool, "getconn", late)
        with pytest.raises(errors.DatabaseBusy, match="no connection was made in time"):
            count(connections)


def late(timeout):
    raise PoolTimeout(f"couldn't get a connection after {timeout:.2f} sec")


@pytest.mark.parametrize("state", ["40001", "40P01"])
def test_a_conflict_is_run_again_five_times_and_then_said(connections, state):
    """Each round is a fresh transaction: what the one before it wrote was rolled back."""
    runs = []

    def conflicting(connection):
        runs.append(noting(1)(connection))
        connection.execute(f"DO $$ BEGIN RAISE SQLSTATE '{state}'; END $$")

    with pytest.raises(errors.DatabaseBusy):
        connections.write(TENANT, conflicting)
    assert len(runs) == 6
    assert count(connections) == 0


def test_two_that_deadlock_both_get_done(connections):
    connections.write(TENANT, lambda db: db.execute("INSERT INTO notes VALUES (1), (2)"))
    connections.write(TENANT, lambda db: db.execute("CREATE TABLE done (number integer)"))
    both_hold_one = threading.Barrier(2)

    def crossing(first, second):
        meet = Once(both_hold_one.wait)

        def work(connection):
            connection.execute("SELECT FROM notes WHERE number = %s FOR UPDATE", (first,))
            meet()
            connection.execute("SELECT FROM notes WHERE number = %s FOR UPDATE", (second,))
            connection.execute("INSERT INTO done VALUES (%s)", (first,))

        return lambda: connections.write(TENANT, work)

    with ThreadPoolExecutor(2) as threads:
        for each in [threads.submit(crossing(1, 2)), threads.submit(crossing(2, 1))]:
            each.result()
    assert connections.read(TENANT, lambda db: one(db, "SELECT count(*) FROM done")) == 2


@pytest.fixture
def proxy(url):
    with CuttingProxy(int(conninfo_to_dict(url)["port"])) as cutting:
        yield cutting


@pytest.fixture
def through_proxy(url, proxy):
    parts = conninfo_to_dict(url)
    with closing(Connections(url.replace(f":{parts['port']}/", f":{proxy.port}/"))) as opened:
        yield opened


@pytest.mark.parametrize("is_delivered", [False, True], ids=["lost", "delivered"])
def test_a_write_cut_at_its_commit_is_run_again_if_that_does_no_harm(through_proxy, proxy, is_delivered):
    proxy.is_delivered, proxy.cuts = is_delivered, 2
    assert through_proxy.write(TENANT, noting(7)) == 7
    assert proxy.cuts == 0
    assert count(through_proxy) == 1


@pytest.mark.parametrize("is_delivered", [False, True], ids=["lost", "delivered"])
def test_a_write_cut_at_its_commit_has_an_unknown_outcome_if_it_must_not_be_repeated(
    through_proxy, proxy, is_delivered
):
    proxy.is_delivered, proxy.cuts = is_delivered, 1
    with pytest.raises(errors.OutcomeUnknown, match="look before repeating"):
        through_proxy.write(TENANT, noting(7), repeatable=False)
    assert count(through_proxy) == int(is_delivered)


def test_a_read_cut_at_its_commit_has_its_answer(through_proxy, proxy):
    proxy.cuts = 1
    work = Once(lambda connection: one(connection, COUNT))
    through_proxy.read(TENANT, work)
    assert (work.runs, proxy.cuts) == (1, 0)


@pytest.fixture
def own_server():
    with PostgresServer() as started:
        yield started


def test_a_restart_between_calls_and_one_in_the_middle_of_a_write_are_survived(own_server):
    with closing(Connections(with_table(own_server.new_database()))) as connections:
        connections.write(TENANT, noting(1))
        own_server.restart()
        connections.write(TENANT, noting(2))
        assert count(connections) == 2
        restart = Once(own_server.restart)

        def work(connection):
            noting(3)(connection)
            restart()
            noting(4)(connection)

        connections.write(TENANT, work)
        assert (restart.runs, count(connections)) == (2, 4)


def test_acknowledged_writes_survive_a_kill_and_what_was_not_committed_is_gone(own_server):
    with closing(Connections(with_table(own_server.new_database()))) as connections:
        for number in range(20):
            connections.write(TENANT, noting(number))

        def kill(connection):
            noting(99)(connection)
            own_server.kill()
            own_server.start()
            raise ValueError("no more")

        with pytest.raises(ValueError, match="no more"):
            connections.write(TENANT, kill)
        found = connections.read(TENANT, lambda db: db.execute("TABLE notes ORDER BY number").fetchall())
        assert found == [(number,) for number in range(20)]


def test_a_server_that_stays_away_is_unreachable_and_its_return_is_noticed(own_server, caplog):
    with closing(ready(Connections(with_table(own_server.new_database()), timeout_s=0.3))) as connections:
        connections.write(TENANT, noting(1))
        own_server.stop()
        with pytest.raises(errors.DatabaseUnreachable, match="refused"):
            count(connections)
        own_server.start()
        assert count_once_it_answers(connections) == 1
    logging.getLogger("psycopg.pool").warning("error connecting in %r: %s", "another's", "refused")
    warned = [record.getMessage() for record in caplog.records if record.name == "psycopg.pool"]
    assert warned == ["""error connecting in "another's": refused"""]


def count_once_it_answers(connections):
    """As a client does that is told to try again: the time for it may be over before a connection is made."""
    while True:
        with contextlib.suppress(errors.DatabaseBusy):
            return count(connections)


def test_a_pool_that_is_in_use_to_the_last_connection_is_busy(url):
    with closing(ready(Connections(url, pool_size=2, timeout_s=0.05))) as connections:

        def hold(connection):
            if one(connection, COUNT) == 0:
                connections.write(TENANT, lambda inner: (noting(1)(inner), count(connections)))

        with pytest.raises(errors.DatabaseBusy, match="every connection is in use"):
            connections.write(TENANT, hold)
        assert count(connections) == 0


def test_more_threads_than_connections_take_turns(url):
    with closing(Connections(url, pool_size=2)) as connections, ThreadPoolExecutor(8) as threads:
        assert sorted(threads.map(lambda number: connections.write(TENANT, noting(number)), range(40))) == list(
            range(40)
        )
        assert count(connections) == 40


def wrong(url, **changes):
    parts = conninfo_to_dict(url) | changes
    return "postgresql://{user}:{password}@{host}:{port}/{dbname}".format(**parts)


def test_what_keeps_us_out_is_said_without_the_password(url):
    refused = {
        "refused": wrong(url, port=free_port()),
        "password authentication failed": wrong(url, password="hunter2"),
        "does not exist": wrong(url, dbname="nowhere"),
    }
    for said, each in refused.items():
        with pytest.raises(errors.DatabaseUnreachable, match=said) as raised:
            Connections(each)
        parts = conninfo_to_dict(each)
        assert parts["password"] not in str(raised.value)
        assert f"@127.0.0.1:{parts['port']}/{parts['dbname']}" in str(raised.value)


def test_a_server_without_a_place_for_one_more_is_busy(own_server):
    url = own_server.new_database()
    limit = own_server.psql("postgres", f"ALTER ROLE {own_server.role} CONNECTION LIMIT 1")
    assert limit == []
    with psycopg.connect(url), pytest.raises(errors.DatabaseBusy, match="too many connections"):
        Connections(url)


@pytest.mark.parametrize(
    "location",
    [
        "agent.db",
        "mysql://ana:hunter2@host/db",
        "postgresql://ana:hunter2/x@host:5432/db",
        "postgresql://ana:1/hunter2@host:5432/db",
        "postgresql://ana:x@hunter2@host:5432/db",
        "postgresql://h/db?no=hunter2",
    ],
)
def test_what_is_no_url_is_refused_without_being_quoted(location):
    with pytest.raises(errors.InvalidInput, match="postgresql://user:password@host:port/database") as raised:
        Connections(location)
    assert "hunter2" not in str(raised.value)
    assert raised.value.__cause__ is None


def test_a_parameter_that_there_is_none_of_is_named_unless_it_may_be_of_a_password():
    with pytest.raises(errors.InvalidInput, match='no parameter "ssl_mode" in the URL'):
        Connections("postgresql://ana@h/db?ssl_mode=require")
    with pytest.raises(errors.InvalidInput, match="cannot be read") as raised:
        Connections("postgresql://ana:1/a?hunter=2@h/db")
    assert "hunter" not in str(raised.value)


def test_the_location_names_the_database_and_not_the_password(url, connections):
    parts = conninfo_to_dict(url)
    assert connections.location == f"postgresql://{parts['user']}@{parts['host']}:{parts['port']}/{parts['dbname']}"
    with closing(Connections(f"{url}?password={parts['password']}")) as other:
        assert other.location == connections.location


def test_after_closing_nothing_answers_and_no_thread_is_left(url):
    before = set(threading.enumerate())
    connections = Connections(url)
    held = []
    connections.read(TENANT, held.append)
    connections.close()
    connections.close()
    assert set(threading.enumerate()) <= before  # another test's may have come to their end
    assert held[0].session.closed
    with pytest.raises(errors.MemoryClosed, match="open it again"):
        count(connections)


def test_work_under_way_when_it_is_closed_is_finished(url, connections):
    def work(connection):
        noting(1)(connection)
        connections.close()

    connections.write(TENANT, work)
    with closing(Connections(url)) as again:
        assert count(again) == 1


def test_work_that_waits_for_a_connection_when_it_is_closed_is_told(url):
    with closing(Connections(url, pool_size=1)) as connections, ThreadPoolExecutor(1) as threads:

        def hold(_connection):
            waiting = threads.submit(count, connections)
            while not connections._pool.get_stats()["requests_waiting"]:
                pass
            connections.close()
            return waiting

        with pytest.raises(errors.MemoryClosed):
            connections.read(TENANT, hold).result()


def test_a_fork_leaves_its_parents_connections_alone(url):
    script = f"""
import os
from engrain.errors import MemoryClosed
from engrain.storage.postgres.connections import Connections
connections = Connections({url!r})
ask = lambda: connections.read("default", lambda db: db.execute("SELECT 5").fetchone())
ask()
child = os.fork()
try:
    print(os.getpid() != child and ask(), flush=True)
except MemoryClosed as error:
    print(error, flush=True)
if child:
    os.waitpid(child, 0)
    print("after", ask(), flush=True)
connections.close()
"""
    ended = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", script],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
    )
    assert ended.stderr == ""
    lines = ended.stdout.splitlines()
    assert lines[-1] == "after (5,)"
    assert sum("open it after each fork" in line for line in lines) == 1


def test_a_connection_names_itself_and_a_url_may_name_it_otherwise(url, connections):
    asked = "SELECT current_setting('application_name')"
    assert connections.read(TENANT, lambda db: one(db, asked)) == "engrain"
    with closing(Connections(f"{url}?application_name=worker")) as other:
        assert other.read(TENANT, lambda db: one(db, asked)) == "worker"


def echo(vector):
    return lambda db: db.execute("SELECT %s::vector", (vector,)).fetchone()[0]


def test_vectors_are_sent_and_read_as_they_are(connections):
    vector = np.array([0.1, -2.5, 1e-7], np.float32)
    assert np.array_equal(connections.read(TENANT, echo(vector)).to_numpy(), vector)


def test_vectors_are_learned_once_their_extension_is_there(url):
    vector = np.array([1.0, 2.0], np.float32)
    database = conninfo_to_dict(url)["dbname"]
    server().psql(database, "DROP EXTENSION vector")
    with closing(Connections(url, pool_size=1)) as connections:
        connections.register_vectors()
        with pytest.raises(errors.StorageError):
            connections.read(TENANT, echo(vector))
        server().psql(database, "CREATE EXTENSION vector")
        connections.register_vectors()
        assert np.array_equal(connections.read(TENANT, echo(vector)).to_numpy(), vector)
