"""Whether a memory can serve, check by check: pure verdicts over a few numbers that somebody else has read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from engrain.domain.records import Record

if TYPE_CHECKING:
    from datetime import datetime

    from engrain.domain.maintenance.vitals import JobVitals, Vitals

Verdict = Literal["ok", "degraded", "failed"]
_WORST: tuple[Verdict, ...] = ("failed", "degraded", "ok")


@dataclass(frozen=True, slots=True, kw_only=True)
class Check(Record):
    """One thing that was looked at. Degraded: it serves, with less; failed: it cannot serve."""

    name: str
    status: Verdict
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Readiness(Record):
    """All that was looked at; the status is the worst of it."""

    status: Verdict
    checks: tuple[Check, ...]

    @property
    def is_ready(self) -> bool:
        """Whether requests may be sent here: also where it is degraded, as searches by words answer still."""
        return self.status != "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """From when on what waits is late, in seconds."""

    embedding_lag_s: float
    job_lag_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedderState:
    """What is known of the embedder: its name where there is one, why it is not used, whether it failed of late."""

    name: str | None
    unused_because: str | None = None
    has_failed: bool = False


def judge_readiness(vitals: Vitals | Exception, embedder: EmbedderState, bounds: Bounds, now: datetime) -> Readiness:
    """The readiness of a memory; of a database that did not answer nothing else is known."""
    if isinstance(vitals, Exception):
        checks = [check_failed_read(vitals), check_embedder(embedder)]
    else:
        checks = [
            Check(name="database", status="ok", detail="it answers"),
            check_schema(vitals.schema, vitals.newest_schema),
            check_embedder(embedder),
            check_embeddings(vitals, embedder, bounds, now),
            check_jobs(vitals.jobs, bounds, now),
        ]
    statuses = {each.status for each in checks}
    return Readiness(status=next(each for each in _WORST if each in statuses), checks=tuple(checks))


def check_failed_read(error: Exception) -> Check:
    """What is said of a database that could not be read."""
    return Check(name="database", status="failed", detail=str(error))


def check_schema(found: str, newest: str) -> Check:
    """Another engrain may have migrated the database since this one opened it."""
    if found == newest:
        return Check(name="schema", status="ok", detail=found)
    said = f"the database has {found or 'none'} and this engrain works with {newest}"
    return Check(name="schema", status="failed", detail=f"{said}: restart it with the engrain that the others run")


def check_embedder(state: EmbedderState) -> Check:
    """Without its embedder a memory answers by words."""
    if state.unused_because is not None:
        return Check(name="embedder", status="degraded", detail=state.unused_because)
    if state.name is None:
        return Check(name="embedder", status="ok", detail="none is configured; searches go by words")
    if state.has_failed:
        return Check(name="embedder", status="degraded", detail=f"{state.name} failed last time, and is asked again")
    return Check(name="embedder", status="ok", detail=state.name)


def check_embeddings(vitals: Vitals, state: EmbedderState, bounds: Bounds, now: datetime) -> Check:
    """How far deferred embeddings are behind: what waits is found by its words alone."""
    if state.name is None:
        return Check(name="embeddings", status="ok", detail="nobody makes any")
    lag_s = _lag_s(vitals.without_vector_since, now)
    waiting = vitals.without_vector
    said = f"{waiting} memories wait for a vector, the oldest for {lag_s:.0f} s" if waiting else "none waits"
    return Check(name="embeddings", status="degraded" if lag_s > bounds.embedding_lag_s else "ok", detail=said)


def check_jobs(vitals: JobVitals, bounds: Bounds, now: datetime) -> Check:
    """Whether somebody does what is due, and whether something was given up."""
    lag_s = _lag_s(vitals.overdue_since, now)
    said = f"{vitals.overdue} due, the oldest for {lag_s:.0f} s; {vitals.dead_letters} dead letters"
    is_late = lag_s > bounds.job_lag_s or vitals.dead_letters > 0
    return Check(name="jobs", status="degraded" if is_late else "ok", detail=said)


def _lag_s(since: datetime | None, now: datetime) -> float:
    return 0.0 if since is None else max((now - since).total_seconds(), 0.0)
