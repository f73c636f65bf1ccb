"""Memories and their searches over dictionaries: slow, obvious, and the model the databases are compared with.

A ref is the number of arrival, and a memory counts in what words weigh by from the moment its words are flushed until
it is forgotten or superseded.
"""

import math
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import fields, replace
from datetime import UTC, datetime
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from engrain.domain import events
from engrain.domain.maintenance.stats import EpisodeStats, FactStats, RuleStats, Stats
from engrain.domain.memories.decay import days_between
from engrain.domain.records import (
    Caller,
    EmbeddingVersion,
    Entity,
    Episode,
    Fact,
    MemoryRecord,
    Rule,
)
from engrain.domain.requests import Act, Candidate, Ref, Request, Unembedded
from engrain.domain.text.bm25 import scores
from engrain.domain.text.indexing import embedding_text
from engrain.domain.text.names import name_key
from engrain.domain.text.similarity import trigrams
from engrain.errors import EngineUnavailable, InvalidInput
from tests.support.reference_entries import Entry, best_first
from tests.support.reference_records import AT_MOST, ReferenceRecords
from tests.support.traits import Traits, traits_of

Result = TypeVar("Result")


class ReferenceStore(ReferenceRecords):
    """What was put, found: every search a loop over all there is."""

    def stats(self, caller: Caller, now: datetime, *, scope: str | None = None) -> Stats:
        seen = [entry.memory for entry in self._entries.visible(caller)]
        episodes = [memory for memory in seen if isinstance(memory, Episode) and memory.is_live(now)]
        pending = [each.created_at for each in episodes if each.consolidation_status == "pending"]
        times = [memory.event_time for memory in episodes]
        counted = [each for each in seen if scope is None or each.scope in {"global", scope}]
        facts = Counter(each.state for each in counted if isinstance(each, Fact))
        rules = Counter(
            "forgotten" if each.is_forgotten else each.maturity for each in counted if isinstance(each, Rule)
        )
        return Stats(
            tenant_id=caller.tenant_id,
            agent=caller.agent,
            episodes=EpisodeStats(
                total=len(episodes),
                unconsolidated=len(pending),
                given_up=sum(each.consolidation_status in {"failed", "dead_letter"} for each in episodes),
                backlog_age_hours=days_between(min(pending), now) * 24 if pending else None,
                sessions=len({episode.session for episode in episodes} - {None}),
                speakers=len({episode.speaker for episode in episodes} - {None}),
                first_event_at=min(times, default=None),
                last_event_at=max(times, default=None),
            ),
            facts=FactStats(**{each.name: facts[each.name] for each in fields(FactStats)}),
            rules=RuleStats(**{each.name: rules[each.name] for each in fields(RuleStats)}),
            pending_embeddings=self.waiting(caller),
        )

    def keyword(self, request: Request, terms: Collection[str], limit: int) -> list[Candidate]:
        asked = sorted(set(terms))
        holders = [entry for entry in self._entries.searched(request) if entry.words & set(asked)]
        corpus = self._entries.corpus(request.caller, request.filter.kinds, request.filter.scopes)
        raws = scores([entry.packed for entry in holders], asked, corpus).tolist()
        return best_first([Candidate(entry.ref, raw) for entry, raw in zip(holders, raws, strict=True)], limit)

    def nearest(
        self, request: Request, vector: NDArray[np.float32], limit: int, *, also: Collection[Ref] = ()
    ) -> list[Candidate]:
        version = self._active_number()
        self._check_embedder()
        best = best_first(_judged(self._entries.searched(request), version, vector), limit)
        others = [entry for entry in self._entries.matching(request) if entry.ref in also]
        added = [each for each in _judged(others, version, vector) if each not in best]
        return best_first(best + added, len(best + added))

    def speakers(self, request: Request) -> list[str]:
        spoken = {
            entry.memory.speaker
            for entry in self._entries.visible(request.caller)
            if isinstance(entry.memory, Episode) and entry.memory.speaker is not None
        }
        return sorted(spoken)[:AT_MOST]

    def newest_turn(self, caller: Caller, session: str) -> int:
        seen = [entry.memory for entry in self._entries.visible(caller)]
        own = [each for each in seen if isinstance(each, Episode) and each.scope == caller.own_scope]
        turns = [each.turn for each in own if each.session == session]
        return max(turns, default=0)

    def newest(self, request: Request, limit: int) -> list[Candidate]:
        found = sorted(self._entries.matching(request), key=_age, reverse=True)
        return [Candidate(entry.ref, entry.memory.happened_at.timestamp()) for entry in found[: max(limit, 0)]]

    def important(self, request: Request, limit: int) -> list[Candidate]:
        found = [(_importance(entry.memory), *_age(entry), entry.ref) for entry in self._entries.matching(request)]
        return [Candidate(ref, raw) for raw, _, _, ref in sorted(found, reverse=True)[: max(limit, 0)]]

    def mentioning(self, request: Request, names: Collection[str], limit: int) -> list[Candidate]:
        asked = {name_key(name) for name in names} - {""}
        named = {
            entity.id
            for entity in self._entities.values()
            if entity.tenant_id == request.caller.tenant_id
            and asked & {name_key(name) for name in (entity.canonical_name, *entity.aliases)}
        }
        seen = {entry.memory.id for entry in self._entries.visible(request.caller)}
        counts = {id_: count for id_ in seen if (count := len(named & self._mentioned_by(request.caller, id_)))}
        edges = [
            {link.source_id, link.target_id}
            for (tenant_id, *_), link in self._links.items()
            if tenant_id == request.caller.tenant_id and {link.source_id, link.target_id} <= seen
        ]
        near = {id_ for ends in edges if ends & counts.keys() for id_ in ends}
        raws = {**dict.fromkeys(near, 0.5), **counts}
        found = [
            (float(raws[entry.memory.id]), *_age(entry), entry.ref)
            for entry in self._entries.matching(request)
            if entry.memory.id in raws
        ]
        return [Candidate(ref, raw) for raw, _, _, ref in sorted(found, reverse=True)[: max(limit, 0)]]

    def traits(self, request: Request, refs: Collection[Ref]) -> dict[Ref, Traits]:
        return {
            entry.ref: traits_of(entry.memory) for entry in self._entries.visible(request.caller) if entry.ref in refs
        }

    def recalled_traits(self, request: Request, refs: Collection[Ref]) -> dict[Ref, Traits]:
        return {ref: traits._replace(referenced_at=None) for ref, traits in self.traits(request, refs).items()}

    def load(self, request: Request, refs: Collection[Ref]) -> dict[Ref, MemoryRecord]:
        return {entry.ref: entry.memory for entry in self._entries.matching(request) if entry.ref in refs}

    def recent(self, request: Request, limit: int) -> list[MemoryRecord]:
        found = [entry.memory for entry in self._entries.matching(request)]
        return sorted(found, key=lambda memory: (memory.happened_at, memory.id), reverse=True)[:limit]

    def newest_rules(self, request: Request, limit: int) -> list[MemoryRecord]:
        asked = replace(request, filter=replace(request.filter, kinds=("rule",)))
        return self.recent(asked, max(limit, 0))

    def neighbours(self, request: Request, memory: MemoryRecord, reach: int) -> list[MemoryRecord]:
        if not isinstance(memory, Episode) or memory.session is None:
            return []
        found = [entry.memory for entry in self._entries.matching(request)]
        seen = [each for each in found if isinstance(each, Episode)]
        session = [turn for turn in seen if (turn.scope, turn.session) == (memory.scope, memory.session)]
        session.sort(key=lambda turn: turn.turn)
        return [turn for turn in session if 0 < abs(turn.turn - memory.turn) <= reach]

    def resembling(self, caller: Caller, name: str, *, fuzzy: bool, limit: int) -> list[Entity]:
        key = name_key(name)
        if not key:
            return []
        known = [entity for entity in self._entities.values() if entity.tenant_id == caller.tenant_id]
        ids = {entity.id for entity in known if key in _keys(entity)}
        holding = sorted((found, entity.id) for entity in known for found in _keys(entity) if key in found)
        ids |= {id_ for _, id_ in holding[:limit]}
        asked = trigrams(key)
        if fuzzy and asked:
            shared = sorted((-len(asked & _trigrams_of(entity)), entity.id) for entity in known)
            ids |= {id_ for count, id_ in shared[:limit] if -count >= math.ceil(0.3 * len(asked))}
        return self.entities(caller, sorted(ids))

    def flush_index(self) -> int:
        oldest = self._entries.unflushed()[:AT_MOST]
        self._entries.flush_index(oldest)
        return len(oldest)

    def waiting(self, caller: Caller) -> int:
        version = self._active_number()
        seen = self._entries.visible(caller)
        return min(sum(not entry.gone and version not in entry.vectors for entry in seen), AT_MOST)

    def use_embedder(self, name: str, dims: int) -> str | None:
        if not self._versions:
            now = datetime.now(UTC)
            first = {"version": 1, "state": "active", "created_at": now, "activated_at": now}
            self._versions.append(EmbeddingVersion(name=name, dims=dims, **first))
        active = self._version(None)
        if (active.name, active.dims) != (name, dims):
            return active.name
        self._searched_with = active.version
        return None

    def embedding_versions(self) -> list[EmbeddingVersion]:
        return list(self._versions)

    def begin_version(self, name: str, dims: int) -> EmbeddingVersion:
        active = self._version(None)
        if (active.name, active.dims) == (name, dims):
            raise InvalidInput(f"{name} is the active embedder already; there is nothing to build")
        for version in self._versions:
            if version.state == "building":
                if (version.name, version.dims) == (name, dims):
                    return version
                raise InvalidInput(f"vectors of {version.name} are being built; finish them first")
        number = len(self._versions) + 1
        created_at = datetime.now(UTC)
        new = EmbeddingVersion(version=number, name=name, dims=dims, state="building", created_at=created_at)
        self._versions.append(new)
        return new

    def unembedded(self, limit: int, *, version: int | None = None) -> list[Unembedded]:
        number = self._active_number() if version is None else self._version(version).version
        found = [e for e in self._entries.values() if not e.gone and e.flushed and number not in e.vectors]
        return [
            Unembedded(
                ref=entry.ref, tenant_id=entry.memory.tenant_id, id=entry.memory.id, text=embedding_text(entry.memory)
            )
            for entry in found[: max(limit, 0)]
        ]

    def attach(
        self,
        refs: Sequence[Ref],
        vectors: NDArray[np.float32],
        *,
        version: int | None = None,
        tenants: Sequence[str] | None = None,  # noqa: ARG002  # a handle is one memory's here
    ) -> None:
        if version is None:
            self._check_embedder()
        asked = self._version(version)
        rows = np.asarray(vectors, np.float32)
        shape = (len(refs), asked.dims)
        if rows.shape != shape or not np.isfinite(rows).all():
            raise InvalidInput(f"vectors of shape {rows.shape}; {shape} and finite numbers were expected")
        for ref, row in zip(refs, rows, strict=True):
            entry = self._entries.get(int(ref))
            if entry is not None and entry.flushed and not entry.gone and asked.state != "retired":
                entry.vectors.setdefault(asked.version, row.copy())

    def switch_version(self, act: Act, version: int) -> bool:
        chosen = self._version(version)
        if chosen.state != "building":
            raise InvalidInput(f"version {version} is {chosen.state}; only one that is being built is switched to")
        if any(not entry.gone and version not in entry.vectors for entry in self._entries.values()):
            return False
        active = self._version(None)
        now_active = replace(chosen, state="active", activated_at=act.at)
        self._versions[active.version - 1] = replace(active, state="retired")
        self._versions[version - 1] = now_active
        self._events.append(events.embeddings_switched(act, now_active, self._ids))
        return True

    def prune_vectors(self, limit: int) -> int:
        retired = {each.version for each in self._versions if each.state == "retired"}
        found = [(e, number) for e in self._entries.values() for number in e.vectors if number in retired]
        for entry, number in found[: max(limit, 0)]:
            del entry.vectors[number]
        return len(found[: max(limit, 0)])

    def _version(self, number: int | None) -> EmbeddingVersion:
        """The version of this number, or the active one."""
        for version in self._versions:
            if version.version == number or (number is None and version.state == "active"):
                return version
        raise InvalidInput(f"no embedder {number or 'is recorded'}; call use_embedder or begin_version first")

    def _check_embedder(self) -> None:
        if self._searched_with not in (None, self._active_number()):
            raise EngineUnavailable(f"the vectors are of {self._version(None).name} now; use that")

    def _active_number(self) -> int:
        """The number of the active version, 0 where no embedder is recorded."""
        return self._version(None).version if self._versions else 0


def _age(entry: Entry) -> tuple[datetime, str]:
    """What the newest have most of."""
    return entry.memory.happened_at, entry.memory.id


def _importance(memory: MemoryRecord) -> float:
    return 5.0 if isinstance(memory, Rule) else memory.importance


def _judged(entries: Sequence[Entry], version: int, vector: NDArray[np.float32]) -> list[Candidate]:
    """The cosines of those that have a vector of the version."""
    rows = [(entry.ref, entry.vectors[version]) for entry in entries if version in entry.vectors]
    return [Candidate(ref, float(row @ vector)) for ref, row in rows]


def _keys(entity: Entity) -> list[str]:
    return [key for name in (entity.canonical_name, *entity.aliases) if (key := name_key(name))]


def _trigrams_of(entity: Entity) -> set[str]:
    if entity.entity_type in {"email", "url"}:
        return set()
    return {trigram for key in _keys(entity) for trigram in trigrams(key)}
