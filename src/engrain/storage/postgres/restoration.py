"""Restoration into PostgreSQL: the index of vectors around it, and the search index while rows are restored."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from engrain.errors import StorageError
from engrain.storage.backup.restoration import decode_vector
from engrain.storage.postgres import vectors
from engrain.storage.postgres.index import PostgresIndex
from engrain.storage.postgres.planner_statistics import PlannerStatistics
from engrain.storage.write import embedding_versions

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from engrain.domain.maintenance.backups import Row
    from engrain.domain.records import MemoryRecord
    from engrain.storage.backup.restoration import RestoreIndex
    from engrain.storage.transaction import Transaction

_Answer = TypeVar("_Answer")


class Write(Protocol):
    """One transaction of a tenant, or of every one, that is committed, or leaves nothing."""

    def __call__(self, tenant: str | None, work: Callable[[Transaction], _Answer], /) -> _Answer: ...


def restore(
    write: Write, tenant_id: str | None, work: Callable[[Transaction, RestoreIndex], _Answer], *, is_part: bool
) -> _Answer:
    """Return what `work` returns from one transaction that restores rows, the only one of them or a part.

    HNSW takes a vector in twice the time that it takes where a graph is made of all at once (`bench.portability`). So
    an index that holds nothing, and is of use to nobody, goes before, in a transaction of its own: others search
    meanwhile. Where a process ends before it is made again, whoever next opens the memory makes it. A part leaves that
    to the last one.
    """

    def restore_all(tx: Transaction) -> _Answer:
        vectors.queue_for_index(tx)
        answer = work(tx, PostgresRestoreIndex(is_part=False))
        _make_index(tx)
        return answer

    if is_part:
        return write(tenant_id, lambda tx: work(tx, PostgresRestoreIndex(is_part=True)))
    write(None, vectors.drop_empty_index)
    try:
        return write(tenant_id, restore_all)
    except BaseException:
        with contextlib.suppress(StorageError):  # what went wrong first says more
            write(None, _make_index)
        raise


def _make_index(tx: Transaction) -> None:
    for version in embedding_versions.load_versions(tx):
        if version.state != "retired":
            vectors.add_missing_index(tx, version)


class PostgresRestoreIndex:
    """Implements `RestoreIndex`: memories are indexed batch by batch, totals written at the end."""

    def __init__(self, *, is_part: bool) -> None:
        """`is_part`: more rows come in later transactions, with sessions that go on."""
        self._is_part = is_part
        self._growth = PlannerStatistics(every=500)
        self._indexes: dict[str, PostgresIndex] = {}

    def index(self, tenant_id: str) -> PostgresIndex:
        return self._indexes.setdefault(tenant_id, PostgresIndex())

    def docs(self, tx: Transaction, rows: Sequence[Row]) -> Sequence[int]:
        if "doc" in rows[0]:
            docs = [row["doc"] for row in rows]
            tx.run("restore_docs", doc=max(docs))
            return docs
        return sorted(doc for (doc,) in tx.rows("next_docs", count=len(rows)))

    def changed(self, tx: Transaction, statement: str, values: Sequence[Mapping[str, Any]]) -> int:
        cursor = tx.db.cursor()
        cursor.executemany(statement, values)
        self._growth.note(tx, len(values))
        return int(cursor.rowcount)

    def index_memories(self, tx: Transaction, tenant_id: str, memories: Mapping[int, MemoryRecord]) -> None:
        self.index(tenant_id).add(tx, memories)

    def flush_index(self, tx: Transaction) -> None:
        """Everything is indexed already."""

    def attach(self, tx: Transaction, rows: Sequence[Row]) -> None:
        # One by one they go in binary, which in an array they would not: a tenth of the time.
        tx.run_each("restore_vector", [{**row, "embedding": decode_vector(row)} for row in rows])
        active = embedding_versions.find_active(tx)
        embedded = [row for row in rows if active is not None and row["version"] == active.version]
        if embedded:
            tenants = sorted({row["tenant_id"] for row in embedded})
            tx.run("are_embedded", tenants=tenants, docs=[row["doc"] for row in embedded])
        self._growth.note(tx, len(rows))

    def finish(self, tx: Transaction) -> None:
        if not self._is_part:
            tx.run("restore_sessions")
        for tenant_id, index in sorted(self._indexes.items()):
            index.finish(tx, tenant_id)
