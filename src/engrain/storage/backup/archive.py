"""Archive: whole rows of every tenant as JSON, read and written, for a copy into another database.

It leaves out what is rebuilt from them: words, namespaces with their totals, the progress of sessions.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from engrain.storage.dialects import Dialect
    from engrain.storage.transaction import Transaction

Row: TypeAlias = "Mapping[str, Any]"  # one row by column: texts, numbers, lists and objects alone


@dataclass(frozen=True, slots=True)
class Table:
    """Shape of an archived table: its key, which orders it, and its columns by type."""

    key: str
    plain: str
    times: str = ""
    names: str = ""
    json: str = ""
    vectors: str = ""
    source: str = ""  # where the rows lie, if not under the name of what is copied
    where: str = ""
    made: Mapping[str, str] = field(default_factory=dict)  # columns that are an expression over `kept`

    @property
    def columns(self) -> tuple[str, ...]:
        return (
            *self.plain.split(),
            *self.times.split(),
            *self.names.split(),
            *self.json.split(),
            *self.vectors.split(),
            *(name for name in self.made if name not in self.plain.split()),
        )

    @property
    def selected(self) -> str:
        """Columns as they are selected."""
        return ", ".join(f"{self.made[name]} AS {name}" if name in self.made else name for name in self.columns)


_MEMORY_TIMES = "created_at last_referenced_at"
# The docs of all tenants in order. PostgreSQL keeps it here alone; SQLite has no more than what is indexed.
_PLACED = "(SELECT tenant_id, doc FROM memory_index) AS placed"
DEPARTURES, VECTORS = (
    "memory_departures",
    "memory_vectors",
)  # of the searches: written once the memories have their places
# In an order that satisfies every reference.
_TABLES: Mapping[str, Table] = {
    "memory_metadata": Table("tenant_id key", "tenant_id key value"),
    "embedding_versions": Table("tenant_id version", "tenant_id version name dims state", "created_at activated_at"),
    "pools": Table("tenant_id name", "tenant_id name", "created_at", json="metadata"),
    "pool_members": Table("tenant_id pool agent", "tenant_id pool agent", "joined_at"),
    "entities": Table(
        "tenant_id id",
        "tenant_id id canonical_name entity_type mention_count",
        "created_at updated_at",
        names="aliases",
        json="metadata",
    ),
    "entity_names": Table("tenant_id name entity_id", "tenant_id name entity_id"),
    "entity_trigrams": Table("tenant_id trigram entity_id", "tenant_id trigram entity_id"),
    "speakers": Table("tenant_id scope speaker", "tenant_id scope speaker"),
    "episodes": Table(
        "doc",
        "doc tenant_id id agent scope session turn role speaker content importance asking tokens model reference_count "
        "consolidation_status consolidation_attempts last_consolidation_error",
        f"event_time expires_at next_consolidation_retry_at {_MEMORY_TIMES}",
        names="tags",
        json="metadata tool_calls",
    ),
    "sessions_consolidations": Table(
        "tenant_id scope session",
        "tenant_id scope session",
        "first_seen_at consolidated_at",
        where="consolidated_at IS NOT NULL",
    ),
    "facts": Table(
        "doc",
        "doc tenant_id id agent scope subject predicate entity_id content category source confidence importance "
        "permanence decay_rate validity supersedes_id source_episode_id reference_count",
        f"valid_from valid_to invalidated_at last_confirmed_at {_MEMORY_TIMES}",
        names="tags",
        json="metadata",
    ),
    "rules": Table(
        "doc",
        "doc tenant_id id agent scope content maturity confidence permanence decay_rate effectiveness_score "
        "applied_count success_count harmful_count source_episode_id reference_count",
        f"invalidated_at last_applied_at last_evaluated_at last_confirmed_at {_MEMORY_TIMES}",
        names="tags",
        json="metadata",
    ),
    "rule_applications": Table("tenant_id id", "tenant_id id rule_id agent outcome context", "created_at"),
    "memory_links": Table(
        "tenant_id source_kind source_id target_kind target_id relation",
        "tenant_id source_kind source_id target_kind target_id relation weight",
        "created_at",
    ),
    "memory_entities": Table(
        "tenant_id entity_id memory_kind memory_id",
        "tenant_id entity_id memory_kind memory_id scope",
        "happened_at created_at",
    ),
    "memory_events": Table(
        "tenant_id id", "tenant_id id event_type scope actor request_id memory_id run_id", "created_at", json="payload"
    ),
    "tombstones": Table("tenant_id id", "tenant_id id kind scope digest", "erased_at"),
    "jobs": Table(
        "tenant_id id",
        "tenant_id id name dedupe_key status attempts worker last_error",
        "run_at lease_until created_at finished_at",
        json="report",
    ),
    "runs": Table(
        "tenant_id id",
        "tenant_id id kind agent status worker model prompt_version error",
        "lease_until started_at finished_at",
        names="episode_ids",
        json="report",
    ),
    "access_keys": Table(
        "tenant_id id",
        "tenant_id id agent role name digest",
        "created_at expires_at revoked_at last_used_at",
    ),
    # What was forgotten of episodes alone: a fact and a rule say so themselves, an episode's end may be mere time.
    DEPARTURES: Table(
        "doc",
        "doc tenant_id",
        source="memory_index",
        where="state = 3 AND EXISTS (SELECT 1 FROM episodes "
        "WHERE episodes.tenant_id = memory_index.tenant_id AND episodes.doc = memory_index.doc)",
    ),
    VECTORS: Table(
        "doc version",
        "doc version tenant_id",
        vectors="embedding",
        source=f"{_PLACED} JOIN memory_vectors USING (tenant_id, doc)",
        where="embedding IS NOT NULL AND version IN "
        "(SELECT version FROM embedding_versions WHERE tenant_id = '' AND state <> 'retired')",
    ),
}
TABLES: Sequence[str] = tuple(_TABLES)
MEMORIES = frozenset({"episodes", "facts", "rules"})


def load_rows(tx: Transaction, table: str, *, after: Sequence[Any] | None, limit: int) -> list[Row]:
    """Read the next rows in the order of the table's key, after the one whose key is `after`.

    On PostgreSQL, memories that have no places in the searches yet, which only an unfinished copy has, are not there.
    """
    shape = _TABLES[table]
    if table in MEMORIES and tx.dialect.name == "postgres":
        shape = replace(shape, source=f"{_PLACED} JOIN {table} USING (tenant_id, doc)")
    return load_page(tx, shape, table, after=after, limit=limit, bound={})


def load_page(
    tx: Transaction,
    shape: Table,
    table: str,
    *,
    after: Sequence[Any] | None,
    limit: int,
    bound: Mapping[str, Any],
) -> list[Row]:
    """Read the next rows of a table in a given shape, whose condition is bound to `bound`."""
    keys = shape.key.split()
    bound = {**bound, "limit": limit}
    conditions = [shape.where] if shape.where else []
    if after is not None:
        bound |= {f"after_{key}": value for key, value in zip(keys, after, strict=True)}
        conditions.append(f"({', '.join(keys)}) > ({', '.join(f':after_{key}' for key in keys)})")
        conditions.append(f"{keys[0]} >= :after_{keys[0]}")  # where the keys are of two tables, an index serves this
    where = f"WHERE {' AND '.join(conditions)}" if conditions else ""
    found = tx.ask(
        f"SELECT {shape.selected} FROM {shape.source or table} {where} ORDER BY {', '.join(keys)} LIMIT :limit",  # noqa: S608  # names of the schema
        bound,
    )
    return [_encode_row(shape, row, tx.dialect) for row in found]


def table_shape(table: str) -> Table:
    """Return the shape of a table."""
    return _TABLES[table]


def row_key(table: str, row: Row) -> Sequence[Any]:
    """Return the key of a row, for `after`."""
    return tuple(row[key] for key in _TABLES[table].key.split())


def find_last_key(tx: Transaction, table: str) -> Sequence[Any] | None:
    """Find the greatest key there, or None."""
    shape = _TABLES[table]
    keys = shape.key.split()
    where = f"WHERE {shape.where}" if shape.where else ""
    order = ", ".join(f"{key} DESC" for key in keys)
    found = tx.ask(f"SELECT {', '.join(keys)} FROM {shape.source or table} {where} ORDER BY {order} LIMIT 1", {})  # noqa: S608  # names of the schema
    return tuple(found[0]) if found else None


def restore_rows(tx: Transaction, table: str, rows: Iterable[Row]) -> None:
    """Write rows as they are; those whose key is there already are left. Not for what belongs to the searches."""
    tx.db.cursor().executemany(*build_insertion(tx, table, rows))


def build_insertion(tx: Transaction, table: str, rows: Iterable[Row]) -> tuple[str, list[dict[str, Any]]]:
    """Build the statement that writes rows as they are, but for those whose key is there, and its values."""
    shape = _TABLES[table]
    columns = ", ".join(shape.columns)
    bound = ", ".join(f":{column}" for column in shape.columns)
    statement = f"INSERT INTO {table} ({columns}) VALUES ({bound}) ON CONFLICT DO NOTHING"  # noqa: S608  # names of the schema
    return tx.dialect.statement(statement), [_decode_row(shape, row, tx.dialect) for row in rows]


def decode_vector(row: Row) -> NDArray[np.float32]:
    """Decode the vector of a row of the table of vectors."""
    return np.frombuffer(base64.b64decode(row["embedding"]), "<f4").astype(np.float32)


def _encode_row(shape: Table, row: Sequence[Any], dialect: Dialect) -> Row:
    """Encode a row as JSON: the same from either database."""
    encoded = dict(zip(shape.columns, row, strict=True))
    for column in shape.times.split():
        if encoded[column] is not None:
            encoded[column] = dialect.moment(encoded[column]).isoformat()
    for column in (*shape.names.split(), *shape.json.split()):
        encoded[column] = dialect.parsed(encoded[column])
    for column in shape.vectors.split():
        encoded[column] = base64.b64encode(_float32_bytes(encoded[column])).decode()
    return encoded


def _decode_row(shape: Table, row: Row, dialect: Dialect) -> dict[str, Any]:
    """Decode a row into the values that the driver takes."""
    bound = dict(row)
    for column in shape.times.split():
        if bound[column] is not None:
            bound[column] = dialect.time(datetime.fromisoformat(bound[column]))
    for column in shape.names.split():
        bound[column] = dialect.names(bound[column])
    for column in shape.json.split():
        bound[column] = dialect.json(bound[column])
    return bound


def _float32_bytes(embedding: Any) -> bytes:
    """Little-endian float32, which is what SQLite holds; pgvector gives an object of its own."""
    return embedding if isinstance(embedding, bytes) else np.asarray(embedding.to_numpy(), "<f4").tobytes()
