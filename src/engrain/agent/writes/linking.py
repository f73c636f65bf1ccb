"""Linking of memories to the entities they mention, and enrichment: reading them again for more names."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from engrain import metrics
from engrain.agent.reads.lookups import get_memory
from engrain.agent.wiring.acts import new_act, retry_on_registry_change
from engrain.domain.entities.registry import Enrichment, new_names
from engrain.domain.records import GLOBAL_SCOPE, Entity
from engrain.engines.name_finders.regex import RegexNames
from engrain.entities import linking, recognition
from engrain.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from engrain.agent.wiring.parts import Parts
    from engrain.domain.ports import NameFinder, Store
    from engrain.domain.records import Caller, MemoryRecord
    from engrain.domain.requests import Act, Request

_SPELLING = RegexNames()
_NO_FINDER = "no name finder is configured: set entities.name_finder (such as spacy), or ask for strategy fast"
_NOT_WIRED = "no name finder is configured, so only spelling could be read: set entities.name_finder (such as spacy)"


def enrich(parts: Parts, caller: Caller, ids: Sequence[str], *, accurate: bool, publish: bool) -> Enrichment:
    """Read each memory, link it and stamp it, one transaction each; memories enriched before one that fails stay so."""
    if accurate and parts.name_finder is None:
        return Enrichment(skipped=_NO_FINDER)
    finders = [_SPELLING, parts.name_finder] if accurate and parts.name_finder is not None else [_SPELLING]
    act = new_act(parts, caller)
    total = Enrichment()
    for id_ in ids:
        memory = parts.store.read(caller, get_memory, id_)
        total = _enrich_one(parts, act, memory, finders=finders, before=total, publish=publish)
    return total


def enrich_waiting(
    parts: Parts, request: Request, *, most_entities: int, limit: int, publish: bool, progress: Callable[[int], None]
) -> Enrichment:
    """Enrich memories that mention few entities and were never enriched, the newest first, one transaction each."""
    if parts.name_finder is None:
        return Enrichment(skipped=_NOT_WIRED)
    act, finders = new_act(parts, request.caller), [_SPELLING, parts.name_finder]
    total = Enrichment()
    waiting = parts.store.unenriched(request, most_entities=most_entities, limit=limit)
    for number, memory in enumerate(waiting, 1):
        with suppress(NotFound):  # erased since it was read
            total = _enrich_one(parts, act, memory, finders=finders, before=total, publish=publish)
        progress(number)
    return total


def put(store: Store, act: Act, memories: Sequence[MemoryRecord]) -> list[MemoryRecord]:
    """Store memories; whom those that not everybody sees mention is noted in the same transaction.

    What everybody sees may add names to the registry, which `link` does afterwards.
    """
    named = {
        memory.id: linking.extract_entities(recognition.find_names(memory.content, [_SPELLING]))
        for memory in memories
        if memory.scope != GLOBAL_SCOPE and _may_name(memory.content)
    }
    names = {name for found in named.values() for one in found for name in (one.canonical_name, *one.spellings)}
    if not names:
        return store.put(act, memories)

    def mentions(known: Sequence[Entity]) -> dict[str, list[str]]:
        meant = {id_: [linking.match_entity(one, known) for one in found] for id_, found in named.items()}
        return {id_: [entity.id for entity in found if entity is not None] for id_, found in meant.items()}

    return store.put_mentioning(act, memories, names, mentions)


def link(parts: Parts, act: Act, memory: MemoryRecord) -> list[str]:
    """Link a new memory to the entities that the spelling of names gives away; return the new mentions.

    Raises:
        NotFound: it is gone.
        InvalidInput: the entities it mentions are merged or removed all the while.
    """

    def work() -> list[str]:
        mentioned, _ = _find_entities(parts, act, memory, [_SPELLING], publish=False)
        return parts.store.mention(act, memory.id, mentioned) if mentioned else []

    return retry_on_registry_change(work)


def _enrich_one(
    parts: Parts, act: Act, memory: MemoryRecord, *, finders: Sequence[NameFinder], before: Enrichment, publish: bool
) -> Enrichment:
    """Enrich a memory; return the counts of those before it and its own."""
    total_created = 0

    def work() -> list[str]:
        nonlocal total_created
        mentioned, created = _find_entities(parts, act, memory, finders, publish=publish)
        total_created += created
        return parts.store.enrich(act, memory.id, mentioned)

    links = retry_on_registry_change(work)
    return Enrichment(
        enriched=before.enriched + 1, links=before.links + len(links), created=before.created + total_created
    )


def _may_name(text: str) -> bool:
    """Return whether a text can hold a name by its spelling; dates are nobody. Saves most turns five patterns."""
    return "@" in text or "#" in text or "://" in text or "www." in text.lower()


def _find_entities(
    parts: Parts, act: Act, memory: MemoryRecord, finders: Sequence[NameFinder], *, publish: bool
) -> tuple[list[str], int]:
    """Return the entities that a memory's names mean, and how many were created for it.

    The registry is the tenant's: a memory that not everybody of it sees adds no name to it.
    """
    named = linking.extract_entities(recognition.find_names(memory.content, finders))
    if not named:
        return [], 0
    known = parts.store.entities_named(
        act.caller, [name for one in named for name in (one.canonical_name, *one.spellings)]
    )
    may_publish = publish or memory.scope == GLOBAL_SCOPE
    mentioned: list[str] = []
    created = 0
    for one in named:
        entity = linking.match_entity(one, known)
        if entity is None and may_publish:
            entity = _create(parts, act, one)
            created += entity is not None
        elif entity is not None and may_publish:
            _add_spellings(parts, act, entity, one)
        if entity is not None:
            mentioned.append(entity.id)
    return list(dict.fromkeys(mentioned)), created


def _create(parts: Parts, act: Act, one: linking.NamedEntity) -> Entity | None:
    """Create an entity; None where another writer took the name meanwhile and it means another."""
    new = Entity(
        id=parts.ids(),
        tenant_id=act.caller.tenant_id,
        canonical_name=one.canonical_name,
        entity_type=one.entity_type,
        aliases=linking.other_spellings(one),
        created_at=act.at,
        updated_at=act.at,
    )
    try:
        return parts.store.put_entity(act, new)
    except InvalidInput:
        metrics.count("entities_taken_meanwhile")
        return linking.match_entity(one, parts.store.entities_named(act.caller, [one.canonical_name]))


def _add_spellings(parts: Parts, act: Act, entity: Entity, one: linking.NamedEntity) -> None:
    """Add the spellings of a memory to an entity's aliases, besides those that others add meanwhile."""
    new = new_names((entity.canonical_name, *entity.aliases), linking.all_spellings(one))
    if new:
        parts.store.change_entity(act, entity.id, also=new)
