"""Job queue as rows: due jobs, leases and outcomes.

Jobs are of every tenant: maintenance, never an answer to a caller. Worker and attempt identify the claim of a job,
which is a compare-and-set: one of several workers wins, and one whose job was taken over changes nothing.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from engrain.domain.runs.jobs import EVERY_TENANT, Job, JobName, JobStatus, begin, fail, retry
from engrain.domain.runs.retries import ONCE
from engrain.storage.transaction import repeatable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engrain.storage.transaction import Transaction

_LOOKED_AT = 20  # when somebody else is faster with the first of them
_DIED = "its worker was gone when its lease was over"


def add_job(tx: Transaction, job: Job) -> bool:
    """Queue a job; False if its tenant has one of this name and dedupe key, in whatever status."""
    return tx.one("add_job", **_job_values(tx, job)) is not None


def take_job(tx: Transaction, worker: str, now: datetime, *, lease_s: float, most_attempts: int) -> Job | None:
    """Begin the job that is due longest (`run_at`, tenant, id), as `runs.jobs.begin` says; None if none is due.

    Due are waiting jobs whose `run_at` has come, and running ones whose lease is over: their worker is taken for dead.
    A job that has lost `most_attempts` workers like that becomes a `dead_letter`, and the next one is begun.
    """
    until = now + timedelta(seconds=lease_s)
    for job in _find_due(tx, now):
        is_hopeless = job.status == "running" and job.attempts >= most_attempts
        after = fail(job, now, _DIED, ONCE) if is_hopeless else begin(job, worker=worker, lease_until=until)
        if _begin_job(tx, job, after, now) and not is_hopeless:
            return after
    return None


def renew_job(tx: Transaction, job: Job, until: datetime) -> bool:
    """Extend the lease of a running job; False if it is no longer this worker's."""
    lease = {"worker": job.worker, "attempts": job.attempts, "lease_until": tx.dialect.time(until)}
    return tx.one("renew_job", tenant_id=job.tenant_id, id=job.id, **lease) is not None


def end_job(tx: Transaction, job: Job, after: Job) -> bool:
    """Store a running job as `after`; False, and nothing is written, if it is no longer this worker's."""
    was = {"was": job.status, "worker_was": job.worker, "attempts_were": job.attempts}
    return tx.one("set_job", **_job_values(tx, after), **was) is not None


def retry_job(tx: Transaction, job_id: str, now: datetime, *, tenant_id: str | None = None) -> Job | None:
    """Queue a dead letter again, as `runs.jobs.retry` says; other jobs stay as they are.

    Returns the job as it is now, or None if there is none (of that tenant).
    """
    job = _load_job(tx, job_id, tenant_id)
    if job is None or job.status != "dead_letter":
        return job
    anew = retry(job, now)
    return anew if end_job(tx, job, anew) else _load_job(tx, job_id, tenant_id)


def list_jobs(
    tx: Transaction,
    *,
    tenant_id: str | None = None,
    names: Sequence[JobName] = (),
    statuses: Sequence[JobStatus] = (),
    limit: int = 50,
) -> list[Job]:
    """List jobs, newest first (`created_at`, then the larger id): of one tenant, or of all."""
    bound: dict[str, Any] = {"limit": max(limit, 0)}
    conditions = ["TRUE"]
    for column, wanted in (("name", names), ("status", statuses)):
        if wanted:
            bound[f"{column}s"] = tx.dialect.listed(wanted)
            conditions.append(f"{column} IN :{column}s")
    return _load_jobs(tx, " AND ".join(conditions), bound, tenant_id=tenant_id)


def find_last_firing(tx: Transaction, name: JobName) -> str | None:
    """Find the largest dedupe key of all jobs of that name."""
    found = tx.one("last_firing", tenant_id=EVERY_TENANT, name=name)
    return None if found is None else str(found[0])


def prune_jobs(tx: Transaction, before: datetime, *, limit: int) -> int:
    """Remove at most `limit` jobs that ended before; returns their number. The last firing of every name stays."""
    return len(tx.rows("prune_jobs", before=tx.dialect.time(before), limit=limit))


@repeatable
def remove_jobs(tx: Transaction, tenant_id: str) -> None:
    """Remove the jobs of a tenant, whatever their status: the tenant was erased."""
    tx.run("remove_jobs", tenant_id=tenant_id)


def _find_due(tx: Transaction, now: datetime) -> list[Job]:
    # Literal, as the index of those that are not over is partial.
    return tx.load(
        tx.statements.records.jobs,
        "FROM jobs INDEXED BY jobs_due WHERE status IN ('waiting', 'running') AND run_at <= :now "
        "AND (status = 'waiting' OR lease_until <= :now) ORDER BY run_at, tenant_id, id LIMIT :limit",
        {"now": tx.dialect.time(now), "limit": _LOOKED_AT},
    )


def _load_job(tx: Transaction, job_id: str, tenant_id: str | None) -> Job | None:
    return next(iter(_load_jobs(tx, "id = :id", {"id": job_id, "limit": 1}, tenant_id=tenant_id)), None)


def _load_jobs(tx: Transaction, condition: str, bound: dict[str, Any], *, tenant_id: str | None) -> list[Job]:
    whose = "TRUE" if tenant_id is None else "tenant_id = :tenant_id"
    return tx.load(
        tx.statements.records.jobs,
        f"FROM jobs WHERE {whose} AND {condition} ORDER BY created_at DESC, id DESC LIMIT :limit",
        bound if tenant_id is None else {**bound, "tenant_id": tenant_id},
    )


def _begin_job(tx: Transaction, job: Job, after: Job, now: datetime) -> bool:
    """Tell whether a job was still due, in that attempt, and is now what it is `after`."""
    was = {"now": tx.dialect.time(now), "attempts_were": job.attempts}
    return tx.one("begin_job", **_job_values(tx, after), **was) is not None


def _job_values(tx: Transaction, job: Job) -> dict[str, Any]:
    rows = tx.statements.records.jobs
    return dict(zip(rows.names, rows.values(job), strict=True))
