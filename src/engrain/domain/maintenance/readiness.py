"""Readiness of a memory to serve requests, check by check. Pure: the numbers are read elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from engrain.domain.records import Record
from engrain.errors import StorageError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from engrain.domain.maintenance.vitals import JobVitals, Vitals

Verdict = Literal["ok", "degraded", "failed"]
_WORST: tuple[Verdict, ...] = ("failed", "degraded", "ok")


@dataclass(frozen=True, slots=True, kw_only=True)
class Check(Record):
    """Result of one check. Degraded: the memory serves with less; failed: it cannot serve."""

    name: str
    status: Verdict
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Readiness(Record):
    """Results of all checks; the status is the worst of them."""

    status: Verdict
    checks: tuple[Check, ...]

    @property
    def is_ready(self) -> bool:
        """True if requests may be sent here; a degraded memory still answers searches by words."""
        return self.status != "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Lags in seconds above which a memory is degraded."""

    embedding_lag_s: float
    job_lag_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedderState:
    """State of the embedder: its name if there is one, why it is not used, and why the last vectors were not made."""

    name: str | None
    unused_because: str | None = None
    failure: BaseException | None = None


def judge_readiness(
    vitals: Vitals | Exception,
    embedder: EmbedderState,
    bounds: Bounds,
    now: datetime,
    *,
    absent: Mapping[str, Exception] = MappingProxyType({}),
) -> Readiness:
    """Readiness of a memory from its vitals, or from the error of a database that did not answer.

    `absent` are the errors of further servers, by name: without one, its tenants alone are out of reach.
    """
    if isinstance(vitals, Exception):
        checks = [check_failed_read(vitals), check_embedder(embedder)]
    else:
        checks = [
            check_servers(absent),
            check_schema(vitals.schema, vitals.newest_schema),
            check_embedder(embedder),
            check_embeddings(vitals, embedder, bounds, now),
            check_jobs(vitals.jobs, bounds, now),
        ]
    statuses = {check.status for check in checks}
    return Readiness(status=next(status for status in _WORST if status in statuses), checks=tuple(checks))


def check_failed_read(error: Exception) -> Check:
    """Check of a database that could not be read."""
    return Check(name="database", status="failed", detail=str(error))


def check_servers(absent: Mapping[str, Exception]) -> Check:
    """Check of a database that answers, and of its further servers; the tenants of the others are served."""
    if not absent:
        return Check(name="database", status="ok", detail="it answers")
    named = "; ".join(f"{name}: {error}" for name, error in absent.items())
    return Check(name="database", status="degraded", detail=f"no tenant of these servers is served: {named}")


def check_schema(present: str, newest: str) -> Check:
    """Check that no other engrain has migrated the database since this one opened it."""
    if present == newest:
        return Check(name="schema", status="ok", detail=present)
    detail = f"the database has {present or 'none'} and this engrain works with {newest}"
    return Check(name="schema", status="failed", detail=f"{detail}: restart it with the engrain that the others run")


def check_embedder(state: EmbedderState) -> Check:
    """Check of the embedder; without it a memory answers by words."""
    if state.unused_because is not None:
        return Check(name="embedder", status="degraded", detail=state.unused_because)
    if state.name is None:
        return Check(name="embedder", status="ok", detail="none is configured; searches go by words")
    if isinstance(state.failure, StorageError):
        detail = f"the vectors of {state.name} were not stored, and are tried again: {state.failure}"
        return Check(name="embedder", status="degraded", detail=detail)
    if state.failure is not None:
        return Check(name="embedder", status="degraded", detail=f"{state.name} failed last time, and is tried again")
    return Check(name="embedder", status="ok", detail=state.name)


def check_embeddings(vitals: Vitals, state: EmbedderState, bounds: Bounds, now: datetime) -> Check:
    """Check of the lag of deferred embeddings; memories without a vector are found by words alone."""
    if state.name is None:
        return Check(name="embeddings", status="ok", detail="none are made")
    lag_s = _lag_s(vitals.without_vector_since, now)
    waiting = vitals.without_vector
    detail = f"{waiting} memories wait for a vector, the oldest for {lag_s:.0f} s" if waiting else "none waits"
    return Check(name="embeddings", status="degraded" if lag_s > bounds.embedding_lag_s else "ok", detail=detail)


def check_jobs(vitals: JobVitals, bounds: Bounds, now: datetime) -> Check:
    """Check for overdue jobs and dead letters."""
    lag_s = _lag_s(vitals.overdue_since, now)
    detail = f"{vitals.overdue} due, the oldest for {lag_s:.0f} s; {vitals.dead_letters} dead letters"
    is_late = lag_s > bounds.job_lag_s or vitals.dead_letters > 0
    return Check(name="jobs", status="degraded" if is_late else "ok", detail=detail)


def _lag_s(since: datetime | None, now: datetime) -> float:
    return 0.0 if since is None else max((now - since).total_seconds(), 0.0)
