"""Seals of the audit log: signed batches of events, each with the hash of the one before. Pure.

A seal has for each event an HMAC of its envelope and one of its payload, so that a payload that was erased lawfully can
be told from one that somebody changed. Whoever can write the database but has not the key cannot make a seal.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from engrain.domain.records import Event, Record, format_time

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

EVENTS_OF_A_SEAL = 1_000
# The first seal follows this.
GENESIS = "0" * 64
_DIGEST_BYTES = 16
_PURPOSE = b"engrain events 1\n"

Break = Literal["changed", "missing", "seal_changed", "seal_missing", "other_key", "head_missing"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SealedEvent:
    """Digest of an event in a seal: its id, and the HMACs of its envelope and of its payload, hexadecimal."""

    id: str
    envelope: str
    payload: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Seal:
    """One batch of events, in the order in which they were sealed.

    Attributes:
        number: from 1, without gaps.
        key: the name of the key that made it.
        previous: the hash of the seal before.
        total: how many events are sealed with it.
        until: the time of the last event up to here, by which the next batch is found.
    """

    number: int
    key: str
    previous: str
    total: int
    until: datetime
    events: tuple[SealedEvent, ...]
    hash: str

    def to_json(self) -> str:
        """The seal as it is stored; its number is in its name."""
        events = [[event.id, event.envelope, event.payload] for event in self.events]
        head = {"key": self.key, "previous": self.previous, "total": self.total, "until": format_time(self.until)}
        return json.dumps({**head, "hash": self.hash, "events": events})


@dataclass(frozen=True, slots=True, kw_only=True)
class SealReport(Record):
    """Outcome of sealing: how many events and seals, and the hash of the last seal, to be kept elsewhere."""

    events: int
    seals: int
    head: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification(Record):
    """Outcome of a verification of the sealed events.

    Attributes:
        sealed: the events that were compared, up to the first that is broken.
        erased: those of them whose payload went with the memory, or the user, that was erased.
        unsealed: events that no seal has yet; nothing is known of these.
        late: those of them that are older than the last seal: restored since, or put in by somebody.
        head: the hash of the last seal.
        broken: the first event that is not as it was; its seal where no event can be named. None if all are.
        reason: why.
    """

    sealed: int
    erased: int
    unsealed: int
    late: int
    head: str | None
    broken: str | None = None
    reason: Break | None = None

    @property
    def is_whole(self) -> bool:
        """True if nothing is broken."""
        return self.reason is None


def read_seal(number: int, text: str) -> Seal:
    """The seal that was stored under a number.

    Raises:
        ValueError: it is none any more.
    """
    try:
        value: Mapping[str, Any] = json.loads(text)
        events = tuple(SealedEvent(id=id_, envelope=head, payload=body) for id_, head, body in value["events"])
        named = {name: str(value[name]) for name in ("key", "previous", "hash")}
        until = datetime.fromisoformat(value["until"])
        return Seal(number=number, total=int(value["total"]), until=until, events=events, **named)
    except (KeyError, TypeError) as error:
        raise ValueError(f"seal {number} is none any more") from error


def make_seal(last: Seal | None, events: Sequence[Event], secret: bytes) -> Seal:
    """The seal of the events that follow the last one."""
    at = max(event.created_at for event in events)
    seal = Seal(
        number=1 if last is None else last.number + 1,
        key=name_key(secret),
        previous=GENESIS if last is None else last.hash,
        total=len(events) + (0 if last is None else last.total),
        until=at if last is None else max(at, last.until),
        events=tuple(digest_event(event, secret) for event in events),
        hash="",
    )
    return replace(seal, hash=hash_seal(seal, secret))


def name_key(secret: bytes) -> str:
    """Name of a key, which tells nothing of it."""
    return hashlib.sha256(_PURPOSE + b"name\n" + secret).hexdigest()[:16]


def hash_seal(seal: Seal, secret: bytes) -> str:
    """The HMAC-SHA256 of all of a seal, the hash of the one before it included."""
    events = [[event.id, event.envelope, event.payload] for event in seal.events]
    parts = [seal.number, seal.key, seal.previous, seal.total, format_time(seal.until), events]
    return hmac.digest(secret, _PURPOSE + json.dumps(parts).encode(), "sha256").hex()


def digest_event(event: Event, secret: bytes) -> SealedEvent:
    """The digest of an event in a seal."""
    told = event.to_dict()
    payload = told.pop("payload")
    return SealedEvent(id=event.id, envelope=_digest(told, secret), payload=_digest([event.id, payload], secret))


def _digest(value: object, secret: bytes) -> str:
    text = json.dumps(value, sort_keys=True, ensure_ascii=False)
    return hmac.digest(secret, _PURPOSE + text.encode(), "sha256")[:_DIGEST_BYTES].hex()
