"""Finders of an audit: a pure function for each kind of finding, over the memories that the audit has read."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import combinations
from typing import TYPE_CHECKING, Any

from engrain.domain.maintenance.findings import Finding, FindingKind, Severity
from engrain.domain.memories import importance
from engrain.domain.memories.decay import DecayPolicy, days_between, decayed_confidence
from engrain.domain.records import Entity, Episode, Fact, Link, MemoryRecord, Rule
from engrain.domain.text.names import name_key
from engrain.lifecycle import duplicates

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from engrain.domain.memories.fact_keys import FactKey
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
    """The memories that an audit has read: live ones with clipped contents, and what hangs off them."""

    now: datetime
    memories: Mapping[str, MemoryRecord]
    sketches: Mapping[str, Sketch]
    vectors: Mapping[str, NDArray[np.float32]]
    secrets: Mapping[str, Sequence[Secret]]  # of those memories that have any
    subjects: Mapping[str, str]  # ids of the entities that the registry has for subjects, by their names
    links: Sequence[Link]  # that leave those memories
    gone: Mapping[str, MemoryRecord]  # what they came from or are linked to and is no longer live
    entities: Sequence[Entity]  # that nothing the agent sees is about or mentions
    decay: DecayPolicy
    unused_days: float

    @property
    def facts(self) -> list[Fact]:
        return [memory for memory in self.memories.values() if isinstance(memory, Fact)]


def find_secrets(snapshot: AuditSnapshot) -> Iterator[Finding]:
    """Credentials in what a memory says; shown masked."""
    for id_, secrets in snapshot.secrets.items():
        memory = snapshot.memories[id_]
        kinds = sorted({secret.kind for secret in secrets})
        yield Finding(
            kind="secret",
            severity="high",
            ids=(id_,),
            says=f"{memory.kind} holds {', '.join(kind.replace('_', ' ') for kind in kinds)}",
            evidence={"kinds": kinds, "count": len(secrets), "shown": [secret.shown for secret in secrets[:5]]},
            command=f"engrain erase {id_}",
        )


def find_contradictions(snapshot: AuditSnapshot) -> Iterator[Finding]:
    """Facts that say different things of one subject and predicate at one time, and what is linked as contradicting."""
    claims: dict[tuple[str, str], list[Fact]] = defaultdict(list)
    names = {**snapshot.subjects, **_subjects_of_entities(snapshot.facts)}
    for fact in snapshot.facts:
        subject, key = name_key(fact.subject), fact.key
        if not key.value:
            claims[names.get(subject, fact.entity_id or key.subject), key.predicate].append(fact)
    pairs: list[tuple[MemoryRecord, MemoryRecord, Mapping[str, Any]]] = []
    for _, facts in sorted(claims.items()):
        facts.sort(key=_age)
        for older, newer in combinations(facts[-_MOST_CLAIMS:], 2):
            is_same = duplicates.normalize(older.content) == duplicates.normalize(newer.content)
            if not is_same and _ends_after(older, newer) and _ends_after(newer, older):
                pairs.append((older, newer, {"scopes": [older.scope, newer.scope]}))
    for link in snapshot.links:
        ends = [snapshot.memories[end] for end in (link.source_id, link.target_id) if end in snapshot.memories]
        if link.relation == "contradicts" and len(ends) > 1:
            first, second = sorted(ends, key=_age)
            pairs.append((first, second, {"link": link.relation, "weight": link.weight}))
    for first, second, evidence in pairs:
        yield Finding(
            kind="contradiction",
            severity="high" if first.scope == second.scope else "medium",
            ids=(first.id, second.id),
            says=f"a {first.kind} and a {second.kind} contradict each other",
            evidence=evidence,
            command=f"engrain forget {first.id}",
        )


def find_duplicates(snapshot: AuditSnapshot) -> Iterator[Finding]:
    """Memories that say the same, whatever their case, spaces and last stop."""
    for ids in duplicates.find_duplicates(snapshot.sketches.values()):
        memories = sorted((snapshot.memories[id_] for id_ in ids), key=_age)
        first = memories[0]
        yield Finding(
            kind="duplicate",
            severity="low" if first.kind == "episode" else "medium",
            ids=tuple(memory.id for memory in memories),
            says=f"{len(ids)} {first.kind}s say the same",
            evidence={"count": len(ids), "scopes": sorted({memory.scope for memory in memories})},
            command="; ".join(f"engrain forget {memory.id}" for memory in memories[1:6]),
        )


def find_near_duplicates(snapshot: AuditSnapshot) -> Iterator[Finding]:
    """Memories that say nearly the same, by their words and vectors."""
    for pair in duplicates.find_near_duplicates(snapshot.sketches.values(), snapshot.vectors):
        older, newer = sorted((snapshot.memories[id_] for id_ in (pair.first, pair.second)), key=_age)
        if _claim(older) is not None and _claim(older) == _claim(newer):
            continue  # a contradiction, or one place in two scopes
        says = f"two {older.kind}s say nearly the same"
        evidence = {"jaccard": pair.jaccard, "cosine": pair.cosine}
        yield _finding("near_duplicate", older, newer, says=says, evidence=evidence, verb="forget")


def find_echoes(snapshot: AuditSnapshot) -> Iterator[Finding]:
    """Episodes of a session that say again what had just been recalled: a memory remembering itself."""
    recalls = sorted(
        (at, memory.id) for memory in snapshot.memories.values() if (at := memory.last_referenced_at) is not None
    )
    times = [at for at, _ in recalls]
    for episode in snapshot.memories.values():
        if not isinstance(episode, Episode) or not episode.session:
            continue
        first = bisect_left(times, episode.created_at - ECHO_WITHIN)
        last = bisect_right(times, episode.created_at)
        for at, id_ in recalls[max(first, last - _MOST_RECALLED) : last]:
            source = snapshot.memories[id_]
            share = duplicates.measure_repetition(snapshot.sketches[episode.id], snapshot.sketches[id_])
            if source.created_at < episode.created_at and source.id != episode.id and share >= LEAST_REPEATED:
                says = f"an episode repeats the {source.kind} that was recalled just before it"
                seconds = (episode.created_at - at).total_seconds()
                evidence = {"repeated": round(share, 4), "seconds_after": seconds, "session": episode.session}
                yield _finding("echo", source, episode, says=says, evidence=evidence, verb="forget")


def find_stale(snapshot: AuditSnapshot) -> Iterator[Finding]:
    """Facts whose time is over while they count as active, and facts and rules that hardly anybody can believe now."""
    for memory in snapshot.memories.values():
        if isinstance(memory, Episode):
            continue
        if isinstance(memory, Fact) and memory.valid_to is not None and memory.valid_to <= snapshot.now:
            says = f"{memory.kind} was true until a time that is over"
            evidence = {"days_over": _days(memory.valid_to, snapshot.now)}
            yield _finding("stale", memory, says=says, evidence=evidence, verb="forget", severity="medium")
            continue
        confidence = decayed_confidence(memory, snapshot.decay, now=snapshot.now)
        if confidence < snapshot.decay.fading_below:
            says = f"{memory.kind} has faded: nobody has confirmed it for long"
            evidence = {"effective_confidence": round(confidence, 4), "below": snapshot.decay.fading_below}
            yield _finding("stale", memory, says=says, evidence=evidence, verb="confirm")


def find_orphaned(snapshot: AuditSnapshot) -> Iterator[Finding]:
    """Memories that rest on something that is gone, and entities that nothing is about."""
    for memory in snapshot.memories.values():
        if isinstance(memory, Fact | Rule) and memory.source_episode_id in snapshot.gone:
            says = f"{memory.kind} came from an episode that is gone"
            yield _finding("orphaned", memory, says=says, evidence={"gone": memory.source_episode_id}, verb="get")
    for link in snapshot.links:
        if link.relation in {"derived_from", "supports"} and link.target_id in snapshot.gone:
            source = snapshot.memories[link.source_id]
            if getattr(source, "source_episode_id", None) != link.target_id:
                says = f"{source.kind} is linked to a memory that is gone"
                evidence = {"link": link.relation, "gone": link.target_id}
                yield _finding("orphaned", source, says=says, evidence=evidence, verb="get")
    for entity in snapshot.entities:
        says = f"{entity.entity_type} is known, and nothing is about it"
        known = {"entity_type": entity.entity_type, "days_old": _days(entity.created_at, snapshot.now)}
        yield _finding("orphaned", entity, says=says, evidence=known, verb="entities show")


def find_never_recalled(snapshot: AuditSnapshot) -> Iterator[Finding]:
    """Facts and rules that nobody has asked for in all the days they were there; what they are worth by now."""
    for memory in snapshot.memories.values():
        days = days_between(memory.created_at, snapshot.now)
        if isinstance(memory, Episode) or memory.reference_count or days < snapshot.unused_days:
            continue
        worth = importance.current(memory, snapshot.now)
        says = f"{memory.kind} was never recalled"
        evidence = {"days_old": round(days, 2), "importance": round(worth, 2)}
        verb = "get" if worth > importance.PLAIN else "forget"
        yield _finding("never_recalled", memory, says=says, evidence=evidence, verb=verb)


def _finding(
    kind: FindingKind,
    *records: MemoryRecord | Entity,
    says: str,
    evidence: Mapping[str, Any],
    verb: str,
    severity: Severity = "low",
) -> Finding:
    """A finding about some records, of which a command would change or show the last."""
    ids = tuple(record.id for record in records)
    command = f"engrain {verb} {ids[-1]}"
    return Finding(kind=kind, severity=severity, ids=ids, says=says, evidence=evidence, command=command)


def _subjects_of_entities(facts: Sequence[Fact]) -> dict[str, str]:
    """By subject: the one entity that facts say it is; a fact without an entity is then taken for one about it."""
    named: dict[str, set[str]] = defaultdict(set)
    for fact in facts:
        if fact.entity_id is not None:
            named[name_key(fact.subject)].add(fact.entity_id)
    return {subject: min(entities) for subject, entities in named.items() if len(entities) == 1}


def _ends_after(one: Fact, other: Fact) -> bool:
    """True if one is still true when the other begins to be; an end or beginning that is unknown is open."""
    return one.valid_to is None or other.valid_from is None or one.valid_to > other.valid_from


def _claim(memory: MemoryRecord) -> FactKey | None:
    """The key of a fact."""
    return memory.key if isinstance(memory, Fact) else None


def _age(memory: MemoryRecord) -> tuple[datetime, str]:
    return memory.created_at, memory.id


def _days(since: datetime, now: datetime) -> float:
    return round(days_between(since, now), 2)
