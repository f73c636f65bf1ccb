"""Servers at the other end of a connection: PostgreSQL itself, databases that resemble it, and poolers in between."""

from __future__ import annotations

import re
import secrets
from contextlib import closing
from typing import TYPE_CHECKING, Any, LiteralString, TypeAlias
from urllib.parse import quote

import psycopg
from psycopg.conninfo import conninfo_to_dict

from engrain.errors import InvalidInput, StorageError

if TYPE_CHECKING:
    from collections.abc import Callable

    Connection: TypeAlias = psycopg.Connection[Any]

# How often two connections are looked at: under load another client may take the session that both would share.
_LOOKS = 5
_PORTS = re.compile(r"[0-9,]*")
_UNKNOWN = re.compile(r'invalid URI query parameter: ("[a-z_]+")')


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


def forwards_settings(connection: Connection) -> bool:
    """True on a coordinator of Citus over which our tables are distributed: it passes `SET LOCAL` on to its nodes."""
    return bool(_ask(connection, "SELECT current_setting('citus.propagate_set_commands', true) = 'local'"))


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


def parse_url(url: str) -> dict[str, Any]:
    """The parts of a URL.

    Raises:
        InvalidInput: it is none; what the parser says is kept back, as it quotes the part that may be a password.
    """
    wanted = "write postgresql://user:password@host:port/database, with special characters percent-encoded"
    if not url.startswith(("postgresql://", "postgres://")):
        raise InvalidInput(f"this is no URL of a PostgreSQL database; {wanted}")
    try:
        parameters = dict(conninfo_to_dict(url))
    except psycopg.ProgrammingError as error:
        unknown = _UNKNOWN.search(str(error))
        if unknown and "@" not in url.partition("?")[2]:  # else it may be a part of a password
            named = f"there is no parameter {unknown[1]} in the URL of a PostgreSQL database"
            raise InvalidInput(f"{named}; {wanted}") from None
        raise InvalidInput(f"this URL of a PostgreSQL database cannot be read; {wanted}") from None
    # What a password with / ? or @ in it is taken for, as it stands.
    is_torn = "@" in f"{parameters.get('host')}{parameters.get('dbname')}"
    if is_torn or not _PORTS.fullmatch(str(parameters.get("port") or "")):
        raise InvalidInput(f"this URL of a PostgreSQL database has no readable host, port or database; {wanted}")
    return parameters


def hide_password(parameters: dict[str, Any]) -> str:
    """The URL as it may be shown: who, where and which database."""
    user, host, port, database = (str(parameters.get(name) or "") for name in ("user", "host", "port", "dbname"))
    who = f"{quote(user, safe='')}@" if user else ""
    where = f"[{host}]" if ":" in host else quote(host, safe=",.")
    return f"postgresql://{who}{where}{f':{port}' if port else ''}/{quote(database, safe='')}"


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
