"""The verbs of a Store that tell of what was kept: its history, its links, its events."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engrain.storage.search import history
from engrain.storage.transactions import Transactions

if TYPE_CHECKING:
    from engrain.domain.filters import Place
    from engrain.domain.memories.maturity import Application
    from engrain.domain.records import Caller, Event, Fact, Link, Relation
    from engrain.domain.requests import Direction


class SqlHistory(Transactions):
    """Of `domain.ports.Store` what reads one table alike on both databases."""

    def applications(
        self, caller: Caller, rule_id: str, limit: int, *, after: Place | None = None
    ) -> list[Application]:
        return self._ask(caller, lambda tx: history.load_applications(tx, caller, rule_id, limit, after=after))

    def history(self, caller: Caller, id_: str) -> list[Fact]:
        return self._ask(caller, lambda tx: history.load_history(tx, caller, id_))

    def links(
        self, caller: Caller, id_: str, *, direction: Direction = "both", relation: Relation | None = None
    ) -> list[Link]:
        return self._ask(caller, lambda tx: history.load_links(tx, caller, id_, direction=direction, relation=relation))

    def events(
        self,
        caller: Caller,
        *,
        memory_id: str | None = None,
        event_type: str | None = None,
        limit: int = 1_000,
        after: Place | None = None,
    ) -> list[Event]:
        asked = history.EventQuery(memory_id=memory_id, event_type=event_type, limit=limit, after=after)
        return self._ask(caller, lambda tx: history.load_events(tx, caller, asked))
