"""Restoration of archived rows into SQLite, with its search index."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engrain.domain.records import Episode
from engrain.storage import selection
from engrain.storage.backup import archive
from engrain.storage.sqlite import index
from engrain.storage.write import embedding_versions

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from engrain.domain.records import MemoryRecord
    from engrain.storage.transaction import Transaction


def restore_rows(tx: Transaction, table: str, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write rows as they are; those whose key is there already are left, but for vectors, which give way."""
    batch = list(rows)
    if not batch:
        return
    match table:
        case archive.DEPARTURES:
            _take_out_forgotten(tx, [row["doc"] for row in batch])
        case archive.VECTORS:
            _attach_vectors(tx, batch)
        case _:
            archive.restore_rows(tx, table, batch)
    if table in archive.MEMORIES:
        tx.run("reset_indexed", doc=min(row["doc"] for row in batch) - 1)


def _take_out_forgotten(tx: Transaction, docs: Iterable[int]) -> None:
    """Take episodes out of the searches that were forgotten where they come from."""
    searches = index.SqliteIndex()
    for doc, memory in sorted(selection.load_docs(tx, docs).items()):
        assert isinstance(memory, Episode)
        searches.take_out(tx, memory.tenant_id, [doc], turns=[memory], at=memory.expires_at or memory.created_at)


def _attach_vectors(tx: Transaction, rows: list[Mapping[str, Any]]) -> None:
    """Give memories their vectors, those that left the searches too: a question about the past may want them."""
    first = index.take_numbers(tx, "change", len(rows))
    tx.run_each(
        "restore_vector",
        [
            {
                "version": row["version"],
                "doc": row["doc"],
                "change": first + place,
                "embedding": archive.decode_vector(row).tobytes(),
            }
            for place, row in enumerate(rows)
        ],
    )
    active = embedding_versions.find_active(tx)
    if active is not None:
        tx.run_each("is_embedded", [{"doc": row["doc"]} for row in rows if row["version"] == active.version])


class SqliteRestoreIndex:
    """Implements `RestoreIndex`: everything is indexed at once, when all rows are there."""

    def index(self, tenant_id: str) -> index.SqliteIndex:  # noqa: ARG002  # one for all
        return index.SqliteIndex()

    def docs(self, tx: Transaction, count: int) -> Sequence[int]:
        found = tx.one("next_doc")
        assert found is not None
        return range(found[0], found[0] + count)

    def changed(self, tx: Transaction, statement: str, values: Sequence[Mapping[str, Any]]) -> int:
        before: int = tx.db.total_changes()  # type: ignore[attr-defined]  # apsw's
        tx.db.cursor().executemany(statement, values)
        return int(tx.db.total_changes() - before)  # type: ignore[attr-defined]  # apsw's

    def index_memories(self, tx: Transaction, tenant_id: str, memories: Mapping[int, MemoryRecord]) -> None:
        """Later: a session is indexed once when it is whole."""

    def flush_index(self, tx: Transaction) -> None:
        index.index_all(tx)

    def attach(self, tx: Transaction, rows: Sequence[archive.Row]) -> None:
        _attach_vectors(tx, list(rows))

    def finish(self, tx: Transaction) -> None:
        index.index_all(tx)
