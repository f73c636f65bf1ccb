"""Merges of entities and their reversal, decided from values before anything is written.

Every fact of the source moves to the target; one without an entity is about the one that its subject names. Where both
have an active fact in one slot, the one of lower confidence is superseded, the source's where they are equal. One that
is true until another begins later ends there, as does one that was over by then (`Dated.limits`). Names unite; of
metadata the target's own prevails.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from engrain.domain.entities.registry import MERGED_INTO, merged_into, new_names
from engrain.domain.memories.fact_keys import subject_key
from engrain.domain.text.names import name_key
from engrain.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from engrain.domain.records import Entity, Fact


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two active facts that would fill one slot: the one that is superseded, and the one that stays."""

    loser: Fact
    winner: Fact


@dataclass(frozen=True, slots=True)
class Overlap:
    """A fact that would be true while another one of its slot is, that one, and the end that it leaves."""

    fact: Fact
    follower: Fact
    end: datetime


def check_merge(source_id: str, target_id: str, known: Mapping[str, Entity]) -> None:
    """Check that two entities of `known` may be merged.

    Raises:
        InvalidInput: they are the same, one is unknown, or one has been merged already.
    """
    if source_id == target_id:
        raise InvalidInput(f"entity {source_id} cannot be merged into itself; name two")
    for side, id_ in (("source", source_id), ("target", target_id)):
        if id_ not in known:
            raise InvalidInput(f"{side} entity {id_!r} does not exist; entities.find shows ids")
        into = merged_into(known[id_])
        if into is not None:
            raise InvalidInput(
                f"{side} entity {id_} was merged into {into} already; use {into}, or unmerge {id_} first"
            )


def find_side(fact: Fact, source: Entity, target: Entity) -> str:
    """Find the id of the entity that a fact is about, by its entity or the name of its subject; "" for either."""
    if fact.entity_id is not None:
        return fact.entity_id
    named = [entity.id for entity in (source, target) if fact.key.subject in subject_keys(entity)]
    return named[0] if len(named) == 1 else ""


def subject_keys(entity: Entity) -> set[str]:
    """Return the keys of the subjects that are a name of an entity."""
    return {subject_key(name_key(name)) for name in (entity.canonical_name, *entity.aliases)}


def find_conflicts(facts: Iterable[Fact], sides: Mapping[str, str], source_id: str, at: datetime) -> list[Conflict]:
    """Conflicts of facts that fill one slot at one time, once all are about one entity; by scope, then predicate.

    `sides` has what each was about. Slots of one side alone stay as they are.
    """
    places: defaultdict[tuple[object, ...], list[Fact]] = defaultdict(list)
    for fact in facts:
        slot = dated_slot(fact, at)
        if slot is not None:
            places[slot].append(fact)
    conflicts = []
    for held in places.values():
        if len({sides[fact.id] for fact in held}) > 1:
            ranks = {fact.id: (fact.confidence, sides[fact.id] != source_id, fact.created_at, fact.id) for fact in held}
            winner = max(held, key=lambda fact: ranks[fact.id])
            conflicts += [Conflict(fact, winner) for fact in held if fact is not winner]
    return sorted(conflicts, key=lambda conflict: (conflict.loser.scope, conflict.loser.predicate))


def dated_slot(fact: Fact, at: datetime) -> tuple[object, ...] | None:
    """The slot that a fact about an entity fills, and from when, if that is later; None where it is over."""
    return (fact.scope, *fact.key[1:], fact.later_begin(at)) if fact.is_open(at) else None


def find_overlaps(facts: Iterable[Fact], sides: Mapping[str, str], at: datetime) -> list[Overlap]:
    """Overlaps of facts, active or superseded, of a slot that has several `sides`; by id."""
    slots: defaultdict[tuple[object, ...], list[Fact]] = defaultdict(list)
    for fact in facts:
        is_dated = fact.is_active(at) or (fact.validity == "superseded" and fact.valid_to is not None)
        if is_dated and not fact.is_pending:
            slots[fact.scope, *fact.key[1:]].append(fact)
    held = [own for own in slots.values() if len({sides[fact.id] for fact in own}) > 1]
    return sorted((overlap for own in held for overlap in _fit(own, at)), key=lambda overlap: overlap.fact.id)


def _fit(facts: Iterable[Fact], at: datetime) -> Iterator[Overlap]:
    """Fit the facts of a slot beside each other, those first that limit others."""
    fitted: list[Fact] = []
    later = [
        (fact.is_open(at), fact.happened_at if fact.is_open(at) else fact.created_at, fact.id, fact) for fact in facts
    ]
    for *_, fact in sorted(later, reverse=True):
        end = fact.end_among(fitted, at)
        if end is not None and end != fact.valid_to:
            follower = next(other for other in fitted if end == fact.end_among([other], at))
            yield Overlap(fact, follower, end)
        fitted.append(replace(fact, valid_to=end))


def unite(source: Entity, target: Entity, at: datetime) -> tuple[Entity, Entity]:
    """The source as a tombstone, and the target with its names, metadata and mentions."""
    added = aliases_added(source, target)
    metadata = {**source.metadata, **target.metadata}
    return (
        replace(source, updated_at=at, metadata={**source.metadata, MERGED_INTO: target.id}),
        replace(
            target,
            aliases=(*target.aliases, *added),
            mention_count=target.mention_count + source.mention_count,
            metadata=metadata,
            updated_at=at,
        ),
    )


def aliases_added(source: Entity, target: Entity) -> tuple[str, ...]:
    """Names of the source that the target lacks, its canonical name first; compared by `name_key`."""
    return new_names((target.canonical_name, *target.aliases), (source.canonical_name, *source.aliases))


def metadata_added(source: Entity, target: Entity) -> dict[str, Any]:
    """Metadata of the source that the target lacks."""
    return {key: value for key, value in source.metadata.items() if key not in target.metadata}


def separate(source: Entity, target: Entity, *, gave: Mapping[str, Any], at: datetime) -> tuple[Entity, Entity]:
    """The two entities as before a merge that `gave` the target `aliases_added` and `metadata_added`.

    Changes of the target since the merge stay; additions of the merge are removed where they are unchanged.
    """
    aliases = list(target.aliases)
    for name in gave["aliases_added"]:
        if name in aliases:
            aliases.reverse()
            aliases.remove(name)
            aliases.reverse()
    added = gave["metadata_added"]
    metadata = {k: v for k, v in target.metadata.items() if not (k in added and added[k] == v)}
    return (
        replace(source, updated_at=at, metadata={k: v for k, v in source.metadata.items() if k != MERGED_INTO}),
        replace(
            target,
            aliases=tuple(aliases),
            mention_count=target.mention_count - source.mention_count,
            metadata=metadata,
            updated_at=at,
        ),
    )


def last_merge(payloads: Sequence[Mapping[str, Any]], source_id: str, target_id: str) -> int:
    """Number of the merge of `source_id`, which must be the last one of `target_id` that was not undone.

    `payloads` are those of the events `entity_merge` and `entity_unmerge` of the target. Merges are undone in reverse
    order: a later one has decided between facts that an earlier one brought.

    Raises:
        InvalidInput: another entity was merged later; or nothing is known of the merge.
    """
    undone = {payload["number"] for payload in payloads if payload.get("undone")}
    merges = {
        payload["number"]: payload["source_entity_id"]
        for payload in payloads
        if payload and not payload.get("undone") and payload["number"] not in undone
    }
    if source_id not in merges.values():
        raise InvalidInput(f"nothing is known of a merge of {source_id} into {target_id}; it cannot be undone")
    last: int = max(merges)
    if merges[last] != source_id:
        raise InvalidInput(f"{merges[last]} was merged into {target_id} later; unmerge {merges[last]} first")
    return last
