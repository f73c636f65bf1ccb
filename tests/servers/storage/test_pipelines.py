"""Statements of a transaction that travel together: their answers, their errors, and what is prepared."""

from contextlib import closing

import psycopg
import pytest

from engrain import errors
from engrain.storage.postgres.connections import Connections
from tests.support.counting_proxy import CountingProxy
from tests.support.postgres import server

TENANT = "default"
ADD = "INSERT INTO pages VALUES (%(number)s)"
COUNT = "SELECT count(*) FROM pages"
BROKEN = "SELECT 1 / %(zero)s::bigint"


@pytest.fixture(scope="module")
def proxy():
    url = server().new_database()
    server().psql(
        url.rpartition("/")[2], "CREATE TABLE pages (number bigint PRIMARY KEY DEFERRABLE INITIALLY DEFERRED)"
    )
    server().psql(url.rpartition("/")[2], "GRANT ALL ON pages TO PUBLIC")
    with CountingProxy(url) as counting:
        yield counting
    server().drop_database(url)


@pytest.fixture
def connections(proxy):
    with closing(Connections(proxy.url, pool_size=1)) as opened:
        yield opened
        opened.write(TENANT, lambda db: db.execute("DELETE FROM pages"))


def count(connections):
    return connections.read(TENANT, lambda db: db.execute(COUNT).fetchone()[0])


def test_what_nobody_reads_travels_with_the_commit(connections, proxy):
    for number in range(3):  # statements are prepared then
        before = proxy.round_trips
        connections.write(TENANT, lambda db, at=number: [db.execute(ADD, {"number": 2 * at + part}) for part in (0, 1)])
    assert proxy.round_trips - before == 1
    assert count(connections) == 6


def test_a_read_that_ends_with_its_last_statement_is_one_round_trip(connections, proxy):
    def work(db):
        first = db.execute("SELECT 1")
        last = db.execute(COUNT)
        db.end_with_next()
        answers = [first.fetchone(), last.fetchone()]
        with pytest.raises(RuntimeError, match="committed with the statements before"):
            db.execute(COUNT)
        return answers

    connections.read(TENANT, work)
    before = proxy.round_trips
    assert connections.read(TENANT, work) == [(1,), (0,)]
    assert proxy.round_trips - before == 1


def test_a_statement_behind_one_that_failed_has_not_run_and_is_prepared_the_next_time(connections):
    for _ in range(3):  # whether it is new, to be prepared, or prepared

        def fail(db):
            db.execute(BROKEN, {"zero": 0})
            db.execute(ADD, {"number": 1}).fetchone()

        with pytest.raises(errors.StorageError, match="division by zero"):
            connections.write(TENANT, fail)
    for number in range(3):
        connections.write(TENANT, lambda db, at=number: db.execute(ADD, {"number": at}))
    assert count(connections) == 3


def test_the_answer_to_a_statement_that_has_not_run_is_an_error(connections):
    def work(db):
        failed, behind = db.execute(BROKEN, {"zero": 0}), db.execute(COUNT)
        for statement in (failed, behind):
            with pytest.raises(psycopg.Error):
                statement.fetchone()

    with pytest.raises(errors.StorageError, match="rolled back"):
        connections.write(TENANT, work)


def test_an_error_of_the_commit_itself_is_the_error_of_the_write(connections):
    connections.write(TENANT, lambda db: db.execute(ADD, {"number": 1}))
    with pytest.raises(errors.IntegrityViolated):
        connections.write(TENANT, lambda db: db.execute(ADD, {"number": 1}))
    assert count(connections) == 1


def test_a_session_prepares_what_it_runs_again_and_no_more_than_four_hundred(connections):
    def ask(db):
        return [db.execute(f"SELECT {number}") for number in range(500)][-1].fetchone()

    def list_prepared(db):
        return db.execute("SELECT count(*) FROM pg_prepared_statements WHERE statement ~ '^SELECT [0-9]+$'").fetchone()

    counts = []
    for _ in range(3):
        assert connections.read(TENANT, ask) == (499,)
        counts.append(connections.read(TENANT, list_prepared)[0])
    assert counts[0] == 0
    assert 300 < counts[2] <= 400


@pytest.mark.parametrize("numbers", [[], [0], [1, -(2**63), 2**63 - 1], [*range(2_000)], [1, None]])
def test_lists_of_integers_arrive_as_they_are(connections, numbers):
    echo = "SELECT %s::bigint[]"
    assert connections.read(TENANT, lambda db: db.execute(echo, (numbers,)).fetchone()) == (numbers,)


def test_an_integer_of_more_than_64_bits_is_refused(connections):
    with pytest.raises(errors.StorageError, match="64 bits"):
        connections.read(TENANT, lambda db: db.execute("SELECT %s::bigint[]", ([2**70],)).fetchone())
