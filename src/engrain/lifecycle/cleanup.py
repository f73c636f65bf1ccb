"""The cleanup: removes expired episodes, and the oldest consolidated ones beyond the capacity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from engrain import metrics
from engrain.domain.records import Record
from engrain.storage.write.cleanup import clean_up, plan_cleanup, preview_cleanup

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from engrain.domain.maintenance.retention import Retention
    from engrain.domain.requests import Act
    from engrain.storage.store import SqlStore

BATCH = 200  # removed in one transaction: each takes its words and vectors with it, and its neighbours are indexed anew


@dataclass(frozen=True, slots=True, kw_only=True)
class CleanupReport(Record):
    """Counts of a cleanup: episodes it removed, or in a dry run would have removed, and those that remain."""

    tenants: int
    expired_deleted: int
    capacity_deleted: int
    remaining: int
    dry_run: bool


def cleanup(
    store: SqlStore,
    acts: Iterable[Act],
    retention: Retention,
    *,
    dry_run: bool = False,
    progress: Callable[[int], None] | None = None,
) -> CleanupReport:
    """Remove each tenant's expired episodes, then the oldest consolidated ones beyond the retention.

    An episode that is not consolidated and has not expired stays, however many there are. Each batch is a transaction
    of its own: stopped anywhere, another cleanup does the rest. `progress` gets the number removed after each batch.
    """
    tenants = expired = capacity = remaining = 0
    for act in acts:
        tenants += 1
        is_done = False
        while not is_done:
            if dry_run:
                batch = store.read(act.caller, preview_cleanup, act, retention)
            else:
                planned = store.read(act.caller, plan_cleanup, act, retention, BATCH)
                batch = store.write(act, clean_up, retention, planned)
                metrics.count("episodes_cleaned", batch.expired + batch.capacity)
            expired += batch.expired
            capacity += batch.capacity
            is_done = batch.remaining is not None
            remaining += batch.remaining or 0
            if progress is not None and batch.expired + batch.capacity:
                progress(batch.expired + batch.capacity)
    return CleanupReport(
        tenants=tenants, expired_deleted=expired, capacity_deleted=capacity, remaining=remaining, dry_run=dry_run
    )
