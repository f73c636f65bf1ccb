"""What a merge of two entities changes, and what its reverse restores: decided from values, before anything is written.

The rules: every fact of the source moves to the target. Where both have an active fact in one place, the one of lower
confidence is superseded, the source's where they are equal. Names unite, and of metadata the target's own prevails.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from engrain.domain.entities.names import name_key
from engrain.domain.entities.registry import MERGED_INTO, merged_into
from engrain.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from engrain.domain.records import Entity, Fact


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two active facts that would hold one place: the one that is superseded, and the one that stays."""

    loser: Fact
    winner: Fact


def check_merge(source_id: str, target_id: str, known: Mapping[str, Entity]) -> None:
    """Whether the two of `known` may be merged.

    Raises:
        InvalidInput: they are the same, one is unknown, or one has been merged already.
    """
    if source_id == target_id:
        raise InvalidInput(f"entity {source_id} cannot be merged into itself; name two")
    for what, id_ in (("source", source_id), ("target", target_id)):
        if id_ not in known:
            raise InvalidInput(f"{what} entity {id_!r} does not exist; entities.find shows ids")
        into = merged_into(known[id_])
        if into is not None:
            raise InvalidInput(
                f"{what} entity {id_} was merged into {into} already; use {into}, or unmerge {id_} first"
            )


def find_conflicts(source_facts: Iterable[Fact], target_facts: Iterable[Fact]) -> list[Conflict]:
    """The places, (scope, predicate), where both have an active fact; by scope, then predicate."""
    held = {(fact.scope, fact.predicate): fact for fact in target_facts if fact.validity == "active"}
    found = []
    for fact in source_facts:
        other = held.get((fact.scope, fact.predicate)) if fact.validity == "active" else None
        if other is not None:
            wins = fact.confidence > other.confidence
            found.append(Conflict(loser=other, winner=fact) if wins else Conflict(loser=fact, winner=other))
    return sorted(found, key=lambda each: (each.loser.scope, each.loser.predicate))


def supersede(fact: Fact, at: datetime) -> Fact:
    """A fact that lost its place to one of more confidence: no longer believed; when it was true is not touched."""
    return replace(fact, validity="superseded", invalidated_at=at)


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
    """The names of the source that the target is not called yet, its canonical name first; case does not matter."""
    known = {name_key(name) for name in (target.canonical_name, *target.aliases)}
    added: dict[str, str] = {}
    for name in (source.canonical_name, *source.aliases):
        if name_key(name) not in known:
            added.setdefault(name_key(name), name)
    return tuple(added.values())


def metadata_added(source: Entity, target: Entity) -> dict[str, Any]:
    """What the target's metadata gets from the source's."""
    return {key: value for key, value in source.metadata.items() if key not in target.metadata}


def separate(source: Entity, target: Entity, *, gave: Mapping[str, Any], at: datetime) -> tuple[Entity, Entity]:
    """The two as they were before a merge that `gave` the target `aliases_added` and `metadata_added`.

    What the target was given since stays, and what it was given by the merge goes where it still is as it was given.
    """
    aliases = list(target.aliases)
    for name in gave["aliases_added"]:
        if name in aliases:
            aliases.reverse()
            aliases.remove(name)
            aliases.reverse()
    given = gave["metadata_added"]
    metadata = {k: v for k, v in target.metadata.items() if not (k in given and given[k] == v)}
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


def last_merge(told: Sequence[Mapping[str, Any]], source_id: str, target_id: str) -> int:
    """The number of the merge of `source_id`, which must be the last that `target_id` still holds.

    `told` are the payloads of the events `entity_merge` and `entity_unmerge` of the target. Merges come apart in the
    reverse of their order: a later one has decided between facts that an earlier one brought.

    Raises:
        InvalidInput: another was merged later; or nothing is known of the merge.
    """
    undone = {payload["number"] for payload in told if payload.get("undone")}
    standing = {
        payload["number"]: payload["source_entity_id"]
        for payload in told
        if payload and not payload.get("undone") and payload["number"] not in undone
    }
    if source_id not in standing.values():
        raise InvalidInput(f"nothing is known of a merge of {source_id} into {target_id}; it cannot be undone")
    last: int = max(standing)
    if standing[last] != source_id:
        raise InvalidInput(f"{standing[last]} was merged into {target_id} later; unmerge {standing[last]} first")
    return last
