"""The audit: all that an agent sees, read once and changed nowhere, and what looks wrong with it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from engrain.domain.filters import Filter
from engrain.domain.maintenance.findings import FINDING_KINDS, Audit, Finding, FindingKind
from engrain.domain.records import Fact, Kind, Rule
from engrain.domain.requests import Request
from engrain.domain.text.secrets import find_secrets
from engrain.lifecycle import duplicates, finders
from engrain.lifecycle.finders import AuditSnapshot

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from datetime import datetime

    import numpy as np
    from numpy.typing import NDArray

    from engrain.domain.ports import Store
    from engrain.domain.records import Caller, Entity, Link, MemoryRecord

PAGE = 500
_MOST_ENTITIES = 5_000
# What is kept of a text once its secrets and words are known.
_KEPT_CHARACTERS = 4_000
# 20 million numbers of 4 bytes: what comparing all vectors with each other may hold.
_MOST_NUMBERS = 20_000_000
_ORDER: tuple[Kind, ...] = ("fact", "rule", "episode")
_FINDERS: Mapping[FindingKind, Callable[[AuditSnapshot], Iterator[Finding]]] = {
    "secret": finders.secrets,
    "contradiction": finders.contradictions,
    "duplicate": finders.duplicates,
    "near_duplicate": finders.near_duplicates,
    "echo": finders.echoes,
    "stale": finders.stale,
    "orphaned": finders.orphaned,
    "never_recalled": finders.never_recalled,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditOptions:
    """What an audit is asked: which kinds of finding, which page of each, how much it may read, what counts as what."""

    kinds: tuple[FindingKind, ...] = FINDING_KINDS
    limit: int = 100
    skip: int = 0
    most_memories: int = 20_000
    fading_below: float = 0.2
    unused_days: float = 30.0


def audit(
    store: Store, caller: Caller, asked: AuditOptions, *, now: datetime, progress: Callable[[int], None] | None = None
) -> Audit:
    """What looks wrong with what the caller sees. Read-only; reads and comparisons are bounded by `most_memories`.

    Costs a statement for each 500 memories of a kind, and one each for their links and vectors where those are asked
    about. `progress` is told how many memories were read.
    """
    looked, is_complete = _look(store, caller, asked, now=now, progress=progress)
    counts: dict[str, int] = {}
    shown: list[Finding] = []
    for kind in asked.kinds:
        found = {finding.order: finding for finding in _FINDERS[kind](looked)}
        counts[kind] = len(found)
        shown += [found[order] for order in sorted(found)[asked.skip : asked.skip + asked.limit]]
    return Audit(at=now, memories=len(looked.memories), is_complete=is_complete, counts=counts, findings=tuple(shown))


def _look(
    store: Store, caller: Caller, asked: AuditOptions, *, now: datetime, progress: Callable[[int], None] | None
) -> tuple[AuditSnapshot, bool]:
    """What the findings are made of; whether it is of all that the caller sees."""
    wants = frozenset(asked.kinds)
    memories: dict[str, MemoryRecord] = {}
    sketches: dict[str, duplicates.Sketch] = {}
    vectors: dict[str, NDArray[np.float32]] = {}
    links: list[Link] = []
    secrets = {}
    is_complete = True
    for page in _pages(store, caller, now, asked.most_memories + 1):
        kept = page[: asked.most_memories - len(memories)]
        is_complete = len(kept) == len(page)
        ids = [memory.id for memory in kept]
        for memory in kept:
            if "secret" in wants and (found := find_secrets(_told(memory))):
                secrets[memory.id] = found
            sketches[memory.id] = duplicates.build_sketch(memory)
            memories[memory.id] = replace(memory, content=memory.content[:_KEPT_CHARACTERS])
        if ids and wants & {"contradiction", "orphaned"}:
            links += store.links_from(caller, ids, ("contradicts", "derived_from", "supports"))
        if ids and "near_duplicate" in wants and sum(map(len, vectors.values())) < _MOST_NUMBERS:
            vectors |= store.vectors_of(caller, ids)
        if progress is not None:
            progress(len(memories))
    return AuditSnapshot(
        now=now,
        memories=memories,
        sketches=sketches,
        vectors=vectors,
        secrets=secrets,
        links=links,
        gone=_gone(store, caller, _bases(memories, links), now) if "orphaned" in wants else {},
        entities=_entities(store, caller) if "orphaned" in wants else [],
        fading_below=asked.fading_below,
        unused_days=asked.unused_days,
    ), is_complete


def _pages(store: Store, caller: Caller, now: datetime, most: int) -> Iterator[list[MemoryRecord]]:
    """Live facts, then rules, then episodes, each by id from the largest, at most so many in all."""
    left = most
    for kind in _ORDER:
        request = Request(caller=caller, filter=Filter(kinds=(kind,)), now=now)
        before: str | None = None
        while left > 0:
            page = store.page(request, before=before, limit=min(PAGE, left))
            if page:
                yield page
            left -= len(page)
            if len(page) < PAGE:
                break
            before = page[-1].id


def _told(memory: MemoryRecord) -> str:
    """What a memory says, with what a fact calls it: a value alone does not say that it is a password."""
    return f"{memory.subject} {memory.predicate}: {memory.content}" if isinstance(memory, Fact) else memory.content


def _bases(memories: Mapping[str, MemoryRecord], links: Sequence[Link]) -> list[str]:
    """The ids of what the memories came from or are linked to and that is not among them."""
    sources = {
        each.source_episode_id for each in memories.values() if isinstance(each, Fact | Rule) and each.source_episode_id
    }
    return sorted((sources | {link.target_id for link in links}) - memories.keys())


def _gone(store: Store, caller: Caller, ids: Sequence[str], now: datetime) -> dict[str, MemoryRecord]:
    """Those of `ids` that are no longer live."""
    found = (memory for start in range(0, len(ids), PAGE) for memory in store.get(caller, ids[start : start + PAGE]))
    return {memory.id: memory for memory in found if not memory.is_live(now)}


def _entities(store: Store, caller: Caller) -> list[Entity]:
    """The entities that nothing the caller sees is about or mentions, at most 5,000."""
    found: list[Entity] = []
    while len(found) < _MOST_ENTITIES:
        page = store.unmentioned(caller, after=found[-1].id if found else None, limit=PAGE)
        found += page
        if len(page) < PAGE:
            break
    return found[:_MOST_ENTITIES]
