"""Moves of tenants between servers: copy, catch up, switch.

Rows go as they are, the index of searches with them: the servers have one schema, every key begins with the tenant, and
numbers mean the same on each (docs/architecture.md, Numbers). Both sides are transactions of this tenant, so that no
row of another can be read or written. The copy takes all rows of one moment. Each round after it takes what was written
since, by the number of the transaction that wrote a row, and what is gone, by the keys that are left. In the last round
the tenant's record is locked, so that nobody writes, and the commit of that lock moves the tenant.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engrain.domain.records import Record
from engrain.errors import DatabaseBusy, InvalidInput
from engrain.storage.migrations import HEAD, table_names
from engrain.storage.shards.directory import HERE, incoming, moved
from engrain.storage.transaction import Transaction, repeatable
from engrain.storage.write import embedding_versions

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from engrain.storage.shards.store import ShardedStore
    from engrain.storage.store import SqlStore

    Progress = Callable[[str, int], None]

_MOST_ROUNDS = 5
_FEW_ROWS = 500  # to be written while writers wait
_ALL = -1  # of what was written since a transaction: everything
# What a server has for itself: jobs run on the first one, and vectors have the number of their version there.
_LOCAL = frozenset({"jobs", "embedding_versions"})
_VECTORS, _SETTINGS = "memory_vectors", "memory_metadata"


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantMove(Record):
    """Report of a move: the rows that were copied, those of the last round, and the rows removed where they were."""

    tenant: str
    source: str
    target: str
    rows: int
    last_rows: int
    removed: int


@dataclass(frozen=True, slots=True)
class _Table:
    """One table of tenants, as a server has it."""

    name: str
    key: tuple[str, ...]
    columns: tuple[str, ...]

    @property
    def where(self) -> str:
        """Condition for the rows that move."""
        if self.name == _SETTINGS:
            return "tenant_id = :tenant_id AND key <> 'server'"
        return "tenant_id = :tenant_id AND version = :version" if self.name == _VECTORS else "tenant_id = :tenant_id"

    @property
    def rows(self) -> str:
        """The table with the condition for its rows that move, as they stand in a statement."""
        return f"{self.name} WHERE {self.where}"

    def matches(self, other: str) -> str:
        """Condition that a row has the key of a row of another table."""
        return " AND ".join(f"{other}.{column} = {self.name}.{column}" for column in self.key)


def move_tenant(store: ShardedStore, tenant_id: str, target: str, progress: Progress | None = None) -> TenantMove:
    """Move a tenant to a server; a repeat completes a move that was stopped, and one back undoes it.

    Reads and writes go on meanwhile; writes wait for the last round. Ended anywhere, the tenant is whole on one server.

    Raises:
        InvalidInput: there is no such server or tenant, or its searches use another embedder; nothing was moved.
    """

    @repeatable
    def move(tx: Transaction) -> TenantMove:
        if tx.one("claim_move", tenant_id=tenant_id) != (True,):
            raise DatabaseBusy(f"tenant {tenant_id!r:.80} is being moved by another process; wait until that has ended")
        return _move(store, tenant_id, target, progress or (lambda _step, _rows: None))

    if target not in store.servers:
        raise InvalidInput(
            f"there is no server {target!r:.80} in storage.shards; choose one of {', '.join(store.servers)}"
        )
    if not store.directory.has(tenant_id):
        raise InvalidInput(
            f"there is no tenant {tenant_id!r:.80}, and nothing was moved: engrain tenants list shows those that have "
            "memories"
        )
    return store.directory.home.maintain(None, move)


def _move(store: ShardedStore, tenant_id: str, target: str, progress: Progress) -> TenantMove:
    directory = store.directory
    source = directory.look_up(tenant_id)
    if source == target:
        return TenantMove(
            tenant=tenant_id,
            source=source,
            target=target,
            rows=0,
            last_rows=0,
            removed=_clear_others(store, tenant_id, target),
        )
    mover = _Mover(store.servers[source], store.servers[target], tenant_id, progress)
    directory.write_record(target, tenant_id, incoming(source))
    rows = mover.copy()
    last_rows = mover.switch(moved(target))
    directory.forget(tenant_id)
    if directory.look_up(tenant_id) != target:
        raise InvalidInput(f"tenant {tenant_id!r:.80} was moved elsewhere meanwhile; look with engrain tenants list")
    removed = _clear_others(store, tenant_id, target)
    return TenantMove(tenant=tenant_id, source=source, target=target, rows=rows, last_rows=last_rows, removed=removed)


class _Mover:
    """Rows of one tenant on their way from one server to another."""

    def __init__(self, source: SqlStore, target: SqlStore, tenant_id: str, progress: Progress) -> None:
        self._source, self._target, self._tenant_id, self._progress = source, target, tenant_id, progress
        self._since = _ALL
        self._tables = source.inspect(tenant_id, _read_tables)
        used = source.inspect(None, embedding_versions.load_versions)
        if any(version.state == "building" for version in used):
            raise InvalidInput(
                "vectors are being made for another embedder where the tenant is: finish engrain reembed"
            )
        active = next((version for version in used if version.state == "active"), None)
        other = target.inspect(None, embedding_versions.find_active)
        if active is not None and other is None:
            target.use_embedder(active.name, active.dims)
            other = target.inspect(None, embedding_versions.find_active)
        if active is not None and other is not None and (active.name, active.dims) != (other.name, other.dims):
            raise InvalidInput(
                f"searches use {active.name} where the tenant is and {other.name} where it would go, so nothing was "
                "moved: engrain reembed one of the two servers"
            )
        self._versions = (0, 0) if active is None or other is None else (active.version, other.version)

    def copy(self) -> int:
        """Copy all rows of one moment, and then what was written meanwhile, until that is little; return how many."""
        # It begins without what an earlier move has left there.
        self._target.maintain(self._tenant_id, clear_tenant, self._tables, self._tenant_id)
        rows = 0
        for _ in range(_MOST_ROUNDS):
            count = self._source.inspect(self._tenant_id, self._catch_up)
            rows += count
            self._progress("copying", rows)
            if rows > count and count <= _FEW_ROWS:
                break
        return rows

    def switch(self, record: str) -> int:
        """Copy what is left while nobody writes, and let the tenant be on the target from the commit on."""

        @repeatable
        def finish(tx: Transaction) -> int:
            tx.run("lock_tenant", tenant_id=self._tenant_id)
            found = tx.one("tenant_record", tenant_id=self._tenant_id)
            if found is None or found[0] != HERE:
                return 0  # a first run of this was committed, though the answer was lost
            rows = self._catch_up(tx)
            tx.run("set_tenant_record", tenant_id=self._tenant_id, value=record)
            return rows

        rows = self._source.maintain(self._tenant_id, finish)
        self._progress("switching", rows)
        return rows

    def _catch_up(self, source: Transaction) -> int:
        """Bring the target up to date with one moment of the source, in one transaction there."""
        [(now,)] = source.rows("oldest_transaction")

        @repeatable
        def write(target: Transaction) -> int:
            target.db.execute("SET CONSTRAINTS ALL DEFERRED")
            staged = {table: self._stage(source, target, table) for table in self._tables}
            for table in reversed(self._tables):
                self._remove_outdated(source, target, table, staged[table])
            for table in self._tables:
                if staged[table]:
                    columns = ", ".join(table.columns)
                    target.db.execute(f"INSERT INTO {table.name} ({columns}) SELECT {columns} FROM new_{table.name}")  # noqa: S608  # names of the schema
            return sum(staged.values())

        rows = self._target.maintain(self._tenant_id, write)
        self._since = now
        return rows

    def _stage(self, source: Transaction, target: Transaction, table: _Table) -> int:
        """Copy the rows that were written since the last round beside the table, and return their number."""
        number = f"CAST({self._versions[1]} AS integer) AS version"
        columns = [number if (table.name, column) == (_VECTORS, "version") else column for column in table.columns]
        is_new = "TRUE" if self._since == _ALL else "age(xmin) <= age(CAST(:since AS xid))"
        self._send(
            source, target, table, f"{', '.join(columns)} FROM {table.rows} AND {is_new}", into=f"new_{table.name}"
        )
        [(count,)] = target.ask(f"SELECT count(*) FROM new_{table.name}", {})  # noqa: S608  # names of the schema
        return int(count)

    def _remove_outdated(self, source: Transaction, target: Transaction, table: _Table, staged: int) -> None:
        """Remove the rows that are about to come anew, and those that are gone where they come from."""
        if staged:
            target.db.execute(f"DELETE FROM {table.name} USING new_{table.name} AS new WHERE {table.matches('new')}")  # noqa: S608  # names of the schema
        [(left,)] = target.ask(f"SELECT count(*) FROM {table.rows}", self._bound(1))  # noqa: S608  # names of the schema
        [(there,)] = source.ask(f"SELECT count(*) FROM {table.rows}", self._bound(0))  # noqa: S608  # names of the schema
        if left + staged == there:
            return
        kept = f"kept_{table.name}"
        keys = _Table(table.name, table.key, table.key)
        self._send(source, target, keys, f"{', '.join(table.key)} FROM {table.rows}", into=kept)
        if table.name == _VECTORS:
            target.db.execute(f"UPDATE {kept} SET version = {self._versions[1]}")  # noqa: S608  # a number of ours
        is_gone = f"NOT EXISTS (SELECT 1 FROM {kept} AS kept WHERE {table.matches('kept')})"  # noqa: S608  # names of the schema
        _execute(target, f"DELETE FROM {table.rows} AND {is_gone}", self._bound(1))  # noqa: S608  # likewise

    def _send(self, source: Transaction, target: Transaction, table: _Table, rows: str, *, into: str) -> None:
        """Send rows of the source into a temporary table of the target, as the server has them."""
        columns = f"SELECT {', '.join(table.columns)} FROM {table.name}"  # noqa: S608  # names of the schema
        target.db.execute(f"CREATE TEMPORARY TABLE {into} ON COMMIT DROP AS {columns} WITH NO DATA")
        query = source.dialect.statement(f"COPY (SELECT {rows}) TO STDOUT (FORMAT binary)")
        bound = {**self._bound(0), "since": str(self._since % 2**32)}
        with (
            source.db.cursor().copy(_literal(source, query, bound)) as outgoing,
            target.db.cursor().copy(f"COPY {into} FROM STDIN (FORMAT binary)") as arriving,
        ):
            for block in outgoing:
                arriving.write(block)

    def _bound(self, side: int) -> dict[str, Any]:
        return {"tenant_id": self._tenant_id, "version": self._versions[side]}


def clear_tenant(tx: Transaction, tables: Sequence[_Table], tenant_id: str) -> int:
    """Remove all rows of a tenant but its record, and return their number."""
    tx.db.execute("SET CONSTRAINTS ALL DEFERRED")
    removed = 0
    for table in reversed(tables):
        rest = "AND key <> 'server'" if table.name == _SETTINGS else ""
        statement = f"DELETE FROM {table.name} WHERE tenant_id = :tenant_id {rest}"  # noqa: S608  # names of the schema
        removed += _execute(tx, statement, {"tenant_id": tenant_id})
    return removed


def _clear_others(store: ShardedStore, tenant_id: str, target: str) -> int:
    """Remove the rows of a tenant from all servers but the one that has it."""

    @repeatable
    def clear(tx: Transaction) -> int:
        tx.run("lock_tenant", tenant_id=tenant_id)
        found = tx.one("tenant_record", tenant_id=tenant_id)
        if found is None or found[0] == HERE:
            return 0
        return clear_tenant(tx, _read_tables(tx), tenant_id)

    return sum(server.maintain(tenant_id, clear) for name, server in store.servers.items() if name != target)


def _read_tables(tx: Transaction) -> list[_Table]:
    """Read keys and columns of all tables of tenants, in an order that satisfies every reference."""
    rows = {name: (tuple(key), tuple(columns)) for name, key, columns in tx.rows("columns_of_tables")}
    names = [name for name in table_names("postgres", HEAD) if name not in _LOCAL]
    names.sort(key=lambda name: name not in {"entities", "pools", "episodes"})  # others refer to these
    return [_Table(name, *rows[name]) for name in names]


def _execute(tx: Transaction, statement: str, bound: dict[str, Any]) -> int:
    return int(tx.db.execute(tx.dialect.statement(statement), bound).rowcount)


def _literal(tx: Transaction, statement: str, bound: dict[str, Any]) -> bytes:
    """Write the values of a statement into it: COPY takes no parameters."""
    import psycopg

    return psycopg.ClientCursor(tx.db.cursor().connection).mogrify(statement, bound).encode()
