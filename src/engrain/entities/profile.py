"""Everything about one entity on one page: facts with their history, what was said, who else is there."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, TypeGuard

from engrain.domain.entities.registry import EntityProfile, RelatedEntity
from engrain.domain.records import Episode, Fact, Rule

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from engrain.domain.entities.registry import Sightings
    from engrain.domain.records import Entity, MemoryRecord

MOST_RELATED = 10


def related_ids(entity_id: str, sightings: Sightings) -> list[tuple[str, int]]:
    """Who is mentioned in the same memories, and in how many: most first, then by id; the first ten."""
    counts = Counter(other for ids in sightings.mentions.values() for other in set(ids) if other != entity_id)
    return sorted(counts.items(), key=lambda each: (-each[1], each[0]))[:MOST_RELATED]


def profile(entity: Entity, sightings: Sightings, known: Mapping[str, Entity]) -> EntityProfile:
    """The profile of an entity from where it was seen; `known` are the entities of `related_ids`, by id."""
    return EntityProfile(
        entity=entity,
        facts=_by_predicate(each for each in sightings.memories if _is_about(each, entity)),
        episodes=tuple(each for each in sightings.memories if isinstance(each, Episode)),
        rules=tuple(each for each in sightings.memories if isinstance(each, Rule)),
        related=tuple(
            RelatedEntity(
                entity_id=id_,
                canonical_name=known[id_].canonical_name,
                entity_type=known[id_].entity_type,
                memories=count,
            )
            for id_, count in related_ids(entity.id, sightings)
            if id_ in known
        ),
        first_seen_at=sightings.first_at,
        last_seen_at=sightings.last_at,
    )


def _is_about(memory: MemoryRecord, entity: Entity) -> TypeGuard[Fact]:
    return isinstance(memory, Fact) and memory.entity_id == entity.id


def _by_predicate(facts: Iterable[Fact]) -> dict[str, tuple[Fact, ...]]:
    """Each predicate's facts, oldest first: the last active one is what holds."""
    found: dict[str, list[Fact]] = {}
    for fact in sorted(facts, key=lambda each: (each.predicate, each.created_at, each.id)):
        found.setdefault(fact.predicate, []).append(fact)
    return {predicate: tuple(each) for predicate, each in found.items()}
