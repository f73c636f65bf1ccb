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
    from collections.abc import Collection, Mapping, Sequence

EVENTS_OF_A_SEAL = 1_000
# The first seal follows this.
GENESIS = "0" * 64
_DIGEST_BYTES = 16
_PURPOSE = b"engrain events 1\n"
_TRIM_PURPOSE = b"engrain trimmed events 1\n"
SPENT_START = '{"spent"'  # of the text of a spent seal, by which a statement passes over it

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
        hash: the HMAC of all that was sealed; it stays when events are removed.
        removed: how many of its events were removed by their age; their digests went with them.
        is_spent: True once none of its events can be removed any more.
        trim: the HMAC of what is left, of a seal whose events were removed; else empty.
    """

    number: int
    key: str
    previous: str
    total: int
    until: datetime
    events: tuple[SealedEvent, ...]
    hash: str
    removed: int = 0
    is_spent: bool = False
    trim: str = ""

    def to_json(self) -> str:
        """The seal as it is stored; its number is in its name."""
        spent = {"spent": True} if self.is_spent else {}
        head = {"key": self.key, "previous": self.previous, "total": self.total, "until": format_time(self.until)}
        trimmed = {"removed": self.removed, "trim": self.trim} if self.trim else {}
        return json.dumps({**spent, **head, "hash": self.hash, **trimmed, "events": self.rows})

    @property
    def rows(self) -> list[list[str]]:
        """Its digests as JSON."""
        return [[event.id, event.envelope, event.payload] for event in self.events]


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
        removed: sealed events that `events.keep_days` has removed; they are not among `sealed`.
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
    removed: int = 0
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
        return Seal(
            number=number,
            total=int(value["total"]),
            until=until,
            events=events,
            removed=int(value.get("removed", 0)),
            is_spent="spent" in value,
            trim=str(value.get("trim", "")),
            **named,
        )
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
    parts = [seal.number, seal.key, seal.previous, seal.total, format_time(seal.until), seal.rows]
    return hmac.digest(secret, _PURPOSE + json.dumps(parts).encode(), "sha256").hex()


def trim_seal(seal: Seal, removed: Collection[str], secret: bytes, *, is_spent: bool) -> Seal:
    """The seal without the digests of removed events, by their ids, signed anew.

    Its hash stays, so that the seal after it, and a hash that was kept elsewhere, hold as before.
    """
    left = tuple(event for event in seal.events if event.id not in removed)
    gone = seal.removed + len(seal.events) - len(left)
    trimmed = replace(seal, events=left, removed=gone, is_spent=is_spent)
    return replace(trimmed, trim=_sign_trimmed(trimmed, secret))


def has_signature(seal: Seal, secret: bytes) -> bool:
    """True if a seal is as it was signed: when it was made, or when events of it were removed."""
    if seal.trim:
        return hmac.compare_digest(seal.trim, _sign_trimmed(seal, secret))
    return not seal.is_spent and hmac.compare_digest(seal.hash, hash_seal(seal, secret))


def _sign_trimmed(seal: Seal, secret: bytes) -> str:
    parts = [seal.hash, seal.removed, seal.is_spent, hash_seal(seal, secret)]
    return hmac.digest(secret, _TRIM_PURPOSE + json.dumps(parts).encode(), "sha256").hex()


def digest_event(event: Event, secret: bytes) -> SealedEvent:
    """The digest of an event in a seal."""
    told = event.to_dict()
    payload = told.pop("payload")
    return SealedEvent(id=event.id, envelope=_digest(told, secret), payload=_digest([event.id, payload], secret))


def _digest(value: object, secret: bytes) -> str:
    text = json.dumps(value, sort_keys=True, ensure_ascii=False)
    return hmac.digest(secret, _PURPOSE + text.encode(), "sha256")[:_DIGEST_BYTES].hex()
