"""Search for memories by the entities that they mention.

A mention carries its memory's scope and time, which never change: so the newest that a caller may see are read along an
index, and what it may not see costs nothing and shows in nothing.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engrain.domain.records import Fact, Kind
from engrain.domain.requests import Candidate, Request
from engrain.domain.text.names import name_key
from engrain.storage import selection
from engrain.storage.filters import HAPPENED_AT, compile_request
from engrain.storage.rows import KIND_TABLES
from engrain.storage.search.namespaces import load_caller_space, load_search_space

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from engrain.domain.entities.registry import Mentions
    from engrain.storage.unit_of_work import Snapshot

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


def find_mentioning(snapshot: Snapshot, request: Request, names: Collection[str], limit: int) -> list[Candidate]:
    """Find memories that match and mention an entity that one of `names` names, canonically or as an alias.

    Names are compared by `entities.registry.name_key`. A memory mentions the entities that `mention` added to it, and a
    fact the one it is about. raw = number of the named entities that it mentions; 0.5 for a memory that mentions none
    and is linked to one that does, both visible to the caller. Best first, ties newest (happened_at, id). Only the
    newest 2,000 mentions of each entity, by kind and scope, are looked at.
    """
    keys = sorted({name_key(name) for name in names} - {""})
    if not keys or limit <= 0:
        return []
    known = snapshot.registry_bindings()
    entities = [id_ for (id_,) in snapshot.rows("named_entities", **known, names=snapshot.dialect.listed(keys))]
    mentioned = _count_mentions(snapshot, request, entities) if entities else {}
    if not mentioned:
        return []
    found = _match(snapshot, request, mentioned)
    if len(found) < limit:
        linked = snapshot.rows("linked_to", tenant_id=snapshot.tenant_id, ids=snapshot.dialect.listed(mentioned))
        found += _match(snapshot, request, {id_: _LINKED for (id_,) in linked if id_ not in mentioned})
    return [Candidate(match.doc, match.raw) for match in sorted(found, reverse=True)[:limit]]


def load_mentions(snapshot: Snapshot, request: Request, entity_id: str, limit: int) -> Mentions:
    """Load the newest `limit` memories that mention an entity or are about it, live or not, whatever the filter.

    Of each kind and scope the newest 2,000 are looked at; the span is of all.
    """
    from engrain.domain.entities.registry import Mentions

    ids = sorted(_count_mentions(snapshot, request, [entity_id]))
    found = [memory for _, memory in selection.load_visible(snapshot, ids)]
    found.sort(key=lambda memory: (memory.happened_at, memory.id), reverse=True)
    memories = found[: max(limit, 0)]
    whom: defaultdict[str, list[str]] = defaultdict(list)
    shown = snapshot.dialect.listed([memory.id for memory in memories])
    for memory_id, mentioned in snapshot.rows("mentioned_entities", tenant_id=snapshot.tenant_id, ids=shown):
        whom[memory_id].append(mentioned)
    for memory in memories:
        if isinstance(memory, Fact) and memory.entity_id is not None and memory.entity_id not in whom[memory.id]:
            whom[memory.id].append(memory.entity_id)
    span = snapshot.rows("seen_span", **snapshot.bindings(), entity_id=entity_id)
    times = [snapshot.dialect.moment(moment) for row in span for moment in row if moment is not None]
    return Mentions(
        memories=tuple(memories),
        mentions={id_: tuple(sorted(ids)) for id_, ids in whom.items() if ids},
        first_at=min(times, default=None),
        last_at=max(times, default=None),
    )


def _count_mentions(snapshot: Snapshot, request: Request, entities: Sequence[str]) -> Mapping[str, float]:
    """Count the entities that each visible memory mentions, of whatever kind and live or not."""
    places = load_caller_space(snapshot, request.now).places
    bound: dict[str, Any] = {"tenant_id": snapshot.tenant_id, "most": MOST_MENTIONS}
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
    for id_, entity_id in snapshot.ask_parts(parts, bound):
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


def _match(snapshot: Snapshot, request: Request, raws: Mapping[str, float]) -> list[_Match]:
    """Find which of some memories match the request, with their numbers."""
    parts: list[str] = []
    bound: dict[str, Any] = {}
    for kind in load_search_space(snapshot, request).kinds if raws else ():
        condition, values = compile_request(snapshot, request, kind)
        if values:
            table = KIND_TABLES[kind]
            bound |= values
            parts.append(
                f"SELECT {HAPPENED_AT[kind]}, id, doc FROM {table} INDEXED BY {table}_id "  # noqa: S608  # no input in it
                f"WHERE id IN :ids AND {condition}"
            )
    if not parts:
        return []
    bound["ids"] = snapshot.dialect.listed(raws)
    return [_Match(raws[row[1]], *row) for row in snapshot.ask(" UNION ALL ".join(parts), bound)]
