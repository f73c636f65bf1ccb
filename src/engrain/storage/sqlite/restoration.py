"""Search index of SQLite while rows are restored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engrain.storage.backup.restoration import decode_vector
from engrain.storage.sqlite import index
from engrain.storage.write import embedding_versions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from engrain.domain.maintenance.backups import Row
    from engrain.domain.records import MemoryRecord
    from engrain.storage.transaction import Transaction


class SqliteRestoreIndex:
    """Implements `RestoreIndex`: everything is indexed at once, when all rows are there."""

    def __init__(self, *, is_part: bool) -> None:
        """`is_part`: more rows come in later transactions, and are indexed with these."""
        self._is_part = is_part

    def index(self, tenant_id: str) -> index.SqliteIndex:  # noqa: ARG002  # one for all
        return index.SqliteIndex()

    def docs(self, tx: Transaction, rows: Sequence[Row]) -> Sequence[int]:
        if "doc" in rows[0]:
            docs = [row["doc"] for row in rows]
            tx.run("reset_indexed", doc=min(docs) - 1)
            return docs
        found = tx.one("next_doc")
        assert found is not None
        return range(found[0], found[0] + len(rows))

    def changed(self, tx: Transaction, statement: str, values: Sequence[Mapping[str, Any]]) -> int:
        before: int = tx.db.total_changes()  # type: ignore[attr-defined]  # apsw's
        tx.db.cursor().executemany(statement, values)
        return int(tx.db.total_changes() - before)  # type: ignore[attr-defined]  # apsw's

    def index_memories(self, tx: Transaction, tenant_id: str, memories: Mapping[int, MemoryRecord]) -> None:
        """Later: a session is indexed once when it is whole."""

    def flush_index(self, tx: Transaction) -> None:
        index.index_all(tx)

    def attach(self, tx: Transaction, rows: Sequence[Row]) -> None:
        if not rows:
            return
        first = index.take_numbers(tx, "change", len(rows))
        vectors = [
            {"version": row["version"], "doc": row["doc"], "change": change, "embedding": decode_vector(row).tobytes()}
            for change, row in enumerate(rows, first)
        ]
        tx.run_each("restore_vector", vectors)
        active = embedding_versions.find_active(tx)
        if active is not None:
            tx.run_each("is_embedded", [{"doc": row["doc"]} for row in rows if row["version"] == active.version])

    def finish(self, tx: Transaction) -> None:
        if not self._is_part:
            index.index_all(tx)
