"""How an overview is put together from what the store tells, all of one moment."""

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
class Asked:
    """How many days back, and how many of each thing."""

    days: int
    limit: int


def overview(store: Store, caller: Caller, asked: Asked, *, now: datetime) -> Overview:
    """What the caller sees, as a dashboard shows it."""
    return store.in_one_snapshot(caller, lambda: _overview(store, caller, asked, now))


def _overview(store: Store, caller: Caller, asked: Asked, now: datetime) -> Overview:
    today = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    days = [today - timedelta(days=back) for back in reversed(range(asked.days))]
    counts, cut = store.activity(caller, since=days[0]) if days else ({}, None)
    found = store.standouts(Request(caller=caller, filter=Filter(), now=now), limit=asked.limit)
    facts_of = dict(found.entities)

    def newest(kind: Kind) -> list[MemoryRecord]:
        return store.recent(Request(caller=caller, filter=Filter(kinds=(kind,)), now=now), asked.limit)

    return Overview(
        at=now,
        stats=store.stats(caller, now),
        days=days_of(counts, tuple(f"{each:%Y-%m-%d}" for each in days)),
        days_since=cut,
        newest_episodes=tuple(each for each in newest("episode") if isinstance(each, Episode)),
        newest_facts=tuple(each for each in newest("fact") if isinstance(each, Fact)),
        newest_rules=tuple(each for each in newest("rule") if isinstance(each, Rule)),
        most_referenced=found.most_referenced,
        entities=tuple(
            EntityShare(entity=each, facts=facts_of[each.id]) for each in store.entities(caller, list(facts_of))
        ),
        looked_at=found.looked_at,
        content_bytes=found.content_bytes,
        runs=tuple(store.runs(caller, limit=asked.limit)),
        waiting_sessions=tuple(store.pending_sessions(caller, now)[: asked.limit]),
    )
