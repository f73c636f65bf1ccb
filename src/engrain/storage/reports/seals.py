"""Seals of a tenant's audit log: made for the events that have none, and compared with the events as they are."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING, Any

from engrain.domain.access.scopes import GLOBAL_SCOPE, audience_of, user_of, user_scope
from engrain.domain.maintenance.seals import (
    EVENTS_OF_A_SEAL,
    GENESIS,
    Break,
    Seal,
    Verification,
    digest_event,
    has_signature,
    make_seal,
    name_key,
    read_seal,
)
from engrain.storage.transaction import for_every_user

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from engrain.domain.records import Event
    from engrain.storage.unit_of_work import Snapshot, UnitOfWork

PREFIX = "audit_seal/"
# A transaction commits this long after the time of its events at the latest; older ones are late.
_OVERLAP = timedelta(minutes=10)
_BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)
NOTHING = Verification(sealed=0, erased=0, unsealed=0, late=0, head=None)  # before anything was compared


@for_every_user
def seal_events(
    work: UnitOfWork, secret: bytes, *, late: bool, choose: Callable[[Event], bool] | None = None
) -> tuple[Seal | None, int]:
    """Seal the oldest events that have no seal, a batch of them; the last seal, and how many events it took in.

    With `late` also those that are older than the last seal. `choose` says of an event whether it is one of them.
    """
    last = next((read_seal(number, text) for number, text in _iterate_seals(work, newest_first=True)), None)
    events = list(islice(filter(choose, _list_unsealed(work, last, late=late)), EVENTS_OF_A_SEAL))
    if not events:
        return last, 0
    seal = make_seal(last, events, secret)
    work.run("add_seal", tenant_id=work.tenant_id, key=name_seal(seal.number), value=seal.to_json())
    return seal, len(events)


@for_every_user
def verify_events(snapshot: Snapshot, secret: bytes, *, head: str | None) -> Verification:
    """Compare the sealed events with those that are there, a seal after the other, up to the first that is broken.

    `head` is the hash of a seal that was kept elsewhere: where none has it, seals were cut off.
    """
    found = NOTHING
    last: Seal | None = None
    heads = set()
    for number, text in _iterate_seals(snapshot):
        expected = 1 if last is None else last.number + 1
        seal, why = check_seal(number, text, last, secret=secret)
        if seal is None:
            return replace(found, broken=f"seal {expected}", reason=why)
        found = compare_events(snapshot, seal, load_sealed(snapshot, seal), secret=secret, before=found)
        if not found.is_whole:
            return found
        last = seal
        heads.add(seal.hash)
    if head is not None and head not in heads:
        return replace(found, broken=head, reason="head_missing")
    counted: Any = snapshot.one("count_events", tenant_id=snapshot.tenant_id)
    unsealed = int(counted[0]) - found.sealed
    new = sum(1 for _ in _list_unsealed(snapshot, last, late=False)) if unsealed else 0
    return replace(found, unsealed=unsealed, late=unsealed - new)


def iterate_events(snapshot: Snapshot) -> Iterator[Event]:
    """Yield every event of the tenant, oldest first."""
    yield from _iterate(snapshot, _BEGINNING)


def check_seal(number: int, text: str, last: Seal | None, *, secret: bytes) -> tuple[Seal | None, Break | None]:
    """The seal that follows the last one, or why it is not the one that was made."""
    if number != (1 if last is None else last.number + 1):
        return None, "seal_missing"
    try:
        seal = read_seal(number, text)
    except ValueError:
        return None, "seal_changed"
    if seal.key != name_key(secret):
        return None, "other_key"
    follows = seal.previous == (GENESIS if last is None else last.hash)
    if not follows or not has_signature(seal, secret):
        return None, "seal_changed"
    return seal, None


def compare_events(
    snapshot: Snapshot, seal: Seal, events: Sequence[Event], *, secret: bytes, before: Verification = NOTHING
) -> Verification:
    """Compare the events of a seal with those that are there, up to the first that is broken."""
    there = {event.id: event for event in events}
    sealed, erased = before.sealed, before.erased
    for expected in seal.events:
        event = there.get(expected.id)
        now = None if event is None else digest_event(event, secret)
        is_erased = event is not None and not event.payload and _was_erased(snapshot, event)
        if now != expected and not (is_erased and now is not None and now.envelope == expected.envelope):
            why: Break = "missing" if event is None else "changed"
            return replace(before, sealed=sealed, erased=erased, broken=expected.id, reason=why)
        sealed, erased = sealed + 1, erased + (now != expected)
    return replace(before, sealed=sealed, erased=erased, removed=before.removed + seal.removed, head=seal.hash)


def _was_erased(snapshot: Snapshot, event: Event) -> bool:
    """Tell whether the memory of an event was erased, or its user or agent."""
    user = user_of(event.scope)
    scopes = {audience_of(event.scope), *([] if user is None else [user_scope(user, GLOBAL_SCOPE)])}
    listed = snapshot.dialect.listed(sorted(scopes - {GLOBAL_SCOPE}))
    named = {"tenant_id": snapshot.tenant_id, "memory_id": event.memory_id or "", "scopes": listed}
    return snapshot.one("was_erased", **named) is not None


def _list_unsealed(snapshot: Snapshot, last: Seal | None, *, late: bool) -> Iterator[Event]:
    """Yield the events that no seal has, oldest first."""
    since = _BEGINNING if last is None or late else last.until - _OVERLAP
    known: set[str] = set()
    for _, text in _iterate_seals(snapshot, newest_first=True) if last is not None else ():
        seal = read_seal(0, text)
        known.update(event.id for event in seal.events)
        if not late and seal.until < since:
            break
    yield from (event for event in _iterate(snapshot, since) if event.id not in known)


def _iterate_seals(snapshot: Snapshot, *, newest_first: bool = False) -> Iterator[tuple[int, str]]:
    """Yield the numbers and texts of the seals, one statement each."""
    statement, name = ("seal_before", f"{PREFIX}~") if newest_first else ("seal_after", PREFIX)
    while (row := snapshot.one(statement, tenant_id=snapshot.tenant_id, key=name)) is not None:
        name = str(row[0])
        yield int(name.removeprefix(PREFIX)), str(row[1])


def _iterate(snapshot: Snapshot, since: datetime) -> Iterator[Event]:
    rows = snapshot.statements.records.events
    bound: dict[str, Any] = {"tenant_id": snapshot.tenant_id, "at": snapshot.dialect.time(since), "id": ""}
    rest = (
        "FROM memory_events WHERE tenant_id = :tenant_id AND (created_at, id) > (:at, :id) "
        f"ORDER BY created_at, id LIMIT {EVENTS_OF_A_SEAL}"
    )
    while found := snapshot.load(rows, rest, bound):
        yield from found
        bound |= {"at": snapshot.dialect.time(found[-1].created_at), "id": found[-1].id}


def load_sealed(snapshot: Snapshot, seal: Seal) -> list[Event]:
    """Load the events of a seal that are there."""
    ids = [event.id for event in seal.events]
    bound = {"tenant_id": snapshot.tenant_id, "ids": snapshot.dialect.listed(ids)}
    rest = "FROM memory_events WHERE tenant_id = :tenant_id AND id IN :ids"
    return snapshot.load(snapshot.statements.records.events, rest, bound)


def name_seal(number: int) -> str:
    """The key of a seal by its number."""
    return f"{PREFIX}{number:012d}"
