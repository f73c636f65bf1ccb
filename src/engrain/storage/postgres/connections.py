"""Connection pool of one database, shared by all threads; work is run again when its connection breaks."""

from __future__ import annotations

import logging
import math
import os
import random
import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar
from urllib.parse import quote

import psycopg
from pgvector.psycopg.vector import register_vector_info
from psycopg.adapt import AdaptersMap
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.pq import Escaping, ExecStatus, Format, TransactionStatus
from psycopg.types import TypeInfo
from psycopg.types.array import ListBinaryDumper
from psycopg.types.numeric import Int8BinaryDumper, Int8Dumper
from psycopg_pool import ConnectionPool, PoolTimeout

from engrain.domain.maintenance.vitals import PoolVitals
from engrain.errors import DatabaseBusy, DatabaseReadOnly, InvalidInput, MemoryClosed, OutcomeUnknown
from engrain.storage.postgres import servers
from engrain.storage.postgres.driver_errors import ENDED_BY_SERVER, translate_error, translate_errors

if TYPE_CHECKING:
    from collections.abc import Callable

_LOG = logging.getLogger(__name__)
Connection: TypeAlias = psycopg.Connection[tuple[Any, ...]]
T = TypeVar("T")
_Owner: TypeAlias = tuple[str | None, str | None]  # tenant and user; None for every one

# One state of the database for all statements of a read; a write sees what others committed while it waited for them.
_READING = b"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL "
_WRITING = b"BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SET LOCAL "
# Serialization failure and deadlock: somebody else's transaction went first, and was right to.
_CONFLICTS = frozenset({"40001", "40P01"})
_MOST_CONFLICTS = 5
_FIRST_PAUSE_S = 0.01
# How long to wait for the pool before asking it whether it lacks connections or hands all of them out.
_GLANCE_S = 0.25
_MOST_PREPARED = 250
_PORTS = re.compile(r"[0-9,]*")
_DEFAULTS = {
    "application_name": "engrain",
    "client_encoding": "utf8",
    # A peer that vanished without a word is noticed in a minute, not in the two hours of the system's default.
    "keepalives_idle": "30",
    "keepalives_interval": "10",
    "keepalives_count": "3",
    "tcp_user_timeout": "60000",
}


class Connections:
    """A pool of connections to one database, behind two verbs. Thread-safe; close it when done.

    `work` gets a connection inside a transaction that it neither begins nor ends, and may be called again from its
    start on another connection: what it does outside the database has to bear that. It calls neither verb itself,
    which would take a second connection while it holds one.
    """

    def __init__(self, url: str, *, pool_size: int = 8, timeout_s: float = 5.0) -> None:
        """Connect once, so that what is wrong with `url` is said now; at most `pool_size` connections follow.

        `timeout_s` bounds the wait for a connection, and how long work is run again when connections break.

        Raises:
            InvalidInput: `url` is no address of a PostgreSQL database.
            DatabaseUnreachable, DatabaseBusy: the server does not answer, or does not let us in.
            StorageError: it is no PostgreSQL, but a database that speaks as one.
        """
        parameters = _parse_url(url)
        self.location = _without_password(parameters)
        self._timeout_s = timeout_s
        self._process = os.getpid()
        self._conninfo = make_conninfo("", **{"connect_timeout": math.ceil(timeout_s), **_DEFAULTS, **parameters})
        self._types = _Types(_make_adapters())
        self._prepare_threshold: int | None = 1
        with translate_errors(self.location):
            first = self._connect()
        try:
            with translate_errors(self.location):
                servers.refuse_lookalikes(first, self.location)
                if servers.mixes_statements(first, self._connect):
                    self._stop_preparing(first)
                self._knows_vectors = self._learned_from(first)
        except BaseException:
            first.close()
            raise
        self._made = [first]
        self._pool: ConnectionPool[Connection] = ConnectionPool(
            self._conninfo,
            connection_class=_reuse_first(self._made),
            kwargs=self._options,
            min_size=1,
            max_size=pool_size,
            open=False,
            configure=_configure,
            name="engrain",
            reconnect_timeout=0,  # a waiter asks again, at its own pace; the pool's own grows to minutes
            num_workers=1,
        )
        self._pool.open()

    def read(self, tenant: str | None, work: Callable[[Connection], T], *, user: str | None = None) -> T:
        """Return what `work` returns from one read-only transaction of `tenant`; all statements see the same state.

        None stands for every tenant, which is for housekeeping: row-level security lets it see each of them. Of a
        tenant it sees the memories of no user, and those of `user`; None stands for every user, and "" for no user.

        Raises:
            MemoryClosed: after close(), and in a process forked from the one that opened it.
            DatabaseUnreachable: the connection broke, and no other did better in time.
            DatabaseBusy: all connections are in use, or others' writes conflicted too often.
        """
        return self._run(_READING, (tenant, user), work, repeatable=True)

    def write(
        self, tenant: str | None, work: Callable[[Connection], T], *, repeatable: bool = True, user: str | None = None
    ) -> T:
        """Return what `work` returns from one transaction of `tenant`, or of every one: committed, or without a trace.

        `repeatable` says that a second run after one that was committed does no harm. Errors as for `read`, and:

        Raises:
            DatabaseReadOnly: the server is a standby.
            OutcomeUnknown: the connection was lost while committing, and the work is not repeatable.
        """
        return self._run(_WRITING, (tenant, user), work, repeatable=repeatable)

    def maintain(self, command: str) -> None:
        """Run what no transaction can hold, on a connection of the pool; errors as for `read`."""
        connection = self._take(_RetryLimit(self._timeout_s))
        try:
            with translate_errors(self.location):
                _command(connection, command.encode())
        finally:
            self._give_back(connection)

    def register_vectors(self) -> None:
        """Learn the types of the `vector` extension, if it has been created meanwhile; cheap once they are known."""
        if self._knows_vectors:
            return
        with translate_errors(self.location), self._connect() as connection:
            self._knows_vectors = self._learned_from(connection)
        if self._knows_vectors:
            self._pool.drain()  # those that are open do not know

    def _learned_from(self, connection: Connection) -> bool:
        """Whether there are vectors; then this connection and all to be made know them.

        Of the extension's types no other is ever sent, and asking for them takes as long as connecting does.
        """
        vector = TypeInfo.fetch(connection, "vector")
        if vector is None:
            return False
        register_vector_info(connection, vector)
        self._types = _Types(connection.adapters)
        return True

    def vitals(self) -> PoolVitals:
        """Count the connections, and the requests that wait for one."""
        stats = self._pool.get_stats()
        open_ = stats["pool_size"]
        return PoolVitals(
            most=stats["pool_max"],
            open=open_,
            in_use=open_ - stats["pool_available"],
            requests_waiting=stats["requests_waiting"],
        )

    def close(self) -> None:
        """End every connection and the pool's threads; work that is under way ends with its connection given back."""
        if os.getpid() == self._process:  # a fork's words on these sockets would end the parent's sessions
            self._pool.close()
            for connection in self._made:  # closed before the pool had come to it
                connection.close()

    def _connect(self) -> Connection:
        return psycopg.connect(self._conninfo, **self._options())

    def _options(self) -> dict[str, Any]:
        return {
            "autocommit": True,
            "prepare_threshold": self._prepare_threshold,
            "context": self._types,
            "cursor_factory": _BinaryCursor,
        }

    def _stop_preparing(self, first: Connection) -> None:
        self._prepare_threshold = first.prepare_threshold = None
        _LOG.warning(
            "%s is behind a pooler that mixes prepared statements of its clients, so none are prepared and every call "
            "takes longer: use PgBouncer 1.21 or newer with max_prepared_statements above 0, or its session mode",
            self.location,
        )

    def _run(self, opening: bytes, owner: _Owner, work: Callable[[Connection], T], *, repeatable: bool) -> T:
        """Run `work` until one run of it is committed, it fails of itself, or patience ends."""
        retries = _RetryLimit(self._timeout_s)
        while True:
            connection = self._take(retries)
            try:
                if opening is _WRITING and servers.is_standby(connection):
                    raise DatabaseReadOnly(
                        f"{self.location} is a standby, which can only be read; nothing was written: name the primary, "
                        "or several hosts with ?target_session_attrs=read-write"
                    )
                return _run_transaction(connection, opening, owner, work)
            except _LostCommittingError as lost:
                if not repeatable:
                    raise OutcomeUnknown(
                        f"{self.location}: the connection was lost while committing; the write may or may not be "
                        f"there: look before repeating ({lost.cause})"
                    ) from lost.cause
                failure = lost.cause
            except psycopg.Error as error:
                if not _may_run_again(error, connection):
                    raise translate_error(error, self.location) from error
                failure = error
            finally:
                self._give_back(connection)
            if not retries.lasts(failure):
                raise translate_error(failure, self.location) from failure
            retries.pause()

    def _take(self, retries: _RetryLimit) -> Connection:
        """A connection from which nothing is known to be wrong."""
        until = retries.until or time.monotonic() + self._timeout_s
        wait = _GLANCE_S
        while True:
            if os.getpid() != self._process:
                raise MemoryClosed(
                    f"{self.location} was opened by process {self._process}, and this is {os.getpid()}: "
                    "open it after each fork"
                )
            left = max(until - time.monotonic(), 0.001)
            try:
                connection = self._pool.getconn(timeout=min(wait, left))
            except PoolTimeout as error:
                if time.monotonic() >= until:
                    raise self._why_none_came(error, retries.lost) from error
                wait = math.inf if self._is_full() else _GLANCE_S
            except psycopg.Error as error:
                raise translate_error(error, self.location) from error
            else:
                if _is_alive(connection):
                    return connection
                self._give_back(connection)

    def _give_back(self, connection: Connection) -> None:
        if connection.pgconn.transaction_status != TransactionStatus.IDLE:
            connection.close()  # the pool puts another one in its place
        self._pool.putconn(connection)

    def _is_full(self) -> bool:
        stats = self._pool.get_stats()
        return stats["pool_size"] >= stats["pool_max"]

    def _why_none_came(self, error: psycopg.Error, lost: psycopg.Error | None) -> Exception:
        """The pool tells nobody why it has none: that all are in use, what connecting says now, or how one was lost."""
        if self._is_full():
            return translate_error(error, self.location)
        try:
            self._connect().close()
        except psycopg.Error as refused:
            return translate_error(refused, self.location)
        if lost is not None:
            return translate_error(lost, self.location)
        return DatabaseBusy(
            f"{self.location}: no connection was made in time; nothing was written: try again ({error})"
        )


class _BinaryCursor(psycopg.Cursor[tuple[Any, ...]]):
    """Rows arrive as the server holds them: a vector or bytea as text takes twice the bytes and ten times the time."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.format = Format.BINARY


def _reuse_first(made: list[Connection]) -> type[Connection]:
    """What a pool connects by: before it makes any it takes those that were made for it."""

    class _Handed(psycopg.Connection[tuple[Any, ...]]):
        @classmethod
        def connect(cls, conninfo: str = "", **options: Any) -> Connection:  # type: ignore[override]  # of no row type
            return made.pop() if made else psycopg.connect(conninfo, **options)

    return _Handed


class _LostCommittingError(Exception):
    """COMMIT was sent, and what became of it is not known."""

    def __init__(self, cause: psycopg.Error) -> None:
        super().__init__(str(cause))
        self.cause = cause


@dataclass(frozen=True)
class _Types:
    """How values are sent and read, for connections to be made."""

    adapters: AdaptersMap
    connection: None = None


def _make_adapters() -> AdaptersMap:
    """How values are sent: integers by one type, whatever their size, so that one statement is prepared once.

    The text dumper too, as psycopg 3.3 caches a list's dumper for all integers, with the type of the first it met. And
    lists in binary where they are not empty: vectors and bytes take a tenth of the time.
    """
    adapters = AdaptersMap(psycopg.adapters)
    for dumper in (Int8Dumper, Int8BinaryDumper):
        adapters.register_dumper(int, dumper)
    adapters.register_dumper(list, ListBinaryDumper)
    return adapters


class _RetryLimit:
    """How often one piece of work is run again: until a time for lost connections, a few times for conflicts."""

    def __init__(self, timeout_s: float) -> None:
        self._timeout_s = timeout_s
        self._pause_s = _FIRST_PAUSE_S
        self._conflicts = 0
        self.until: float | None = None  # both unset until a connection is lost
        self.lost: psycopg.Error | None = None

    def lasts(self, failure: psycopg.Error) -> bool:
        """Whether to run again after one more failure."""
        if failure.sqlstate in _CONFLICTS:
            self._conflicts += 1
            return self._conflicts <= _MOST_CONFLICTS
        self.until = self.until or time.monotonic() + self._timeout_s
        self.lost = failure
        return time.monotonic() + self._pause_s < self.until

    def pause(self) -> None:
        """Wait a little, longer each time, and never as long as whoever failed beside us."""
        time.sleep(self._pause_s * random.uniform(0.5, 1.0))  # noqa: S311  # spreads clients, guards nothing
        self._pause_s *= 2


def _run_transaction(connection: Connection, opening: bytes, owner: _Owner, work: Callable[[Connection], T]) -> T:
    """One run of `work` in one transaction.

    Its ends go through libpq itself: an empty transaction around one SELECT takes 123 us so, 169 us through cursors
    and 176 us as one pipeline, of which the SELECT is 66.
    """
    _command(connection, opening + _set_owner(owner, connection))
    try:
        result = work(connection)
    except BaseException:
        _roll_back(connection)
        raise
    try:
        _command(connection, b"COMMIT")
    except psycopg.Error as error:
        if not _is_lost(error, connection):
            raise
        if opening != _READING:
            raise _LostCommittingError(error) from error
    return result


def _set_owner(owner: _Owner, connection: Connection) -> bytes:
    """What row-level security reads; as literals, since SET takes no parameters, whose quoting would end at a NUL."""
    tenant, user = owner
    if tenant is None:
        return b"engrain.every_tenant = 'on'"
    if not tenant or "\x00" in tenant:
        raise InvalidInput(f"tenant {tenant!r} is no name; use text without NUL")
    escape = Escaping(connection.pgconn).escape_literal
    setting = b"engrain.tenant_id = " + bytes(escape(tenant.encode()))
    if user is None:
        return setting + b"; SET LOCAL engrain.every_user = 'on'"
    if "\x00" in user:
        raise InvalidInput(f"user {user!r} is no name; use text without NUL")
    return setting + b"; SET LOCAL engrain.user_id = " + bytes(escape(user.encode())) if user else setting


def _command(connection: Connection, command: bytes) -> None:
    """Run what has no rows to return.

    Raises:
        psycopg.Error: as the server has it; a COMMIT that was answered by a ROLLBACK is one too.
    """
    result = connection.pgconn.exec_(command)
    if result.status != ExecStatus.COMMAND_OK:
        error = psycopg.errors.error_from_result(result)
        if error.sqlstate is None:
            raise psycopg.OperationalError(str(error))
        raise error
    if command == b"COMMIT" and result.command_status != command:
        raise psycopg.errors.InFailedSqlTransaction("a statement had failed, so the transaction was rolled back")


def _roll_back(connection: Connection) -> None:
    if connection.pgconn.transaction_status in (TransactionStatus.INTRANS, TransactionStatus.INERROR):
        try:
            _command(connection, b"ROLLBACK")
        except psycopg.Error:
            connection.close()  # which rolls back as well


def _may_run_again(error: psycopg.Error, connection: Connection) -> bool:
    return error.sqlstate in _CONFLICTS or _is_lost(error, connection)


def _is_lost(error: psycopg.Error, connection: Connection) -> bool:
    """Whether the error is the end of its connection, and not of the statement alone."""
    if not isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
        return False
    state = error.sqlstate or ""
    return connection.closed or state in ENDED_BY_SERVER or state.startswith("08")


def _is_alive(connection: Connection) -> bool:
    """Whether the server has ended the connection while it lay idle, which two looks at the socket tell (2 us).

    One is not enough: the first can take the server's last words, and only the second sees the end behind them.
    """
    try:
        connection.pgconn.consume_input()
        connection.pgconn.consume_input()
    except psycopg.OperationalError:
        return False
    return not connection.closed


def _configure(connection: Connection) -> None:
    """More statements prepared; times in UTC, where the first and the last there are have no offset to fall over."""
    connection.prepared_max = _MOST_PREPARED
    connection.execute("SET TimeZone TO 'UTC'")


def _parse_url(url: str) -> dict[str, Any]:
    """The parts of a URL.

    Raises:
        InvalidInput: it is none; what the parser says is kept back, as it quotes the part that may be a password.
    """
    wanted = "write postgresql://user:password@host:port/database, with special characters percent-encoded"
    if not url.startswith(("postgresql://", "postgres://")):
        raise InvalidInput(f"this is no URL of a PostgreSQL database; {wanted}")
    try:
        parameters = dict(conninfo_to_dict(url))
    except psycopg.ProgrammingError:
        raise InvalidInput(f"this URL of a PostgreSQL database cannot be read; {wanted}") from None
    # What a password with / ? or @ in it is taken for, as it stands.
    is_torn = "@" in f"{parameters.get('host')}{parameters.get('dbname')}"
    if is_torn or not _PORTS.fullmatch(str(parameters.get("port") or "")):
        raise InvalidInput(f"this URL of a PostgreSQL database has no readable host, port or database; {wanted}")
    return parameters


def _without_password(parameters: dict[str, Any]) -> str:
    """The URL as it may be shown: who, where and which database."""
    user, host, port, database = (str(parameters.get(name) or "") for name in ("user", "host", "port", "dbname"))
    who = f"{quote(user, safe='')}@" if user else ""
    where = f"[{host}]" if ":" in host else quote(host, safe=",.")
    return f"postgresql://{who}{where}{f':{port}' if port else ''}/{quote(database, safe='')}"
