"""Servers that are not a plain PostgreSQL: standbys, poolers that mix prepared statements, and other databases."""

import logging
import socket
import struct
import threading
from contextlib import closing

import pytest
from psycopg.conninfo import conninfo_to_dict

from engrain import Memory, errors
from engrain.storage.postgres.connections import Connections
from tests.support.pooler import TransactionPooler
from tests.support.postgres import PostgresServer, server


@pytest.fixture
def url():
    url = server().new_database()
    yield url
    server().drop_database(url)


def at_port(url, port):
    return url.replace(f":{conninfo_to_dict(url)['port']}/", f":{port}/")


@pytest.fixture
def pooled(url):
    """The URL of the same database through a pooler."""
    with TransactionPooler(url) as pooler:
        yield at_port(url, pooler.port)


def prepared(connections):
    """Names of the statements that the server has prepared for a session, after the same question thrice."""
    ask = "SELECT name FROM pg_prepared_statements"
    return connections.read("a", lambda connection: [connection.execute(ask).fetchall() for _ in range(3)])[-1]


def test_behind_a_pooler_that_mixes_statements_none_is_prepared(pooled, caplog):
    with caplog.at_level(logging.WARNING, logger="engrain"), closing(Connections(pooled)) as connections:
        assert prepared(connections) == []
    assert "PgBouncer 1.21" in caplog.text


def test_everything_works_behind_a_pooler_that_mixes_statements(pooled):
    with Memory.open(pooled, embedder="none") as one, Memory.open(pooled, embedder="none") as other:
        for number in range(5):
            for memory in (one, other):
                memory.agent("aide", session=f"day {number}").observe(f"The tram {number} was late.")
                assert memory.agent("aide").recall(f"tram {number}").hits
        assert one.agent("aide").stats().episodes.total == 10


def test_without_a_pooler_statements_are_prepared(url, caplog):
    with closing(Connections(url)) as connections:
        assert prepared(connections)
    assert "pooler" not in caplog.text


@pytest.fixture(scope="module")
def pair():
    """A primary with a memory in it, and its hot standby, as the URLs of that memory on each."""
    follows = {"wal_level": "replica", "max_wal_senders": "2"}
    with PostgresServer(**follows) as primary:
        url = primary.new_database()
        with Memory.open(url, embedder="none") as memory:
            memory.agent("aide").observe("My cat is called Miso.")
        with PostgresServer(follows=primary, **follows) as standby:
            yield url, at_port(url, conninfo_to_dict(standby.url)["port"]), standby


def test_a_standby_is_read_and_says_that_it_cannot_be_written(pair):
    _, url, _ = pair
    with Memory.open(url, embedder="none") as memory:
        aide = memory.agent("aide")
        [hit] = aide.recall("cat").hits
        assert hit.memory.content == "My cat is called Miso."
        assert aide.get(hit.memory.id).content == "My cat is called Miso."
        assert "Miso" in aide.context("cat").text
        with pytest.raises(errors.DatabaseReadOnly, match=r"is a standby.*target_session_attrs=read-write"):
            aide.observe("My dog is called Bruno.")
        assert aide.hooks.message("My dog is called Bruno.").degraded
        health = memory.health()
        assert (health.problems, health.backend.endswith(", a standby, which is only read")) == ((), True)


@pytest.mark.parametrize(("wanted", "is_written"), [("read-write", True), ("prefer-standby", False)])
def test_a_url_of_several_hosts_says_which_is_wanted(pair, wanted, is_written):
    primary, standby, _ = pair
    ports = [conninfo_to_dict(url)["port"] for url in (standby, primary)]
    both = primary.replace(f"127.0.0.1:{ports[1]}", ",".join(f"127.0.0.1:{port}" for port in ports))
    with Memory.open(f"{both}?target_session_attrs={wanted}", embedder="none") as memory:
        assert memory.agent("aide").recall("cat").hits
        if is_written:
            memory.agent("aide").observe("It rains.")
        else:
            with pytest.raises(errors.DatabaseReadOnly):
                memory.agent("aide").observe("It rains.")


def test_a_standby_that_became_the_primary_is_written_without_opening_it_again(pair):
    _, url, standby = pair
    with Memory.open(url, embedder="none") as memory:
        aide = memory.agent("aide")
        with pytest.raises(errors.DatabaseReadOnly):
            aide.observe("Too early.")
        assert standby.psql("postgres", "SELECT pg_promote(true, 60)") == [(True,)]
        stored = aide.observe("In time.")
        assert aide.get(stored.id).content == "In time."


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"server_version": "13.0.0", "crdb_version": "CockroachDB CCL v25.2.1"}, "is CockroachDB CCL v25.2.1: it has"),
        ({"server_version": "15.12-YB-2025.1.0.0-b0"}, "is YugabyteDB .15.12-YB-2025.1.0.0-b0., made of an older"),
    ],
)
def test_another_database_is_refused_by_name(parameters, words):
    def serve():
        client, _ = listener.accept()
        with client, client.makefile("rb") as sent:
            while (request := struct.unpack("!ii", sent.read(8)))[1] in (80877103, 80877104):
                client.sendall(b"N")
            sent.read(request[0] - 8)
            told = [f"{name}\0{value}\0".encode() for name, value in parameters.items()]
            client.sendall(
                b"".join(
                    kind + struct.pack("!i", len(body) + 4) + body
                    for kind, body in [(b"R", bytes(4)), *((b"S", each) for each in told), (b"Z", b"I")]
                )
            )
            sent.read()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        answering = threading.Thread(target=serve)
        answering.start()
        with pytest.raises(errors.StorageError, match=words):
            Memory.open(f"postgresql://ana@127.0.0.1:{listener.getsockname()[1]}/memory", embedder="none")
        answering.join(60)
