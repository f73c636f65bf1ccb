"""Extraction of the rows of an extent for a backup: by id, without the docs of one database."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from engrain.domain.maintenance.backups import VectorSpace
from engrain.storage.backup import archive
from engrain.storage.backup.extents import bindings, extent_condition, memory_exists
from engrain.storage.rows import KIND_TABLES
from engrain.storage.write import embedding_versions

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from engrain.domain.maintenance.backups import Extent, Row
    from engrain.storage.backup.archive import Table
    from engrain.storage.transaction import Transaction

_ROWS_AT_ONCE = 500
# The rest is made anew where a backup is restored (names, trigrams, speakers), said in its first line (embedders), or a
# machine's business and no memory (jobs, keys: an old file would let in again who was shut out since).
TABLES = (
    "memory_metadata pools pool_members entities episodes sessions_consolidations facts rules rule_applications "
    "memory_links memory_entities runs memory_events tombstones"
).split()
NOT_BACKED_UP = frozenset({"embedding_versions", "entity_names", "entity_trigrams", "speakers", "jobs", "access_keys"})
_ACTIVE_VECTORS = (
    "embedding IS NOT NULL "
    "AND version = (SELECT version FROM embedding_versions WHERE tenant_id = '' AND state = 'active')"
)
# Columns that name another row, and its table: what leaves an agent's extent is None.
_REFERENCES: Mapping[str, Mapping[str, str]] = {
    "facts": {"supersedes_id": "facts", "source_episode_id": "episodes"},
    "rules": {"source_episode_id": "episodes"},
}


def backup_columns(table: str) -> tuple[str, ...]:
    """List the columns of a table in a backup."""
    match table:
        case archive.DEPARTURES:
            return ("tenant_id", "id")
        case archive.VECTORS:
            return ("tenant_id", "id", "embedding")
        case _:
            return tuple(name for name in archive.table_shape(table).columns if name != "doc")


BACKED_UP: Mapping[str, Sequence[str]] = {
    table: backup_columns(table) for table in (*TABLES, archive.DEPARTURES, archive.VECTORS)
}


@dataclass(frozen=True, slots=True)
class SqlExtraction:
    """Rows of an extent, read in one snapshot; implements `domain.maintenance.backups.Extraction`."""

    tx: Transaction
    extent: Extent

    @property
    def embedder(self) -> VectorSpace | None:
        active = embedding_versions.find_active(self.tx)
        return None if active is None else VectorSpace(name=active.name, dims=active.dims)

    def rows(self, table: str) -> Iterator[Row]:
        """Yield all rows of a table in the order of its key; vectors by the kind of their memories."""
        for shape in self._shapes(table):
            after: Sequence[Any] | None = None
            names = BACKED_UP[table]
            while batch := archive.load_page(
                self.tx, shape, table, after=after, limit=_ROWS_AT_ONCE, bound=bindings(self.extent)
            ):
                after = tuple(batch[-1][key] for key in shape.key.split())
                yield from ({name: row[name] for name in names} for row in batch)

    def _shapes(self, table: str) -> Iterator[Table]:
        """Yield the shapes of a table for this extent: keys that have an index here, and the extent's condition."""
        placed = "doc" if self.tx.dialect.name == "sqlite" else "tenant_id doc"
        match table:
            case archive.DEPARTURES:
                shape = archive.Table(placed, "tenant_id doc id", where="state = 3")
                yield self._of("episodes", shape, "memory_index")
            case archive.VECTORS:
                shape = archive.Table(placed, "tenant_id doc id", vectors="embedding", where=_ACTIVE_VECTORS)
                for memories in KIND_TABLES.values():
                    yield self._of(memories, shape, "memory_vectors")
            case "episodes" | "facts" | "rules":
                yield self._of(table, replace(archive.table_shape(table), key=placed))
            case _:
                yield self._of(table, archive.table_shape(table))

    def _of(self, table: str, shape: Table, beside: str = "") -> Table:
        joined = f" JOIN {beside} USING (tenant_id, doc)" if beside else ""
        conditions = [shape.where, extent_condition(self.extent, table)]
        return replace(
            shape,
            source=f"{table} AS kept{joined}",
            where=" AND ".join(f"({condition})" for condition in conditions if condition),
            made={} if beside or self.extent.agent is None else self._references(table),
        )

    def _references(self, table: str) -> dict[str, str]:
        return {
            column: f"CASE WHEN {memory_exists(self.extent, target, column)} THEN kept.{column} END"
            for column, target in _REFERENCES.get(table, {}).items()
        }
