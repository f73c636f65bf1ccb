"""What looks wrong with memories: a pure function for each kind of finding, over what an audit has read."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from dataclasses import dataclass
from datetime import timedelta
from itertools import combinations
from typing import TYPE_CHECKING, Any

from engrain.domain.entities.names import name_key
from engrain.domain.maintenance.findings import Finding
from engrain.domain.memories import importance
from engrain.domain.memories.scoring import days_between, effective_confidence
from engrain.domain.records import Episode, Fact, Rule
from engrain.lifecycle.duplicates import find_duplicates as find_duplicate_ids
from engrain.lifecycle.duplicates import find_near_duplicates, measure_repetition

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    import numpy as np
    from numpy.typing import NDArray

    from engrain.domain.records import Entity, Link, MemoryRecord
    from engrain.domain.text.secrets import Secret
    from engrain.lifecycle.duplicates import Sketch

# Of a place that many facts claim, so many are compared with each other.
_MOST_CLAIMS = 50
# An agent answers what it was just told within so long; a later turn says it of its own.
ECHO_WITHIN = timedelta(minutes=10)
LEAST_REPEATED = 0.85
_MOST_RECALLED = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditSnapshot:
    """What an audit has read: live memories with clipped contents, and what hangs off them."""

    now: datetime
    memories: Mapping[str, MemoryRecord]
    sketches: Mapping[str, Sketch]
    vectors: Mapping[str, NDArray[np.float32]]
    secrets: Mapping[str, Sequence[Secret]]  # of those memories that have any
    links: Sequence[Link]  # that leave those memories
    gone: Mapping[str, MemoryRecord]  # what they came from or are linked to and is no longer live
    entities: Sequence[Entity]  # that nothing the agent sees is about or mentions
    fading_below: float
    unused_days: float


def secrets(looked: AuditSnapshot) -> Iterator[Finding]:
    """Credentials in what a memory says; shown masked."""
    for id_, found in looked.secrets.items():
        kinds = sorted({each.kind for each in found})
        yield Finding(
            kind="secret",
            severity="high",
            ids=(id_,),
            says=f"{looked.memories[id_].kind} holds {', '.join(kind.replace('_', ' ') for kind in kinds)}",
            evidence={"kinds": kinds, "count": len(found), "shown": [each.shown for each in found[:5]]},
            command=f"engrain erase {id_}",
        )


def contradictions(looked: AuditSnapshot) -> Iterator[Finding]:
    """Facts that say different things of one subject and predicate at one time, and what is linked as contradicting."""
    claims: dict[tuple[str, str], list[Fact]] = defaultdict(list)
    names = _subjects_of_entities(looked.memories.values())
    for fact in _facts(looked):
        subject = name_key(fact.subject)
        claims[names.get(subject, fact.entity_id or subject), name_key(fact.predicate)].append(fact)
    for _, facts in sorted(claims.items()):
        facts.sort(key=_age)
        for older, newer in combinations(facts[-_MOST_CLAIMS:], 2):
            if _overlap(older, newer) and not _says_the_same(older, newer):
                yield _contradiction(older, newer, evidence={"scopes": [older.scope, newer.scope]})
    for link in looked.links:
        ends = [looked.memories.get(end) for end in (link.source_id, link.target_id)]
        if link.relation == "contradicts" and None not in ends:
            first, second = sorted((end for end in ends if end is not None), key=_age)
            yield _contradiction(first, second, evidence={"link": link.relation, "weight": link.weight})


def duplicates(looked: AuditSnapshot) -> Iterator[Finding]:
    """Memories that say the same, whatever their case, spaces and last stop."""
    for ids in find_duplicate_ids(looked.sketches.values()):
        memories = sorted((looked.memories[id_] for id_ in ids), key=_age)
        surplus = [memory.id for memory in memories[1:]]
        yield Finding(
            kind="duplicate",
            severity="low" if memories[0].kind == "episode" else "medium",
            ids=tuple(memory.id for memory in memories),
            says=f"{len(ids)} {memories[0].kind}s say the same",
            evidence={"count": len(ids), "scopes": sorted({memory.scope for memory in memories})},
            command="; ".join(f"engrain forget {id_}" for id_ in surplus[:5]),
        )


def near_duplicates(looked: AuditSnapshot) -> Iterator[Finding]:
    """Memories that say nearly the same, by their words and vectors."""
    for pair in find_near_duplicates(looked.sketches.values(), looked.vectors):
        older, newer = sorted((looked.memories[id_] for id_ in (pair.first, pair.second)), key=_age)
        if _hold_one_place(older, newer):
            continue  # a contradiction, or one place in two scopes
        yield Finding(
            kind="near_duplicate",
            severity="low",
            ids=(older.id, newer.id),
            says=f"two {older.kind}s say nearly the same",
            evidence={"jaccard": pair.jaccard, "cosine": pair.cosine},
            command=f"engrain forget {newer.id}",
        )


def echoes(looked: AuditSnapshot) -> Iterator[Finding]:
    """Episodes of a session that say again what had just been recalled: a memory remembering itself."""
    recalled = sorted(
        ((at, each.id) for each in looked.memories.values() if (at := each.last_referenced_at) is not None),
    )
    times = [at for at, _ in recalled]
    for episode in (each for each in looked.memories.values() if isinstance(each, Episode) and each.session):
        first = bisect_left(times, episode.created_at - ECHO_WITHIN)
        last = bisect_right(times, episode.created_at)
        for at, id_ in recalled[max(first, last - _MOST_RECALLED) : last]:
            source = looked.memories[id_]
            share = measure_repetition(looked.sketches[episode.id], looked.sketches[id_])
            if source.created_at < episode.created_at and source.id != episode.id and share >= LEAST_REPEATED:
                yield Finding(
                    kind="echo",
                    severity="low",
                    ids=(source.id, episode.id),
                    says=f"an episode repeats the {source.kind} that was recalled just before it",
                    evidence={
                        "repeated": round(share, 4),
                        "seconds_after": (episode.created_at - at).total_seconds(),
                        "session": episode.session,
                    },
                    command=f"engrain forget {episode.id}",
                )


def stale(looked: AuditSnapshot) -> Iterator[Finding]:
    """Facts whose time is over while they count as active, and facts and rules that hardly anybody can believe now."""
    for memory in looked.memories.values():
        if isinstance(memory, Episode):
            continue
        if isinstance(memory, Fact) and memory.valid_to is not None and memory.valid_to <= looked.now:
            days = days_between(memory.valid_to, looked.now)
            over = {"days_over": round(days, 2)}
            yield _stale(memory, "forget", "was true until a time that is over", evidence=over)
            continue
        confidence = effective_confidence(
            memory.confidence, memory.decay_rate, memory.last_confirmed_at, now=looked.now
        )
        if confidence < looked.fading_below:
            evidence = {"effective_confidence": round(confidence, 4), "below": looked.fading_below}
            yield _stale(memory, "confirm", "has faded: nobody has confirmed it for long", evidence=evidence)


def orphaned(looked: AuditSnapshot) -> Iterator[Finding]:
    """What rests on something that is gone, and entities that nothing is about."""
    for memory in looked.memories.values():
        if isinstance(memory, Fact | Rule) and memory.source_episode_id in looked.gone:
            yield _orphaned(memory, memory.source_episode_id, "came from an episode that is gone", {})
    for link in looked.links:
        if link.relation in {"derived_from", "supports"} and link.target_id in looked.gone:
            source = looked.memories[link.source_id]
            if getattr(source, "source_episode_id", None) != link.target_id:
                yield _orphaned(source, link.target_id, "is linked to a memory that is gone", {"link": link.relation})
    for entity in looked.entities:
        yield Finding(
            kind="orphaned",
            severity="low",
            ids=(entity.id,),
            says=f"{entity.entity_type} is known, and nothing is about it",
            evidence={
                "entity_type": entity.entity_type,
                "days_old": round(days_between(entity.created_at, looked.now), 2),
            },
            command=f"engrain entities show {entity.id}",
        )


def never_recalled(looked: AuditSnapshot) -> Iterator[Finding]:
    """Facts and rules that nobody has asked for in all the days they were there; what they are worth by now."""
    for memory in looked.memories.values():
        days = days_between(memory.created_at, looked.now)
        if isinstance(memory, Episode) or memory.reference_count or days < looked.unused_days:
            continue
        worth = importance.current(memory, looked.now)
        yield Finding(
            kind="never_recalled",
            severity="low",
            ids=(memory.id,),
            says=f"{memory.kind} was never recalled",
            evidence={"days_old": round(days, 2), "importance": round(worth, 2)},
            command=f"engrain get {memory.id}" if worth > importance.PLAIN else f"engrain forget {memory.id}",
        )


def _facts(looked: AuditSnapshot) -> Iterator[Fact]:
    return (memory for memory in looked.memories.values() if isinstance(memory, Fact))


def _subjects_of_entities(memories: Iterable[MemoryRecord]) -> dict[str, str]:
    """By subject: the one entity that facts say it is; a fact without an entity is then taken for one about it."""
    meant: dict[str, set[str]] = defaultdict(set)
    for memory in memories:
        if isinstance(memory, Fact) and memory.entity_id is not None:
            meant[name_key(memory.subject)].add(memory.entity_id)
    return {subject: min(entities) for subject, entities in meant.items() if len(entities) == 1}


def _overlap(one: Fact, other: Fact) -> bool:
    """Whether there is a time at which both are true; an end that is unknown is open."""
    return _ends_after(one, other) and _ends_after(other, one)


def _ends_after(one: Fact, other: Fact) -> bool:
    return one.valid_to is None or other.valid_from is None or one.valid_to > other.valid_from


def _says_the_same(one: Fact, other: Fact) -> bool:
    return name_key(one.content).rstrip(".!? ") == name_key(other.content).rstrip(".!? ")


def _hold_one_place(one: MemoryRecord, other: MemoryRecord) -> bool:
    return (
        isinstance(one, Fact)
        and isinstance(other, Fact)
        and (name_key(one.subject), name_key(one.predicate)) == (name_key(other.subject), name_key(other.predicate))
    )


def _age(memory: MemoryRecord) -> tuple[datetime, str]:
    return memory.created_at, memory.id


def _contradiction(older: MemoryRecord, newer: MemoryRecord, *, evidence: Mapping[str, Any]) -> Finding:
    return Finding(
        kind="contradiction",
        severity="high" if older.scope == newer.scope else "medium",
        ids=(older.id, newer.id),
        says=f"a {older.kind} and a {newer.kind} contradict each other",
        evidence=evidence,
        command=f"engrain forget {older.id}",
    )


def _stale(memory: Fact | Rule, verb: str, says: str, *, evidence: Mapping[str, Any]) -> Finding:
    return Finding(
        kind="stale",
        severity="medium" if verb == "forget" else "low",
        ids=(memory.id,),
        says=f"{memory.kind} {says}",
        evidence=evidence,
        command=f"engrain {verb} {memory.id}",
    )


def _orphaned(memory: MemoryRecord, gone: str | None, says: str, evidence: Mapping[str, Any]) -> Finding:
    return Finding(
        kind="orphaned",
        severity="low",
        ids=(memory.id,),
        says=f"{memory.kind} {says}",
        evidence={**evidence, "gone": gone},
        command=f"engrain get {memory.id}",
    )
