"""Monitoring of a Memory: its readiness and its metrics; neither waits for a database for long."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from engrain import metrics
from engrain.domain.maintenance.readiness import Bounds, EmbedderState, Readiness, judge_readiness
from engrain.domain.maintenance.vitals import Vitals, merge_vitals
from engrain.engines.deadlines import DeadlineRunner
from engrain.errors import EngineUnavailable, StorageError
from engrain.metrics import Family, FamilyKind, Sample

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from datetime import datetime

    from engrain.agent.wiring.parts import Parts
    from engrain.storage.store import SqlStore

_THREAD = "engrain-monitor"
# One for each server: calls of one that hangs take no place of those of another.
_RUNNERS: WeakKeyDictionary[SqlStore, DeadlineRunner] = WeakKeyDictionary()


def read_readiness(parts: Parts) -> Readiness:
    """Return whether the memory can serve, within the settings' `monitoring.timeout_s`."""
    now, chosen = parts.clock(), parts.settings.monitoring
    bounds = Bounds(embedding_lag_s=chosen.embedding_lag_s, job_lag_s=chosen.job_lag_s)
    embedder = EmbedderState(
        name=getattr(parts.embedder, "name", None),
        unused_because=None if parts.without_vectors is None else str(parts.without_vectors),
        failure=parts.queue.failure,
    )
    vitals, absent = _read_vitals(parts, now)
    return judge_readiness(vitals, embedder, bounds, now, absent=absent)


def read_metrics(parts: Parts) -> metrics.Measured:
    """Return what was counted in this process, and the database's gauges; of a database that is away, that it is."""
    now = parts.clock()
    vitals, absent = _read_vitals(parts, now)
    families = [*metrics.families(), *_of_process(parts)]
    is_up = not isinstance(vitals, Exception) and not absent
    families.append(_gauge("database_up", "Whether the database, or each of its servers, answered", int(is_up)))
    if not isinstance(vitals, Exception):
        families += _of_database(vitals, now)
    return metrics.Measured(sorted(families, key=lambda family: family.name))


def _read_vitals(parts: Parts, now: datetime) -> tuple[Vitals | Exception, Mapping[str, Exception]]:
    """Read the vitals of the database, or the error of its first server, and the errors of the others by name."""
    servers, until = parts.store.servers, time.monotonic() + parts.settings.monitoring.timeout_s
    begun: dict[str, Callable[[float], Vitals]] = {}
    found: list[Vitals] = []
    absent: dict[str, Exception] = {}
    for name, server in servers.items():
        runner = _RUNNERS.setdefault(server, DeadlineRunner("the database", thread_name=_THREAD, max_overdue=4))
        try:
            begun[name] = runner.begin(partial(server.vitals, now))
        except EngineUnavailable as error:
            absent[name] = error
    for name, wait in begun.items():
        try:
            found.append(wait(max(round(until - time.monotonic(), 2), 0)))
        except (StorageError, EngineUnavailable) as error:
            absent[name] = error
    first = next(iter(servers))
    return (absent[first], {}) if first in absent else (merge_vitals(found), absent)


def _of_process(parts: Parts) -> Iterator[Family]:
    """Yield the gauges of this process."""
    rate = metrics.hit_rate()
    if rate is not None:
        yield _gauge("recall_hit_ratio", "Share of retrievals that found something, since the process began", rate)
    yield _gauge("messages_held", "Messages that wait in this process for the database", len(parts.buffers.outbox))
    if parts.buffers.recent is not None:
        yield _gauge("redis_connected", "Whether Redis answers", int(parts.buffers.recent.answers()))
    if parts.llm is not None:
        yield _gauge("llm_cost_usd", "What the language model has cost", parts.llm.usage.cost_usd, kind="counter")


def _of_database(vitals: Vitals, now: datetime) -> Iterator[Family]:
    yield _gauges("memories", "Memories of every tenant that the searches hold", "kind", vitals.memories)
    yield _gauge("storage_bytes", "Size of the database, indexes included", vitals.size_bytes)
    yield _gauge("memories_without_vector", "Memories that wait for a vector, up to 1000", vitals.without_vector)
    lag_s = 0.0 if vitals.without_vector_since is None else (now - vitals.without_vector_since).total_seconds()
    yield _gauge("memories_without_vector_age_seconds", "How long the oldest of them waits", max(lag_s, 0.0))
    jobs = vitals.jobs
    states = {"waiting": jobs.waiting, "running": jobs.running, "dead_letter": jobs.dead_letters}
    yield _gauges("jobs", "Jobs of every tenant", "status", states)
    yield _gauge("jobs_overdue", "Jobs whose time has come, or whose worker is gone", jobs.overdue)
    if vitals.pool is not None:
        pool = vitals.pool
        yield _gauge("pool_connections", "Connections of this process to the database", pool.open)
        yield _gauge("pool_connections_in_use", "Those of them that are in use", pool.in_use)
        yield _gauge("pool_connections_most", "How many there may be", pool.most)
        yield _gauge("pool_requests_waiting", "Threads that wait for a connection", pool.requests_waiting)


def _gauge(name: str, description: str, value: float, *, kind: FamilyKind = "gauge") -> Family:
    return Family(name, kind, description, (Sample((), value),))


def _gauges(name: str, description: str, label: str, values: Mapping[str, int]) -> Family:
    return Family(name, "gauge", description, tuple(Sample(((label, key),), value) for key, value in values.items()))
