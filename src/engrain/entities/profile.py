"""Profile of one entity: facts with their history, episodes, rules and related entities."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from engrain.domain.entities.registry import EntityProfile, Mentions, RelatedEntity
from engrain.domain.records import Entity, Episode, Fact, Rule

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


MAX_RELATED = 10


def related_ids(entity_id: str, occurrences: Mentions) -> list[tuple[str, int]]:
    """The entities mentioned in the same memories with the number of those: most first, then by id; the first ten."""
    counts = Counter(other for ids in occurrences.mentions.values() for other in set(ids) if other != entity_id)
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:MAX_RELATED]


def build_profile(
    entity: Entity, occurrences: Mentions, facts: Iterable[Fact], known: Mapping[str, Entity]
) -> EntityProfile:
    """Build the profile of an entity from its mentions and the facts about it.

    `known` are the entities of `related_ids`, by id.
    """
    return EntityProfile(
        entity=entity,
        facts=_by_predicate(facts),
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


def build_unregistered(name: str, facts: Sequence[Fact]) -> EntityProfile:
    """Build the profile of a subject that the registry does not know, from facts about it, the newest first."""
    times = sorted(fact.happened_at for fact in facts)
    created_at = min(fact.created_at for fact in facts)
    updated_at = max(fact.created_at for fact in facts)
    entity = Entity(
        id="", tenant_id=facts[0].tenant_id, canonical_name=name, created_at=created_at, updated_at=updated_at
    )
    return EntityProfile(entity=entity, facts=_by_predicate(facts), first_seen_at=times[0], last_seen_at=times[-1])


def _by_predicate(facts: Iterable[Fact]) -> dict[str, tuple[Fact, ...]]:
    """The facts of each predicate, as the newest spells it, oldest first: the last active one holds, or many do."""
    grouped: dict[str, list[Fact]] = {}
    for fact in sorted(facts, key=lambda fact: (fact.key.predicate, fact.created_at, fact.id)):
        grouped.setdefault(fact.key.predicate, []).append(fact)
    return {group[-1].predicate: tuple(group) for group in grouped.values()}
