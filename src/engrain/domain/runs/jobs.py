"""Jobs: what is done to a memory from time to time, by whoever is there; how one stands after each thing befell it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal, get_args

from engrain.domain.records import Record

if TYPE_CHECKING:
    from collections.abc import Mapping

JobName = Literal["enrichment", "consolidation", "decay", "reflection", "cleanup", "compaction", "backup"]
JobStatus = Literal["waiting", "running", "done", "dead_letter", "skipped"]
JOB_NAMES: tuple[JobName, ...] = get_args(JobName)
JOB_STATUSES: tuple[JobStatus, ...] = get_args(JobStatus)
# As the table of embedders has it: what is nobody's is of the whole database. No tenant can have this name.
EVERY_TENANT = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job(Record):
    """One thing to do once. It is `worker`'s in its attempt number `attempts`, until its lease is over.

    What a schedule asks for is one job for every tenant (`tenant_id` ""), which goes from tenant to tenant and agent to
    agent; one that is asked for by name may be of one tenant alone.

    Attributes:
        dedupe_key: when its schedule fired, as `firing_key` writes it; None: it was asked for by name.
        run_at: from when on it may be done: when it was asked for, later after a failure.
        attempts: how often it was begun.
        report: what came of it, in numbers.
        last_error: why its last attempt failed; never what a memory says.
    """

    id: str
    tenant_id: str = EVERY_TENANT
    name: JobName
    dedupe_key: str | None = None
    status: JobStatus = "waiting"
    run_at: datetime
    attempts: int = 0
    lease_until: datetime | None = None
    worker: str | None = None
    report: Mapping[str, Any] = field(default_factory=dict, hash=False)  # a dict has no hash of its own
    last_error: str | None = None
    created_at: datetime
    finished_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempts(Record):
    """How often a job is tried, and how long it waits between: `pause_s`, then twice that, at most a day."""

    most: int = 5
    pause_s: float = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Compaction(Record):
    """How many bytes a database takes before and after it was compacted."""

    bytes_before: int
    bytes_after: int


_LONGEST_PAUSE_S = 86_400.0
ONCE = Attempts(most=1)


def firing_key(at: datetime) -> str:
    """When a schedule fired, in UTC to the second, so that the later key is the larger text."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def firing_of(key: str) -> datetime:
    """What `firing_key` wrote."""
    return datetime.fromisoformat(key)


def begin(job: Job, *, worker: str, lease_until: datetime) -> Job:
    """One attempt more, by this worker, for so long."""
    return replace(job, status="running", worker=worker, lease_until=lease_until, attempts=job.attempts + 1)


def finish(job: Job, at: datetime, report: Mapping[str, Any]) -> Job:
    """It has been done."""
    return replace(job, status="done", lease_until=None, finished_at=at, report=report, last_error=None)


def fail(job: Job, at: datetime, error: str, attempts: Attempts) -> Job:
    """An attempt failed: it waits for the next one, longer each time, or after the last is a dead letter."""
    if job.attempts >= attempts.most:
        return replace(job, status="dead_letter", lease_until=None, finished_at=at, last_error=error)
    pause_s = attempts.pause_s
    for _ in range(job.attempts - 1):
        pause_s = min(pause_s * 2, _LONGEST_PAUSE_S)
    run_at = at + timedelta(seconds=min(pause_s, _LONGEST_PAUSE_S))
    return replace(job, status="waiting", lease_until=None, worker=None, run_at=run_at, last_error=error)


def release(job: Job, at: datetime) -> Job:
    """Its worker has to leave, which is no failure of the job's: another may begin at once."""
    return replace(job, status="waiting", lease_until=None, worker=None, run_at=at, attempts=max(job.attempts - 1, 0))


def retry(job: Job, at: datetime) -> Job:
    """A dead letter is tried anew, as often as at first."""
    return replace(job, status="waiting", worker=None, run_at=at, attempts=0, finished_at=None)
