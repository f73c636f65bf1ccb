"""Job queue as rows: due jobs, leases and outcomes."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

from engrain.domain.runs.jobs import EVERY_TENANT, begin, fail, retry
from engrain.domain.runs.retries import ONCE
from engrain.storage.transactions import Transactions

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from engrain.domain.runs.jobs import Job, JobName, JobStatus
    from engrain.storage.transaction import Transaction

_LOOKED_AT = 20  # when somebody else is faster with the first of them
_DIED = "its worker was gone when its lease was over"


class SqlJobs(Transactions):
    """Implements `domain.runs.jobs_port.JobQueue`, but for what a database does to itself."""

    def add_job(self, job: Job) -> bool:
        return self._execute(_tenant_of(job), partial(_add_job, job=job))

    def take_job(self, worker: str, now: datetime, *, lease_s: float, most_attempts: int) -> Job | None:
        until = now + timedelta(seconds=lease_s)
        for job in self._read(None, lambda tx: _find_due(tx, now)):
            is_hopeless = job.status == "running" and job.attempts >= most_attempts
            after = fail(job, now, _DIED, ONCE) if is_hopeless else begin(job, worker=worker, lease_until=until)
            if self._execute(_tenant_of(job), partial(_begin_job, job=job, after=after, now=now)) and not is_hopeless:
                return after
        return None

    def renew_job(self, job: Job, until: datetime) -> bool:
        return self._execute(_tenant_of(job), lambda tx: _renew_job(tx, job, until))

    def end_job(self, job: Job, after: Job) -> bool:
        return self._execute(_tenant_of(job), lambda tx: _set_job(tx, job, after))

    def retry_job(self, job_id: str, now: datetime, *, tenant_id: str | None = None) -> Job | None:
        found = self._read(None, lambda tx: _load_jobs(tx, "id = :id", {"id": job_id, "limit": 1}, tenant_id=tenant_id))
        if not found or found[0].status != "dead_letter":
            return next(iter(found), None)
        anew = retry(found[0], now)
        if self._execute(_tenant_of(anew), lambda tx: _set_job(tx, found[0], anew)):
            return anew
        return self.retry_job(job_id, now, tenant_id=tenant_id)  # somebody else was faster: as they left it

    def jobs(
        self,
        *,
        tenant_id: str | None = None,
        names: Sequence[JobName] = (),
        statuses: Sequence[JobStatus] = (),
        limit: int = 50,
    ) -> list[Job]:
        def work(tx: Transaction) -> list[Job]:
            bound: dict[str, Any] = {"limit": max(limit, 0)}
            conditions = ["TRUE"]
            for column, wanted in (("name", names), ("status", statuses)):
                if wanted:
                    bound[f"{column}s"] = tx.dialect.listed(wanted)
                    conditions.append(f"{column} IN :{column}s")
            return _load_jobs(tx, " AND ".join(conditions), bound, tenant_id=tenant_id)

        return self._read(None, work)

    def last_firing(self, name: JobName) -> str | None:
        found = self._read(None, lambda tx: tx.one("last_firing", tenant_id=EVERY_TENANT, name=name))
        return None if found is None else str(found[0])

    def prune_jobs(self, before: datetime, *, limit: int) -> int:
        def work(tx: Transaction) -> int:
            return len(tx.rows("prune_jobs", before=tx.dialect.time(before), limit=limit))

        return self._execute(None, work)


def _tenant_of(job: Job) -> str | None:
    """Whose transaction a job is written in."""
    return job.tenant_id or None


def _add_job(tx: Transaction, *, job: Job) -> bool:
    return tx.one("add_job", **_job_values(tx, job)) is not None


def _find_due(tx: Transaction, now: datetime) -> list[Job]:
    rows = tx.statements.records.jobs
    # Literal, as the index of those that are not over is partial.
    found = tx.ask(
        f"SELECT {rows.columns} FROM jobs INDEXED BY jobs_due "  # noqa: S608  # the schema's own words
        "WHERE status IN ('waiting', 'running') AND run_at <= :now "
        "AND (status = 'waiting' OR lease_until <= :now) ORDER BY run_at, tenant_id, id LIMIT :limit",
        {"now": tx.dialect.time(now), "limit": _LOOKED_AT},
    )
    return [rows.record(row) for row in found]


def _load_jobs(tx: Transaction, condition: str, bound: dict[str, Any], *, tenant_id: str | None) -> list[Job]:
    rows = tx.statements.records.jobs
    whose = "TRUE" if tenant_id is None else "tenant_id = :tenant_id"
    found = tx.ask(
        f"SELECT {rows.columns} FROM jobs WHERE {whose} AND {condition} "  # noqa: S608  # the schema's own words
        "ORDER BY created_at DESC, id DESC LIMIT :limit",
        bound if tenant_id is None else {**bound, "tenant_id": tenant_id},
    )
    return [rows.record(row) for row in found]


def _set_job(tx: Transaction, before: Job, after: Job) -> bool:
    """Whether a job was still its worker's in that attempt, or nobody's, and is now what it is `after`."""
    was = {"was": before.status, "worker_was": before.worker, "attempts_were": before.attempts}
    return tx.one("set_job", **_job_values(tx, after), **was) is not None


def _begin_job(tx: Transaction, *, job: Job, after: Job, now: datetime) -> bool:
    """Whether a job was still due, in that attempt, and is now what it is `after`."""
    was = {"now": tx.dialect.time(now), "attempts_were": job.attempts}
    return tx.one("begin_job", **_job_values(tx, after), **was) is not None


def _job_values(tx: Transaction, job: Job) -> dict[str, Any]:
    rows = tx.statements.records.jobs
    return dict(zip(rows.names, rows.values(job), strict=True))


def _renew_job(tx: Transaction, job: Job, until: datetime) -> bool:
    lease = {"worker": job.worker, "attempts": job.attempts, "lease_until": tx.dialect.time(until)}
    return tx.one("renew_job", tenant_id=job.tenant_id, id=job.id, **lease) is not None
