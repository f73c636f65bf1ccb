"""Restoration of archived rows into PostgreSQL, and of the search index from them; for every tenant at once."""

from __future__ import annotations

import contextlib
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

from engrain.domain.records import Episode
from engrain.errors import StorageError
from engrain.storage import selection
from engrain.storage.backup import archive
from engrain.storage.postgres import vectors
from engrain.storage.postgres.index import PostgresIndex
from engrain.storage.postgres.planner_statistics import PlannerStatistics
from engrain.storage.write import embedding_versions

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from engrain.domain.records import MemoryRecord
    from engrain.storage.backup.restoration import RestoreIndex
    from engrain.storage.transaction import Transaction

_Answer = TypeVar("_Answer")
_KINDS = ("episodes", "facts", "rules")


class Progress(NamedTuple):
    """Progress of reindexing: up to this doc of a tenant in a table."""

    table: int = 0
    tenant_id: str = ""
    doc: int = -1


START = Progress()


def load_rows(tx: Transaction, table: str, *, after: Sequence[Any] | None, limit: int) -> list[archive.Row]:
    """Read the next rows in the order of the table's key, along an index.

    Row-level security makes the planner expect few rows, and so read and sort the rest of the table for every batch.
    """
    tx.run("along_indexes")
    return archive.load_rows(tx, table, after=after, limit=limit)


def restore_rows(tx: Transaction, table: str, rows: Sequence[archive.Row]) -> None:
    """Write rows as they are; those whose key is there already are left, but for vectors, which give way."""
    if not rows:
        return
    match table:
        case archive.DEPARTURES:
            _take_out_forgotten(tx, rows)
        case archive.VECTORS:
            _attach_vectors(tx, rows)
        case _:
            archive.restore_rows(tx, table, rows)
    if table in archive.MEMORIES:
        tx.run("restore_docs", doc=max(row["doc"] for row in rows))


def reindex(tx: Transaction, progress: Progress, limit: int) -> tuple[int, Progress]:
    """Index the next memories that are not indexed, and return how many and the progress.

    Where none is left it is back at the start, and vectors that are there have their index: made of all of them at
    once, it takes a tenth of the time.
    """
    tx.run("along_indexes")
    for number, table in enumerate(_KINDS[progress.table :], progress.table):
        after = progress if number == progress.table else START
        batch = tx.ask(
            f"SELECT tenant_id, doc FROM {table} "  # noqa: S608  # names of the schema
            "WHERE (tenant_id, doc) > (:tenant_id, :doc) AND NOT EXISTS (SELECT 1 FROM memory_index "
            f"WHERE memory_index.tenant_id = {table}.tenant_id AND memory_index.doc = {table}.doc) "
            "ORDER BY tenant_id, doc LIMIT :limit",
            {"tenant_id": after.tenant_id, "doc": after.doc, "limit": limit},
        )
        if batch:
            _index_memories(tx, batch)
            return len(batch), Progress(number, *batch[-1])
        if table == "episodes":
            tx.run("restore_ends")
            tx.run("restore_sessions")
    for version in embedding_versions.load_versions(tx):
        if version.state != "retired" and tx.one("has_vector", version=version.version):
            vectors.add_index(tx, version)
    return 0, START


def _index_memories(tx: Transaction, batch: Sequence[Sequence[Any]]) -> None:
    for tenant_id, places in groupby(batch, itemgetter(0)):
        index = PostgresIndex()
        index.add(tx, dict(sorted(selection.load_docs(tx, [doc for _, doc in places], [tenant_id]).items())))
        index.finish(tx, tenant_id)


def _take_out_forgotten(tx: Transaction, rows: Sequence[archive.Row]) -> None:
    """Take episodes out of the searches that were forgotten where they come from."""
    for tenant_id, places in groupby(sorted(rows, key=itemgetter("tenant_id", "doc")), itemgetter("tenant_id")):
        index = PostgresIndex()
        for doc, memory in sorted(selection.load_docs(tx, [row["doc"] for row in places], [tenant_id]).items()):
            assert isinstance(memory, Episode)
            index.take_out(tx, tenant_id, [doc], turns=[memory], at=memory.expires_at or memory.created_at)
        index.finish(tx, tenant_id)


def _attach_vectors(tx: Transaction, rows: Sequence[archive.Row]) -> None:
    """Give memories their vectors, those that left the searches too: a question about the past may want them."""
    # One by one they go in binary, which in an array they would not: a tenth of the time.
    tx.run_each("restore_vector", [{**row, "embedding": archive.decode_vector(row)} for row in rows])
    active = embedding_versions.find_active(tx)
    embedded = [row for row in rows if active is not None and row["version"] == active.version]
    if embedded:
        tenants = sorted({row["tenant_id"] for row in embedded})
        tx.run("are_embedded", tenants=tenants, docs=[row["doc"] for row in embedded])


class Write(Protocol):
    """One transaction of a tenant, or of every one, that is committed, or leaves nothing."""

    def __call__(self, tenant: str | None, work: Callable[[Transaction], _Answer], /) -> _Answer: ...


def restore_backup(
    write: Write, tenant_id: str | None, work: Callable[[Transaction, RestoreIndex], _Answer]
) -> _Answer:
    """Return what `work` returns from one transaction that restores a backup.

    HNSW takes a vector in twice the time that it takes where a graph is made of all at once (`bench.portability`). So
    an index that holds nothing, and is of use to nobody, goes before, in a transaction of its own: others search
    meanwhile. Where a process ends before it is made again, whoever next opens the memory makes it.
    """

    def taken_in(tx: Transaction) -> _Answer:
        vectors.queue_for_index(tx)
        answer = work(tx, PostgresRestoreIndex())
        _make_index(tx)
        return answer

    write(None, vectors.drop_empty_index)
    try:
        return write(tenant_id, taken_in)
    except BaseException:
        with contextlib.suppress(StorageError):  # what went wrong first says more
            write(None, _make_index)
        raise


def _make_index(tx: Transaction) -> None:
    active = embedding_versions.find_active(tx)
    if active is not None:
        vectors.add_missing_index(tx, active)


class PostgresRestoreIndex:
    """Implements `RestoreIndex`: memories are indexed batch by batch, totals written at the end."""

    def __init__(self) -> None:
        """Nothing has changed yet."""
        self._growth = PlannerStatistics(every=2_000)
        self._indexes: dict[str, PostgresIndex] = {}

    def index(self, tenant_id: str) -> PostgresIndex:
        return self._indexes.setdefault(tenant_id, PostgresIndex())

    def docs(self, tx: Transaction, count: int) -> Sequence[int]:
        return sorted(doc for (doc,) in tx.rows("next_docs", count=count))

    def changed(self, tx: Transaction, statement: str, values: Sequence[Mapping[str, Any]]) -> int:
        cursor = tx.db.cursor()
        cursor.executemany(statement, values)
        self._growth.note(tx, len(values))
        return int(cursor.rowcount)

    def index_memories(self, tx: Transaction, tenant_id: str, memories: Mapping[int, MemoryRecord]) -> None:
        self.index(tenant_id).add(tx, memories)

    def flush_index(self, tx: Transaction) -> None:
        """Everything is indexed already."""

    def attach(self, tx: Transaction, rows: Sequence[archive.Row]) -> None:
        _attach_vectors(tx, rows)
        self._growth.note(tx, len(rows))

    def finish(self, tx: Transaction) -> None:
        tx.run("restore_sessions")
        for tenant_id, index in sorted(self._indexes.items()):
            index.finish(tx, tenant_id)
