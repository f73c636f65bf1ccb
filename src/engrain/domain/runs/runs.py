"""Runs of learning: what is due, what one worker has claimed, how it ended, and what taking it back came to."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal, get_args

from engrain.domain.records import DEFAULT_TENANT, ConsolidationStatus, Episode, Record

if TYPE_CHECKING:
    from collections.abc import Mapping

    from engrain.domain.records import Kind

RunKind = Literal["consolidation", "reflection", "summary"]
RunStatus = Literal["running", "done", "failed", "abandoned", "undone"]
RUN_KINDS: tuple[RunKind, ...] = get_args(RunKind)
RUN_STATUSES: tuple[RunStatus, ...] = get_args(RunStatus)
# Why a run is abandoned, and what its episodes say of the attempt: killed, out of memory, too slow.
WORKER_GONE = "worker_gone: its worker was gone, or too slow, when its lease was over"


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentBacklog(Record):
    """An agent of a tenant with episodes that may be claimed now, and the pools that some of them lie in.

    A caller with these pools claims all of them.
    """

    tenant_id: str
    agent: str
    pools: tuple[str, ...] = ()
    episodes: int
    sessions: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingSession(Record):
    """A session with episodes that wait to be consolidated: how many, and since when it is known."""

    session: str
    first_seen_at: datetime
    episodes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Run(Record):
    """One run of one kind for one agent. Its id is what its worker shows to write: whoever takes over has another."""

    id: str
    tenant_id: str = DEFAULT_TENANT
    kind: RunKind
    agent: str
    status: RunStatus = "running"
    worker: str
    lease_until: datetime
    started_at: datetime
    finished_at: datetime | None = None  # since when it is no longer running
    model: str | None = None
    prompt_version: str | None = None
    episode_ids: tuple[str, ...] = ()  # what it has claimed, in the order of claim
    report: Mapping[str, Any] = field(default_factory=dict, hash=False)  # a dict has no hash of its own
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Retry(Record):
    """What becomes of episodes whose consolidation failed: tried again, later each time, until attempts are used up.

    The pauses are `first_pause_s`, twice that, four times that, at most `longest_pause_s`. `is_final`: another attempt
    would fail alike, so there is none.
    """

    max_attempts: int = 5
    first_pause_s: float = 60.0
    longest_pause_s: float = 86_400.0
    is_final: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim(Record):
    """What a worker asks for. `limit` bounds episodes, `lease_s` is how long nobody else takes over.

    Attributes:
        sessions: only episodes of these, where any is named.
        exclude_sessions: none of these; episodes without a session are not left out.
        retry: what becomes of the episodes of a run that it takes over, an attempt of which was used up by that.
    """

    kind: RunKind
    worker: str
    lease_s: float
    limit: int = 50
    sessions: tuple[str, ...] = ()
    exclude_sessions: tuple[str, ...] = ()
    model: str | None = None
    prompt_version: str | None = None
    retry: Retry = field(default_factory=Retry)


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch(Record):
    """A run that has begun and the episodes it has claimed, oldest first; none where its kind claims none."""

    run: Run
    episodes: tuple[Episode, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoredItem(Record):
    """One thing that is as it was before a run: `what` is the event that the undo wrote for it."""

    memory_id: str
    kind: Kind
    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptItem(Record):
    """One thing of a run that was left as it is, and why."""

    memory_id: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoResult(Record):
    """What the undo of a run came to."""

    run: Run
    restored: tuple[RestoredItem, ...] = ()
    kept: tuple[KeptItem, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Setback(Record):
    """How an episode stands after an attempt that failed."""

    status: ConsolidationStatus
    attempts: int
    retry_at: datetime | None


def after_failure(episode: Episode, retry: Retry, at: datetime) -> Setback:
    """One attempt more: `failed` where it was final, `dead_letter` where it was the last one, else pending, to wait."""
    attempts = episode.consolidation_attempts + 1
    if retry.is_final:
        return Setback(status="failed", attempts=attempts, retry_at=None)
    if attempts >= retry.max_attempts:
        return Setback(status="dead_letter", attempts=attempts, retry_at=None)
    pause_s = retry.first_pause_s
    for _ in range(attempts - 1):  # a power of two would overflow before the longest pause is compared with it
        pause_s = min(pause_s * 2, retry.longest_pause_s)
    pause = timedelta(seconds=min(pause_s, retry.longest_pause_s))
    return Setback(status="pending", attempts=attempts, retry_at=at + pause)


def after_loss(episode: Episode, retry: Retry, at: datetime) -> Setback:
    """One attempt more that nobody came back from: as after a failure, but that its lease was pause enough."""
    return after_failure(episode, replace(retry, first_pause_s=0.0), at)
