"""Leases of jobs: renewed while an attempt runs, and its outcome written if the lease is still held."""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Self

from engrain import metrics
from engrain.domain.faults import code_of, public_message
from engrain.domain.runs import jobs
from engrain.errors import DatabaseBusy, DatabaseFull, DatabaseReadOnly, DatabaseUnreachable, EngrainError
from engrain.log_events import get_logger
from engrain.storage.jobs import end_job, renew_job

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from engrain.agent.wiring.parts import Parts
    from engrain.domain.runs.jobs import Job
    from engrain.domain.runs.retries import Retry

_LOG = get_logger(__name__)
# Messages of these are about the database alone; others may quote a memory.
_QUOTABLE = (DatabaseBusy, DatabaseFull, DatabaseReadOnly, DatabaseUnreachable)


class _StopWorkError(Exception):
    """The job is to be left as it is; never leaves this module."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Outcome of an attempt: the job as it is to be stored, None where its lease was lost, and the error."""

    after: Job | None
    error: BaseException | None = None


class Lease:
    """Lease of a job, renewed by a thread of its own from `with` to its end."""

    def __init__(self, parts: Parts, job: Job, *, is_leaving: Callable[[], bool] = lambda: False) -> None:
        """Hold a job that was just claimed; `is_leaving` says when its worker has to stop."""
        self._parts = parts
        self._job = job
        self._is_leaving = is_leaving
        self._lease_s = parts.settings.jobs.lease_s
        self.is_lost = False  # to another worker, for all that is known
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._keep_renewing, name="engrain-lease", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def check(self) -> None:
        """Raise where the work should not go on."""
        if self.is_lost or self._is_leaving():
            raise _StopWorkError

    def renew(self) -> None:
        """Renew it once; where the database cannot be reached just now, the next time may do."""
        try:
            self.is_lost = not self._parts.store.maintain(None, renew_job, self._job, lease_end(self._parts))
        except EngrainError as error:
            _LOG.warning("a lease could not be renewed", extra={"job": self._job.name, "code": error.code})

    def _keep_renewing(self) -> None:
        while not self.is_lost and not self._over.wait(self._lease_s / 3):
            self.renew()


def attempt(
    parts: Parts,
    job: Job,
    work: Callable[[Callable[[], None]], Mapping[str, Any]],
    *,
    policy: Retry,
    is_leaving: Callable[[], bool] = lambda: False,
) -> Outcome:
    """Do a job that was claimed, by `work`, which calls its argument after each piece; the outcome is not written."""
    with metrics.timed("job_seconds"), Lease(parts, job, is_leaving=is_leaving) as lease:
        try:
            report = work(lease.check)
        except _StopWorkError:
            return Outcome(None if lease.is_lost else jobs.release(job, parts.clock()))
        except BaseException as error:  # noqa: BLE001  # its attempts are counted where it is written
            return Outcome(jobs.fail(job, parts.clock(), error_message(error), policy), error)
    return Outcome(jobs.finish(job, parts.clock(), report))


def write_outcome(parts: Parts, job: Job, outcome: Outcome) -> bool:
    """Write the outcome of an attempt, if its lease is still held; return whether it was.

    Raises:
        StorageError: it could not be written.
    """
    after = outcome.after
    if after is None or not parts.store.maintain(None, end_job, job, after):
        metrics.count("jobs_lost")
        _LOG.warning("a job was taken over by another worker", extra={"job": job.name, "job_id": job.id})
        return False
    name = {"done": "jobs_done", "waiting": "jobs_set_back", "dead_letter": "jobs_given_up"}[after.status]
    metrics.count(name if outcome.error is not None or after.status == "done" else "jobs_given_back")
    level = logging.INFO if outcome.error is None else logging.WARNING
    fields = {"job": job.name, "job_id": job.id, "status": after.status, "attempt": job.attempts}
    if isinstance(outcome.error, _QUOTABLE):
        fields["reason"] = str(outcome.error)
    _LOG.log(level, "a job ended", extra={**fields, "error": after.last_error})
    return True


def lease_end(parts: Parts) -> datetime:
    """Return the end of a lease that begins now."""
    return parts.clock() + timedelta(seconds=parts.settings.jobs.lease_s)


def error_message(error: BaseException) -> str:
    """Return an error as code and meaning, without words of a memory or of the machine."""
    return f"{code_of(error)}: {public_message(error) if isinstance(error, _QUOTABLE) else type(error).__name__}"
