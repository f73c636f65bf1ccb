"""Lookup of entities by id, name or likeness, and of the facts about them."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from engrain.domain.entities.registry import merged_into
from engrain.domain.text.names import name_key
from engrain.domain.text.similarity import trigrams
from engrain.storage import selection
from engrain.storage.entities import registry
from engrain.storage.filters import HAPPENED_AT, compile_request
from engrain.storage.rows import KIND_TABLES
from engrain.storage.search.namespaces import load_search_space

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from engrain.domain.records import Entity, EntityType, Fact, Kind, MemoryRecord
    from engrain.domain.requests import Request
    from engrain.storage.unit_of_work import Snapshot

# The share of a name's trigrams that a name like it has at least: below it the similarity is less than 0.3 too.
_LEAST_SHARED = 0.3
# More than the longest run of tombstones that one page should stop at.
_PAGE = 200
_READ_AGAIN = frozenset({"episode", "fact"})
_KNOWN = "tenant_id = :tenant_id AND user_id IN :users"


def load_entities(snapshot: Snapshot, ids: Sequence[str]) -> list[Entity]:
    """Load entities of the caller's tenant, and of its user, in the order of `ids`; unknown ids are absent.

    `mention_count` is the stored count, and one for every mention in a memory the caller sees.
    """
    bound = {**snapshot.registry_bindings(), "ids": snapshot.dialect.listed(ids)}
    entities = snapshot.load(
        snapshot.statements.records.entities, f"FROM entities WHERE {_KNOWN} AND id IN :ids", bound
    )
    found = {entity.id: entity for entity in entities}
    if found:
        counted = snapshot.rows("count_mentions", **snapshot.bindings(), ids=snapshot.dialect.listed(found))
        found |= {id_: replace(found[id_], mention_count=found[id_].mention_count + count) for id_, count in counted}
    return [found[id_] for id_ in dict.fromkeys(ids) if id_ in found]


def list_entities(
    snapshot: Snapshot, *, entity_type: EntityType | None = None, after: tuple[str, str] = ("", ""), limit: int
) -> list[Entity]:
    """List entities that were not merged, by canonical name, type and user, after the `entity_position` of one."""
    bound: dict[str, Any] = {**snapshot.registry_bindings(), "page": max(limit, _PAGE)}
    of_type = ""
    if entity_type is not None:
        bound["entity_type"] = entity_type
        of_type = "AND entity_type = :entity_type"
    columns = snapshot.statements.records.entities.columns
    statement = (
        f"SELECT {columns} FROM entities WHERE {_KNOWN} "  # noqa: S608  # no input in it
        f"AND (canonical_name, entity_type, user_id) > (:name, :type, :user) {of_type} "
        "ORDER BY canonical_name, entity_type, user_id LIMIT :page"
    )
    found: list[str] = []
    while len(found) < limit:
        entity_type_after, _, user_after = after[1].partition("/")
        rows = snapshot.ask(statement, {**bound, "name": after[0], "type": entity_type_after, "user": user_after})
        page = [snapshot.statements.records.entities.record(row) for row in rows]
        found += [entity.id for entity in page if merged_into(entity) is None]
        if len(page) < bound["page"]:
            break
        after = entity_position(page[-1])
    return load_entities(snapshot, found[: max(limit, 0)])


def entity_position(entity: Entity) -> tuple[str, str]:
    """Return where an entity stands in `list_entities`."""
    return entity.canonical_name, f"{entity.entity_type}/{entity.user_id}" if entity.user_id else entity.entity_type


def find_named(snapshot: Snapshot, names: Collection[str], *, lock: str | None = None) -> list[Entity]:
    """Find entities with one of these names, canonically or as an alias, by id.

    Includes tombstones whose canonical name is exactly one of them, and the entities these were merged into. Under one
    of the dialect's locks they are as they stand once they are locked, and without what only a caller sees of them.
    """
    tenant = snapshot.registry_bindings()
    keys = sorted({name_key(name) for name in names} - {""})
    ids = {id_ for (id_,) in snapshot.rows("named_entities", **tenant, names=snapshot.dialect.listed(keys))}
    ids |= {
        id_ for (id_,) in snapshot.rows("entities_called", **tenant, names=snapshot.dialect.listed(sorted(set(names))))
    }
    if lock:  # of a server: whoever locks several takes them in the order of their ids
        ids = set(_follow_merges(snapshot, ids, lock=""))
    found = _follow_merges(snapshot, ids, lock=lock)
    return [found[id_] for id_ in sorted(found)]


def _follow_merges(snapshot: Snapshot, ids: Collection[str], *, lock: str | None) -> dict[str, Entity]:
    """Load entities, and those that they were merged into."""
    found: dict[str, Entity] = {}
    while ids:
        if lock is None:
            new = load_entities(snapshot, sorted(ids))
        else:
            new = list(registry.lock_entities(snapshot, snapshot.tenant_id, ids, lock=lock).values())
        found |= {entity.id: entity for entity in new}
        ids = {into for entity in new if (into := merged_into(entity)) is not None} - found.keys()
    return found


def find_resembling(snapshot: Snapshot, name: str, *, fuzzy: bool, limit: int) -> list[Entity]:
    """Find entities that `name_key` of a name may mean, by id: candidates, for `entities.resolution` to judge.

    All entities of that name; those with a name that contains it, of the first `limit` such names; with `fuzzy` the
    `limit` with the most of its trigrams (of equals the smaller id), at least 0.3 of them.
    """
    key = name_key(name)
    if not key:
        return []
    known = snapshot.registry_bindings()
    bound = {**known, "limit": max(limit, 0)}
    ids = {id_ for (id_,) in snapshot.rows("named_entities", **known, names=snapshot.dialect.listed([key]))}
    ids |= {id_ for _, id_ in snapshot.rows("names_holding", **bound, pattern=f"%{_escape_pattern(key)}%")}
    wanted = trigrams(key) if fuzzy else frozenset()
    if wanted:
        least = math.ceil(_LEAST_SHARED * len(wanted))
        rows = snapshot.rows("alike_entities", **bound, trigrams=snapshot.dialect.listed(sorted(wanted)), least=least)
        ids |= {id_ for id_, _ in rows}
    return load_entities(snapshot, sorted(ids))


def load_facts_about(snapshot: Snapshot, entity_ids: Collection[str], limit: int) -> list[Fact]:
    """Load the newest `limit` facts about each entity the caller sees, live or not; newest (happened_at, id) first."""
    if not entity_ids or limit <= 0:
        return []
    bound = {**snapshot.bindings(), "entities": snapshot.dialect.listed(entity_ids), "limit": limit}
    rows = snapshot.statements.records.kinds["fact"]
    happened = HAPPENED_AT["fact"]
    newest = f"row_number() OVER (PARTITION BY entity_id ORDER BY {happened} DESC, id DESC) AS place"
    statement = (
        f"SELECT {rows.columns} FROM (SELECT {rows.columns}, {newest} FROM facts INDEXED BY facts_about "  # noqa: S608  # no input in it
        "WHERE tenant_id = :tenant_id AND entity_id IN :entities AND scope IN :scopes) AS n"
        f" WHERE place <= :limit ORDER BY {happened} DESC, id DESC"
    )
    return [rows.record(row) for row in snapshot.ask(statement, bound)]


def find_unenriched(snapshot: Snapshot, request: Request, *, most_entities: int, limit: int) -> list[MemoryRecord]:
    """Find the newest episodes and facts that match, lack `metadata.enriched_at` and mention at most so many."""
    parts: list[str] = []
    bound: dict[str, Any] = {"most_entities": most_entities, "limit": limit}
    places = [place for place in load_search_space(snapshot, request).places if place[0] in _READ_AGAIN]
    for place, (kind, scope) in enumerate(places if limit > 0 else ()):
        condition, values = compile_request(snapshot, request, kind, scope=f"scope = :scope_{place}")
        if values:
            bound |= {**values, f"scope_{place}": scope}
            parts.append(_unenriched_of_scope(kind, condition))
    rows = sorted(map(tuple, snapshot.ask_parts(parts, bound)), reverse=True)
    docs = [doc for *_, doc in rows[: max(limit, 0)]]
    found = selection.load_docs(snapshot, docs, [snapshot.tenant_id]) if docs else {}
    return [found[doc] for doc in docs if doc in found]


def _unenriched_of_scope(kind: Kind, condition: str) -> str:
    """The first of one kind and scope."""
    table, happened = KIND_TABLES[kind], HAPPENED_AT[kind]
    return (
        f"SELECT * FROM (SELECT {happened} AS happened_at, id, doc FROM {table} INDEXED BY {table}_time "  # noqa: S608  # no input in it
        f"WHERE {condition} AND NOT enriched AND (SELECT count(*) FROM memory_entities "
        f"WHERE memory_entities.tenant_id = :tenant_id AND memory_kind = '{kind}' AND memory_id = {table}.id"
        f") <= :most_entities ORDER BY {happened} DESC, id DESC LIMIT :limit) AS part"
    )


def _escape_pattern(text: str) -> str:
    """A text in a LIKE pattern, as itself."""
    return text.replace("!", "!!").replace("%", "!%").replace("_", "!_")
