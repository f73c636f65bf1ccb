"""Job queue: its part of the Store port. Claims with leases, by compare-and-set, for any number of workers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from engrain.domain.runs.jobs import Compaction, Job, JobName, JobStatus


class JobQueue(Protocol):
    """Jobs of every tenant: maintenance, never an answer to a caller.

    A job is claimed by compare-and-set in a transaction of its tenant; one of several workers wins. Worker and attempt
    identify the claim: a worker whose job was taken over changes nothing.
    """

    def add_job(self, job: Job) -> bool:
        """Queue a job; False if its tenant has one of this name and dedupe key, in whatever status."""

    def take_job(self, worker: str, now: datetime, *, lease_s: float, most_attempts: int) -> Job | None:
        """Begin the job that is due longest (`run_at`, tenant, id), as `runs.jobs.begin` says; None if none is due.

        Due are waiting jobs whose `run_at` has come, and running ones whose lease is over: their worker is taken for
        dead. A job that has lost `most_attempts` workers like that becomes a `dead_letter`, and the next one is begun.
        """

    def renew_job(self, job: Job, until: datetime) -> bool:
        """Extend the lease of a running job; False if it is no longer this worker's."""

    def end_job(self, job: Job, after: Job) -> bool:
        """Store a running job as `after`; False, and nothing is written, if it is no longer this worker's."""

    def retry_job(self, job_id: str, now: datetime, *, tenant_id: str | None = None) -> Job | None:
        """Queue a dead letter again, as `runs.jobs.retry` says; other jobs stay as they are.

        Returns the job as it is now, or None if there is none (of that tenant).
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
        """The largest dedupe key of all jobs of that name."""

    def prune_jobs(self, before: datetime, *, limit: int) -> int:
        """Remove at most `limit` jobs that ended before; returns their number. The last firing of every name stays."""

    def compact(self) -> Compaction:
        """Free the space of removed rows, and renew the statistics of the query planner.

        Reads go on meanwhile. A SQLite file is rewritten if a quarter of it is empty; writers wait while it is copied.
        """
