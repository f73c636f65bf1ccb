"""Tables of the row stream: columns, keys, references, and the rows of each that belong to an extent.

Backups, exports and copies read the stream; restores and copies write it. The columns of a table that has a record are
the fields of the record, so that a new field is in all of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from engrain.domain.access.scopes import GLOBAL_SCOPE, audience_of, user_of
from engrain.storage.rows import KIND_TABLES, RECORD_HOMES, ColumnType, column_defaults, column_types, find_record

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from engrain.domain.maintenance.backups import Extent
    from engrain.domain.records import Kind

LOG = "log"  # the kind of a session of a log
DEPARTURES, VECTORS = "memory_departures", "memory_vectors"
MEMORIES = tuple(KIND_TABLES.values())
MEMORIES_OF_KIND: Mapping[str, str] = {str(kind): table for kind, table in KIND_TABLES.items()}
KEYS = ("subject_key", "predicate_key", "value_key")  # of facts
_REFERENCE_COUNTS = ("reference_count", "last_referenced_at")
# Values of columns that make a row an agent's, in any one of these ways; AGENT stands for its name.
AGENT, GLOBAL = ":agent", "'global'"
Share: TypeAlias = "Sequence[Mapping[str, str]]"
NOTHING: Share = ()
_WITH_REFERENCES: Share = ({},)
_PRIVATE: Share = ({"scope": AGENT},)
_WRITTEN: Share = ({"scope": AGENT}, {"scope": GLOBAL, "agent": AGENT})


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
        backed_up: the further condition for those of a backup.
        share: what makes a row one of an agent's backup: an agent can have written it, and may restore it.
        share_references: columns that refer to other rows of an agent's backup alone: a row that refers elsewhere is
            none of it. Of the kind `memory` are episodes, facts, rules and tombstones.
        share_where: the further condition for rows of an agent's backup.
        unrecorded: columns that a search may change, which writes no event.
    """

    columns: Mapping[str, ColumnType]
    share: Share
    key: Sequence[str] = ("tenant_id", "id")
    kind: str | None = None
    references: Mapping[str, str] = field(default_factory=dict)
    is_dependent: bool = False
    local: frozenset[str] = frozenset()
    is_local: bool = False
    where: str = "1 = 1"
    backed_up: str = "1 = 1"
    share_references: Mapping[str, str] = field(default_factory=dict)
    share_where: str = "1 = 1"
    unrecorded: Sequence[str] = ()


def _columns(texts: str = "", *, of: str = "", **others: ColumnType) -> dict[str, ColumnType]:
    fields = column_types(find_record(of)) if of else {}
    return {**dict.fromkeys(texts.split(), "text"), **others, **fields}


def _memories(
    kind: Kind, references: Mapping[str, str], *, local: frozenset[str] = frozenset(), **more: ColumnType
) -> Table:
    return Table(
        columns=_columns(of=KIND_TABLES[kind], doc="whole", **more),
        kind=kind,
        references=references,
        local=local | {"doc"},
        share=_WRITTEN,
        unrecorded=_REFERENCE_COUNTS,
    )


def _share_condition(share: Share, row: str) -> str:
    """Build the condition for the rows of an agent."""
    ways = (" AND ".join(_match(row, column, value) for column, value in way.items()) or "1 = 1" for way in share)
    return f"({' OR '.join(ways) or '1 = 0'})"


def _match(row: str, column: str, value: str) -> str:
    """Build the condition for one value; a scope is that of no user, or of whichever user the row is of."""
    if column != "scope":
        return f"{row}.{column} = {value}"
    of_user = f"'user:' || replace(replace({row}.user_id, '%', '%25'), '/', '%2F')"  # as in `domain.access.scopes`
    audience = "" if value == GLOBAL else f" || '/' || {value}"
    return f"{row}.scope IN ({value}, {of_user}{audience})"


def in_own_scopes_of_agent() -> str:
    """Build the condition for the scopes that an agent alone sees, of whichever users."""
    return _match("kept", "scope", AGENT)


def in_scopes_of_agent() -> str:
    """Build the condition for the scopes of an agent, and those that all agents see, of whichever users."""
    return f"({in_own_scopes_of_agent()} OR {_match('kept', 'scope', GLOBAL)})"


def _own(row: str) -> str:
    """Build the condition for the memories of an agent: those of its scopes, and those it wrote for all."""
    return _share_condition(_WRITTEN, row)


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


_MENTIONED = (
    "(EXISTS (SELECT 1 FROM facts AS fact WHERE fact.tenant_id = kept.tenant_id "  # noqa: S608  # names of the schema
    f"AND fact.entity_id = kept.id AND {_own('fact')}) "
    "OR EXISTS (SELECT 1 FROM memory_entities AS mention WHERE mention.tenant_id = kept.tenant_id "
    "AND mention.entity_id = kept.id "
    f"AND {memory_of_kind_exists('memory_kind', 'memory_id', _own('memory'), row='mention')}))"
)
_EVENTS_OF = " OR ".join(
    [
        "kept.memory_id IS NULL",
        *(memory_exists(table, "memory_id", _own("memory")) for table in MEMORIES),
        memory_exists("tombstones", "memory_id", _share_condition(_PRIVATE, "memory")),
    ]
)
_RUN_EXISTS = memory_exists("runs", "run_id", "memory.agent = :agent AND memory.status <> 'running'")
_OF_THE_BACKUP = f"({_EVENTS_OF}) AND (kept.run_id IS NULL OR {_RUN_EXISTS})"
TABLES: Mapping[str, Table] = {
    "memory_metadata": Table(
        columns=_columns("tenant_id key value"),
        key=("tenant_id", "key"),
        # A seal is of the events of one database, and so are the records of the server that a tenant is on.
        backed_up="key NOT LIKE 'audit_seal/%' AND key NOT LIKE 'server%'",
        share=NOTHING,
    ),
    "embedding_versions": Table(
        columns=_columns("tenant_id", of="embedding_versions"),
        key=("tenant_id", "version"),
        is_local=True,
        share=NOTHING,
    ),
    "pools": Table(
        columns=_columns("tenant_id name", created_at="time", metadata="object"),
        key=("tenant_id", "name"),
        share=NOTHING,
    ),
    "pool_members": Table(
        columns=_columns("tenant_id pool agent", joined_at="time"), key=("tenant_id", "pool", "agent"), share=NOTHING
    ),
    "entities": Table(columns=_columns(of="entities"), kind="entity", share=_WITH_REFERENCES, share_where=_MENTIONED),
    "episodes": _memories("episode", {}, asking="number"),
    "sessions_consolidations": Table(
        columns=_columns("tenant_id scope session", first_seen_at="time", consolidated_at="time"),
        key=("tenant_id", "scope", "session"),
        where="kept.consolidated_at IS NOT NULL",
        share=_PRIVATE,
        unrecorded=("first_seen_at", "consolidated_at"),
    ),
    "facts": _memories(
        "fact",
        {"entity_id": "entity", "source_episode_id": "episode", "supersedes_id": "fact"},
        local=frozenset(KEYS),
        **_columns(" ".join(KEYS)),
    ),
    "rules": _memories("rule", {"source_episode_id": "episode"}),
    "rule_applications": Table(
        columns=_columns(of="rule_applications"),
        references={"rule_id": "rule"},
        is_dependent=True,
        share=({"agent": AGENT},),
    ),
    "memory_links": Table(
        columns=_columns(
            "tenant_id source_kind source_id target_kind target_id relation", weight="number", created_at="time"
        ),
        key=("tenant_id", "source_kind", "source_id", "target_kind", "target_id", "relation"),
        references={"source_id": "source_kind", "target_id": "target_kind"},
        is_dependent=True,
        share=_WITH_REFERENCES,
    ),
    "memory_entities": Table(
        columns=_columns("tenant_id entity_id memory_kind memory_id scope", happened_at="time", created_at="time"),
        key=("tenant_id", "entity_id", "memory_kind", "memory_id"),
        references={"entity_id": "entity", "memory_id": "memory_kind"},
        is_dependent=True,
        share=({"scope": AGENT}, {"scope": GLOBAL}),
    ),
    # One that goes on is a worker's business.
    "runs": Table(
        columns=_columns(of="runs"), kind="run", backed_up="kept.status <> 'running'", share=({"agent": AGENT},)
    ),
    "memory_events": Table(
        columns=_columns(of="memory_events"),
        share=({"scope": AGENT, "actor": AGENT}, {"scope": GLOBAL, "actor": AGENT}),
        share_references={"memory_id": "memory", "run_id": "run"},
        share_where=_OF_THE_BACKUP,
    ),
    "log_sessions": Table(
        columns=_columns(
            "tenant_id id scope log session subkey",
            entries="whole",
            last_sequence="whole",
            created_at="time",
            updated_at="time",
        ),
        kind=LOG,
        share=_PRIVATE,
        unrecorded=("entries", "last_sequence", "updated_at"),
    ),
    "log_entries": Table(
        columns=_columns("tenant_id session_id scope entry_key entry", sequence="whole", created_at="time"),
        key=("tenant_id", "session_id", "sequence"),
        references={"session_id": LOG},
        is_dependent=True,
        share=_PRIVATE,
    ),
    "items": Table(
        columns=_columns(
            "tenant_id id scope namespace key value fields",
            version="whole",
            ttl_s="number",
            created_at="time",
            updated_at="time",
            expires_at="time",
            replaced_at="time",
        ),
        share=_PRIVATE,
        unrecorded=("version", "value", "fields", "ttl_s", "updated_at", "expires_at"),
    ),
    "tombstones": Table(columns=_columns("tenant_id id kind scope digest", erased_at="time"), share=_PRIVATE),
    # A machine's business and no memory; an old file would let in again who was shut out since.
    "jobs": Table(columns=_columns(of="jobs"), is_local=True, share=NOTHING),
    "access_keys": Table(columns=_columns("digest", of="access_keys"), is_local=True, share=NOTHING),
    # Of the searches, once they have the memories. Forgotten episodes: facts and rules say so themselves, an episode's
    # end may be mere time.
    DEPARTURES: Table(
        columns=_columns("tenant_id id"), references={"id": "episode"}, where="state = 3", share=_WITH_REFERENCES
    ),
    VECTORS: Table(
        columns=_columns("tenant_id id", version="whole", embedding="vector"),
        local=frozenset({"version"}),
        where="embedding IS NOT NULL AND version = :version",
        share=_WITH_REFERENCES,
    ),
}
"""All tables in an order that satisfies every reference but `supersedes_id`."""
DERIVED = frozenset({"entity_names", "entity_trigrams", "item_index", "memory_vector_packs", "speakers"})
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
        for column, value in column_defaults(find_record(name)).items()
        if column not in {*TABLES[name].key, "scope"}
    }
    for name in BACKED_UP
    if name in RECORD_HOMES
}
"""Values of columns that rows of an older schema may lack, as JSON."""


def extent_bindings(extent: Extent) -> dict[str, str]:
    """Return the values that the conditions of an extent are bound to."""
    named = {"tenant_id": extent.tenant_id, "agent": extent.agent, "user_id": extent.user}
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
    if extent.agent is not None:
        conditions += [_share_condition(table.share, "kept"), table.share_where]
    if extent.user is not None:
        conditions.append(_of_user(extent.user, table))
    return " AND ".join(conditions)


def _of_user(user: str, table: Table) -> str:
    """Build the condition for the rows of a user, or of none: by themselves, or with all that they refer to."""
    if "scope" in table.columns or "user_id" in table.columns:
        return "kept.user_id = :user_id"
    return "1 = 1" if table.is_dependent or not user else "1 = 0"


def is_of_user(name: str, row: Mapping[str, Any], user: str) -> bool:
    """Tell whether a row of a table can be one of a user's backup, by its own values."""
    table = TABLES[name]
    if "scope" in table.columns:
        return user_of(row["scope"]) == user
    return row["user_id"] == user if "user_id" in table.columns else table.is_dependent or name in {DEPARTURES, VECTORS}


def is_shared(name: str, row: Mapping[str, Any], agent: str) -> bool:
    """Tell whether a row of a table can be one of an agent's backup, by its own values."""
    values = {AGENT: agent, GLOBAL: GLOBAL_SCOPE}
    known = {**row, "scope": audience_of(row["scope"])} if "scope" in row else row
    return any(all(known[column] == values[value] for column, value in way.items()) for way in TABLES[name].share)


def own_condition(extent: Extent) -> str:
    """Build the condition for memories of an extent within its tenants."""
    conditions = [_own("memory")] if extent.agent is not None else []
    if extent.user is not None:
        conditions.append("memory.user_id = :user_id")
    return " AND ".join(conditions) or "1 = 1"


def reference_conditions(extent: Extent, name: str) -> list[str]:
    """Build a condition for each reference to a memory: it exists, and belongs to the extent."""
    own = own_condition(extent)
    conditions = [
        memory_of_kind_exists(of, column, own) if of in columns else memory_exists(MEMORIES_OF_KIND[of], column, own)
        for columns in [TABLES[name].columns]
        for column, of in TABLES[name].references.items()
        if of in columns or of in MEMORIES_OF_KIND
    ]
    if extent.user:
        conditions += [entity_exists(column) for column, of in TABLES[name].references.items() if of == "entity"]
    return conditions


def entity_exists(column: str) -> str:
    """Build the condition that a column names an entity of the user's own registry; that of the tenant is for all."""
    return memory_exists("entities", column, "memory.user_id = :user_id")
