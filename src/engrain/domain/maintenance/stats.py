"""Statistics of an agent's memory: counts of each kind by state."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from engrain.domain.records import Record

if TYPE_CHECKING:
    from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentCounts(Record):
    """Counts of the live memories that one agent stored, whatever their scope."""

    tenant_id: str
    agent: str
    episodes: int
    facts: int
    rules: int

    @property
    def position(self) -> tuple[str, str]:
        """The place in a list of many tenants: after which the next page begins."""
        return self.tenant_id, self.agent


@dataclass(frozen=True, slots=True, kw_only=True)
class UserCounts(Record):
    """Counts of the live memories of one end user, whichever agents stored them."""

    tenant_id: str
    user_id: str
    episodes: int
    facts: int
    rules: int

    @property
    def position(self) -> tuple[str, str]:
        """The place in a list of many tenants: after which the next page begins."""
        return self.tenant_id, self.user_id


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeStats(Record):
    """Counts of live episodes, and of those that wait to be consolidated.

    `given_up`: their consolidation failed for good or once too often, and is not tried any more.
    """

    total: int
    unconsolidated: int
    given_up: int
    backlog_age_hours: float | None = field(compare=False)  # age of the oldest waiting one; grows while nothing changes
    sessions: int
    speakers: int
    first_event_at: datetime | None
    last_event_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FactStats(Record):
    """Counts of facts by state; an active fact that is fading counts as fading only."""

    active: int
    fading: int
    superseded: int
    expired: int
    retracted: int

    @property
    def live(self) -> int:
        """Number of facts that reads return."""
        return self.active + self.fading


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleStats(Record):
    """Counts of rules by maturity; a forgotten rule counts as forgotten only."""

    candidate: int
    established: int
    proven: int
    anti_pattern: int
    forgotten: int

    @property
    def live(self) -> int:
        """Number of rules that reads return."""
        return self.candidate + self.established + self.proven + self.anti_pattern


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats(Record):
    """Statistics of all memories that an agent sees."""

    tenant_id: str
    agent: str
    episodes: EpisodeStats
    facts: FactStats
    rules: RuleStats
    pending_embeddings: int
