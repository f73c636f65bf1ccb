"""Jobs as the reference store keeps them: a dictionary, and a lock for who comes first."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from engrain.domain.runs.jobs import EVERY_TENANT, Compaction, Job, JobName, JobStatus, begin, fail, retry
from engrain.domain.runs.retries import ONCE
from tests.support.reference_records import ReferenceRecords


class ReferenceJobs(ReferenceRecords):
    """Jobs by id."""

    def __init__(self) -> None:
        super().__init__()
        self._jobs: dict[str, Job] = {}

    def add_job(self, job: Job) -> bool:
        keys = {(each.tenant_id, each.name, each.dedupe_key) for each in self._jobs.values() if each.dedupe_key}
        if job.id in self._jobs or (job.tenant_id, job.name, job.dedupe_key) in keys:
            return False
        self._jobs[job.id] = job
        return True

    def take_job(self, worker: str, now: datetime, *, lease_s: float, most_attempts: int) -> Job | None:
        for job in sorted(self._jobs.values(), key=lambda each: (each.run_at, each.tenant_id, each.id)):
            if not _is_due(job, now):
                continue
            if job.status == "running" and job.attempts >= most_attempts:
                self._jobs[job.id] = fail(job, now, "its worker was gone when its lease was over", ONCE)
                continue
            mine = begin(job, worker=worker, lease_until=now + timedelta(seconds=lease_s))
            self._jobs[job.id] = mine
            return mine
        return None

    def renew_job(self, job: Job, until: datetime) -> bool:
        return self._is_held(job) and self._set(replace(self._jobs[job.id], lease_until=until))

    def end_job(self, job: Job, after: Job) -> bool:
        return self._is_held(job) and self._set(after)

    def retry_job(self, job_id: str, now: datetime, *, tenant_id: str | None = None) -> Job | None:
        job = self._jobs.get(job_id)
        if job is None or tenant_id not in (None, job.tenant_id):
            return None
        if job.status == "dead_letter":
            self._set(retry(job, now))
        return self._jobs[job_id]

    def jobs(
        self,
        *,
        tenant_id: str | None = None,
        names: Sequence[JobName] = (),
        statuses: Sequence[JobStatus] = (),
        limit: int = 50,
    ) -> list[Job]:
        found = [
            each
            for each in self._jobs.values()
            if tenant_id in (None, each.tenant_id)
            and (not names or each.name in names)
            and (not statuses or each.status in statuses)
        ]
        return sorted(found, key=lambda each: (each.created_at, each.id), reverse=True)[: max(limit, 0)]

    def last_firing(self, name: JobName) -> str | None:
        return max(self._firings(EVERY_TENANT, name), default=None)

    def prune_jobs(self, before: datetime, *, limit: int) -> int:
        old = [
            each
            for each in self._jobs.values()
            if each.finished_at is not None
            and each.finished_at < before
            and (each.dedupe_key is None or each.dedupe_key != max(self._firings(each.tenant_id, each.name)))
        ]
        gone = sorted(old, key=lambda each: each.finished_at or before)[:limit]
        for job in gone:
            del self._jobs[job.id]
        return len(gone)

    def compact(self) -> Compaction:
        return Compaction(bytes_before=0, bytes_after=0)

    def _firings(self, tenant_id: str, name: JobName) -> list[str]:
        named = [each for each in self._jobs.values() if (each.tenant_id, each.name) == (tenant_id, name)]
        return [each.dedupe_key for each in named if each.dedupe_key]

    def _is_held(self, job: Job) -> bool:
        there = self._jobs.get(job.id)
        held = (job.worker, job.attempts, "running")
        return there is not None and (there.worker, there.attempts, there.status) == held

    def _set(self, job: Job) -> bool:
        self._jobs[job.id] = job
        return True


def _is_due(job: Job, now: datetime) -> bool:
    if job.run_at > now:
        return False
    lapsed = job.status == "running" and job.lease_until is not None and job.lease_until <= now
    return job.status == "waiting" or lapsed
