"""Failure test: clients see only retryable errors while PostgreSQL is restarted and a worker killed."""

from __future__ import annotations

import contextlib
import itertools
import threading
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal

from bench.serving.clients import Seen, Work, over_http_here
from bench.serving.served import Server, Worker, fill
from engrain import Memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tests.support.postgres import PostgresServer

Way = Literal["restarted", "crashed", "away"]
WAYS: tuple[Way, ...] = ("restarted", "crashed", "away", "crashed")

# What a worker is killed over: facts that nobody has confirmed for long enough to expire, each with one event.
_OLD = timedelta(days=400)
_POLL_S = 0.02
_PATIENCE_S = 1_200.0  # for what neither happens nor ends a process; the machine may be as busy as it likes


@dataclass
class Disorder:
    """Disturbances of the servers, and the clients' progress since."""

    seen: list[Seen]
    server: Server
    worker: Worker
    stopping: threading.Event = field(default_factory=threading.Event)
    restarts: int = 0
    kills: int = 0

    def wait_for_calls(self, more: int) -> None:
        """Wait until clients were acknowledged so many more writes."""
        goal = self._acknowledged + more
        self.wait_until(lambda: self._acknowledged >= goal, f"{more} more writes were acknowledged")

    def wait_until(self, condition: Callable[[], bool], what: str) -> None:
        """Wait until a condition holds.

        Raises:
            RuntimeError: the server or the worker has ended, without which it may never hold.
            TimeoutError: it does not hold for 20 minutes.
        """
        end = time.monotonic() + _PATIENCE_S
        while not condition():
            for name, process in (("server", self.server), ("worker", self.worker)):
                if not process.is_running:
                    raise RuntimeError(f"the {name} ended before {what}")
            if time.monotonic() > end:
                raise TimeoutError(f"{_PATIENCE_S:.0f} s were over before {what}")
            time.sleep(_POLL_S)

    @property
    def refusals(self) -> int:
        """The number of answers that asked clients to retry."""
        return sum(sum(each.retried.values()) for each in self.seen)

    @property
    def _acknowledged(self) -> int:
        return sum(len(each.acknowledged) for each in self.seen)


def report(
    work: Work, settings: dict[str, str], *, ways: Sequence[Way] = WAYS, between: int = 50, expiring: int = 2_000
) -> dict[str, Any]:
    """Counts of all that clients and workers did through rounds of disorder; `is_sound` if nothing went wrong.

    In each round a worker is killed in the middle of its job and PostgreSQL goes away in one of the `ways`: as an
    operator restarts it, in a crash, or until clients are told so. They get `between` writes done before, between and
    after.
    """
    from tests.support.postgres import PostgresServer

    jobs = {"JOBS__LEASE_S": "1", "JOBS__POLL_S": "0.1", "JOBS__RETRY_PAUSE_S": "0", "JOBS__MAX_ATTEMPTS": "50"}
    jobs["JOBS__SCHEDULES__DECAY"] = ""  # or one more job at a certain time of the night
    with PostgresServer() as postgres:
        db = postgres.new_database()
        _prepare(db, work, expiring)
        with Server(db, "--no-worker", **settings) as server, _worker(db, settings | jobs) as worker:
            seen: list[Seen] = [Seen() for _ in range(work.clients)]
            disorder = Disorder(seen, server, worker)
            clients = threading.Thread(
                target=over_http_here, args=(work, server.address, seen, disorder.stopping), name="clients"
            )
            clients.start()
            try:
                for way in ways:
                    _round(way, db, disorder, postgres=postgres, between=between)
            finally:
                disorder.stopping.set()
                clients.join()
            _all_jobs_over(db, disorder)
        together = Seen()
        for each in seen:
            together.add(each)
        return _checked(postgres, db, together, disorder, expiring=expiring)


def _prepare(db: str, work: Work, expiring: int) -> None:
    long_ago = datetime.now(UTC) - _OLD
    without = {"embedding": {"model": "none"}}
    with Memory.open(db, settings=without) as memory:
        fill(memory, work.talk)
    ticks = itertools.count()
    with Memory.open(db, settings=without, clock=lambda: long_ago + timedelta(seconds=next(ticks))) as memory:
        agent = memory.agent("agent 0")
        for number in range(expiring):
            agent.remember(f"value {number}", subject="thing", predicate=f"has number {number}", permanence="ephemeral")


@contextlib.contextmanager
def _worker(db: str, settings: dict[str, str]) -> Iterator[Worker]:
    worker = Worker(db, **settings)
    try:
        yield worker
    finally:
        worker.kill()


def _round(way: Way, db: str, disorder: Disorder, *, postgres: PostgresServer, between: int) -> None:
    disorder.wait_for_calls(between)
    with Memory.open(db, settings={"embedding": {"model": "none"}}) as memory:
        job = memory.jobs.run("decay", enqueue=True)
        disorder.wait_until(lambda: _status(memory, job.id) != "waiting", "a worker took the job")
    disorder.worker.kill_and_restart()
    disorder.kills += 1
    disorder.wait_for_calls(between)
    _restart(postgres, way, disorder)
    disorder.restarts += 1
    disorder.wait_for_calls(between)


def _restart(postgres: PostgresServer, way: Way, disorder: Disorder) -> None:
    match way:
        case "restarted":
            postgres.stop("fast")
        case "crashed":
            postgres.kill()
        case "away":
            told = disorder.refusals
            postgres.stop("immediate")
            disorder.wait_until(lambda: disorder.refusals > told, "a client was told to come again")
    postgres.start()


def _status(memory: Memory, job_id: str) -> str:
    return next(each.status for each in memory.jobs.list(name="decay", limit=1_000) if each.id == job_id)


def _all_jobs_over(db: str, disorder: Disorder) -> None:
    with Memory.open(db, settings={"embedding": {"model": "none"}}) as memory:
        over = {"done", "dead_letter", "skipped"}
        disorder.wait_until(
            lambda: all(each.status in over for each in memory.jobs.list(name="decay", limit=1_000)),
            "all jobs were over",
        )


def _checked(postgres: PostgresServer, db: str, seen: Seen, disorder: Disorder, *, expiring: int) -> dict[str, Any]:
    """The contents of the database beside the answers to clients."""
    name = db.rpartition("/")[2]
    kept = {str(id_) for (id_,) in postgres.psql(name, "SELECT id FROM episodes")}
    [(doubled,)] = postgres.psql(
        name, "SELECT count(*) - count(DISTINCT content) FROM episodes WHERE session LIKE 'client %'"
    )
    [(events, facts)] = postgres.psql(
        name, "SELECT count(*), count(DISTINCT memory_id) FROM memory_events WHERE event_type = 'fact_expired'"
    )
    jobs = dict(postgres.psql(name, "SELECT status, count(*) FROM jobs WHERE name = 'decay' GROUP BY status"))
    again = postgres.psql(name, "SELECT coalesce(sum(attempts - 1), 0) FROM jobs WHERE name = 'decay' AND attempts > 1")
    lost = len(set(seen.acknowledged.values()) - kept)
    found = {
        "restarts": disorder.restarts,
        "workers_killed": disorder.kills,
        "calls": seen.calls,
        "acknowledged": len(seen.acknowledged),
        "lost": lost,
        "doubled": doubled,
        "retried": seen.retried,
        "errors": seen.errors,
        "jobs": jobs,
        "jobs_begun_again": int(again[0][0]),
        "facts_expired": facts,
        "events_of_that": events,
    }
    is_sound = not (lost or doubled or seen.errors) and events == facts == expiring and "dead_letter" not in jobs
    return {**found, "is_sound": is_sound}
