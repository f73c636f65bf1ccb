"""Overview: what a dashboard shows of an agent's memories, read as of one moment."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, timedelta
from typing import TYPE_CHECKING

from engrain.domain.filters import Filter
from engrain.domain.maintenance.overview import EntityShare, Overview, days_of
from engrain.domain.records import Episode, Fact, Rule
from engrain.domain.requests import Request

if TYPE_CHECKING:
    from datetime import datetime

    from engrain.domain.ports import Store
    from engrain.domain.records import Caller, Kind, MemoryRecord

MOST_DAYS = 366
MOST = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class OverviewRequest:
    """Request of an overview: the days back, and the most of each list."""

    days: int
    limit: int


def read_overview(store: Store, caller: Caller, request: OverviewRequest, *, now: datetime) -> Overview:
    """Return the overview of what the caller sees."""
    return store.in_one_snapshot(caller, lambda: _read(store, caller, request, now))


def _read(store: Store, caller: Caller, request: OverviewRequest, now: datetime) -> Overview:
    today = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    days = [today - timedelta(days=back) for back in reversed(range(request.days))]
    counts, cut = store.activity(caller, since=days[0]) if days else ({}, None)
    standouts = store.standouts(Request(caller=caller, filter=Filter(), now=now), limit=request.limit)
    facts_of = dict(standouts.entities)

    def newest(kind: Kind) -> list[MemoryRecord]:
        return store.recent(Request(caller=caller, filter=Filter(kinds=(kind,)), now=now), request.limit)

    return Overview(
        at=now,
        stats=store.stats(caller, now),
        days=days_of(counts, tuple(f"{day:%Y-%m-%d}" for day in days)),
        days_since=cut,
        newest_episodes=tuple(memory for memory in newest("episode") if isinstance(memory, Episode)),
        newest_facts=tuple(memory for memory in newest("fact") if isinstance(memory, Fact)),
        newest_rules=tuple(memory for memory in newest("rule") if isinstance(memory, Rule)),
        most_referenced=standouts.most_referenced,
        entities=tuple(
            EntityShare(entity=entity, facts=facts_of[entity.id]) for entity in store.entities(caller, list(facts_of))
        ),
        looked_at=standouts.looked_at,
        content_bytes=standouts.content_bytes,
        runs=tuple(store.runs(caller, limit=request.limit)),
        waiting_sessions=tuple(store.pending_sessions(caller, now)[: request.limit]),
    )
