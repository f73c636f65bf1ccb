"""Jobs: units of background work, and the transitions of their status."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal, get_args

from engrain.domain.records import Record

if TYPE_CHECKING:
    from collections.abc import Mapping

    from engrain.domain.runs.retries import Retry

JobName = Literal["enrichment", "consolidation", "decay", "reflection", "cleanup", "compaction", "backup"]
JobStatus = Literal["waiting", "running", "done", "dead_letter", "skipped"]
JOB_NAMES: tuple[JobName, ...] = get_args(JobName)
JOB_STATUSES: tuple[JobStatus, ...] = get_args(JobStatus)
# As in the table of embedders: the tenant of what belongs to the whole database. No tenant can have this name.
EVERY_TENANT = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job(Record):
    """One job. While it runs, it belongs to `worker` in attempt number `attempts`, until its lease is over.

    A scheduled job is for every tenant (`tenant_id` ""): it goes from tenant to tenant and agent to agent. A job that
    was queued by name may be for one tenant.

    Attributes:
        dedupe_key: time of the schedule, by `firing_key`; None for a job queued by name.
        run_at: earliest start: when it was queued, later after a failure.
        attempts: number of attempts begun.
        report: result, in numbers.
        last_error: error of the last attempt; never the text of a memory.
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
class Compaction(Record):
    """Size of a database before and after it was compacted, in bytes."""

    bytes_before: int
    bytes_after: int


def firing_key(at: datetime) -> str:
    """Dedupe key of a scheduled time, in UTC to the second; the later key is the larger text."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def firing_of(key: str) -> datetime:
    """Scheduled time of a dedupe key."""
    return datetime.fromisoformat(key)


def begin(job: Job, *, worker: str, lease_until: datetime) -> Job:
    """The job after a worker began an attempt."""
    return replace(job, status="running", worker=worker, lease_until=lease_until, attempts=job.attempts + 1)


def finish(job: Job, at: datetime, report: Mapping[str, Any]) -> Job:
    """The job after it succeeded."""
    return replace(job, status="done", lease_until=None, finished_at=at, report=report, last_error=None)


def fail(job: Job, at: datetime, error: str, policy: Retry) -> Job:
    """The job after a failed attempt: waiting, longer after every attempt, or a dead letter after the last."""
    if job.attempts >= policy.max_attempts:
        return replace(job, status="dead_letter", lease_until=None, finished_at=at, last_error=error)
    run_at = at + policy.pause(job.attempts)
    return replace(job, status="waiting", lease_until=None, worker=None, run_at=run_at, last_error=error)


def release(job: Job, at: datetime) -> Job:
    """The job after its worker shut down, which is no failure: another worker may begin at once."""
    return replace(job, status="waiting", lease_until=None, worker=None, run_at=at, attempts=max(job.attempts - 1, 0))


def retry(job: Job, at: datetime) -> Job:
    """A dead letter, waiting again with all its attempts."""
    return replace(job, status="waiting", worker=None, run_at=at, attempts=0, finished_at=None)
