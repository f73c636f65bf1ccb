"""Extraction of rows in one snapshot: of an extent for a backup, or of every row for a copy."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from engrain.domain.maintenance.backups import Extent, Row, VectorSpace
from engrain.storage.backup.tables import (
    BACKED_UP,
    DEPARTURES,
    MEMORIES,
    MEMORIES_OF_KIND,
    TABLES,
    VECTORS,
    entity_exists,
    extent_bindings,
    extent_condition,
    memory_exists,
    own_condition,
)
from engrain.storage.write import embedding_versions

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from engrain.storage.dialects import Dialect
    from engrain.storage.rows import ColumnType
    from engrain.storage.transaction import Transaction

_ROWS_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class SqlExtraction:
    """Rows of an extent, read in one snapshot: as JSON has them, the same from either database."""

    tx: Transaction
    extent: Extent

    @property
    def embedder(self) -> VectorSpace | None:
        """Embedder whose vectors are searched; None if there are no vectors."""
        active = embedding_versions.find_active(self.tx)
        return None if active is None else VectorSpace(name=active.name, dims=active.dims)

    def rows(self, name: str, *, exact: bool = False) -> Iterator[Row]:
        """Yield the rows of a table in the order of its docs or key, read a few hundred at a time.

        A reference that leaves the extent is None; links, mentions and applications are there with both ends. Vectors
        and departures name their memory by its id; vectors come by its kind, and are those of the active embedder.
        `exact`: every row of the database, with the columns that mean something there alone, as a copy needs them.
        """
        match name:
            case "memory_vectors":
                states = {"active", "building"} if exact else {"active"}
                for version in embedding_versions.load_versions(self.tx):
                    for memories in MEMORIES if version.state in states else ():
                        yield from self._rows(name, memories, exact=exact, version=version.version)
            case "memory_departures":
                yield from self._rows(name, "episodes", exact=exact)
            case _:
                yield from self._rows(name, name, exact=exact)

    def _rows(self, name: str, source: str, *, exact: bool, **bound: Any) -> Iterator[Row]:
        """Yield the rows of a table for which `source`, itself or a table of memories, has the rows of the extent."""
        table, dialect = TABLES[name], self.tx.dialect
        columns = tuple(table.columns) if exact else BACKED_UP[name]
        order = self._order(name, exact=exact)
        selected = dict.fromkeys((*order, *columns))
        expressions = ", ".join(self._expression(name, column) for column in selected)
        condition = table.where if exact else f"{table.where} AND {extent_condition(self.extent, source)}"
        statement = f"SELECT {expressions} FROM {self._joined(name, source, order)} WHERE {condition}"  # noqa: S608  # names of the schema
        encoded = [(place, column, table.columns[column]) for place, column in enumerate(selected) if column in columns]
        for page in self._pages(statement, order, bound | extent_bindings(self.extent)):
            for row in page:
                yield {column: _encode(row[place], type_, dialect) for place, column, type_ in encoded}

    def _joined(self, name: str, source: str, order: Sequence[str]) -> str:
        """Join a table of memories with what is told of its rows elsewhere; the first table has the rows in order.

        Left to itself, SQLite would choose an index by which it has to sort all that is left for every page.
        """
        tables = {VECTORS: [VECTORS], DEPARTURES: ["memory_index NOT INDEXED"]}.get(name, [])
        tables.append(f"{source} AS kept{' NOT INDEXED' if source in MEMORIES else ''}")
        if order[0] == "doc" and self.tx.dialect.name == "postgres":  # it has the docs of all tenants in order there
            tables.insert(0, "(SELECT tenant_id, doc FROM memory_index) AS placed")
        return "".join([tables[0], *(f" JOIN {table} USING (tenant_id, doc)" for table in tables[1:])])

    def _pages(self, statement: str, order: Sequence[str], bound: dict[str, Any]) -> Iterator[list[Sequence[Any]]]:
        """Yield the rows of a statement in an order whose columns come first."""
        bound["limit"] = _ROWS_AT_ONCE
        # Where the columns are of two tables, an index serves the second condition.
        after = (
            f" AND ({', '.join(order)}) > ({', '.join(f':after_{column}' for column in order)})"
            f" AND {order[0]} >= :after_{order[0]}"
        )
        ordered = f" ORDER BY {', '.join(order)} LIMIT :limit"
        page = self.tx.ask(statement + ordered, bound)
        while page:
            yield page
            last = {f"after_{column}": value for column, value in zip(order, page[-1], strict=False)}
            page = self.tx.ask(statement + after + ordered, bound | last)

    def _order(self, name: str, *, exact: bool) -> tuple[str, ...]:
        """Return the columns that order the rows of a table, which have an index in this database."""
        if name not in {*MEMORIES, DEPARTURES, VECTORS}:
            return tuple(TABLES[name].key)
        if self.tx.dialect.name == "sqlite":
            return ("doc",)
        return ("doc", "tenant_id") if exact else ("tenant_id", "doc")

    def _expression(self, name: str, column: str) -> str:
        """Select a column; one that refers to a memory, or of a user to an entity, outside of the extent is None."""
        kind = TABLES[name].references.get(column, "")
        memories = MEMORIES_OF_KIND.get(kind)
        if column == "embedding" and self.tx.dialect.name == "postgres":  # which stores it in half precision
            return "CAST(embedding AS vector) AS embedding"
        if not self.extent.is_part or name not in MEMORIES:
            return column
        if kind == "entity" and self.extent.user:
            exists = entity_exists(column)
        elif memories is not None:
            exists = memory_exists(memories, column, own_condition(self.extent))
        else:
            return column
        return f"CASE WHEN {exists} THEN kept.{column} END AS {column}"


def _encode(value: Any, type_: ColumnType, dialect: Dialect) -> Any:
    """Encode a value as JSON has it."""
    if value is None:
        return None
    match type_:
        case "time":
            return dialect.moment(value).isoformat()
        case "names" | "list" | "object":
            return dialect.parsed(value)
        case "vector":
            return base64.b64encode(_float32_bytes(value)).decode()
        case _:
            return value


def _float32_bytes(embedding: Any) -> bytes:
    """Little-endian float32, rounded as what is written now is; pgvector gives an object of its own."""
    numbers = np.frombuffer(embedding, "<f4") if isinstance(embedding, bytes) else embedding.to_numpy()
    return embedding_versions.round_vectors(np.asarray(numbers, np.float32)).astype("<f4").tobytes()
