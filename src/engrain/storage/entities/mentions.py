"""Mentions of entities by memories: noted as they are stored, or later."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engrain.domain import events
from engrain.domain.records import Kind, MemoryRecord, format_time
from engrain.errors import NotFound
from engrain.storage import selection
from engrain.storage.entities import registry
from engrain.storage.write import arrivals, updates

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from engrain.storage.unit_of_work import UnitOfWork

_SET_METADATA: Mapping[Kind, str] = {
    "episode": "set_episode_metadata",
    "fact": "set_fact_metadata",
    "rule": "set_rule_metadata",
}


def put_with_mentions(
    work: UnitOfWork, memories: Sequence[MemoryRecord], mentioned: Mapping[str, Collection[str]]
) -> list[MemoryRecord]:
    """Put memories whose slots are locked, and note that they mention entities, by memory id.

    This unit has locked the entities (`lookup.find_named`) and knows that they were not merged. A memory that was there
    before mentions none of them.

    Raises:
        InvalidInput: as `put`; nothing was written.
    """
    added = arrivals.put_unlocked(work, memories)
    for memory in added:
        note_mentions(work, memory, mentioned.get(memory.id, ()))
    return added


def mention(work: UnitOfWork, memory_id: str, entity_ids: Collection[str]) -> list[str]:
    """Add mentions of entities to a memory, with one event `entities_mentioned`; returns the new ones, sorted.

    Each adds one to the entity's mentions, for callers who see the memory.

    Raises:
        NotFound: the caller sees no such memory.
        InvalidInput: the tenant does not know one of the entities, or it was merged; nothing was written.
    """
    known = registry.lock_entities(work, work.tenant_id, entity_ids)
    seen = updates.lock_one(work, memory_id)
    if seen is None:
        denial = f"no memory {memory_id} is visible to agent {work.agent}"
        raise NotFound(f"{denial}; only what is there can mention somebody")
    memory = seen[1]
    registry.check_unmerged(entity_ids, known, of=memory.user_id)
    return note_mentions(work, memory, entity_ids)


def note_mentions(work: UnitOfWork, memory: MemoryRecord, entity_ids: Collection[str]) -> list[str]:
    """Record the mentions of a memory, all locked by this transaction, and return the new ids, sorted."""
    if not entity_ids:
        return []
    rows = work.rows(
        "add_mentions",
        tenant_id=memory.tenant_id,
        ids=work.dialect.listed(sorted(set(entity_ids))),
        kind=memory.kind,
        memory_id=memory.id,
        scope=memory.scope,
        user_id=memory.user_id or "",
        happened_at=work.dialect.time(memory.happened_at),
        at=work.at,
    )
    new = sorted(id_ for (id_,) in rows)
    if new:
        work.record(events.entities_mentioned(work.act, memory, new, work.ids))
    return new


def enrich(work: UnitOfWork, memory_id: str, entity_ids: Collection[str]) -> list[str]:
    """`mention` entities and set `metadata.enriched_at` of the memory to now, with an event `memory_enriched`.

    Raises:
        NotFound: the caller sees no such memory.
        InvalidInput: an entity is unknown or was merged; nothing was written.
    """
    new = mention(work, memory_id, entity_ids)
    for _, memory in selection.load_visible(work, [memory_id]):
        metadata = {**memory.metadata, "enriched_at": format_time(work.act.at)}
        updates.update_row(work, _SET_METADATA[memory.kind], memory, metadata=work.dialect.json(metadata))
        work.record(events.memory_enriched(work.act, memory, work.ids))
    return new
