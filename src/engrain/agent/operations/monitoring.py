"""Monitoring of a Memory: its readiness and its metrics; neither waits for a database for long."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engrain import metrics
from engrain.domain.maintenance.readiness import Bounds, EmbedderState, judge_readiness
from engrain.engines.deadlines import DeadlineRunner
from engrain.errors import EngineUnavailable, StorageError
from engrain.metrics import Family, Sample

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime

    from engrain.agent.wiring.parts import Parts
    from engrain.domain.maintenance.readiness import Readiness
    from engrain.domain.maintenance.vitals import Vitals
    from engrain.metrics import FamilyKind

_WAITING = DeadlineRunner("the database", thread_name="engrain-monitor", max_overdue=4)


def read_readiness(parts: Parts) -> Readiness:
    """Return whether the memory can serve, within the settings' `monitoring.timeout_s`."""
    now, chosen = parts.clock(), parts.settings.monitoring
    bounds = Bounds(embedding_lag_s=chosen.embedding_lag_s, job_lag_s=chosen.job_lag_s)
    embedder = EmbedderState(
        name=getattr(parts.embedder, "name", None),
        unused_because=None if parts.without_vectors is None else str(parts.without_vectors),
        has_failed=parts.queue.has_failed,
    )
    return judge_readiness(_read_vitals(parts, now), embedder, bounds, now)


def read_metrics(parts: Parts) -> metrics.Measured:
    """Return what was counted in this process, and the database's gauges; of a database that is away, that it is."""
    now = parts.clock()
    vitals = _read_vitals(parts, now)
    families = [*metrics.families(), *_of_process(parts)]
    if isinstance(vitals, Exception):
        families.append(_gauge("database_up", "Whether the database answered", 0))
    else:
        families += [_gauge("database_up", "Whether the database answered", 1), *_of_database(vitals, now)]
    return metrics.Measured(sorted(families, key=lambda family: family.name))


def _read_vitals(parts: Parts, now: datetime) -> Vitals | Exception:
    """Return the vital signs of the database, or the error where they cannot be read in time."""
    try:
        return _WAITING.run(lambda: parts.store.vitals(now), parts.settings.monitoring.timeout_s)
    except (StorageError, EngineUnavailable) as error:
        return error


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
