"""Mentions of entities by memories, and the search for memories by them.

A mention carries its memory's scope and time, which never change: so the newest that a caller may see are read along an
index, and what it may not see costs nothing and shows in nothing.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engrain.domain.entities.registry import Mentions, merged_into, name_key
from engrain.domain.records import Fact
from engrain.domain.requests import Candidate
from engrain.storage import selection
from engrain.storage.entities import lookup, registry
from engrain.storage.filters import HAPPENED_AT, caller_bindings, compile_request
from engrain.storage.rows import KIND_TABLES
from engrain.storage.search.namespaces import load_caller_space, load_search_space

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from engrain.domain.records import Entity, Kind, MemoryRecord
    from engrain.domain.requests import Request
    from engrain.storage.transaction import Transaction
    from engrain.storage.write.memories import MemoryWrites

# Of an entity that everybody mentions, the newest so many of each kind and scope are looked at.
MOST_MENTIONS = 2_000
_LINKED = 0.5


@dataclass(frozen=True, slots=True, order=True)
class _Match:
    """A memory that matches, in its place: larger stands first."""

    raw: float
    happened_at: Any
    id: str
    doc: int


def put_with_mentions(
    unit: MemoryWrites,
    memories: Sequence[MemoryRecord],
    names: Collection[str],
    whom: Callable[[Sequence[Entity]], Mapping[str, Collection[str]]],
) -> list[MemoryRecord]:
    """Insert memories with their mentions, and return those that were new, as stored."""
    caller = unit.act.caller
    chosen = whom(lookup.find_named(unit.tx, caller, names)) if names else {}
    every = {id_ for ids in chosen.values() for id_ in ids}
    # Before any memory is, as whoever merges them does.
    known = registry.lock_entities(unit.tx, caller.tenant_id, every)
    standing = {id_ for id_, entity in known.items() if merged_into(entity) is None}
    added = unit.add(memories)
    for memory in added:
        unit.note_mentions(memory, standing & set(chosen.get(memory.id, ())))
    return added


def find_mentioning(tx: Transaction, request: Request, names: Collection[str], limit: int) -> list[Candidate]:
    """Find memories that match and mention an entity of those names; best first, then newest (happened_at, id)."""
    keys = sorted({name_key(name) for name in names} - {""})
    if not keys or limit <= 0:
        return []
    tenant = {"tenant_id": request.caller.tenant_id}
    entities = [id_ for (id_,) in tx.rows("named_entities", **tenant, names=tx.dialect.listed(keys))]
    mentioned = _count_mentions(tx, request, entities) if entities else {}
    if not mentioned:
        return []
    found = _match(tx, request, mentioned)
    if len(found) < limit:
        linked = tx.rows("linked_to", **tenant, ids=tx.dialect.listed(mentioned))
        found += _match(tx, request, {id_: _LINKED for (id_,) in linked if id_ not in mentioned})
    return [Candidate(match.doc, match.raw) for match in sorted(found, reverse=True)[:limit]]


def load_mentions(tx: Transaction, request: Request, entity_id: str, limit: int) -> Mentions:
    """Load the newest memories that mention an entity, live or not, with their mentions and the span of all."""
    caller = request.caller
    ids = sorted(_count_mentions(tx, request, [entity_id]))
    found = [memory for _, memory in selection.load_visible(tx, caller, ids)]
    found.sort(key=lambda memory: (memory.happened_at, memory.id), reverse=True)
    memories = found[: max(limit, 0)]
    whom: defaultdict[str, list[str]] = defaultdict(list)
    shown = tx.dialect.listed([memory.id for memory in memories])
    for memory_id, mentioned in tx.rows("mentioned_entities", tenant_id=caller.tenant_id, ids=shown):
        whom[memory_id].append(mentioned)
    for memory in memories:
        if isinstance(memory, Fact) and memory.entity_id is not None and memory.entity_id not in whom[memory.id]:
            whom[memory.id].append(memory.entity_id)
    span = tx.rows("seen_span", **caller_bindings(caller, tx.dialect), entity_id=entity_id)
    times = [tx.dialect.moment(moment) for row in span for moment in row if moment is not None]
    return Mentions(
        memories=tuple(memories),
        mentions={id_: tuple(sorted(ids)) for id_, ids in whom.items() if ids},
        first_at=min(times, default=None),
        last_at=max(times, default=None),
    )


def _count_mentions(tx: Transaction, request: Request, entities: Sequence[str]) -> Mapping[str, float]:
    """Count the entities that each visible memory mentions, of whatever kind and live or not."""
    places = load_caller_space(tx, request.caller, request.now).places
    bound: dict[str, Any] = {"tenant_id": request.caller.tenant_id, "most": MOST_MENTIONS}
    bound |= {f"entity_{number}": entity for number, entity in enumerate(entities)}
    bound |= {f"scope_{number}": scope for number, (_, scope) in enumerate(places)}
    parts = [
        part
        for entity in range(len(entities))
        for place, (kind, _) in enumerate(places)
        for part in _mentions_of_scope(
            kind, f"tenant_id = :tenant_id AND entity_id = :entity_{entity}", f"scope = :scope_{place}"
        )
    ]
    named: defaultdict[str, set[str]] = defaultdict(set)
    for id_, entity_id in tx.ask_parts(parts, bound):
        named[id_].add(entity_id)
    return {id_: float(len(of)) for id_, of in named.items()}


def _mentions_of_scope(kind: Kind, whom: str, where: str) -> Iterable[str]:
    """The newest of one kind and scope that mention one entity: noted by somebody, and facts that are about it."""
    yield (
        f"SELECT * FROM (SELECT memory_id, entity_id FROM memory_entities WHERE {whom} AND memory_kind = '{kind}' "  # noqa: S608  # no input in it
        f"AND {where} ORDER BY happened_at DESC, memory_id DESC LIMIT :most) AS part"
    )
    if kind == "fact":
        yield (
            f"SELECT * FROM (SELECT id, entity_id FROM facts INDEXED BY facts_about WHERE {whom} AND {where} "  # noqa: S608  # no input in it
            f"ORDER BY {HAPPENED_AT[kind]} DESC, id DESC LIMIT :most) AS part"
        )


def _match(tx: Transaction, request: Request, raws: Mapping[str, float]) -> list[_Match]:
    """Those of some memories that match the request, with their numbers."""
    parts: list[str] = []
    bound: dict[str, Any] = {}
    for kind in load_search_space(tx, request).kinds if raws else ():
        condition, values = compile_request(request, kind, tx.dialect)
        if values:
            table = KIND_TABLES[kind]
            bound |= values
            parts.append(
                f"SELECT {HAPPENED_AT[kind]}, id, doc FROM {table} INDEXED BY {table}_id "  # noqa: S608  # no input in it
                f"WHERE id IN :ids AND {condition}"
            )
    if not parts:
        return []
    bound["ids"] = tx.dialect.listed(raws)
    return [_Match(raws[row[1]], *row) for row in tx.ask(" UNION ALL ".join(parts), bound)]
