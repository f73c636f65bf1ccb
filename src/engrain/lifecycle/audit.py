"""The audit: reads all memories that an agent sees, changes none, and reports what looks wrong with them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from engrain.domain.filters import Filter
from engrain.domain.maintenance.findings import FINDING_KINDS, Audit, Finding, FindingKind
from engrain.domain.memories.decay import DecayPolicy
from engrain.domain.memories.secret_fields import find_in_memory
from engrain.domain.records import Caller, Entity, Fact, Kind, Link, MemoryRecord, Rule
from engrain.domain.requests import Request
from engrain.domain.text.names import name_key
from engrain.lifecycle import duplicates, finders
from engrain.lifecycle.finders import AuditSnapshot
from engrain.storage.entities.subjects import Subject, find_namesakes
from engrain.storage.reports import surveys
from engrain.storage.search import history
from engrain.storage.selection import load_memories

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from datetime import datetime

    import numpy as np
    from numpy.typing import NDArray

    from engrain.storage.store import SqlStore
    from engrain.storage.unit_of_work import Snapshot

PAGE = 500
_MOST_ENTITIES = 5_000
# Of a text so much stays in memory once its secrets and words are known.
_MOST_CHARACTERS = 4_000
# 20 million numbers of 4 bytes: what comparing all vectors with each other may hold.
_MOST_NUMBERS = 20_000_000
_ORDER: tuple[Kind, ...] = ("fact", "rule", "episode")
_FINDERS: Mapping[FindingKind, Callable[[AuditSnapshot], Iterator[Finding]]] = {
    "secret": finders.find_secrets,
    "contradiction": finders.find_contradictions,
    "duplicate": finders.find_duplicates,
    "near_duplicate": finders.find_near_duplicates,
    "echo": finders.find_echoes,
    "stale": finders.find_stale,
    "orphaned": finders.find_orphaned,
    "never_recalled": finders.find_never_recalled,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditOptions:
    """Options of an audit: the kinds of finding, the page of each, the most it may read, and thresholds."""

    kinds: tuple[FindingKind, ...] = FINDING_KINDS
    limit: int = 100
    skip: int = 0
    most_memories: int = 20_000
    decay: DecayPolicy = DecayPolicy()  # noqa: RUF009  # frozen
    unused_days: float = 30.0


def audit(
    store: SqlStore,
    caller: Caller,
    options: AuditOptions,
    *,
    now: datetime,
    progress: Callable[[int], None] | None = None,
) -> Audit:
    """Findings about the memories that the caller sees, as of one moment. Read-only; bounded by `most_memories`.

    Costs a statement for each 500 memories of a kind, and one each for their links and vectors where those are asked
    about, with up to three for the other names of their subjects. `progress` gets the number of memories read.
    """
    seen, is_complete = store.read(caller, _read, options, now=now, progress=progress)
    counts: dict[str, int] = {}
    shown: list[Finding] = []
    for kind in options.kinds:
        by_order = {finding.order: finding for finding in _FINDERS[kind](seen)}
        counts[kind] = len(by_order)
        shown += [by_order[order] for order in sorted(by_order)[options.skip : options.skip + options.limit]]
    return Audit(at=now, memories=len(seen.memories), is_complete=is_complete, counts=counts, findings=tuple(shown))


def _read(
    snapshot: Snapshot, options: AuditOptions, *, now: datetime, progress: Callable[[int], None] | None
) -> tuple[AuditSnapshot, bool]:
    """The memories that the findings are made of; whether those are all that the caller sees."""
    wants = frozenset(options.kinds)
    memories: dict[str, MemoryRecord] = {}
    sketches: dict[str, duplicates.Sketch] = {}
    vectors: dict[str, NDArray[np.float32]] = {}
    links: list[Link] = []
    secrets = {}
    subjects: dict[str, str] = {}
    is_complete = True
    for page in _pages(snapshot, now, options.most_memories + 1):
        taken = page[: options.most_memories - len(memories)]
        is_complete = len(taken) == len(page)
        ids = [memory.id for memory in taken]
        for memory in taken:
            if "secret" in wants and (matches := find_in_memory(memory)):
                secrets[memory.id] = matches
            sketches[memory.id] = duplicates.build_sketch(memory)
            memories[memory.id] = replace(memory, content=memory.content[:_MOST_CHARACTERS])
        if ids and wants & {"contradiction", "orphaned"}:
            links += history.load_links_from(snapshot, ids, ("contradicts", "derived_from", "supports"))
        if "contradiction" in wants:
            subjects |= _find_entities(snapshot, [fact for fact in taken if isinstance(fact, Fact)])
        if ids and "near_duplicate" in wants and sum(map(len, vectors.values())) < _MOST_NUMBERS:
            vectors |= surveys.load_vectors(snapshot, ids)
        if progress is not None:
            progress(len(memories))
    return AuditSnapshot(
        now=now,
        memories=memories,
        sketches=sketches,
        vectors=vectors,
        secrets=secrets,
        subjects=subjects,
        links=links,
        gone=_gone(snapshot, _bases(memories, links), now) if "orphaned" in wants else {},
        entities=_entities(snapshot) if "orphaned" in wants else [],
        decay=options.decay,
        unused_days=options.unused_days,
    ), is_complete


def _find_entities(snapshot: Snapshot, facts: Sequence[Fact]) -> dict[str, str]:
    """Find the entities of the registry that facts without one are about, by the names of their subjects."""
    namesakes = find_namesakes(snapshot, [Subject(fact.subject) for fact in facts if fact.entity_id is None])
    return {name_key(subject.name): found.entity_ids[0] for subject, found in namesakes.items() if found.entity_ids}


def _pages(snapshot: Snapshot, now: datetime, most: int) -> Iterator[list[MemoryRecord]]:
    """Live facts, then rules, then episodes, each by id from the largest, at most so many in all."""
    left = most
    for kind in _ORDER:
        request = Request(caller=snapshot.caller, filter=Filter(kinds=(kind,), period="any"), now=now)
        before: str | None = None
        while left > 0:
            page = surveys.load_page(snapshot, request, before=before, limit=min(PAGE, left))
            if page:
                yield page
            left -= len(page)
            if len(page) < PAGE:
                break
            before = page[-1].id


def _bases(memories: Mapping[str, MemoryRecord], links: Sequence[Link]) -> list[str]:
    """The ids of memories that these came from or are linked to and that are not among them."""
    sources = {
        memory.source_episode_id
        for memory in memories.values()
        if isinstance(memory, Fact | Rule) and memory.source_episode_id
    }
    return sorted((sources | {link.target_id for link in links}) - memories.keys())


def _gone(snapshot: Snapshot, ids: Sequence[str], now: datetime) -> dict[str, MemoryRecord]:
    """The memories of `ids` that are no longer live."""
    pages = (ids[start : start + PAGE] for start in range(0, len(ids), PAGE))
    bases = (memory for page in pages for memory in load_memories(snapshot, page))
    return {memory.id: memory for memory in bases if not memory.is_live(now)}


def _entities(snapshot: Snapshot) -> list[Entity]:
    """The entities that nothing the caller sees is about or mentions, at most 5,000."""
    entities: list[Entity] = []
    while len(entities) < _MOST_ENTITIES:
        page = surveys.find_unmentioned(snapshot, after=entities[-1].id if entities else None, limit=PAGE)
        entities += page
        if len(page) < PAGE:
            break
    return entities[:_MOST_ENTITIES]
