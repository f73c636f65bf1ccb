"""The decay sweep: every fact and rule that decays is looked at, batch by batch, and stands as its worth says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from engrain import metrics
from engrain.domain.memories.decay import AGING_KINDS
from engrain.domain.records import Record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from engrain.domain.memories.aging import AgingKind
    from engrain.domain.memories.decay import DecayPolicy, Swept
    from engrain.domain.ports import Store
    from engrain.domain.requests import Act

BATCH = 5_000  # looked at in one statement; what changes of it is one transaction


@dataclass(frozen=True, slots=True, kw_only=True)
class DecayCounts(Record):
    """How many facts, or rules, a sweep looked at, and how many fade, fade no longer, or expired because of it."""

    looked_at: int = 0
    fading: int = 0
    recovered: int = 0
    expired: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class DecayReport(Record):
    """What a sweep did, or in a dry run would have done."""

    tenants: int
    facts: DecayCounts
    rules: DecayCounts
    dry_run: bool


def sweep(
    store: Store,
    acts: Iterable[Act],
    policy: DecayPolicy,
    *,
    dry_run: bool = False,
    progress: Callable[[int], None] | None = None,
) -> DecayReport:
    """Let the facts and rules of each act's tenant fade, recover or expire as they stood at the time of the act.

    Each batch is a transaction of its own: stopped anywhere, another sweep does the rest, and one that has nothing to
    do changes nothing. What is confirmed meanwhile is left as it is. `progress` is told after each batch how many it
    looked at.
    """
    tenants = 0
    totals: dict[AgingKind, DecayCounts] = {kind: DecayCounts() for kind in AGING_KINDS}
    for act in acts:
        tenants += 1
        for kind in AGING_KINDS:
            for batch in _batches(store, act, kind, policy, dry_run=dry_run):
                totals[kind] = _added(totals[kind], batch)
                if progress is not None and batch.looked_at:
                    progress(batch.looked_at)
    return DecayReport(tenants=tenants, facts=totals["fact"], rules=totals["rule"], dry_run=dry_run)


def _batches(store: Store, act: Act, kind: AgingKind, policy: DecayPolicy, *, dry_run: bool) -> Iterator[Swept]:
    """Sweep one tenant's facts or rules."""
    after: str | None = ""
    while after is not None:
        batch = store.sweep(act, kind, policy, after=after, limit=BATCH, dry_run=dry_run)
        if not dry_run:
            metrics.count("memories_aged", batch.fading + batch.active + batch.expired)
        yield batch
        after = batch.last


def _added(total: DecayCounts, batch: Swept) -> DecayCounts:
    return DecayCounts(
        looked_at=total.looked_at + batch.looked_at,
        fading=total.fading + batch.fading,
        recovered=total.recovered + batch.active,
        expired=total.expired + batch.expired,
    )
