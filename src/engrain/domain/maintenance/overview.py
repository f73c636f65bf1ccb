"""What a dashboard shows of one agent's memory: bounded looks at what it sees, all of one moment."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from engrain.domain.records import Record

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from engrain.domain.maintenance.stats import Stats
    from engrain.domain.records import Caller, Entity, Episode, Fact, MemoryRecord, Rule
    from engrain.domain.requests import Request
    from engrain.domain.runs.runs import PendingSession, Run

# A dashboard looks at the newest so many memories of each kind and scope, and at so many events.
MOST_MEMORIES = 20_000
MOST_EVENTS = 100_000
# What a day counts, and the events that tell of it.
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
    """What was done on one day (of UTC, as 2026-11-21): memories written by kind, and what became of others."""

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
    """Somebody, and how many of the facts looked at are about them."""

    entity: Entity
    facts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Highlights(Record):
    """What stands out among the newest memories of a caller.

    Attributes:
        most_referenced: those that searches gave out most often, then the newest (happened_at, id).
        entities: ids of whom most active facts are about with how many, then the smaller id.
        looked_at: how many memories these are, by kind; content_bytes is what they say, in UTF-8.
    """

    most_referenced: tuple[MemoryRecord, ...]
    entities: tuple[tuple[str, int], ...]
    looked_at: Mapping[str, int] = field(hash=False)  # a dict has no hash of its own
    content_bytes: Mapping[str, int] = field(hash=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview(Record):
    """An agent's memory at one moment, as a dashboard shows it.

    Attributes:
        days: the last ones, oldest first, those without anything too; what it sees, whoever did it.
        days_since: before this moment nothing was counted, as there were more than MOST_EVENTS events; None: all was.
        most_referenced, entities, content_bytes: of the newest MOST_MEMORIES of each kind and scope; `looked_at` says
            how many that were.
        waiting_sessions: whose episodes wait for consolidation, the oldest first.
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


class Overviews(Protocol):
    """The part of the Store port that dashboards read."""

    def activity(
        self, caller: Caller, *, since: datetime, most: int = MOST_EVENTS
    ) -> tuple[dict[tuple[str, str], int], datetime | None]:
        """How many events in the caller's scopes there were by day (UTC, 2026-11-21) and type, of the types of COUNTED.

        Of the newest `most` from `since` on; the time of the oldest of these where there are more, else None.
        """

    def standouts(self, request: Request, *, limit: int, most: int = MOST_MEMORIES) -> Highlights:
        """What stands out among the newest `most` (happened_at, id) matching memories of each kind and scope.

        At most `limit` memories that were referenced at all, and as many entities.
        """


def days_of(counts: Mapping[tuple[str, str], int], days: tuple[str, ...]) -> tuple[Day, ...]:
    """Each of some days with what its events count up to."""
    return tuple(
        Day(day=day, **{name: sum(counts.get((day, each), 0) for each in types) for name, types in COUNTED.items()})
        for day in days
    )
