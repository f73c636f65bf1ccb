"""Reading memories for names and noting whom they mention, with the rooms as wired."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from engrain import metrics
from engrain.agent.parts import as_registered, unknown
from engrain.domain.entities.names import new_names
from engrain.domain.entities.registry import Enrichment
from engrain.domain.records import GLOBAL_SCOPE, Entity
from engrain.engines.name_finders.regex import RegexNames
from engrain.entities import linking, recognition
from engrain.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from engrain.agent.parts import Parts
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
    act = parts.act(caller)
    total = Enrichment()
    for id_ in ids:
        memory = next(iter(parts.store.get(caller, [id_])), None)
        if memory is None:
            raise unknown(caller, id_)
        total = _enriched(parts, act, memory, finders=finders, before=total, publish=publish)
    return total


def enrich_waiting(
    parts: Parts, request: Request, *, most_entities: int, limit: int, publish: bool, progress: Callable[[int], None]
) -> Enrichment:
    """Read again what mentions few and was not read again yet, the newest first, one transaction each."""
    if parts.name_finder is None:
        return Enrichment(skipped=_NOT_WIRED)
    act, finders = parts.act(request.caller), [_SPELLING, parts.name_finder]
    total = Enrichment()
    found = parts.store.unenriched(request, most_entities=most_entities, limit=limit)
    for place, memory in enumerate(found, 1):
        with suppress(NotFound):  # forgotten for good since it was found
            total = _enriched(parts, act, memory, finders=finders, before=total, publish=publish)
        progress(place)
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

    def whom(known: Sequence[Entity]) -> dict[str, list[str]]:
        meant = {id_: [linking.match_entity(one, known) for one in found] for id_, found in named.items()}
        return {id_: [entity.id for entity in found if entity is not None] for id_, found in meant.items()}

    return store.put_mentioning(act, memories, names, whom)


def link(parts: Parts, act: Act, memory: MemoryRecord) -> list[str]:
    """Note whom a memory mentions by the spelling of names, on the way in; those of whom that is new.

    Raises:
        NotFound: it is gone.
        InvalidInput: whom it mentions is merged or removed all the while.
    """

    def work() -> list[str]:
        mentioned, _ = _linked(parts, act, memory, [_SPELLING], publish=False)
        return parts.store.mention(act, memory.id, mentioned) if mentioned else []

    return as_registered(work)


def _enriched(
    parts: Parts, act: Act, memory: MemoryRecord, *, finders: Sequence[NameFinder], before: Enrichment, publish: bool
) -> Enrichment:
    """What was done before, and this."""
    made = 0

    def work() -> list[str]:
        nonlocal made
        mentioned, created = _linked(parts, act, memory, finders, publish=publish)
        made += created
        return parts.store.enrich(act, memory.id, mentioned)

    links = as_registered(work)
    return Enrichment(enriched=before.enriched + 1, links=before.links + len(links), created=before.created + made)


def _may_name(text: str) -> bool:
    """Whether a text can hold a name that its spelling gives away; dates are nobody. Saves most turns five patterns."""
    return "@" in text or "#" in text or "://" in text or "www." in text.lower()


def _linked(
    parts: Parts, act: Act, memory: MemoryRecord, finders: Sequence[NameFinder], *, publish: bool
) -> tuple[list[str], int]:
    """The entities that a memory's names mean, and how many were created for it.

    The registry is the tenant's: what not everybody of it sees adds no name to it.
    """
    named = linking.extract_entities(recognition.find_names(memory.content, finders))
    if not named:
        return [], 0
    known = parts.store.entities_named(
        act.caller, [name for one in named for name in (one.canonical_name, *one.spellings)]
    )
    may_tell = publish or memory.scope == GLOBAL_SCOPE
    mentioned: list[str] = []
    created = 0
    for one in named:
        entity = linking.match_entity(one, known)
        if entity is None and may_tell:
            entity = _created(parts, act, one)
            created += entity is not None
        elif entity is not None and may_tell:
            _spelt(parts, act, entity, one)
        if entity is not None:
            mentioned.append(entity.id)
    return list(dict.fromkeys(mentioned)), created


def _created(parts: Parts, act: Act, one: linking.NamedEntity) -> Entity | None:
    """A new entity; None where somebody else took the name meanwhile."""
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


def _spelt(parts: Parts, act: Act, entity: Entity, one: linking.NamedEntity) -> None:
    """Let an entity be called as it was written too, besides whatever others call it meanwhile."""
    new = new_names((entity.canonical_name, *entity.aliases), linking.all_spellings(one))
    if new:
        parts.store.change_entity(act, entity.id, also=new)
