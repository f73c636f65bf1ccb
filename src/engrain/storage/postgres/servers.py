"""Servers at the other end of a connection: PostgreSQL itself, databases that resemble it, and poolers in between."""

from __future__ import annotations

import secrets
from contextlib import closing
from typing import TYPE_CHECKING, Any, TypeAlias

from engrain.errors import StorageError

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import LiteralString

    import psycopg

    Connection: TypeAlias = psycopg.Connection[Any]

# How often two connections are looked at: under load another client may take the session that both would share.
_LOOKS = 5


def refuse_lookalikes(connection: Connection, location: str) -> None:
    """Refuse a database that speaks PostgreSQL's protocol and is another one, by what it says while connecting.

    Raises:
        StorageError: CockroachDB, whose advisory locks lock nothing and which has no extensions; YugabyteDB, which is
            of an older PostgreSQL than is needed.
    """
    cockroach, version = (_parameter(connection, name) for name in ("crdb_version", "server_version"))
    if cockroach:
        raise StorageError(
            f"{location} is {cockroach}: it has no pgvector extension, and its advisory locks, which keep two upgrades "
            "of a schema apart, lock nothing; use PostgreSQL 16 or newer"
        )
    if "-YB-" in version:
        raise StorageError(
            f"{location} is YugabyteDB ({version}), made of an older PostgreSQL than engrain needs; "
            "use PostgreSQL 16 or newer"
        )


def is_standby(connection: Connection) -> bool:
    """True for a hot standby, which can be read and not written.

    The server says so while connecting. That it became the primary it says with its next answer, so one is asked for.
    """
    if _parameter(connection, "in_hot_standby") != "on":
        return False
    return bool(_ask(connection, "SELECT pg_is_in_recovery()"))


def mixes_statements(first: Connection, connect: Callable[[], Connection]) -> bool:
    """True if a pooler gives sessions to its clients by turns and leaves prepared statements where they are.

    PgBouncer does so in transaction mode before 1.21, and later with `max_prepared_statements = 0`: what one client
    prepared is another's, or gone. Without a pooler this takes one statement. A pooler whose other clients are busy
    meanwhile may go unnoticed.
    """
    if _session(first) == first.info.backend_pid:
        return False
    if not _passes_names(first):
        return False
    with closing(connect()) as second:
        return any(_session(first) == _session(second) for _ in range(_LOOKS))


def _session(connection: Connection) -> int:
    """Number the server's session that serves the connection now; a pooler tells its clients another number."""
    return int(_ask(connection, "SELECT pg_backend_pid()"))


def _passes_names(connection: Connection) -> bool:
    """True if the server has a prepared statement by the name that this side gave it."""
    name = f"engrain_{secrets.token_hex(8)}"
    with connection.transaction():
        connection.pgconn.prepare(name.encode(), b"SELECT 1")
        found = connection.execute("SELECT 1 FROM pg_prepared_statements WHERE name = %s", (name,), prepare=False)
        is_there = found.fetchone() is not None
        if is_there:
            connection.pgconn.exec_(b"DEALLOCATE " + name.encode())
    return is_there


def _ask(connection: Connection, query: LiteralString) -> Any:
    """Return the one value that a query answers."""
    found = connection.execute(query, prepare=False).fetchone()
    assert found is not None
    return found[0]


def _parameter(connection: Connection, name: str) -> str:
    return connection.info.parameter_status(name) or ""
