"""The Store port over dictionaries: slow, obvious, and the model the databases are compared with.

What the port leaves to a backend is decided here as plainly as it can be: a ref is the number of arrival, and a memory
counts in what words weigh by from the moment its words are settled until it is retired or superseded.
"""

import threading
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from engrain.domain.bm25 import Corpus, pack, scores
from engrain.domain.indexing import NEIGHBOURS, embedding_text, near_terms, own_terms
from engrain.domain.ports import Candidate, Health, Ref, Request, TurnPlace, Unembedded
from engrain.domain.query import matches
from engrain.domain.records import KINDS, Caller, Episode, Fact, Kind, MemoryRecord, Stats
from engrain.errors import InvalidInput, MemoryClosed

AT_MOST = 1_000


@dataclass
class Entry:
    """One memory and its place in the searches; `near` is None until its neighbours' words are indexed."""

    ref: int
    memory: MemoryRecord
    own: list[str]
    near: list[str] | None = None
    settled: bool = False
    gone: bool = False  # retired, superseded, or inactive from the beginning
    vector: NDArray[np.float32] | None = None

    @property
    def is_indexed(self) -> bool:
        return not self.gone and self.near is not None


class ReferenceStore:
    """Every memory in one dictionary, every verb a loop over it."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._entries: dict[int, Entry] = {}
        self._embedder: tuple[str, int] | None = None
        self._closed = False

    def put(self, memories: Sequence[MemoryRecord]) -> list[MemoryRecord]:
        with self._open():
            added = [self._add(memory) for memory in memories if not self._is_there(memory)]
            if len(memories) > 1 or any(isinstance(memory, Fact) for memory in memories):
                self._settle(self._unsettled())
            return [entry.memory for entry in added]

    def get(self, caller: Caller, ids: Sequence[str]) -> list[MemoryRecord]:
        with self._open():
            found = {entry.memory.id: entry.memory for entry in self._visible(caller)}
            return [found[id_] for id_ in dict.fromkeys(ids) if id_ in found]

    def retire(self, caller: Caller, id_: str, *, at: datetime) -> MemoryRecord | None:
        with self._open():
            entry = next((entry for entry in self._visible(caller) if entry.memory.id == id_), None)
            if entry is None:
                return None
            memory = entry.memory
            if entry.gone or not memory.is_live(at):
                return memory
            self._settle(self._unsettled())
            _leave_the_searches(entry)
            if isinstance(memory, Fact):
                entry.memory = replace(memory, validity="retracted")
            else:
                entry.memory = replace(memory, expires_at=at)
                if memory.session is not None:
                    self._index_around([entry], at)
            return entry.memory

    def keyword(self, request: Request, terms: Collection[str], limit: int) -> list[Candidate]:
        with self._open():
            asked = sorted(set(terms))
            holders = [entry for entry in self._searched(request) if _words_of(entry) & set(asked)]
            packed = [pack(entry.own, entry.near or []) for entry in holders]
            raws = scores(packed, asked, self._corpus(request.caller, request.filter.kinds)).tolist()
            return _best_first([Candidate(entry.ref, raw) for entry, raw in zip(holders, raws, strict=True)], limit)

    def nearest(
        self, request: Request, vector: NDArray[np.float32], limit: int, *, also: Collection[Ref] = ()
    ) -> list[Candidate]:
        with self._open():
            judged = [
                Candidate(entry.ref, float(entry.vector @ vector))
                for entry in self._searched(request)
                if entry.vector is not None
            ]
            best = _best_first(judged, limit)
            asked = [each for each in judged if each.ref in also and each not in best]
            return _best_first(best + asked, len(judged))

    def speakers(self, request: Request) -> list[str]:
        with self._open():
            spoken = {
                entry.memory.speaker
                for entry in self._visible(request.caller)
                if isinstance(entry.memory, Episode) and entry.memory.speaker is not None
            }
            return sorted(spoken)[:AT_MOST]

    def turns(self, request: Request, refs: Collection[Ref]) -> dict[Ref, TurnPlace]:
        with self._open():
            asked = [entry for entry in self._visible(request.caller) if entry.ref in refs]
            turns = {entry.ref: _turn(entry) for entry in asked if isinstance(entry.memory, Episode)}
            return {
                ref: TurnPlace(scope=turn.scope, session=turn.session, role=turn.role, speaker=turn.speaker)
                for ref, turn in turns.items()
            }

    def load(self, request: Request, refs: Collection[Ref]) -> dict[Ref, MemoryRecord]:
        with self._open():
            return {entry.ref: entry.memory for entry in self._searched(request) if entry.ref in refs}

    def recent(self, request: Request, limit: int) -> list[MemoryRecord]:
        with self._open():
            found = [entry.memory for entry in self._searched(request)]
            return sorted(found, key=lambda memory: (memory.happened_at, memory.id), reverse=True)[:limit]

    def neighbours(self, request: Request, memory: MemoryRecord, reach: int) -> list[MemoryRecord]:
        with self._open():
            if not isinstance(memory, Episode) or memory.session is None:
                return []
            seen = [entry.memory for entry in self._searched(request) if isinstance(entry.memory, Episode)]
            session = [turn for turn in seen if (turn.scope, turn.session) == (memory.scope, memory.session)]
            session.sort(key=lambda turn: turn.turn)
            return [turn for turn in session if 0 < abs(turn.turn - memory.turn) <= reach]

    def settle(self) -> int:
        with self._open():
            oldest = self._unsettled()[:AT_MOST]
            self._settle(oldest)
            return len(oldest)

    def waiting(self, caller: Caller) -> int:
        with self._open():
            return min(sum(not entry.gone and entry.vector is None for entry in self._visible(caller)), AT_MOST)

    def unembedded(self, limit: int) -> list[Unembedded]:
        with self._open():
            found = [e for e in self._entries.values() if not e.gone and e.settled and e.vector is None]
            return [Unembedded(ref=entry.ref, text=embedding_text(entry.memory)) for entry in found[:limit]]

    def attach(self, refs: Sequence[Ref], vectors: NDArray[np.float32]) -> None:
        with self._open():
            if self._embedder is None:
                raise InvalidInput("no embedder is recorded; call use_embedder before attaching vectors")
            rows = np.asarray(vectors, np.float32)
            shape = (len(refs), self._embedder[1])
            if rows.shape != shape or not np.isfinite(rows).all():
                raise InvalidInput(f"vectors of shape {rows.shape}; {shape} and finite numbers were expected")
            for ref, row in zip(refs, rows, strict=True):
                entry = self._entries.get(int(ref))
                if entry is not None and entry.settled and not entry.gone and entry.vector is None:
                    entry.vector = row.copy()

    def use_embedder(self, name: str, dims: int) -> str | None:
        with self._open():
            if self._embedder is None:
                self._embedder = (name, dims)
            return None if self._embedder == (name, dims) else self._embedder[0]

    def stats(self, caller: Caller, now: datetime) -> Stats:
        with self._open():
            seen = [entry.memory for entry in self._visible(caller)]
            episodes = [memory for memory in seen if isinstance(memory, Episode) and memory.is_live(now)]
            facts = [memory for memory in seen if isinstance(memory, Fact)]
            times = [memory.event_time for memory in episodes]
            return Stats(
                tenant_id=caller.tenant_id,
                agent=caller.agent,
                episodes=len(episodes),
                facts=sum(fact.is_live(now) for fact in facts),
                inactive_facts=sum(not fact.is_live(now) for fact in facts),
                sessions=len({episode.session for episode in episodes} - {None}),
                speakers=len({episode.speaker for episode in episodes} - {None}),
                first_event_at=min(times, default=None),
                last_event_at=max(times, default=None),
                pending_embeddings=self.waiting(caller),
            )

    def health(self) -> Health:
        with self._open():
            present = [entry for entry in self._entries.values() if not entry.gone]
            embedded = sum(entry.vector is not None for entry in present)
            return Health(
                location="a dictionary",
                backend="reference",
                schema="none",
                size_bytes=0,
                memories=len(self._entries),
                indexed=len(present),
                embedded=embedded,
                waiting=len(present) - embedded,
                embedder=None if self._embedder is None else self._embedder[0],
                problems=(),
            )

    def close(self) -> None:
        self._closed = True

    def _open(self) -> threading.RLock:
        """The lock, to be held while the store is used."""
        if self._closed:
            raise MemoryClosed("this store is closed")
        return self._lock

    def _visible(self, caller: Caller) -> Iterator[Entry]:
        """What a caller may see, live or not, in the order of arrival."""
        for entry in self._entries.values():
            if entry.memory.tenant_id == caller.tenant_id and entry.memory.scope in caller.scopes:
                yield entry

    def _searched(self, request: Request) -> Iterator[Entry]:
        """What a search may return."""
        for entry in self._visible(request.caller):
            if not entry.gone and matches(request.filter, entry.memory, request.now):
                yield entry

    def _is_there(self, memory: MemoryRecord) -> bool:
        known = (entry.memory for entry in self._entries.values())
        return any((each.tenant_id, each.id) == (memory.tenant_id, memory.id) for each in known)

    def _add(self, memory: MemoryRecord) -> Entry:
        placed = self._supersede(memory) if isinstance(memory, Fact) else self._with_turn(memory)
        entry = Entry(ref=len(self._entries) + 1, memory=placed, own=own_terms(placed))
        entry.gone = isinstance(placed, Fact) and placed.validity != "active"
        self._entries[entry.ref] = entry
        return entry

    def _with_turn(self, episode: Episode) -> Episode:
        """With its place in the session, from 1; 0 where there is no session."""
        if episode.session is None:
            return replace(episode, turn=0)
        return replace(episode, turn=max((_turn(entry).turn for entry in self._session(episode)), default=0) + 1)

    def _supersede(self, fact: Fact) -> Fact:
        """Close the active fact in the new one's place; the new one, naming what it supersedes."""
        place = (fact.tenant_id, fact.scope, fact.subject, fact.predicate)
        for entry in self._entries.values():
            old = entry.memory
            if (
                fact.validity == "active"
                and isinstance(old, Fact)
                and old.validity == "active"
                and (old.tenant_id, old.scope, old.subject, old.predicate) == place
            ):
                closed_at = old.valid_to or fact.happened_at
                entry.memory = replace(old, validity="superseded", superseded_at=fact.created_at, valid_to=closed_at)
                _leave_the_searches(entry)
                return replace(fact, supersedes_id=old.id)
        return fact

    def _unsettled(self) -> list[Entry]:
        return [entry for entry in self._entries.values() if not entry.settled]

    def _session(self, episode: Episode) -> list[Entry]:
        """The turns of an episode's session, live or not, in order."""
        place = (episode.tenant_id, episode.scope, episode.session)
        return [
            entry
            for entry in self._entries.values()
            if isinstance(entry.memory, Episode)
            and (entry.memory.tenant_id, entry.memory.scope, entry.memory.session) == place
        ]

    def _settle(self, entries: Sequence[Entry]) -> None:
        """Index memories with their neighbours' words, and those neighbours again with theirs."""
        sessions: dict[tuple[str, str, str], list[Entry]] = {}
        for entry in entries:
            entry.settled = True
            memory = entry.memory
            if entry.gone:
                continue
            if isinstance(memory, Episode) and memory.session is not None:
                sessions.setdefault((memory.tenant_id, memory.scope, memory.session), []).append(entry)
            else:
                entry.near = []
        for turns in sessions.values():
            self._index_around(turns, max(turn.memory.created_at for turn in turns))

    def _index_around(self, turns: Sequence[Entry], now: datetime) -> None:
        """Index the settled turns near some of a session, those included, with the words of the live ones near them."""
        session = [entry for entry in self._session(_turn(turns[0])) if not entry.gone]
        lenders = [entry for entry in session if entry.memory.is_live(now)]
        for entry in session:
            if entry.settled and any(_distance(entry, turn) <= NEIGHBOURS for turn in turns):
                around = [each for each in lenders if 0 < _distance(each, entry) <= NEIGHBOURS]
                entry.near = near_terms(each.memory.content for each in around)

    def _corpus(self, caller: Caller, kinds: Collection[Kind] = KINDS) -> Corpus:
        """What the memories of a caller's scopes add up to, whatever else a filter asks."""
        indexed = [entry for entry in self._visible(caller) if entry.is_indexed and entry.memory.kind in kinds]
        return Corpus(
            memories=len(indexed),
            words=sum(len(entry.own) + len(entry.near or []) for entry in indexed),
            frequencies=Counter(term for entry in indexed for term in _words_of(entry)),
        )


def _words_of(entry: Entry) -> set[str]:
    return {*entry.own, *(entry.near or [])}


def _turn(entry: Entry) -> Episode:
    assert isinstance(entry.memory, Episode)
    return entry.memory


def _distance(one: Entry, other: Entry) -> int:
    return abs(_turn(one).turn - _turn(other).turn)


def _leave_the_searches(entry: Entry) -> None:
    entry.gone = True
    entry.vector = None


def _best_first(candidates: Sequence[Candidate], limit: int) -> list[Candidate]:
    """By raw value, ties newest ref first."""
    return sorted(candidates, key=lambda each: (-each.raw, -int(each.ref)))[: max(limit, 0)]
