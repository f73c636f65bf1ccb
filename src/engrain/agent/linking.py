"""Reading memories for names and noting whom they mention, with the rooms as wired."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engrain import metrics
from engrain.agent.parts import unknown
from engrain.domain.records import GLOBAL_SCOPE, Entity
from engrain.domain.registry import Enrichment
from engrain.engines.ner_regex import RegexNames
from engrain.entities import finding, linking
from engrain.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engrain.agent.parts import Parts
    from engrain.domain.ports import NameFinder
    from engrain.domain.records import Caller, MemoryRecord
    from engrain.domain.requests import Act

_SPELLING = RegexNames()
_NO_FINDER = "no name finder is configured: set entities.name_finder (such as spacy), or ask for strategy fast"


def enrich(parts: Parts, caller: Caller, ids: Sequence[str], *, accurate: bool, publish: bool) -> Enrichment:
    """Read each memory, link it and stamp it, one transaction each; memories enriched before one that fails stay so."""
    if accurate and parts.name_finder is None:
        return Enrichment(skipped=_NO_FINDER)
    finders = [_SPELLING, parts.name_finder] if accurate and parts.name_finder is not None else [_SPELLING]
    act = parts.act(caller)
    done, links, created = 0, 0, 0
    for id_ in ids:
        memory = next(iter(parts.store.get(caller, [id_])), None)
        if memory is None:
            raise unknown(caller, id_)
        mentioned, new = _linked(parts, act, memory, finders, publish=publish)
        links += len(parts.store.enrich(act, memory.id, mentioned))
        created += new
        done += 1
    return Enrichment(enriched=done, links=links, created=created)


def link(parts: Parts, act: Act, memory: MemoryRecord) -> list[str]:
    """Note whom a memory mentions by the spelling of names, on the way in; those of whom that is new."""
    mentioned, _ = _linked(parts, act, memory, [_SPELLING], publish=False)
    return parts.store.mention(act, memory.id, mentioned) if mentioned else []


def _linked(
    parts: Parts, act: Act, memory: MemoryRecord, finders: Sequence[NameFinder], *, publish: bool
) -> tuple[list[str], int]:
    """The entities that a memory's names mean, and how many were created for it.

    The registry is the tenant's: what not everybody of it sees adds no name to it.
    """
    named = linking.named(finding.find(memory.content, finders))
    if not named:
        return [], 0
    known = parts.store.entities_named(
        act.caller, [name for one in named for name in (one.canonical_name, *one.spellings)]
    )
    may_tell = publish or memory.scope == GLOBAL_SCOPE
    mentioned: list[str] = []
    created = 0
    for one in named:
        entity = linking.meant(one, known)
        if entity is None and may_tell:
            entity = _created(parts, act, one)
            created += entity is not None
        elif entity is not None and may_tell:
            _spelt(parts, act, entity, one)
        if entity is not None:
            mentioned.append(entity.id)
    return list(dict.fromkeys(mentioned)), created


def _created(parts: Parts, act: Act, one: linking.Named) -> Entity | None:
    """A new entity; None where somebody else took the name meanwhile."""
    new = Entity(
        id=parts.ids(),
        tenant_id=act.caller.tenant_id,
        canonical_name=one.canonical_name,
        entity_type=one.entity_type,
        aliases=linking.spellings_beside(one),
        created_at=act.at,
        updated_at=act.at,
    )
    try:
        return parts.store.put_entity(act, new)
    except InvalidInput:
        metrics.count("entities_taken_meanwhile")
        return linking.meant(one, parts.store.entities_named(act.caller, [one.canonical_name]))


def _spelt(parts: Parts, act: Act, entity: Entity, one: linking.Named) -> None:
    """Let an entity be called as it was written too."""
    spelt = linking.with_spellings(entity, one)
    if spelt is not entity:
        parts.store.change_entity(act, entity.id, aliases=spelt.aliases)
