"""Merges of entities and their reversal, decided from values before anything is written.

Every fact of the source moves to the target. Where both have an active fact in one slot, the one of lower confidence is
superseded, the source's where they are equal. One that is true until another begins later ends there. Names unite; of
metadata the target's own prevails.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from engrain.domain.entities.registry import MERGED_INTO, merged_into, new_names
from engrain.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from engrain.domain.records import Entity, Fact


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two active facts that would fill one slot: the one that is superseded, and the one that stays."""

    loser: Fact
    winner: Fact


@dataclass(frozen=True, slots=True)
class Overlap:
    """A fact that is still true when a later one would fill its slot, and that one."""

    fact: Fact
    follower: Fact


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


def find_conflicts(source_facts: Iterable[Fact], target_facts: Iterable[Fact], at: datetime) -> list[Conflict]:
    """Conflicts of facts that fill one slot at one time, once both are about one entity; by scope, then predicate."""
    held = {dated_slot(fact, at): fact for fact in target_facts}
    conflicts = []
    for fact in source_facts:
        slot = dated_slot(fact, at)
        other = None if slot is None else held.get(slot)
        if other is not None:
            wins = fact.confidence > other.confidence
            conflicts.append(Conflict(loser=other, winner=fact) if wins else Conflict(loser=fact, winner=other))
    return sorted(conflicts, key=lambda conflict: (conflict.loser.scope, conflict.loser.predicate))


def dated_slot(fact: Fact, at: datetime) -> tuple[object, ...] | None:
    """The slot that a fact about an entity fills, and from when, if that is later; None where it is over."""
    return (fact.scope, *fact.key[1:], fact.later_begin(at)) if fact.has_place(at) else None


def find_overlaps(facts: Iterable[Fact], at: datetime) -> list[Overlap]:
    """Overlaps of facts of two entities, of which one begins later, once both are about one entity; by id."""
    slots: defaultdict[tuple[object, ...], list[Fact]] = defaultdict(list)
    for fact in facts:
        slot = dated_slot(fact, at)
        if slot is not None and not fact.is_pending:
            slots[slot[:-1]].append(fact)
    overlaps = []
    for held in slots.values():
        planned = sorted(
            (fact for fact in held if not fact.has_begun(at)), key=lambda fact: (fact.happened_at, fact.id)
        )
        for fact in held:
            follower = next((other for other in planned if other.happened_at > fact.happened_at), None)
            if follower is None or follower.entity_id == fact.entity_id:
                continue
            if fact.is_true_until(follower.happened_at) and fact.valid_to != follower.happened_at:
                overlaps.append(Overlap(fact, follower))
    return sorted(overlaps, key=lambda overlap: overlap.fact.id)


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
