"""Profile of one entity: facts with their history, episodes, rules and related entities."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, TypeGuard

from engrain.domain.entities.registry import EntityProfile, RelatedEntity
from engrain.domain.records import Episode, Fact, Rule

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from engrain.domain.entities.registry import Mentions
    from engrain.domain.records import Entity, MemoryRecord

MAX_RELATED = 10


def related_ids(entity_id: str, occurrences: Mentions) -> list[tuple[str, int]]:
    """The entities mentioned in the same memories with the number of those: most first, then by id; the first ten."""
    counts = Counter(other for ids in occurrences.mentions.values() for other in set(ids) if other != entity_id)
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:MAX_RELATED]


def build_profile(entity: Entity, occurrences: Mentions, known: Mapping[str, Entity]) -> EntityProfile:
    """Build the profile of an entity from its mentions; `known` are the entities of `related_ids`, by id."""
    return EntityProfile(
        entity=entity,
        facts=_by_predicate(memory for memory in occurrences.memories if _is_about(memory, entity)),
        episodes=tuple(memory for memory in occurrences.memories if isinstance(memory, Episode)),
        rules=tuple(memory for memory in occurrences.memories if isinstance(memory, Rule)),
        related=tuple(
            RelatedEntity(
                entity_id=id_,
                canonical_name=known[id_].canonical_name,
                entity_type=known[id_].entity_type,
                memories=count,
            )
            for id_, count in related_ids(entity.id, occurrences)
            if id_ in known
        ),
        first_seen_at=occurrences.first_at,
        last_seen_at=occurrences.last_at,
    )


def _is_about(memory: MemoryRecord, entity: Entity) -> TypeGuard[Fact]:
    return isinstance(memory, Fact) and memory.entity_id == entity.id


def _by_predicate(facts: Iterable[Fact]) -> dict[str, tuple[Fact, ...]]:
    """The facts of each predicate, oldest first: the last active one holds."""
    grouped: dict[str, list[Fact]] = {}
    for fact in sorted(facts, key=lambda fact: (fact.predicate, fact.created_at, fact.id)):
        grouped.setdefault(fact.predicate, []).append(fact)
    return {predicate: tuple(group) for predicate, group in grouped.items()}
