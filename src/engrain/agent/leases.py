"""A job being done: its lease is renewed all the while, and how it ended is written if it is still one's own."""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Self

from engrain import metrics
from engrain.domain.runs import jobs
from engrain.domain.wording import code_of, sentence
from engrain.errors import DatabaseBusy, DatabaseFull, DatabaseReadOnly, DatabaseUnreachable, EngrainError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime
    from typing import Any

    from engrain.agent.parts import Parts
    from engrain.domain.runs.jobs import Attempts, Job

_LOG = logging.getLogger(__name__)
# What these say is of the database alone; others may quote a memory.
_TELLING = (DatabaseBusy, DatabaseFull, DatabaseReadOnly, DatabaseUnreachable)


class _LeftError(Exception):
    """The job is to be left where it is."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How an attempt ended: what the job is to stand as, and what went wrong; None: it is not one's own any more."""

    after: Job | None
    error: BaseException | None = None


class Lease:
    """One's hold on a job, renewed by a thread of its own from `with` to its end."""

    def __init__(self, parts: Parts, job: Job, *, is_leaving: Callable[[], bool] = lambda: False) -> None:
        """Hold a job that was just taken; `is_leaving` says when its worker has to go."""
        self._parts = parts
        self._job = job
        self._is_leaving = is_leaving
        self._lease_s = parts.settings.jobs.lease_s
        self._is_lost = False
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._renew, name="engrain-lease", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    @property
    def is_lost(self) -> bool:
        """Whether another worker has the job, for all that is known."""
        return self._is_lost

    def check(self) -> None:
        """Nothing, while the work should go on."""
        if self._is_lost or self._is_leaving():
            raise _LeftError

    def beat(self) -> None:
        """Renew it once; where the database cannot be asked just now, the next time may do."""
        try:
            self._is_lost = not self._parts.store.renew_job(self._job, until(self._parts))
        except EngrainError as error:
            _LOG.warning("a lease could not be renewed", extra={"job": self._job.name, "code": error.code})

    def _renew(self) -> None:
        while not self._is_lost and not self._over.wait(self._lease_s / 3):
            self.beat()


def attempt(
    parts: Parts,
    job: Job,
    work: Callable[[Callable[[], None]], Mapping[str, Any]],
    *,
    attempts: Attempts,
    is_leaving: Callable[[], bool] = lambda: False,
) -> Outcome:
    """Do a job that was taken, by `work`, which gets what to call after each piece; nothing is written of its end."""
    with metrics.timed("job_seconds"), Lease(parts, job, is_leaving=is_leaving) as lease:
        try:
            report = work(lease.check)
        except _LeftError:
            return Outcome(None if lease.is_lost else jobs.given_back(job, parts.clock()))
        except BaseException as error:  # noqa: BLE001  # whatever ends it is told where its attempts are counted
            return Outcome(jobs.failed(job, parts.clock(), said(error), attempts), error)
    return Outcome(jobs.done(job, parts.clock(), report))


def settle(parts: Parts, job: Job, outcome: Outcome) -> bool:
    """Write how an attempt ended, if the job is still one's own; whether it was.

    Raises:
        StorageError: it could not be written.
    """
    after = outcome.after
    if after is None or not parts.store.end_job(job, after):
        metrics.count("jobs_lost")
        _LOG.warning("a job was taken over by another worker", extra={"job": job.name, "job_id": job.id})
        return False
    name = {"done": "jobs_done", "waiting": "jobs_set_back", "dead_letter": "jobs_given_up"}[after.status]
    metrics.count(name if outcome.error is not None or after.status == "done" else "jobs_given_back")
    level = logging.INFO if outcome.error is None else logging.WARNING
    told = {"job": job.name, "job_id": job.id, "status": after.status, "attempt": job.attempts}
    if isinstance(outcome.error, _TELLING):
        told["reason"] = str(outcome.error)
    _LOG.log(level, "a job ended", extra={**told, "error": after.last_error})
    return True


def until(parts: Parts) -> datetime:
    """How long the lease of a job lasts that begins now."""
    return parts.clock() + timedelta(seconds=parts.settings.jobs.lease_s)


def said(error: BaseException) -> str:
    """An error in words that hold nothing of a memory, nor of the machine: its code, and what that means."""
    return f"{code_of(error)}: {sentence(error) if isinstance(error, _TELLING) else type(error).__name__}"
