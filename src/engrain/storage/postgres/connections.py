"""Connection pool of one database, shared by all threads; work is run again when its connection breaks."""

from __future__ import annotations

import logging
import math
import os
import random
import struct
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np
import psycopg
from pgvector.psycopg.vector import register_vector_info
from psycopg.adapt import AdaptersMap, PyFormat
from psycopg.conninfo import make_conninfo
from psycopg.pq import Format, TransactionStatus
from psycopg.types import TypeInfo
from psycopg.types.array import BaseListDumper, ListBinaryDumper
from psycopg.types.json import set_json_loads
from psycopg.types.numeric import Int8BinaryDumper, Int8Dumper
from psycopg_pool import ConnectionPool, PoolTimeout

from engrain.domain.maintenance.vitals import PoolVitals
from engrain.errors import DatabaseBusy, DatabaseReadOnly, MemoryClosed, OutcomeUnknown
from engrain.storage.dialects import parse_json
from engrain.storage.postgres import servers
from engrain.storage.postgres.citus.nodes import Nodes, find_address
from engrain.storage.postgres.driver_errors import ENDED_BY_SERVER, translate_error, translate_errors
from engrain.storage.postgres.owners import Owner, check_owner, name_settings, set_owner
from engrain.storage.postgres.pipelines import Opening, PipelineTransaction, Session, run_command

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from psycopg.abc import DumperKey

_LOG = logging.getLogger(__name__)
Connection: TypeAlias = PipelineTransaction  # what work gets
T = TypeVar("T")

# One state of the database for all statements of a read; a write sees what others committed while it waited for them.
_READING = b"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_WRITING = b"BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
# Serialization failure and deadlock: somebody else's transaction went first, and was right to.
_CONFLICTS = frozenset({"40001", "40P01"})
_MOST_CONFLICTS = 5
_FIRST_PAUSE_S = 0.01
# How long to wait for the pool before asking it whether it lacks connections or hands all of them out.
_GLANCE_S = 0.25
_MOST_PREPARED = 250
_POOL = "engrain"
_INTEGER_OID, _INTEGERS_OID = 20, 1016  # bigint and bigint[]
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

    def __init__(
        self, url: str, *, pool_size: int = 8, timeout_s: float = 5.0, node: tuple[str, int] | None = None
    ) -> None:
        """Connect once, so that what is wrong with `url` is said now; at most `pool_size` connections follow.

        `timeout_s` bounds the wait for a connection, and how long work is run again when connections break. `node` is
        the host and port of a node of the cluster whose coordinator `url` names.

        Raises:
            InvalidInput: `url` is no address of a PostgreSQL database.
            DatabaseUnreachable, DatabaseBusy: the server does not answer, or does not let us in.
            StorageError: it is no PostgreSQL, but a database that speaks as one.
        """
        parameters = servers.parse_url(url)
        if node is not None:
            parameters |= {"host": node[0], "port": str(node[1])}
            parameters.pop("hostaddr", None)
        self.location = servers.hide_password(parameters)
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
                self._knows_vectors = self._register_vector_types(first)
                self.is_cluster = servers.forwards_settings(first)
        except BaseException:
            first.close()
            raise
        self._made = [first]
        self._pool: ConnectionPool[Session] = ConnectionPool(
            self._conninfo,
            connection_class=_reuse_first(self._made),
            kwargs=self._options,
            min_size=1,
            max_size=pool_size,
            open=False,
            configure=_configure,
            name=_POOL,
            reconnect_timeout=0,  # a waiter asks again, at its own pace; the pool's own grows to minutes
            num_workers=1,
        )
        self._pool.open()
        self._nodes: Nodes[Connections] | None = None
        if node is None:
            self._nodes = Nodes(lambda at: Connections(url, pool_size=pool_size, timeout_s=timeout_s, node=at))

    def read(self, tenant: str | None, work: Callable[[Connection], T], *, user: str | None = None) -> T:
        """Return what `work` returns from one read-only transaction of `tenant`; all statements see the same state.

        None stands for every tenant, which is for housekeeping: row-level security lets it see each of them. Of a
        tenant it sees the memories of no user, and those of `user`; None stands for every user, and "" for no user.

        Raises:
            MemoryClosed: after close(), and in a process forked from the one that opened it.
            DatabaseUnreachable: the connection broke, and no other did better in time.
            DatabaseBusy: all connections are in use, or others' writes conflicted too often.
        """
        node = self._find_node(tenant)
        return (
            node.read(tenant, work, user=user) if node else self._run(_READING, (tenant, user), work, repeatable=True)
        )

    def write(
        self, tenant: str | None, work: Callable[[Connection], T], *, repeatable: bool = True, user: str | None = None
    ) -> T:
        """Return what `work` returns from one transaction of `tenant`, or of every one: committed, or without a trace.

        `repeatable` says that a second run after one that was committed does no harm. Errors as for `read`, and:

        Raises:
            DatabaseReadOnly: the server is a standby.
            OutcomeUnknown: the connection was lost while committing, and the work is not repeatable.
        """
        node = self._find_node(tenant)
        if node:
            return node.write(tenant, work, repeatable=repeatable, user=user)
        return self._run(_WRITING, (tenant, user), work, repeatable=repeatable)

    def maintain(self, command: str) -> None:
        """Run what no transaction can hold, on a connection of the pool; errors as for `read`."""
        connection = self._take(_RetryLimit(self._timeout_s))
        try:
            with translate_errors(self.location):
                run_command(connection, command.encode())
        finally:
            self._give_back(connection)

    def register_vectors(self) -> None:
        """Learn the types of the `vector` extension, if it has been created meanwhile; cheap once they are known."""
        if self._knows_vectors:
            return
        with translate_errors(self.location), self._connect() as connection:
            self._knows_vectors = self._register_vector_types(connection)
        if self._knows_vectors:
            self._pool.drain()  # those that are open do not know

    def join_cluster(self) -> None:
        """Learn that the tables have just been distributed over a cluster."""
        self.is_cluster = True
        self._pool.drain()  # those that are open forward no settings

    def _register_vector_types(self, connection: Session) -> bool:
        """Register the vector type, on this connection and all to be made; False where the database has none.

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
        vitals = PoolVitals(
            most=stats["pool_max"],
            open=open_,
            in_use=open_ - stats["pool_available"],
            requests_waiting=stats["requests_waiting"],
        )
        for node in self._nodes.list_made() if self._nodes else ():
            vitals += node.vitals()
        return vitals

    def close(self) -> None:
        """End every connection and the pool's threads; work that is under way ends with its connection given back."""
        if os.getpid() == self._process:  # a fork's words on these sockets would end the parent's sessions
            for node in self._nodes.list_made() if self._nodes else ():
                node.close()
            self._pool.close()
            for connection in self._made:  # closed before the pool had come to it
                connection.close()

    def _find_node(self, tenant: str | None) -> Connections | None:
        """Find the connections to the node of a cluster that has the tenant's rows; None for these."""
        if not self.is_cluster or tenant is None or self._nodes is None:
            return None
        return self._nodes.find(tenant, lambda: self.read(None, lambda db: find_address(db, tenant)))

    def _connect(self) -> Session:
        return Session.connect(self._conninfo, **self._options())

    def _options(self) -> dict[str, Any]:
        return {
            "autocommit": True,
            "prepare_threshold": self._prepare_threshold,
            "context": self._types,
            "cursor_factory": _BinaryCursor,
        }

    def _stop_preparing(self, first: Session) -> None:
        self._prepare_threshold = first.prepare_threshold = None
        _LOG.warning(
            "%s is behind a pooler that mixes prepared statements of its clients, so none are prepared and every call "
            "takes longer: use PgBouncer 1.21 or newer with max_prepared_statements above 0, or its session mode",
            self.location,
        )

    def _run(self, opening: bytes, owner: Owner, work: Callable[[Connection], T], *, repeatable: bool) -> T:
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
                return _run_transaction(connection, self._begin(opening, owner, connection), work)
            except _LostCommittingError as lost:
                if not repeatable:
                    raise OutcomeUnknown(
                        f"{self.location}: the connection was lost while committing; the write may or may not be "
                        f"there: look before repeating ({lost.cause})"
                    ) from lost.cause
                failure = lost.cause
            except psycopg.Error as error:
                if error.sqlstate not in _CONFLICTS and not _is_lost(error, connection):
                    raise translate_error(error, self.location) from error
                failure = error
            finally:
                self._give_back(connection)
            if not retries.lasts(failure):
                raise translate_error(failure, self.location) from failure
            retries.pause()

    def _begin(self, opening: bytes, owner: Owner, session: Session) -> list[Opening]:
        """Return the statements that begin a transaction; Citus forwards settings that are commands alone."""
        check_owner(owner)
        settings = name_settings(owner, session) if self.is_cluster else [set_owner(owner)]
        return [(opening, ()), *settings]

    def _take(self, retries: _RetryLimit) -> Session:
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
                    raise self._explain_pool_timeout(error, retries.lost) from error
                wait = math.inf if self._is_full() else _GLANCE_S
            except psycopg.Error as error:
                raise translate_error(error, self.location) from error
            else:
                if _is_alive(connection):
                    return connection
                self._give_back(connection)

    def _give_back(self, connection: Session) -> None:
        if connection.pgconn.transaction_status != TransactionStatus.IDLE:
            connection.close()  # the pool puts another one in its place
        self._pool.putconn(connection)

    def _is_full(self) -> bool:
        stats = self._pool.get_stats()
        return stats["pool_size"] >= stats["pool_max"]

    def _explain_pool_timeout(self, error: psycopg.Error, lost: psycopg.Error | None) -> Exception:
        """Explain why the pool gave no connection, which it does not say.

        All are in use, or connecting fails now, or one was lost.
        """
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


def _is_of_others(record: logging.LogRecord) -> bool:
    """Tell whether a record of the pools' logger is about a pool of somebody else, or for whoever looks for faults.

    What ours warns of is raised here, and said once by whoever asked; while a server is away it warns a dozen times a
    second.
    """
    about = record.args if isinstance(record.args, tuple) else ()
    return record.levelno < logging.WARNING or not any(one == _POOL or isinstance(one, Session) for one in about)


logging.getLogger("psycopg.pool").addFilter(_is_of_others)


class _ListDumper(ListBinaryDumper):
    """Dumper of lists, those of integers as columns: an item at a time they take 3 us each."""

    def get_key(self, obj: list[Any], format: PyFormat) -> DumperKey:  # noqa: A002  # the driver's name
        return (list, int) if _are_integers(obj) else super().get_key(obj, format)

    def upgrade(self, obj: list[Any], format: PyFormat) -> BaseListDumper:  # noqa: A002  # the driver's name
        return _IntegersDumper(list, self._tx) if _are_integers(obj) else super().upgrade(obj, format)


class _IntegersDumper(_ListDumper):
    oid = _INTEGERS_OID

    def dump(self, obj: list[int]) -> bytes:
        items = np.empty(len(obj), [("size", ">i4"), ("value", ">i8")])
        try:
            items["size"], items["value"] = 8, obj
        except OverflowError as error:
            raise psycopg.DataError("an integer takes more than 64 bits") from error
        return struct.pack("!5i", 1, 0, _INTEGER_OID, len(obj), 1) + items.tobytes()


def _are_integers(values: list[Any]) -> bool:
    return set(map(type, values)) == {int}


class _BinaryCursor(psycopg.Cursor[tuple[Any, ...]]):
    """Rows arrive as the server holds them: a vector or bytea as text takes twice the bytes and ten times the time."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.format = Format.BINARY


def _reuse_first(made: list[Session]) -> type[Session]:
    """Connect a pool: take the connections that were made for it before making any."""

    class _Handed(Session):
        @classmethod
        def connect(cls, conninfo: str = "", **options: Any) -> Session:  # type: ignore[override]  # of no row type
            return made.pop() if made else Session.connect(conninfo, **options)

    return _Handed


class _LostCommittingError(Exception):
    """COMMIT was sent, and what became of it is not known."""

    def __init__(self, cause: psycopg.Error) -> None:
        super().__init__(str(cause))
        self.cause = cause


@dataclass(frozen=True)
class _Types:
    """Adapters by which values are sent and read, for connections to be made."""

    adapters: AdaptersMap
    connection: None = None


def _make_adapters() -> AdaptersMap:
    """Make the adapters of values: integers by one type, whatever their size, so that a statement is prepared once.

    The text dumper too, as psycopg 3.3 caches a list's dumper for all integers, with the type of the first it met. And
    lists in binary where they are not empty: vectors and bytes take a tenth of the time.
    """
    adapters = AdaptersMap(psycopg.adapters)
    for dumper in (Int8Dumper, Int8BinaryDumper):
        adapters.register_dumper(int, dumper)
    adapters.register_dumper(list, _ListDumper)
    set_json_loads(lambda text: parse_json(text if isinstance(text, str) else text.decode()), adapters)
    return adapters


class _RetryLimit:
    """Retry limit of a transaction: a deadline after a lost connection, five tries after conflicts."""

    def __init__(self, timeout_s: float) -> None:
        self._timeout_s = timeout_s
        self._pause_s = _FIRST_PAUSE_S
        self._conflicts = 0
        self.until: float | None = None  # both unset until a connection is lost
        self.lost: psycopg.Error | None = None

    def lasts(self, failure: psycopg.Error) -> bool:
        """True if it is to run again after one more failure."""
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


def _run_transaction(connection: Session, opening: Sequence[Opening], work: Callable[[Connection], T]) -> T:
    """One run of `work` in one transaction."""
    transaction = PipelineTransaction(connection, opening)
    try:
        result = work(transaction)
    except BaseException:
        transaction.roll_back()
        raise
    try:
        transaction.commit()
    except psycopg.Error as error:
        transaction.roll_back()
        if not _is_lost(error, connection) or not transaction.may_be_committed:
            raise
        if opening[0][0] != _READING:
            raise _LostCommittingError(error) from error
    return result


def _is_lost(error: psycopg.Error, connection: Session) -> bool:
    """True if the error is the end of its connection, and not of the statement alone."""
    if not isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
        return False
    state = error.sqlstate or ""
    return connection.closed or state in ENDED_BY_SERVER or state.startswith("08")


def _is_alive(connection: Session) -> bool:
    """True unless the server has ended the connection while it lay idle: two looks at the socket tell (2 us).

    One is not enough: the first can take the server's last words, and only the second sees the end behind them.
    """
    try:
        connection.pgconn.consume_input()
        connection.pgconn.consume_input()
    except psycopg.OperationalError:
        return False
    return not connection.closed


def _configure(connection: Session) -> None:
    """More statements prepared; times in UTC, where the first and the last there are have no offset to fall over."""
    connection.prepared_max = _MOST_PREPARED
    connection.execute("SET TimeZone TO 'UTC'")
