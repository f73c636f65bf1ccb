"""Overview: what a dashboard shows of an agent's memories, read as of one moment."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from engrain.domain.filters import Filter
from engrain.domain.maintenance.overview import MOST_WAITING, EntityShare, Overview, days_of
from engrain.domain.records import Episode, Fact, Kind, MemoryRecord, Rule
from engrain.domain.requests import Request
from engrain.storage.entities.lookup import load_entities
from engrain.storage.reports.overviews import count_activity, find_standouts
from engrain.storage.reports.stats import count_memories
from engrain.storage.runs.claims import list_pending_sessions, list_runs
from engrain.storage.search.recency import load_newest

if TYPE_CHECKING:
    from engrain.storage.unit_of_work import Snapshot

MOST_DAYS = 366
MOST = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class OverviewRequest:
    """Request of an overview: the days back, and the most of each list."""

    days: int
    limit: int


def read_overview(snapshot: Snapshot, request: OverviewRequest, now: datetime) -> Overview:
    """Return the overview of what the caller sees."""
    caller = snapshot.caller
    today = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    days = [today - timedelta(days=back) for back in reversed(range(request.days))]
    counts, counted_from = count_activity(snapshot, since=days[0]) if days else ({}, None)
    standouts = find_standouts(snapshot, Request(caller=caller, filter=Filter(), now=now), limit=request.limit)
    facts_of = dict(standouts.entities)

    def newest(kind: Kind) -> list[MemoryRecord]:
        narrowed = Request(caller=caller, filter=Filter(kinds=(kind,)), now=now)
        return load_newest(snapshot, narrowed, request.limit)

    return Overview(
        at=now,
        stats=count_memories(snapshot, now),
        days=days_of(counts, tuple(f"{day:%Y-%m-%d}" for day in days)),
        days_since=counted_from,
        newest_episodes=tuple(memory for memory in newest("episode") if isinstance(memory, Episode)),
        newest_facts=tuple(memory for memory in newest("fact") if isinstance(memory, Fact)),
        newest_rules=tuple(memory for memory in newest("rule") if isinstance(memory, Rule)),
        most_referenced=standouts.most_referenced,
        entities=tuple(
            EntityShare(entity=entity, facts=facts_of[entity.id]) for entity in load_entities(snapshot, list(facts_of))
        ),
        looked_at=standouts.looked_at,
        content_bytes=standouts.content_bytes,
        runs=tuple(list_runs(snapshot, limit=request.limit)),
        waiting_sessions=tuple(list_pending_sessions(snapshot, now, most=MOST_WAITING)[: request.limit]),
    )
