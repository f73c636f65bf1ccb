"""The part of the Store port that keeps jobs: claims with leases, by compare-and-set, whoever works and how many."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from engrain.domain.runs.jobs import Compaction, Job, JobName, JobStatus


class JobQueue(Protocol):
    """Jobs of every tenant: housekeeping, never an answer to a caller.

    A job is claimed by an update of what it still is, which one of several wins, in a transaction of its tenant. What
    is held is told from what was taken over by worker and attempt: a worker that was away too long changes nothing.
    """

    def add_job(self, job: Job) -> bool:
        """Keep a job; False where its tenant has one of this name and dedupe key, whatever became of it."""

    def take_job(self, worker: str, now: datetime, *, lease_s: float, most_attempts: int) -> Job | None:
        """Begin the job that is due longest (`run_at`, tenant, id), as `runs.jobs.begin` says; None where none is.

        Due is what waits and whose `run_at` has come, and what is running under a lease that is over: its worker is
        taken for dead. A job that so many attempts have ended like that is a `dead_letter`, and the next one is looked
        at.
        """

    def renew_job(self, job: Job, until: datetime) -> bool:
        """Let the lease of a job that its worker began last until then; False where it is no longer that worker's."""

    def end_job(self, job: Job, after: Job) -> bool:
        """Let a job that its worker began stand as `after` does; False, and nothing is written, where it lost it."""

    def retry_job(self, job_id: str, now: datetime, *, tenant_id: str | None = None) -> Job | None:
        """Let a dead letter wait again, as `domain.runs.jobs.retry` says; what is none stays as it is.

        The job as it is now, or None where there is none (of that tenant).
        """

    def jobs(
        self,
        *,
        tenant_id: str | None = None,
        names: Sequence[JobName] = (),
        statuses: Sequence[JobStatus] = (),
        limit: int = 50,
    ) -> list[Job]:
        """Jobs, newest first (`created_at`, then the larger id): of one tenant, or of all."""

    def last_firing(self, name: JobName) -> str | None:
        """The largest dedupe key of the jobs of every tenant of that name."""

    def prune_jobs(self, before: datetime, *, limit: int) -> int:
        """Remove at most `limit` jobs that ended before; how many it was. The last firing of each name stays."""

    def compact(self) -> Compaction:
        """Give back the room that what was removed has left, and let the database look at its rows anew.

        Reads go on meanwhile. A SQLite file is written anew where a quarter of it is empty, which keeps writers waiting
        for as long as copying it takes.
        """
