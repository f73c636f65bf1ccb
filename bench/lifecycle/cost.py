"""What one daily sweep takes, beside one bare UPDATE over the same rows of the same database."""

from __future__ import annotations

import random
import statistics
import time
from datetime import timedelta
from typing import TYPE_CHECKING, TypeVar

from bench.lifecycle.year import CALLER, FIRST_DAY
from engrain.domain.decay import AGING_KINDS, DecayPolicy
from engrain.domain.ids import derived_id
from engrain.domain.records import DECAY_RATES, Caller, Fact, Permanence
from engrain.domain.requests import Act
from engrain.lifecycle.sweep import DecayReport, sweep
from engrain.storage import is_server, open_store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime

    from engrain.domain.ports import Store

_Result = TypeVar("_Result")
_TENANT = Caller(tenant_id="swept", agent=CALLER.agent)
_DECAYING: tuple[Permanence, ...] = ("stable", "standard", "volatile", "ephemeral")
_AT_ONCE = 1_000
_DAYS = 5
# What naive decay does every night: all rows are written.
_BARE = "UPDATE facts SET confidence = confidence * 0.9999 WHERE tenant_id = 'swept' AND validity = 'active'"


def measured(location: str, count: int) -> Iterator[str]:
    """Lines that say what was found, on a database with nothing else in it."""
    store = open_store(location)
    try:
        _fill(store, count)
        _swept(store, FIRST_DAY)  # what many days left undone
        days = [_swept(store, FIRST_DAY + timedelta(days=day)) for day in range(1, _DAYS + 1)]
        bare_s = _bare(location)
        moved = statistics.median(_moved(report) for report, _ in days)
        yield f"daily sweep of {days[0][0].facts.looked_at:,} facts, {moved:,.0f} transitions: " + _beside(
            statistics.median(took for _, took in days), bare_s
        )
        _, idle_s = _swept(store, FIRST_DAY + timedelta(days=_DAYS))
        yield f"the same again, nothing to do: {_beside(idle_s, bare_s)}"
        report, all_s = _swept(store, FIRST_DAY + timedelta(days=_DAYS), DecayPolicy(fading_below=1.0))
        yield f"the worst night, {_moved(report):,} transitions at once: {_beside(all_s, bare_s)}"
    finally:
        store.close()


def _fill(store: Store, count: int) -> None:
    """Facts that were confirmed some time in the last 400 days, each with its words in the searches."""
    numbers = random.Random(2)  # a simulation
    for start in range(0, count, _AT_ONCE):
        made = []
        for place in range(start, min(start + _AT_ONCE, count)):
            permanence = _DECAYING[place % len(_DECAYING)]
            confirmed = FIRST_DAY - timedelta(days=numbers.uniform(0, 400))
            made.append(
                Fact(
                    id=derived_id("bench", "swept", str(place), at=None),
                    tenant_id="swept",
                    agent="aide",
                    subject=f"subject {place // 50}",
                    predicate=f"predicate {place % 50}",
                    content=f"what is true of number {place}",
                    confidence=numbers.uniform(0.3, 1.0),
                    permanence=permanence,
                    decay_rate=DECAY_RATES[permanence] / 4,  # so that a third still stands after the first sweep
                    created_at=confirmed,
                    last_confirmed_at=confirmed,
                )
            )
        store.put(Act(caller=_TENANT, at=FIRST_DAY), made)


def _swept(store: Store, at: datetime, policy: DecayPolicy | None = None) -> tuple[DecayReport, float]:
    return _timed(lambda: sweep(store, [Act(caller=_TENANT, at=at)], policy or DecayPolicy()))


def _moved(report: DecayReport) -> int:
    kinds = (report.facts, report.rules)
    assert len(kinds) == len(AGING_KINDS)
    return sum(each.fading + each.recovered + each.expired for each in kinds)


def _bare(location: str) -> float:
    """Seconds of the bare statement: the median of three, each in its transaction."""
    if is_server(location):
        import psycopg

        with psycopg.connect(location, autocommit=True) as db:
            db.execute("SET engrain.every_tenant = 'on'")
            return statistics.median(_timed(lambda: db.execute(_BARE))[1] for _ in range(3))
    import apsw

    file = apsw.Connection(location)
    try:
        file.execute("PRAGMA synchronous = normal")
        return statistics.median(_timed(lambda: file.execute(_BARE).fetchall())[1] for _ in range(3))
    finally:
        file.close()


def _timed(work: Callable[[], _Result]) -> tuple[_Result, float]:
    began = time.perf_counter()
    return work(), time.perf_counter() - began


def _beside(ours_s: float, bare_s: float) -> str:
    return f"{1000 * ours_s:,.1f} ms, {ours_s / bare_s:.2f} x one bare UPDATE ({1000 * bare_s:,.1f} ms)"
