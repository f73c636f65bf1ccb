"""The cleanup: removes expired episodes, the oldest consolidated of too many, facts that ended, and old events."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from engrain import metrics
from engrain.domain.maintenance.retention import Retention, event_cutoff
from engrain.domain.records import Record
from engrain.lifecycle.event_removal import remove_events
from engrain.storage.exact.items import count_expired, remove_expired
from engrain.storage.write.cleanup import clean_up, erase_ended, list_ended, plan_cleanup, preview_cleanup

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from engrain.domain.memories.decay import AgingKind
    from engrain.domain.requests import Act
    from engrain.storage.store import SqlStore

BATCH = 200  # removed in one transaction: each takes its words and vectors with it, and its neighbours are indexed anew


@dataclass(frozen=True, slots=True, kw_only=True)
class CleanupReport(Record):
    """Counts of a cleanup: what it removed, or in a dry run would, and episodes that remain."""

    tenants: int
    expired_deleted: int
    capacity_deleted: int
    remaining: int
    facts_deleted: int
    rules_deleted: int
    items_deleted: int  # of stores, whose time to live was over
    events_deleted: int
    unverified_logs: int  # tenants whose events stay, as `verify_events` finds them broken
    dry_run: bool


def cleanup(
    store: SqlStore,
    acts: Iterable[Act],
    retention_of: Callable[[str], Retention],
    *,
    load_secret: Callable[[], bytes],
    dry_run: bool = False,
    progress: Callable[[int], None] | None = None,
) -> CleanupReport:
    """Remove each tenant's expired episodes, the oldest consolidated ones beyond its retention, and facts that ended.

    Then its old events, sealed by the key that `load_secret` gives. An episode that is not consolidated and has not
    expired stays, however many there are. Rules go like facts. Each batch is a transaction of its own: stopped
    anywhere, another cleanup does the rest. `progress` gets the number removed after each batch.
    """
    tenants = expired = capacity = remaining = facts = rules = items = events = unverified = 0
    for act in acts:
        tenants += 1
        retention = retention_of(act.caller.tenant_id)
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
        items += _remove_items(store, act, dry_run=dry_run)
        if retention.fact_days > 0:
            facts += _erase_ended(store, act, "fact", retention, dry_run=dry_run, progress=progress)
            rules += _erase_ended(store, act, "rule", retention, dry_run=dry_run, progress=progress)
        cutoff = event_cutoff(retention, act.at)
        if cutoff is not None:
            removal = remove_events(store, act, cutoff, load_secret, dry_run=dry_run, progress=progress)
            events += removal.removed
            unverified += not removal.is_whole
    return CleanupReport(
        tenants=tenants,
        expired_deleted=expired,
        capacity_deleted=capacity,
        remaining=remaining,
        facts_deleted=facts,
        rules_deleted=rules,
        items_deleted=items,
        events_deleted=events,
        unverified_logs=unverified,
        dry_run=dry_run,
    )


def _remove_items(store: SqlStore, act: Act, *, dry_run: bool) -> int:
    """Remove the items of a tenant whose time to live is over, and count them."""
    if dry_run:
        return store.read(act.caller, count_expired, act)
    total, removed = 0, BATCH
    while removed == BATCH:
        removed = store.write(act, remove_expired, BATCH)
        total += removed
    return total


def _erase_ended(
    store: SqlStore,
    act: Act,
    kind: AgingKind,
    retention: Retention,
    *,
    dry_run: bool,
    progress: Callable[[int], None] | None,
) -> int:
    """Erase the facts or rules of a tenant that ended before the cutoff, in the order of their ids; count them."""
    total, after, is_done = 0, "", False
    while not is_done:
        ids = store.read(act.caller, list_ended, act, kind, retention, after=after, limit=BATCH)
        is_done = len(ids) < BATCH
        if ids:
            after = ids[-1]
            erased = len(ids) if dry_run else store.write(act, erase_ended, retention, ids)
            total += erased
            if not dry_run:
                metrics.count("facts_cleaned", erased)
            if progress is not None and erased:
                progress(erased)
    return total
