"""The worker: fires schedules, claims due jobs, and does them one after the other."""

from __future__ import annotations

import os
import socket
import threading
from typing import TYPE_CHECKING, Any

from engrain import metrics
from engrain.agent.operations import job_work, leases
from engrain.domain.runs.jobs import Job, firing_key, firing_of, release
from engrain.domain.runs.retries import Retry
from engrain.errors import EngrainError, MemoryClosed
from engrain.jobs.schedules import Schedule, find_due, list_schedules
from engrain.log_events import get_logger
from engrain.storage.jobs import add_job, end_job, find_last_firing, take_job

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from engrain.agent.operations.leases import Outcome
    from engrain.agent.wiring.parts import Parts
    from engrain.service import Memory

_LOG = get_logger(__name__)
_LONGEST_PAUSE_S = 60.0


class Worker:
    """Does the jobs of one memory, for every tenant, until it is stopped. Any number may work at one database.

    A schedule fires once, whoever sees it first: the job of a firing has a key that is there once. A job is its
    worker's while its lease is renewed. A worker that dies loses it `jobs.lease_s` after the last renewal; another does
    the job anew then, and the first, should it come back, can no longer write its outcome. Each job
    may be done twice to the effect of once.

    Of the firings that nobody saw, the last one of each schedule is made up for. A schedule that a database meets for
    the first time fires at its next time.
    """

    def __init__(
        self, memory: Memory, *, name: str | None = None, wait: Callable[[float], object] | None = None
    ) -> None:
        """Work at a memory, which stays open for as long; `name` stands in the list of jobs, and is unique.

        `wait` waits for some seconds where there is nothing to do, and returns early when `stop` is called.
        """
        parts = memory.parts
        self.name = name or f"{socket.gethostname()}:{os.getpid()}:{parts.ids()}"
        self._memory = memory
        self._schedules = list_schedules(parts.settings)
        self._policy = Retry(
            max_attempts=parts.settings.jobs.max_attempts, first_pause_s=parts.settings.jobs.retry_pause_s
        )
        self._stopping = threading.Event()
        self._is_leaving = False  # even the job in hand
        self._wait = self._stopping.wait if wait is None else wait
        self._last_look: datetime | None = None  # for firings
        self._in_hand: Job | None = None
        self._unwritten: tuple[Job, Outcome] | None = (
            None  # the outcome of a job that the database was not there to take
        )
        self._thread: threading.Thread | None = None

    @property
    def _parts(self) -> Parts:
        """The rooms as they are now: a change of the embedder puts others in their place."""
        return self._memory.parts

    def start(self, *, at_end: Callable[[], object] = lambda: None) -> None:
        """Work in a thread of its own, which calls `at_end` when it ends, however that was."""

        def work() -> None:
            try:
                self.run()
            finally:
                at_end()

        self._thread = threading.Thread(target=work, name="engrain-jobs", daemon=True)
        self._thread.start()

    def stop(self, timeout_s: float = 30.0) -> bool:
        """Begin nothing more, wait for the job in hand, and return whether it was done in time.

        One that was not is given back, for another worker to begin at once.
        """
        self._stopping.set()
        thread = self._thread
        if thread is None:
            return True
        thread.join(timeout_s)
        if not thread.is_alive():
            return True
        self._is_leaving = True
        try:
            self._give_back()
        except EngrainError as error:
            _LOG.warning("a job is another's when its lease is over", extra={"code": error.code})
        return False

    def run(self) -> None:
        """Work until `stop` is called or the memory is closed; where the database goes away, wait for it."""
        pause_s = poll_s = self._parts.settings.jobs.poll_s
        while not self._stopping.is_set():
            try:
                has_worked = self._step() is not None
            except MemoryClosed:
                return
            except EngrainError as error:
                metrics.count("worker_setbacks")
                _LOG.warning("the worker cannot go on just now", extra={"code": error.code, "pause_s": pause_s})
                self._wait(pause_s)
                pause_s = min(pause_s * 2, _LONGEST_PAUSE_S)
                continue
            pause_s = poll_s
            if not has_worked:
                self._wait(poll_s)

    def run_due(self) -> list[Job]:
        """Do all jobs that are due now, and that come due meanwhile; each attempt as it ended.

        Raises:
            StorageError: the database is not there.
        """
        ended = []
        while not self._stopping.is_set() and (job := self._step()) is not None:
            ended.append(job)
        return ended

    def _give_back(self) -> None:
        job = self._in_hand
        if job is not None and self._parts.store.maintain(None, end_job, job, release(job, self._parts.clock())):
            metrics.count("jobs_given_back")

    def _step(self) -> Job | None:
        """Do one job; the job as its attempt left it, or None where none is due."""
        self._write_down()
        self._fire()
        settings = self._parts.settings.jobs
        now = self._parts.clock()
        job = self._parts.store.maintain(
            None, take_job, self.name, now, lease_s=settings.lease_s, most_attempts=settings.max_attempts
        )
        if job is None:
            return None
        metrics.count("jobs_begun")
        if job.attempts > 1:
            metrics.count("jobs_begun_again")
        self._in_hand = job
        outcome = self._attempt(job)
        self._in_hand = None
        self._unwritten = job, outcome
        self._write_down()
        if outcome.error is not None and not isinstance(outcome.error, Exception):
            raise outcome.error
        return outcome.after or job

    def _attempt(self, job: Job) -> Outcome:
        parts = self._parts
        return leases.attempt(
            parts,
            job,
            lambda check: job_work.run_job(self._memory, parts, job, check),
            policy=self._policy,
            is_leaving=lambda: self._is_leaving,
        )

    def _write_down(self) -> None:
        """Write the outcome of the last job, if it is not written yet."""
        if self._unwritten is not None:
            leases.write_outcome(self._parts, *self._unwritten)
            self._unwritten = None

    def _fire(self) -> None:
        """Add the jobs of the schedules that have fired."""
        now = self._parts.clock()
        last_look, self._last_look = self._last_look, now
        for schedule in self._schedules:
            last = self._parts.store.inspect(None, find_last_firing, schedule.name)
            if last is None:
                self._add(schedule, now, now, status="skipped")
                continue
            firing = find_due(schedule, choose_start(firing_of(last), last_look, now), now)
            if firing is not None and self._add(schedule, firing, now):
                metrics.count("schedules_fired")

    def _add(self, schedule: Schedule, firing: datetime, now: datetime, **known: Any) -> bool:
        job = Job(
            id=self._parts.ids(),
            name=schedule.name,
            dedupe_key=firing_key(firing),
            run_at=firing,
            created_at=now,
            **known,
        )
        return self._parts.store.maintain(None, add_job, job)


def choose_start(last: datetime, last_look: datetime | None, now: datetime) -> datetime:
    """The moment from which on firings count: the last one; where the clock was put back behind it, the last look.

    Otherwise a clock that was once far ahead would silence its schedules until it gets there again.
    """
    if last <= now:
        return last
    return now if last_look is None else min(last_look, now)
