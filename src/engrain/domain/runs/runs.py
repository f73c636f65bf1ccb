"""Runs of learning: backlogs, claims, status, retries and the result of an undo."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

from engrain.domain.records import DEFAULT_TENANT, ConsolidationStatus, Episode, Kind, Record
from engrain.domain.runs.retries import Retry

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime


RunKind = Literal["consolidation", "reflection", "summary"]
RunStatus = Literal["running", "done", "failed", "abandoned", "undone"]
RUN_KINDS: tuple[RunKind, ...] = get_args(RunKind)
# The reason of an abandoned run, and the error of its episodes: killed, out of memory, too slow.
WORKER_GONE = "worker_gone: its worker was gone, or too slow, when its lease was over"


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentBacklog(Record):
    """An agent with episodes that are due, of one user or of none, and the pools that some of them are in.

    A caller with these pools claims all of them: now, or where another run has the agent under a lease, once that is
    over (`leased_until`).
    """

    tenant_id: str
    agent: str
    user: str | None = None  # whose episodes they are
    pools: tuple[str, ...] = ()
    episodes: int
    sessions: int
    leased_until: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingBacklog(Record):
    """An agent's episodes, of one user or of none, that wait for another attempt after a failure.

    Attributes:
        retry_at: when the first of them may be claimed again.
        reason: the error of the last attempt, of most of them.
    """

    tenant_id: str
    agent: str
    user: str | None = None
    episodes: int
    retry_at: datetime
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingSession(Record):
    """A session with episodes that wait to be consolidated, and the time it was first seen."""

    session: str
    first_seen_at: datetime
    episodes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Run(Record):
    """One run of one kind for one agent, and one user that it acts for.

    Its worker writes under its id; a worker that takes over gets another id.
    """

    id: str
    tenant_id: str = DEFAULT_TENANT
    user_id: str = ""  # the user whose memories it learns from; empty for those of no user
    kind: RunKind
    agent: str
    status: RunStatus = "running"
    worker: str
    lease_until: datetime
    started_at: datetime
    finished_at: datetime | None = None  # None while it is running
    model: str | None = None
    prompt_version: str | None = None
    episode_ids: tuple[str, ...] = ()  # claimed episodes, in the order of claim
    report: Mapping[str, Any] = field(default_factory=dict, hash=False)  # a dict has no hash of its own
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim(Record):
    """Claim of a worker: at most `limit` episodes, under a lease of `lease_s`.

    Attributes:
        halves_retries: half as many episodes for each attempt that they have behind them, so that one that fails again
            and again ends alone.
        sessions: only episodes of these, if any is named.
        exclude_sessions: no episodes of these; episodes without a session are not excluded.
        retry: policy for the episodes of a run that it takes over; they have lost an attempt by that.
    """

    kind: RunKind
    worker: str
    lease_s: float
    limit: int = 50
    halves_retries: bool = False
    sessions: tuple[str, ...] = ()
    exclude_sessions: tuple[str, ...] = ()
    model: str | None = None
    prompt_version: str | None = None
    retry: Retry = field(default_factory=Retry)

    def limit_after(self, attempts: int) -> int:
        """Return the most episodes with so many attempts behind them, at least one."""
        return max(self.limit >> attempts, 1) if self.halves_retries else self.limit


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch(Record):
    """A begun run and the episodes it has claimed, by session and turn; none if its kind claims none."""

    run: Run
    episodes: tuple[Episode, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoredItem(Record):
    """A memory that an undo restored; `what` is the type of the event that it wrote."""

    memory_id: str
    kind: Kind
    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptItem(Record):
    """A change of a run that an undo kept, with the reason."""

    memory_id: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoResult(Record):
    """Result of the undo of a run."""

    run: Run
    restored: tuple[RestoredItem, ...] = ()
    kept: tuple[KeptItem, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Setback(Record):
    """Status of an episode after a failed attempt."""

    status: ConsolidationStatus
    attempts: int
    retry_at: datetime | None


def after_failure(episode: Episode, retry: Retry, at: datetime) -> Setback:
    """Status after a failed attempt: `failed` if it was final, `dead_letter` if it was the last, else `pending`."""
    attempts = episode.consolidation_attempts + 1
    if retry.is_final:
        return Setback(status="failed", attempts=attempts, retry_at=None)
    if attempts >= retry.max_attempts:
        return Setback(status="dead_letter", attempts=attempts, retry_at=None)
    return Setback(status="pending", attempts=attempts, retry_at=at + retry.pause(attempts))


def after_loss(episode: Episode, retry: Retry, at: datetime) -> Setback:
    """Status after an attempt whose worker was lost: as after a failure, without pauses (the lease was one)."""
    return after_failure(episode, replace(retry, first_pause_s=0.0), at)
