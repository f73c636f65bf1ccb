"""Removal of entities from the registry, with their names and mentions; facts about them lose their entity.

Locks as `storage.entities.registry`: entities in the order of their ids, then the memories that refer to them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from engrain.domain import events
from engrain.domain.entities import merges
from engrain.domain.entities.merges import Conflict
from engrain.domain.entities.registry import merged_into
from engrain.storage import selection
from engrain.storage.entities import registry
from engrain.storage.write import periods, removal

if TYPE_CHECKING:
    from collections.abc import Collection

    from engrain.domain.records import Entity, Fact
    from engrain.storage.unit_of_work import UnitOfWork


def remove_entities(work: UnitOfWork, ids: Collection[str], *, forgetting: Collection[str] = ()) -> list[Entity]:
    """`forget` memories, and remove entities from the registry: all or nothing.

    Their mentions are removed, and so are the entities that were merged into them. Facts about them, of whatever scope,
    keep the name of their subject; where another active fact is in that slot, the one of lower confidence is superseded
    (of equals that of the entity). Returns the entities as before, without unknown ids and tombstones. An event
    `entity_removed` lists, in each scope, the facts of that scope.

    Raises:
        InvalidInput, Forbidden: the caller may not change what is everybody's, and one of them is; nothing was written.
    """
    tenant_id = work.tenant_id
    lock = work.dialect.lock_whole
    if lock:  # of a server: whoever locks several takes them in the order of their ids
        registry.lock_entities(work, tenant_id, {*ids, *_load_merged(work, ids, lock="")}, lock=lock)
    known = registry.lock_entities(work, tenant_id, ids, lock=lock)
    going = [entity for entity in known.values() if merged_into(entity) is None]
    registry.check_own(work, [entity for entity in going if not entity.user_id])
    taken_in = _load_merged(work, {entity.id for entity in going}, lock=lock)
    for id_ in sorted(set(forgetting)):
        removal.forget(work, id_)
    gone = {entity.id: entity for entity in going} | taken_in
    facts = _detach_facts(work, gone)
    for entity in gone.values():
        registry.remove_row(work, entity)
    for entity in going:
        about = [fact for fact in facts if fact.entity_id == entity.id]
        for event in events.entity_removed(work.act, entity, about, work.ids):
            work.record(event)
    return going


def _load_merged(work: UnitOfWork, ids: Collection[str], *, lock: str) -> dict[str, Entity]:
    """The tombstones of those that some entities took in, and of those that these had taken in, by id."""
    tenant_id = work.tenant_id
    found: dict[str, Entity] = {}
    into = set(ids)
    while into:
        merged = {payload["source_entity_id"] for id_ in into for payload in registry.load_merges(work, tenant_id, id_)}
        there = registry.lock_entities(work, tenant_id, merged - found.keys(), lock=lock)
        new = {id_: entity for id_, entity in there.items() if merged_into(entity) in into}
        found |= new
        into = set(new)
    return found


def _detach_facts(work: UnitOfWork, ids: Collection[str]) -> list[Fact]:
    """Let the facts about some entities be about nobody, each in a place of its own; the facts as they were."""
    tenant_id = work.tenant_id
    facts = registry.lock_facts_about(work, tenant_id, ids)
    over = {id_ for id_, (_, fact) in facts.items() if merges.dated_slot(fact, work.act.at) is None}
    if over:
        work.run("unattribute_facts", tenant_id=tenant_id, ids=work.dialect.listed(sorted(over)))
    for doc, fact in facts.values():
        if fact.id not in over:
            _make_room(work, doc, replace(fact, entity_id=None))
            work.run("unattribute_facts", tenant_id=tenant_id, ids=work.dialect.listed([fact.id]))
    return [fact for _, fact in facts.values()]


def _make_room(work: UnitOfWork, doc: int, fact: Fact) -> None:
    """Supersede a fact or one of the slot that it comes to, or end one where the other begins."""
    slot = selection.load_slot(work, fact, lock=work.dialect.lock)
    others = [row for row in slot if row[1].id != fact.id]
    at = work.act.at
    for row in [row for row in others if merges.dated_slot(row[1], at) == merges.dated_slot(fact, at)]:
        other_doc, other = row
        if fact.confidence <= other.confidence:
            registry.supersede_loser(work, doc, Conflict(fact, other))
            return
        registry.supersede_loser(work, other_doc, Conflict(other, fact))
        others.remove(row)
    periods.fit_among(work, doc, fact, others)
