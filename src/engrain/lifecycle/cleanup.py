"""The cleanup: episodes that ran out go, and the oldest consolidated ones where there are too many."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from engrain import metrics
from engrain.domain.records import Record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from engrain.domain.maintenance.retention import Retention
    from engrain.domain.ports import Store
    from engrain.domain.requests import Act

BATCH = 200  # removed in one transaction: each takes its words and vectors with it, and its neighbours are indexed anew


@dataclass(frozen=True, slots=True, kw_only=True)
class CleanupReport(Record):
    """How many episodes a cleanup removed, or in a dry run would have removed, and how many there are after it."""

    tenants: int
    expired_deleted: int
    capacity_deleted: int
    remaining: int
    dry_run: bool


def cleanup(
    store: Store,
    acts: Iterable[Act],
    retention: Retention,
    *,
    dry_run: bool = False,
    progress: Callable[[int], None] | None = None,
) -> CleanupReport:
    """Remove of each act's tenant the episodes that ran out, then the oldest consolidated beyond what is kept.

    An episode that is not consolidated and has not run out stays, however many there are. Each batch is a transaction
    of its own: stopped anywhere, another cleanup does the rest. `progress` is told after each how many it removed.
    """
    tenants = expired = capacity = remaining = 0
    for act in acts:
        tenants += 1
        is_done = False
        while not is_done:
            batch = store.clean(act, retention, limit=BATCH, dry_run=dry_run)
            expired += batch.expired
            capacity += batch.capacity
            is_done = batch.remaining is not None
            remaining += batch.remaining or 0
            if not dry_run:
                metrics.count("episodes_cleaned", batch.expired + batch.capacity)
            if progress is not None and batch.expired + batch.capacity:
                progress(batch.expired + batch.capacity)
    return CleanupReport(
        tenants=tenants, expired_deleted=expired, capacity_deleted=capacity, remaining=remaining, dry_run=dry_run
    )
