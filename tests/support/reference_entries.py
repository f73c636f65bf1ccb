"""The memories of the reference store, and the words they are found by."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from engrain.domain.records import KINDS, Caller, Episode, Kind, MemoryRecord
from engrain.domain.requests import Candidate, Request
from engrain.domain.text.bm25 import Corpus, IndexedWords, pack
from engrain.domain.text.indexing import NEIGHBOURS, near_terms
from tests.support.reference_filters import matches

GONE_AT_MOST = 5_000


@dataclass
class Entry:
    """One memory and its place in the searches; `near` is None until its neighbours' words are indexed."""

    ref: int
    memory: MemoryRecord
    own: list[str]
    near: list[str] | None = None
    flushed: bool = False
    gone: bool = False  # forgotten, superseded, or inactive from the beginning
    vectors: dict[int, NDArray[np.float32]] = field(default_factory=dict)  # by version

    @property
    def is_indexed(self) -> bool:
        return not self.gone and self.near is not None

    @property
    def packed(self) -> IndexedWords:
        """What it is judged by: of what is gone or not flushed yet, its own words alone."""
        return _pack(tuple(self.own), tuple(self.near or ()))

    @property
    def words(self) -> set[str]:
        return {*self.own, *(self.near or [])}

    def take_out(self) -> None:
        """Out of the searches; for questions about the past its own words and its vectors stay."""
        self.gone = True
        self.near = None


class Entries(dict[int, Entry]):
    """Entries by ref, in the order of arrival."""

    def visible(self, caller: Caller) -> Iterator[Entry]:
        """What a caller may see, live or not."""
        scopes = caller.scopes
        for entry in self.values():
            if entry.memory.tenant_id == caller.tenant_id and entry.memory.scope in scopes:
                yield entry

    def named(self, caller: Caller, ids: Collection[str]) -> list[Entry]:
        """Those of `ids` the caller may see, in the order asked, each once."""
        found = {entry.memory.id: entry for entry in self.visible(caller)}
        return [found[id_] for id_ in dict.fromkeys(ids) if id_ in found]

    def ids(self, tenant_id: str) -> set[str]:
        return {entry.memory.id for entry in self.values() if entry.memory.tenant_id == tenant_id}

    def matching(self, request: Request) -> list[Entry]:
        """What a request's filter lets through."""
        asks_for_the_gone = request.filter.asks_past
        return [
            entry
            for entry in self.visible(request.caller)
            if (asks_for_the_gone or not entry.gone) and matches(request.filter, entry.memory, request.now)
        ]

    def searched(self, request: Request) -> list[Entry]:
        """What a search looks at: all that matches, but of what is gone the newest alone."""
        found = self.matching(request)
        gone = [entry for entry in found if entry.gone]
        return [entry for entry in found if not entry.gone] + gone[-GONE_AT_MOST:]

    def session(self, episode: Episode) -> list[Entry]:
        """The turns of an episode's session, live or not, in order."""
        place = (episode.tenant_id, episode.scope, episode.session)
        return [
            entry
            for entry in self.values()
            if isinstance(entry.memory, Episode)
            and (entry.memory.tenant_id, entry.memory.scope, entry.memory.session) == place
        ]

    def unflushed(self) -> list[Entry]:
        return [entry for entry in self.values() if not entry.flushed]

    def flush_index(self, entries: Sequence[Entry]) -> None:
        """Index memories with their neighbours' words, and those neighbours again with theirs."""
        sessions: dict[tuple[str, str, str], list[Entry]] = {}
        for entry in entries:
            entry.flushed = True
            memory = entry.memory
            if entry.gone:
                continue
            if isinstance(memory, Episode) and memory.session is not None:
                sessions.setdefault((memory.tenant_id, memory.scope, memory.session), []).append(entry)
            else:
                entry.near = []
        for turns in sessions.values():
            self.index_around([turn_of(each) for each in turns], max(turn.memory.created_at for turn in turns))

    def index_around(self, turns: Sequence[Episode], now: datetime) -> None:
        """Index the flushed turns near some of a session, those included, with the words of the live ones near them."""
        session = [entry for entry in self.session(turns[0]) if not entry.gone]
        lenders = [entry for entry in session if entry.memory.is_live(now)]
        for entry in session:
            place = turn_of(entry).turn
            if entry.flushed and any(abs(place - turn.turn) <= NEIGHBOURS for turn in turns):
                around = [each for each in lenders if 0 < abs(turn_of(each).turn - place) <= NEIGHBOURS]
                entry.near = near_terms(each.memory.content for each in around)

    def corpus(self, caller: Caller, kinds: Collection[Kind] = KINDS, scopes: Collection[str] = ()) -> Corpus:
        """What the memories of a caller's scopes, or those named, add up to, whatever else a filter asks."""
        seen = [entry for entry in self.visible(caller) if not scopes or entry.memory.scope in scopes]
        indexed = [entry for entry in seen if entry.is_indexed and entry.memory.kind in kinds]
        return Corpus(
            memories=len(indexed),
            words=sum(entry.packed.length for entry in indexed),
            frequencies=Counter(term for entry in indexed for term in entry.words),
        )


def turn_of(entry: Entry) -> Episode:
    assert isinstance(entry.memory, Episode)
    return entry.memory


def best_first(candidates: Sequence[Candidate], limit: int) -> list[Candidate]:
    """By raw value, ties newest ref first."""
    return sorted(candidates, key=lambda each: (-each.raw, -int(each.ref)))[: max(limit, 0)]


@lru_cache(maxsize=1_000)
def _pack(own: tuple[str, ...], near: tuple[str, ...]) -> IndexedWords:
    """Pack words, once: each search asks for those of every memory."""
    return pack(own, near)
