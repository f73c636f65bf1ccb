"""Removal of a tenant's old events: sealed first, then a seal at a time, so that a verification knows what is gone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from engrain import metrics
from engrain.storage.reports.seals import seal_events
from engrain.storage.write.event_removal import count_removable, has_removable, is_removable, remove_sealed

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from engrain.domain.requests import Act
    from engrain.storage.store import SqlStore


@dataclass(frozen=True, slots=True)
class EventRemoval:
    """Outcome for one tenant: how many events were removed, and whether those that were looked at are as sealed."""

    removed: int
    is_whole: bool = True


def remove_events(
    store: SqlStore,
    act: Act,
    cutoff: datetime,
    load_secret: Callable[[], bytes],
    *,
    dry_run: bool = False,
    progress: Callable[[int], None] | None = None,
) -> EventRemoval:
    """Remove the events of a tenant before a cutoff, but for the types that stay; stop at a seal that is not whole.

    Each seal is a transaction: stopped anywhere, another removal does the rest. Late events that no seal has, as a
    restore brings them, are sealed to be removed.
    """
    if dry_run:
        return EventRemoval(store.read(act.caller, count_removable, cutoff))
    if not store.read(act.caller, has_removable, cutoff):
        return EventRemoval(0)
    secret = load_secret()
    while store.write(act, seal_events, secret, late=False)[1]:
        pass
    total = number = 0
    while True:
        trimmed = store.write(act, remove_sealed, cutoff, secret, after=number)
        is_useful = trimmed is not None and (trimmed.removed or trimmed.is_spent or not trimmed.is_whole)
        if not is_useful and not store.read(act.caller, has_removable, cutoff):
            return EventRemoval(total)
        if trimmed is None:
            sealed = store.write(act, seal_events, secret, late=True, choose=lambda event: is_removable(event, cutoff))
            if not sealed[1]:  # another cleanup removes them
                return EventRemoval(total)
            continue
        if not trimmed.is_whole:
            return EventRemoval(total, is_whole=False)
        total, number = total + trimmed.removed, trimmed.number
        metrics.count("events_removed", trimmed.removed)
        if progress is not None and trimmed.removed:
            progress(trimmed.removed)
