"""Removal of events by their age: those of one seal in a transaction, which keeps its place in the chain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engrain.domain.events import EVENTS_REMOVED, KEPT_TYPES, events_removed
from engrain.domain.maintenance.seals import SPENT_START, Seal, read_seal, trim_seal
from engrain.storage.reports.seals import PREFIX, check_seal, compare_events, load_sealed, name_seal
from engrain.storage.search.history import find_removal
from engrain.storage.transaction import for_every_user, repeatable

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from engrain.domain.records import Event
    from engrain.storage.unit_of_work import Snapshot, UnitOfWork


@dataclass(frozen=True, slots=True)
class TrimmedSeal:
    """A seal by its number: how many of its events were removed, whether more may go, and whether it was as sealed."""

    number: int
    removed: int = 0
    is_spent: bool = False
    is_whole: bool = True


@for_every_user
def has_removable(snapshot: Snapshot, cutoff: datetime) -> bool:
    """Tell whether the tenant has events to remove; the last record of a removal is none of its own."""
    kept = snapshot.dialect.listed([*KEPT_TYPES, EVENTS_REMOVED])
    return snapshot.one("removable_event", **_bindings(snapshot, cutoff), kept=kept) is not None


@for_every_user
def count_removable(snapshot: Snapshot, cutoff: datetime) -> int:
    """Count the events that a removal would remove."""
    if not has_removable(snapshot, cutoff):
        return 0
    kept = snapshot.dialect.listed(list(KEPT_TYPES))
    found: Any = snapshot.one("count_removable_events", **_bindings(snapshot, cutoff), kept=kept)
    return int(found[0])


def is_removable(event: Event, cutoff: datetime) -> bool:
    """True if an event is older than the cutoff and of no type that stays."""
    return event.created_at < cutoff and event.event_type not in KEPT_TYPES


@for_every_user
@repeatable
def remove_sealed(work: UnitOfWork, cutoff: datetime, secret: bytes, *, after: int) -> TrimmedSeal | None:
    """Remove the old events of the next seal after a number, with their digests; None where no seal is left.

    Nothing is removed of a seal that is not whole, as its events are the evidence. The first removal by a cutoff has an
    event of its own.
    """
    found = _lock_next(work, after)
    if found is None:
        return None
    number, text = found
    seal = _load_whole(work, number, text, secret)
    events = [] if seal is None else load_sealed(work, seal)
    if seal is None or not compare_events(work, seal, events, secret=secret).is_whole:
        return TrimmedSeal(number, is_whole=False)
    ids = [event.id for event in events if is_removable(event, cutoff)]
    is_spent = seal.until < cutoff
    if ids or is_spent:
        trimmed = trim_seal(seal, frozenset(ids), secret, is_spent=is_spent)
        work.run("set_seal", tenant_id=work.tenant_id, key=name_seal(number), value=trimmed.to_json())
    if ids:
        work.run("remove_events", tenant_id=work.tenant_id, ids=work.dialect.listed(ids))
        if find_removal(work) != cutoff:
            work.record(events_removed(work.act, cutoff, work.ids))
    return TrimmedSeal(number, removed=len(ids), is_spent=is_spent)


def _lock_next(work: UnitOfWork, after: int) -> tuple[int, str] | None:
    """The number and text of the next seal with events to remove, locked: nobody else removes any meanwhile."""
    rows = work.ask(
        "SELECT key, value FROM memory_metadata WHERE tenant_id = :tenant_id AND key > :key "  # noqa: S608  # no input
        f"AND key < '{PREFIX}~' AND substr(value, 1, {len(SPENT_START)}) <> :spent "
        f"ORDER BY key LIMIT 1 {work.dialect.lock}",
        {"tenant_id": work.tenant_id, "key": name_seal(after), "spent": SPENT_START},
    )
    return next(((int(key.removeprefix(PREFIX)), text) for key, text in rows), None)


def _load_whole(work: UnitOfWork, number: int, text: str, secret: bytes) -> Seal | None:
    """The seal of a text that follows the one before it, as both were signed; else None."""
    before = work.one("seal_before", tenant_id=work.tenant_id, key=name_seal(number))
    try:
        last = None if before is None else read_seal(int(before[0].removeprefix(PREFIX)), before[1])
    except ValueError:
        return None
    return check_seal(number, text, last, secret=secret)[0]


def _bindings(snapshot: Snapshot, cutoff: datetime) -> Mapping[str, Any]:
    return {"tenant_id": snapshot.tenant_id, "before": snapshot.dialect.time(cutoff)}
