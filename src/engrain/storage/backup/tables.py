"""Tables of the row stream: columns, keys, references, and the rows of each that belong to an extent.

Backups, exports and copies read the stream; restores and copies write it. The columns of a table that has a record are
the fields of the record, so that a new field is in all of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from engrain.storage.rows import KIND_TABLES, TABLE_RECORDS, column_defaults, column_types

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from engrain.domain.maintenance.backups import Extent
    from engrain.domain.records import Kind
    from engrain.storage.rows import ColumnType

DEPARTURES, VECTORS = "memory_departures", "memory_vectors"
MEMORIES = tuple(KIND_TABLES.values())
MEMORIES_OF_KIND: Mapping[str, str] = {str(kind): table for kind, table in KIND_TABLES.items()}
_REFERENCE_COUNTS = ("reference_count", "last_referenced_at")


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """One table of the row stream.

    Attributes:
        columns: by name, with their types. `doc` orders the rows of a table that has it.
        key: the columns that identify a row, and order the rows of a table without docs.
        kind: of the rows, where others refer to them.
        references: columns that refer to a row, with the kind of that row or the column that names its kind.
        is_dependent: a row belongs to an extent with all memories that it refers to; otherwise a reference may be None.
        local: columns that mean something in one database alone: a copy has them, a backup has not.
        is_local: likewise for the whole table.
        where: the condition for rows of the stream.
        backed_up: the further condition for those of a backup, and `share` for those of an agent's.
        unrecorded: columns that a search may change, which writes no event.
    """

    columns: Mapping[str, ColumnType]
    key: Sequence[str] = ("tenant_id", "id")
    kind: str | None = None
    references: Mapping[str, str] = field(default_factory=dict)
    is_dependent: bool = False
    local: frozenset[str] = frozenset()
    is_local: bool = False
    where: str = "1 = 1"
    backed_up: str = "1 = 1"
    share: str = "1 = 1"
    unrecorded: Sequence[str] = ()


def _columns(texts: str = "", *, of: str = "", **others: ColumnType) -> dict[str, ColumnType]:
    fields = column_types(TABLE_RECORDS[of]) if of else {}
    return {**dict.fromkeys(texts.split(), "text"), **others, **fields}


def _memories(kind: Kind, references: Mapping[str, str], **more: ColumnType) -> Table:
    return Table(
        columns=_columns(of=KIND_TABLES[kind], doc="whole", **more),
        kind=kind,
        references=references,
        local=frozenset({"doc"}),
        share=_own("kept"),
        unrecorded=_REFERENCE_COUNTS,
    )


def _own(row: str) -> str:
    """Build the condition for the memories of an agent: those of its scope, and those it wrote for all."""
    return f"({row}.scope = :agent OR ({row}.scope = 'global' AND {row}.agent = :agent))"


def memory_exists(table: str, column: str, own: str, *, row: str = "kept") -> str:
    """Build the condition that a column names a memory, for which another condition holds."""
    return (
        f"EXISTS (SELECT 1 FROM {table} AS memory WHERE memory.tenant_id = {row}.tenant_id "  # noqa: S608  # names of the schema
        f"AND memory.id = {row}.{column} AND {own})"
    )


def memory_of_kind_exists(kind: str, column: str, own: str, *, row: str = "kept") -> str:
    """Build the condition that a kind column and an id column name a memory, for which another condition holds."""
    conditions = (
        f"({row}.{kind} = '{name}' AND {memory_exists(table, column, own, row=row)})"
        for name, table in KIND_TABLES.items()
    )
    return f"({' OR '.join(conditions)})"


_NOTHING = "1 = 0"
_MENTIONED = (
    "(EXISTS (SELECT 1 FROM facts AS fact WHERE fact.tenant_id = kept.tenant_id "  # noqa: S608  # names of the schema
    f"AND fact.entity_id = kept.id AND {_own('fact')}) "
    "OR EXISTS (SELECT 1 FROM memory_entities AS mention WHERE mention.tenant_id = kept.tenant_id "
    "AND mention.entity_id = kept.id "
    f"AND {memory_of_kind_exists('memory_kind', 'memory_id', _own('memory'), row='mention')}))"
)
TABLES: Mapping[str, Table] = {
    "memory_metadata": Table(columns=_columns("tenant_id key value"), key=("tenant_id", "key"), share=_NOTHING),
    "embedding_versions": Table(
        columns=_columns("tenant_id", of="embedding_versions"), key=("tenant_id", "version"), is_local=True
    ),
    "pools": Table(
        columns=_columns("tenant_id name", created_at="time", metadata="object"),
        key=("tenant_id", "name"),
        share=_NOTHING,
    ),
    "pool_members": Table(
        columns=_columns("tenant_id pool agent", joined_at="time"), key=("tenant_id", "pool", "agent"), share=_NOTHING
    ),
    "entities": Table(columns=_columns(of="entities"), kind="entity", share=_MENTIONED),
    "episodes": _memories("episode", {}, asking="number"),
    "sessions_consolidations": Table(
        columns=_columns("tenant_id scope session", first_seen_at="time", consolidated_at="time"),
        key=("tenant_id", "scope", "session"),
        where="kept.consolidated_at IS NOT NULL",
        share="kept.scope = :agent",
        unrecorded=("first_seen_at", "consolidated_at"),
    ),
    "facts": _memories("fact", {"entity_id": "entity", "source_episode_id": "episode", "supersedes_id": "fact"}),
    "rules": _memories("rule", {"source_episode_id": "episode"}),
    "rule_applications": Table(
        columns=_columns(of="rule_applications"), references={"rule_id": "rule"}, is_dependent=True
    ),
    "memory_links": Table(
        columns=_columns(
            "tenant_id source_kind source_id target_kind target_id relation", weight="number", created_at="time"
        ),
        key=("tenant_id", "source_kind", "source_id", "target_kind", "target_id", "relation"),
        references={"source_id": "source_kind", "target_id": "target_kind"},
        is_dependent=True,
    ),
    "memory_entities": Table(
        columns=_columns("tenant_id entity_id memory_kind memory_id scope", happened_at="time", created_at="time"),
        key=("tenant_id", "entity_id", "memory_kind", "memory_id"),
        references={"entity_id": "entity", "memory_id": "memory_kind"},
        is_dependent=True,
    ),
    # One that goes on is a worker's business.
    "runs": Table(columns=_columns(of="runs"), backed_up="kept.status <> 'running'", share="kept.agent = :agent"),
    "memory_events": Table(
        columns=_columns(of="memory_events"),
        share="(kept.scope = :agent OR (kept.scope = 'global' AND kept.actor = :agent))",
    ),
    "tombstones": Table(
        columns=_columns("tenant_id id kind scope digest", erased_at="time"), share="kept.scope = :agent"
    ),
    # A machine's business and no memory; an old file would let in again who was shut out since.
    "jobs": Table(columns=_columns(of="jobs"), is_local=True),
    "access_keys": Table(columns=_columns("digest", of="access_keys"), is_local=True),
    # Of the searches, once they have the memories. Forgotten episodes: facts and rules say so themselves, an episode's
    # end may be mere time.
    DEPARTURES: Table(columns=_columns("tenant_id id"), references={"id": "episode"}, where="state = 3"),
    VECTORS: Table(
        columns=_columns("tenant_id id", version="whole", embedding="vector"),
        local=frozenset({"version"}),
        where="embedding IS NOT NULL AND version = :version",
    ),
}
"""All tables in an order that satisfies every reference but `supersedes_id`."""
DERIVED = frozenset({"entity_names", "entity_trigrams", "speakers"})
"""Tables that are made anew from the others."""
BACKED_UP: Mapping[str, Sequence[str]] = {
    name: tuple(column for column in table.columns if column not in table.local)
    for name, table in TABLES.items()
    if not table.is_local
}
"""Tables of a backup with their columns."""
DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    name: {
        column: value
        for column, value in column_defaults(TABLE_RECORDS[name]).items()
        if column not in {*TABLES[name].key, "scope"}
    }
    for name in BACKED_UP
    if name in TABLE_RECORDS
}
"""Values of columns that rows of an older schema may lack, as JSON."""


def extent_bindings(extent: Extent) -> dict[str, str]:
    """Return the values that the conditions of an extent are bound to."""
    named = {"tenant_id": extent.tenant_id, "agent": extent.agent}
    return {name: value for name, value in named.items() if value is not None}


def tenant_condition(extent: Extent) -> str:
    """Build the condition for the rows of the tenants of an extent in a table that is called `kept`."""
    return "kept.tenant_id <> ''" if extent.tenant_id is None else "kept.tenant_id = :tenant_id"


def extent_condition(extent: Extent, name: str) -> str:
    """Build the condition for the rows of an extent in a table that is called `kept`."""
    table = TABLES[name]
    conditions = [tenant_condition(extent), table.backed_up]
    if table.is_dependent:
        conditions += reference_conditions(extent, name)
    elif extent.agent is not None:
        conditions.append(table.share)
    return " AND ".join(conditions)


def own_condition(extent: Extent, row: str) -> str:
    """Build the condition for memories of an extent within its tenants."""
    return "1 = 1" if extent.agent is None else _own(row)


def reference_conditions(extent: Extent, name: str) -> list[str]:
    """Build a condition for each reference to a memory: it exists, and belongs to the extent."""
    own = own_condition(extent, "memory")
    return [
        memory_of_kind_exists(of, column, own) if of in columns else memory_exists(MEMORIES_OF_KIND[of], column, own)
        for columns in [TABLES[name].columns]
        for column, of in TABLES[name].references.items()
        if of != "entity"
    ]
