"""Linking of memories to the entities they mention, and enrichment: reading them again for more names."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from engrain.agent.reads.lookups import get_memory
from engrain.agent.wiring.acts import new_act
from engrain.domain.access.scopes import GLOBAL_SCOPE, audience_of
from engrain.domain.entities.registry import Enrichment, new_names
from engrain.domain.records import Caller, Entity, Episode, Fact, MemoryRecord
from engrain.engines.name_finders.regex import RegexNames
from engrain.entities import linking, recognition
from engrain.errors import InvalidInput, NotFound
from engrain.storage.entities import lookup, mentions, registry
from engrain.storage.transaction import repeatable
from engrain.storage.write import arrivals

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from engrain.agent.wiring.parts import Parts
    from engrain.domain.ports import NameFinder
    from engrain.domain.requests import Request
    from engrain.storage.unit_of_work import UnitOfWork

_SPELLING = RegexNames()
_NO_FINDER = "no name finder is configured: set entities.name_finder (such as spacy), or ask for strategy fast"
_NOT_WIRED = "no name finder is configured, so only spelling could be read: set entities.name_finder (such as spacy)"


@repeatable
def put(work: UnitOfWork, parts: Parts, memories: Sequence[MemoryRecord]) -> list[MemoryRecord]:
    """Store memories as `arrivals.put` does; with the setting `entities.link` fast, link them to whom they mention.

    What everybody sees adds names to the registry.
    """
    if not _may_name(parts, memories):
        return arrivals.put(work, memories)
    work.backend.lock(work, (), [memory for memory in memories if isinstance(memory, Fact)])
    return mentions.put_with_mentions(work, memories, find_mentioned(work, parts, memories))


@repeatable
def put_turn(work: UnitOfWork, parts: Parts, turn: Episode) -> Episode | None:
    """Store one episode as `put` does, and return it as stored; None where its id is taken."""
    if not _may_name(parts, (turn,)):
        return arrivals.put_turn(work, turn)
    return next((stored for stored in put(work, parts, [turn]) if isinstance(stored, Episode)), None)


def find_mentioned(work: UnitOfWork, parts: Parts, memories: Sequence[MemoryRecord]) -> dict[str, list[str]]:
    """Find and lock whom new memories mention, by memory id, with the setting `entities.link` fast.

    Before it their slots are locked, and after it other memories: in this order nobody waits in a circle.
    """
    new = [
        (memory, _find_spelled(memory))
        for memory in memories
        if _may_name(parts, [memory]) and work.one("has_memory", tenant_id=memory.tenant_id, id=memory.id) is None
    ]
    return _find_entities(work, parts, new)[0]


def link(work: UnitOfWork, parts: Parts, memory: MemoryRecord) -> None:
    """Link a memory that is stored to whom it mentions, with the setting `entities.link` fast."""
    if _may_name(parts, [memory]):
        mentioned, _ = _find_entities(work, parts, [(memory, _find_spelled(memory))])
        mentions.mention(work, memory.id, mentioned[memory.id])


def enrich(parts: Parts, caller: Caller, ids: Sequence[str], *, accurate: bool, publish: bool) -> Enrichment:
    """Read each memory, link it and stamp it, one transaction each; memories enriched before one that fails stay so."""
    if accurate and parts.name_finder is None:
        return Enrichment(skipped=_NO_FINDER)
    finders = [_SPELLING, parts.name_finder] if accurate and parts.name_finder is not None else [_SPELLING]
    total = Enrichment()
    for id_ in ids:
        memory = parts.store.read(caller, get_memory, id_)
        total = _enrich_one(parts, caller, memory, finders=finders, before=total, publish=publish)
    return total


def enrich_waiting(
    parts: Parts, request: Request, *, most_entities: int, limit: int, publish: bool, progress: Callable[[int], None]
) -> Enrichment:
    """Enrich memories that mention few entities and were never enriched, the newest first, one transaction each."""
    if parts.name_finder is None:
        return Enrichment(skipped=_NOT_WIRED)
    caller, finders = request.caller, [_SPELLING, parts.name_finder]
    total = Enrichment()
    waiting = parts.store.read(caller, lookup.find_unenriched, request, most_entities=most_entities, limit=limit)
    for number, memory in enumerate(waiting, 1):
        with suppress(NotFound):  # erased since it was read
            total = _enrich_one(parts, caller, memory, finders=finders, before=total, publish=publish)
        progress(number)
    return total


def _enrich_one(
    parts: Parts,
    caller: Caller,
    memory: MemoryRecord,
    *,
    finders: Sequence[NameFinder],
    before: Enrichment,
    publish: bool,
) -> Enrichment:
    """Enrich a memory; return the counts of those before it and its own."""
    named = linking.extract_entities(recognition.find_names(memory.content, finders))  # a finder may take its time

    def write(work: UnitOfWork) -> tuple[int, int]:
        mentioned, created = _find_entities(work, parts, [(memory, named)], publish=publish)
        return len(mentions.enrich(work, memory.id, mentioned[memory.id])), created

    links, created = parts.store.write(new_act(parts, caller), write)
    return Enrichment(enriched=before.enriched + 1, links=before.links + links, created=before.created + created)


def _may_name(parts: Parts, memories: Sequence[MemoryRecord]) -> bool:
    """Return whether memories are to be linked and can hold a name; most turns hold none, which saves five patterns."""
    if parts.settings.entities.link != "fast":
        return False
    for memory in memories:
        text = memory.content
        if "@" in text or "#" in text or "://" in text or "www." in text.lower():
            return True
    return False


def _find_spelled(memory: MemoryRecord) -> list[linking.NamedEntity]:
    """Find the names in a memory that their spelling gives away; dates are nobody."""
    return linking.extract_entities(recognition.find_names(memory.content, [_SPELLING]))


def _find_entities(
    work: UnitOfWork,
    parts: Parts,
    named: Sequence[tuple[MemoryRecord, Sequence[linking.NamedEntity]]],
    *,
    publish: bool = False,
) -> tuple[dict[str, list[str]], int]:
    """Return the entities that the names of memories mean, by memory id, which this unit locks, and how many are new.

    A registry is the tenant's or a user's: a memory that not every agent sees adds no name to it, unless it is to
    `publish`; nor does one that the caller may not change.

    Raises:
        Forbidden: the caller has no right to `publish`.
    """
    names = [name for _, found in named for one in found for name in (one.canonical_name, *one.spellings)]
    known = _find_named(work, names)
    mentioned: dict[str, list[str]] = {}
    created = 0
    for memory, found in named:
        is_public = audience_of(memory.scope) == GLOBAL_SCOPE and work.act.caller.may_change(memory.scope)
        adds_names = publish or is_public
        entities: list[Entity] = []
        for one in found:
            entity = linking.match_entity(one, registry.known_to(known, memory.user_id))
            if entity is None and adds_names:
                entity = _create(work, parts, one, memory.user_id or "")
                created += entity is not None
            elif entity is not None and adds_names and entity.user_id == (memory.user_id or ""):
                _add_spellings(work, entity, one)
            if entity is not None:
                entities.append(entity)
        mentioned[memory.id] = list(dict.fromkeys(entity.id for entity in entities))
        known = [*known, *entities]
    return mentioned, created


def _find_named(work: UnitOfWork, names: Sequence[str]) -> list[Entity]:
    """Find the entities of some names; nobody merges or removes them until this unit ends."""
    return lookup.find_named(work, names, lock=work.dialect.hold) if names else []


def _create(work: UnitOfWork, parts: Parts, one: linking.NamedEntity, user_id: str) -> Entity | None:
    """Create an entity; None where the name is taken by what it does not mean."""
    new = Entity(
        id=parts.ids(),
        tenant_id=work.tenant_id,
        user_id=user_id,
        canonical_name=one.canonical_name,
        entity_type=one.entity_type,
        aliases=linking.other_spellings(one),
        created_at=work.act.at,
        updated_at=work.act.at,
    )
    try:
        return registry.put_entity(work, new)
    except InvalidInput:  # somebody took it since it was looked up, or a tombstone has it that leads nowhere
        return linking.match_entity(one, _find_named(work, [one.canonical_name]))


def _add_spellings(work: UnitOfWork, entity: Entity, one: linking.NamedEntity) -> None:
    """Add the spellings of a memory to an entity's aliases, besides those that others add meanwhile."""
    new = new_names((entity.canonical_name, *entity.aliases), linking.all_spellings(one))
    if new:
        registry.change_entity(work, entity.id, also=new)
