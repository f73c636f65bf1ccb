"""Reads of a Store that both databases answer alike: history, links, events, orders of memories, and stats."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engrain.storage.reports import stats
from engrain.storage.search import history, matching, namespaces, recency, traits
from engrain.storage.transactions import Transactions
from engrain.storage.write import embedding_versions

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import datetime

    from engrain.domain.filters import TimePosition
    from engrain.domain.maintenance.stats import Stats
    from engrain.domain.memories.maturity import Application
    from engrain.domain.records import Caller, EmbeddingVersion, Event, Fact, Link, MemoryRecord, Relation
    from engrain.domain.requests import Candidate, Direction, Ref, Request, Traits, Unembedded
    from engrain.storage.transaction import Transaction


class SqlSearches(Transactions):
    """Implements the reads of `domain.ports.Records` and `Vectors`, and `Searches` but for keywords and vectors."""

    def applications(
        self, caller: Caller, rule_id: str, limit: int, *, after: TimePosition | None = None
    ) -> list[Application]:
        return self._read(caller, lambda tx: history.load_applications(tx, caller, rule_id, limit, after=after))

    def history(self, caller: Caller, id_: str) -> list[Fact]:
        return self._read(caller, lambda tx: history.load_history(tx, caller, id_))

    def links(
        self, caller: Caller, id_: str, *, direction: Direction = "both", relation: Relation | None = None
    ) -> list[Link]:
        def work(tx: Transaction) -> list[Link]:
            return history.load_links(tx, caller, id_, direction=direction, relation=relation)

        return self._read(caller, work)

    def events(
        self,
        caller: Caller,
        *,
        memory_id: str | None = None,
        event_type: str | None = None,
        limit: int = 1_000,
        after: TimePosition | None = None,
    ) -> list[Event]:
        query = history.EventQuery(memory_id=memory_id, event_type=event_type, limit=limit, after=after)
        return self._read(caller, lambda tx: history.load_events(tx, caller, query))

    def stats(self, caller: Caller, now: datetime, *, scope: str | None = None) -> Stats:
        def work(tx: Transaction) -> Stats:
            waiting = namespaces.count_waiting(tx, caller)
            return stats.count_memories(tx, caller, now, scope=scope, waiting=waiting)

        return self._read(caller, work)

    def speakers(self, request: Request) -> list[str]:
        return self._read(request.caller, lambda tx: matching.list_speakers(tx, request.caller))

    def newest(self, request: Request, limit: int) -> list[Candidate]:
        return self._read(request.caller, lambda tx: recency.find_newest(tx, request, limit))

    def important(self, request: Request, limit: int) -> list[Candidate]:
        return self._read(request.caller, lambda tx: recency.find_important(tx, request, limit))

    def traits(self, request: Request, refs: Collection[Ref]) -> dict[Ref, Traits]:
        return self._read(request.caller, lambda tx: traits.load_traits(tx, request, refs))

    def load(self, request: Request, refs: Collection[Ref]) -> dict[Ref, MemoryRecord]:
        return self._read(request.caller, lambda tx: matching.load_matching(tx, request, refs))

    def recent(self, request: Request, limit: int) -> list[MemoryRecord]:
        return self._read(request.caller, lambda tx: recency.load_newest(tx, request, limit))

    def neighbours(self, request: Request, memory: MemoryRecord, reach: int) -> list[MemoryRecord]:
        return self._read(request.caller, lambda tx: matching.load_neighbours(tx, request, memory, reach))

    def waiting(self, caller: Caller) -> int:
        return self._read(caller, lambda tx: namespaces.count_waiting(tx, caller))

    def embedding_versions(self) -> list[EmbeddingVersion]:
        return self._read(None, embedding_versions.load_versions)

    def unembedded(self, limit: int, *, version: int | None = None) -> list[Unembedded]:
        return self._read(None, lambda tx: embedding_versions.find_unembedded(tx, limit, version))
