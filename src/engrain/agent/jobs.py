"""Jobs: background work of a memory, as an operator lists and runs it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engrain.agent.operations.instrumentation import instrument
from engrain.agent.wiring.view import View
from engrain.domain import checks
from engrain.domain.runs.jobs import EVERY_TENANT, JOB_NAMES, JOB_STATUSES, Job, begin
from engrain.domain.runs.retries import ONCE
from engrain.errors import InvalidInput, NotFound
from engrain.storage.jobs import add_job, list_jobs, retry_job

if TYPE_CHECKING:
    from collections.abc import Callable

    from engrain.agent.operations.event_log import EventLog
    from engrain.agent.wiring.parts import Parts
    from engrain.domain.records import Caller
    from engrain.verbs import words


@instrument("jobs")
class Jobs(View):
    """Background jobs: enrichment, consolidation, decay, reflection, cleanup, compaction, backup.

    A worker (`engrain worker`, `engrain serve`) runs those of the settings `jobs.schedules`: one job for every tenant,
    whose `tenant_id` is "".
    """

    __slots__ = ("_memory",)

    def __init__(self, memory: EventLog, parts: Callable[[], Parts], caller: Caller) -> None:
        """Made by `Memory.jobs`, whose verbs the jobs are."""
        super().__init__(parts, caller)
        self._memory = memory

    def list(
        self,
        *,
        tenant: words.Tenant | None = None,
        name: words.OfJobName | None = None,
        status: words.OfJobStatus | None = None,
        limit: words.PageLimit = 50,
    ) -> list[Job]:
        """List the jobs of a tenant, or of all and of the whole database, newest first.

        A dead letter was given up after its last attempt; a skipped job is a firing before its schedule was first seen.

        Raises:
            InvalidInput: an unknown name or status, or a limit outside 0-1000.
        """
        return self._parts().store.inspect(
            None,
            list_jobs,
            tenant_id=checks.optional_identity(tenant, name="tenant"),
            names=() if name is None else [checks.choice(name, JOB_NAMES, name="name")],
            statuses=() if status is None else [checks.choice(status, JOB_STATUSES, name="status")],
            limit=checks.count(limit, name="limit"),
        )

    def run(self, name: words.NameOfJob, *, tenant: words.Tenant | None = None, enqueue: words.Enqueue = False) -> Job:
        """Run a job now, for one tenant or for all, in this process; or leave it to a worker.

        Gives the job as it is then. One that fails here is not tried again by itself; `retry` lets a worker do it.

        Raises:
            InvalidInput: an unknown name, a compaction or backup of one tenant, a backup without a folder.
            EngrainError: an error of the job; it is a dead letter.
        """
        from engrain.agent.learning.consolidation_runs import worker_name
        from engrain.agent.operations import job_work, leases

        parts = self._parts()
        known = checks.choice(name, JOB_NAMES, name="name")
        tenant_id = EVERY_TENANT if tenant is None else checks.identity(tenant, name="tenant")
        job_work.check_job(known, tenant_id, parts)
        now = parts.clock()
        job = Job(id=parts.ids(), tenant_id=tenant_id, name=known, run_at=now, created_at=now)
        if checks.flag(enqueue, name="enqueue"):
            parts.store.maintain(None, add_job, job)
            return job
        running = begin(job, worker=f"{worker_name()}:{job.id}", lease_until=leases.lease_end(parts))
        parts.store.maintain(None, add_job, running)
        outcome = leases.attempt(
            parts, running, lambda check: job_work.run_job(self._memory, parts, running, check), policy=ONCE
        )
        leases.write_outcome(parts, running, outcome)
        if outcome.error is not None:
            raise outcome.error
        assert outcome.after is not None
        return outcome.after

    def retry(self, job_id: words.JobId, *, tenant: words.Tenant | None = None) -> Job:
        """Let a worker try a dead letter again, as often as at first.

        Raises:
            NotFound: there is no such job (of this tenant).
            InvalidInput: it is no dead letter.
        """
        parts = self._parts()
        id_, tenant_id = checks.name(job_id, name="job_id"), checks.optional_identity(tenant, name="tenant")
        job = parts.store.maintain(None, retry_job, id_, parts.clock(), tenant_id=tenant_id)
        if job is None:
            raise NotFound(f"there is no job {id_!r:.80}; list the jobs to see their ids")
        if job.status != "waiting" or job.attempts:
            raise InvalidInput(f"job {job.id} is {job.status}; only a dead letter is tried again")
        return job
