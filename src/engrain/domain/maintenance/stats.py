"""How much an agent remembers, and how it stands: counts of each kind by state."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from engrain.domain.records import Record

if TYPE_CHECKING:
    from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeStats(Record):
    """How many live episodes there are, how many wait to be consolidated, and for how long the oldest of those.

    `given_up`: nobody tries to consolidate them any more, as it failed for good or once too often.
    """

    total: int
    unconsolidated: int
    given_up: int
    backlog_age_hours: float | None = field(compare=False)  # None where nothing waits; it grows while nothing changes
    sessions: int
    speakers: int
    first_event_at: datetime | None
    last_event_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FactStats(Record):
    """How many facts stand how; an active one that is fading counts as fading alone."""

    active: int
    fading: int
    superseded: int
    expired: int
    retracted: int

    @property
    def live(self) -> int:
        """How many reads may return."""
        return self.active + self.fading


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleStats(Record):
    """How many rules have come how far; a forgotten one counts as forgotten alone."""

    candidate: int
    established: int
    proven: int
    anti_pattern: int
    forgotten: int

    @property
    def live(self) -> int:
        """How many reads may return."""
        return self.candidate + self.established + self.proven + self.anti_pattern


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats(Record):
    """How much an agent remembers; counts are of what it can see."""

    tenant_id: str
    agent: str
    episodes: EpisodeStats
    facts: FactStats
    rules: RuleStats
    pending_embeddings: int
