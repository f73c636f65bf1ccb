"""The decay sweep: facts and rules fade, recover or expire by their effective confidence, batch by batch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from engrain import metrics
from engrain.domain.memories.decay import AGING_KINDS, AgingKind, DecayPolicy, SweepBatch
from engrain.domain.records import Record
from engrain.storage.write import sweeps

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from engrain.domain.requests import Act
    from engrain.storage.store import SqlStore

BATCH = 5_000  # read in one statement; the changes to it are one transaction


@dataclass(frozen=True, slots=True, kw_only=True)
class DecayCounts(Record):
    """Counts of a sweep: the facts, or rules, it looked at, and those that fade, fade no longer, or expired."""

    looked_at: int = 0
    fading: int = 0
    recovered: int = 0
    expired: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class DecayReport(Record):
    """Report of a sweep; in a dry run, of what it would have done."""

    tenants: int
    facts: DecayCounts
    rules: DecayCounts
    dry_run: bool


def sweep(
    store: SqlStore,
    acts: Iterable[Act],
    policy: DecayPolicy,
    *,
    dry_run: bool = False,
    progress: Callable[[int], None] | None = None,
) -> DecayReport:
    """Let the facts and rules of each act's tenant fade, recover or expire as they stood at the time of the act.

    Each batch is a transaction of its own: stopped anywhere, another sweep does the rest, and one that has nothing to
    do changes nothing. What is confirmed meanwhile is left as it is. `progress` gets the number looked at after each
    batch.
    """
    tenants = 0
    totals: dict[AgingKind, DecayCounts] = {kind: DecayCounts() for kind in AGING_KINDS}
    for act in acts:
        tenants += 1
        for kind in AGING_KINDS:
            for batch in _sweep_batches(store, act, kind, policy, dry_run=dry_run):
                totals[kind] = _add(totals[kind], batch)
                if progress is not None and batch.looked_at:
                    progress(batch.looked_at)
    return DecayReport(tenants=tenants, facts=totals["fact"], rules=totals["rule"], dry_run=dry_run)


def _sweep_batches(
    store: SqlStore, act: Act, kind: AgingKind, policy: DecayPolicy, *, dry_run: bool
) -> Iterator[SweepBatch]:
    """Sweep one tenant's facts or rules."""
    after: str | None = ""
    while after is not None:
        if dry_run:
            batch = store.read(act.caller, sweeps.preview_sweep, act, kind, policy, after=after, limit=BATCH)
        else:
            batch = _sweep_batch(store, act, kind, policy, after=after)
            metrics.count("memories_aged", batch.fading + batch.active + batch.expired)
        yield batch
        after = batch.last


def _sweep_batch(store: SqlStore, act: Act, kind: AgingKind, policy: DecayPolicy, *, after: str) -> SweepBatch:
    """Sweep the next batch: what may be due is found without a lock, and judged again under one."""
    stretch = store.read(act.caller, sweeps.find_due, act, kind, policy, after=after, limit=BATCH)
    if not stretch.ids:
        return SweepBatch(looked_at=stretch.looked_at, last=stretch.last)
    return store.write(act, sweeps.sweep, kind, policy, stretch)


def _add(total: DecayCounts, batch: SweepBatch) -> DecayCounts:
    return DecayCounts(
        looked_at=total.looked_at + batch.looked_at,
        fading=total.fading + batch.fading,
        recovered=total.recovered + batch.active,
        expired=total.expired + batch.expired,
    )
