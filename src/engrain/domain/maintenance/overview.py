"""Overview of one agent's memory for a dashboard: bounded reads, all of one snapshot."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from engrain.domain.records import Entity, Episode, Fact, MemoryRecord, Record, Rule

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from engrain.domain.maintenance.stats import Stats
    from engrain.domain.runs.runs import PendingSession, Run

# Limits: the newest memories of each kind and scope, the newest events, and the episodes that have waited longest.
MOST_MEMORIES = 20_000
MOST_EVENTS = 100_000
MOST_WAITING = 5_000
# Counts of a day, and the types of events behind them.
COUNTED: Mapping[str, tuple[str, ...]] = {
    "episodes": ("episode_created",),
    "facts": ("fact_created",),
    "rules": ("rule_created",),
    "consolidated": ("episode_consolidated",),
    "superseded": ("fact_superseded",),
    "expired": ("fact_expired", "rule_expired", "episode_cleaned"),
    "forgotten": ("episode_forgotten", "fact_retracted", "rule_forgotten", "memory_erased"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Day(Record):
    """Counts of one day (of UTC, as 2026-11-21): memories stored, by kind, and changes of others."""

    day: str
    episodes: int = 0
    facts: int = 0
    rules: int = 0
    consolidated: int = 0
    superseded: int = 0
    expired: int = 0
    forgotten: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityShare(Record):
    """An entity with the number of facts about it, of those looked at."""

    entity: Entity
    facts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Highlights(Record):
    """Highlights of the newest memories of a caller.

    Attributes:
        most_referenced: memories with the most references, then the newest (happened_at, id).
        entities: ids of entities with the number of active facts about them, most first, then the smaller id.
        looked_at: number of memories looked at, by kind; content_bytes is the size of their contents in UTF-8.
    """

    most_referenced: tuple[MemoryRecord, ...]
    entities: tuple[tuple[str, int], ...]
    looked_at: Mapping[str, int] = field(hash=False)  # a dict has no hash of its own
    content_bytes: Mapping[str, int] = field(hash=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview(Record):
    """Overview of an agent's memory at one moment.

    Attributes:
        days: the last days, oldest first, empty ones too; changes that the agent sees, by any agent.
        days_since: start of the counts if there were more than MOST_EVENTS events, or `events.keep_days` has removed
            some of these days; None if all were counted.
        most_referenced, entities, content_bytes: of the newest MOST_MEMORIES of each kind and scope; `looked_at` has
            their number.
        waiting_sessions: sessions with episodes that wait for consolidation, the oldest first; of the MOST_WAITING
            episodes that have waited longest.
    """

    at: datetime
    stats: Stats
    days: tuple[Day, ...]
    days_since: datetime | None
    newest_episodes: tuple[Episode, ...]
    newest_facts: tuple[Fact, ...]
    newest_rules: tuple[Rule, ...]
    most_referenced: tuple[MemoryRecord, ...]
    entities: tuple[EntityShare, ...]
    looked_at: Mapping[str, int] = field(hash=False)
    content_bytes: Mapping[str, int] = field(hash=False)
    runs: tuple[Run, ...]
    waiting_sessions: tuple[PendingSession, ...]


def days_of(counts: Mapping[tuple[str, str], int], days: tuple[str, ...]) -> tuple[Day, ...]:
    """Counts of days, from the counts of their events by type."""
    return tuple(
        Day(day=day, **{name: sum(counts.get((day, type_), 0) for type_ in types) for name, types in COUNTED.items()})
        for day in days
    )
