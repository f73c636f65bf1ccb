"""Time of a sweep beside one bare UPDATE of the same rows and columns in the same database.

The usual day looks at everything and moves little. On the worst nights everything fades at once, or everything expires.
"""

from __future__ import annotations

import random
import statistics
from contextlib import closing
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from bench.lifecycle.bare import BareDatabase
from bench.lifecycle.year import CALLER, FIRST_DAY
from engrain.domain.ids import derived_id
from engrain.domain.memories.decay import AGING_KINDS, DecayPolicy
from engrain.domain.records import DECAY_RATES, Caller, Fact, Permanence
from engrain.domain.requests import Act
from engrain.lifecycle.sweep import DecayReport, sweep
from engrain.storage import open_store
from engrain.storage.write import arrivals

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from engrain.storage.store import SqlStore

_TENANT = Caller(tenant_id="swept", agent=CALLER.agent)
_DECAYING: tuple[Permanence, ...] = ("stable", "standard", "volatile", "ephemeral")
_AT_ONCE = 1_000
_DAYS = 5
_TIMES = 3  # so often a bare statement is run: its median counts
_LEFT = "tenant_id = 'swept' AND validity = 'active'"
# What naive decay does every night: all rows are written.
_DAILY = f"UPDATE facts SET confidence = confidence * 0.9999 WHERE {_LEFT}"


@dataclass(frozen=True, slots=True)
class _Night:
    """A night on which all that is left moves in one way: what is done to its rows, and what undoes that."""

    name: str
    policy: DecayPolicy
    bare: str
    undone: str
    event_type: str


_NIGHTS = (
    _Night(
        "everything fades",
        DecayPolicy(fading_below=1.0, expired_below=0.0),
        f'UPDATE facts SET metadata = \'{{"status": "fading"}}\' WHERE {_LEFT}',
        f"UPDATE facts SET metadata = '{{}}' WHERE {_LEFT}",
        "fact_fading",
    ),
    _Night(
        "everything expires",
        DecayPolicy(fading_below=1.0, expired_below=0.999999),
        f"UPDATE facts SET metadata = '{{}}', validity = 'expired', invalidated_at = created_at WHERE {_LEFT}",
        "UPDATE facts SET metadata = '{\"status\": \"fading\"}', validity = 'active', invalidated_at = NULL "
        "WHERE tenant_id = 'swept' AND invalidated_at = created_at",
        "fact_expired",
    ),
)


def measured(location: str, count: int) -> Iterator[str]:
    """Lines that say what was found, on a database with nothing else in it."""
    with closing(open_store(location)) as store, closing(BareDatabase(location)) as bare:
        _fill(store, bare, count)
        _swept(store, bare, FIRST_DAY)  # what many days left undone
        bare.settle()
        yield from _usual(store, bare)
        for night in _NIGHTS:
            yield _worst(store, bare, night)


def _usual(store: SqlStore, bare: BareDatabase) -> Iterator[str]:
    """Five days, and the last of them again."""
    days = [_swept(store, bare, FIRST_DAY + timedelta(days=day)) for day in range(1, _DAYS + 1)]
    bare_s = bare.timed(_DAILY, undone=_DAILY, times=_TIMES)
    moved = statistics.median(_moved(report) for report, _ in days)
    took = statistics.median(took for _, took in days)
    yield f"daily sweep of {days[0][0].facts.looked_at:,} facts, {moved:,.0f} transitions: {_beside(took, bare_s)}"
    _, idle_s = _swept(store, bare, FIRST_DAY + timedelta(days=_DAYS))
    yield f"the same again, nothing to do: {_beside(idle_s, bare_s)}"


def _worst(store: SqlStore, bare: BareDatabase, night: _Night) -> str:
    """The same rows and columns by one statement, the events by another, and then the sweep."""
    bare.run(night.undone)
    bare.settle()
    bare_s = bare.timed(night.bare, undone=night.undone, times=_TIMES)
    events_s = bare.events_timed(night.event_type, FIRST_DAY, times=_TIMES)
    report, took = _swept(store, bare, FIRST_DAY + timedelta(days=_DAYS), night.policy)
    bare.settle()
    floor_s = bare_s + events_s
    return (
        f"{night.name}, {_moved(report):,} transitions: {_beside(took, bare_s)}, "
        f"{took / floor_s:.2f} x the same and the events' bare INSERT ({1000 * floor_s:,.1f} ms)"
    )


def _fill(store: SqlStore, bare: BareDatabase, count: int) -> None:
    """Facts that were confirmed some time in the last 400 days, each with its words in the searches."""
    numbers = random.Random(2)  # a simulation
    for start in range(0, count, _AT_ONCE):
        made = []
        for place in range(start, min(start + _AT_ONCE, count)):
            permanence = _DECAYING[place % len(_DECAYING)]
            confirmed = FIRST_DAY - timedelta(days=numbers.uniform(0, 400))
            arrived = FIRST_DAY - timedelta(days=400) + timedelta(seconds=place)
            made.append(
                Fact(
                    id=derived_id("bench", "swept", str(place), at=arrived),  # ids are in the order of arrival
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
        store.write(Act(caller=_TENANT, at=FIRST_DAY), arrivals.put, made)
        if start == 0:
            bare.settle()


def _swept(
    store: SqlStore, bare: BareDatabase, at: datetime, policy: DecayPolicy | None = None
) -> tuple[DecayReport, float]:
    began = bare.now()
    report = sweep(store, [Act(caller=_TENANT, at=at)], policy or DecayPolicy())
    return report, bare.now() - began


def _moved(report: DecayReport) -> int:
    kinds = (report.facts, report.rules)
    assert len(kinds) == len(AGING_KINDS)
    return sum(kind.fading + kind.recovered + kind.expired for kind in kinds)


def _beside(ours_s: float, bare_s: float) -> str:
    return f"{1000 * ours_s:,.1f} ms, {ours_s / bare_s:.2f} x one bare UPDATE ({1000 * bare_s:,.1f} ms)"
