"""Logs: exact JSON entries in order, by session; and the turns of a conversation among them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, NamedTuple

from engrain.domain import checks
from engrain.domain.records import Record

MOST_ENTRIES = 10_000  # of one call
# PostgreSQL indexes 2,704 bytes: of these names, a tenant's and a scope's.
MOST_ADDRESS_BYTES = 1_536
DEFAULT_LOG = "default"
_TEXT_PARTS = frozenset({"text", "input_text", "output_text"})


class LogAddress(NamedTuple):
    """Name of a session of a log: its subkey is empty, or that of a log inside the session."""

    log: str
    session: str
    subkey: str = ""


class NewEntry(NamedTuple):
    """An entry that is to be added: its JSON in ASCII, and the key that it has once in its session, if any."""

    text: str
    key: str | None


class Turn(NamedTuple):
    """A turn of a conversation as an entry tells it."""

    role: Literal["user", "assistant"]
    content: str
    time: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LogAppend(Record):
    """Result of an append.

    Attributes:
        added: the number of new entries; skipped: of those whose key was there.
        entries: the number of entries in the session by now.
        episode_ids: of the turns that were remembered, in their order.
    """

    log: str
    session: str
    subkey: str
    added: int
    skipped: int
    entries: int
    episode_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEntry(Record):
    """An entry of a log: its number in the session, from 1 and never used again, and its JSON as it was given."""

    sequence: int
    entry: dict[str, Any] = field(hash=False)
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class LogSession(Record):
    """A session of a log: the number of its entries without those of subkeys, and when it was last written."""

    log: str
    session: str
    entries: int
    created_at: datetime
    updated_at: datetime


def digest_log(address: LogAddress, entries: int) -> str:
    """Return the digest of a removed session for its tombstone: of its name and the number of its entries."""
    return hashlib.sha256(repr((*address, entries)).encode()).hexdigest()


def find_turn(entry: Mapping[str, Any]) -> Turn | None:
    """Return the turn that an entry is; None where it is no message of a user or assistant, or has no text.

    A message has a `role` and a `content`, in the entry or in its `message`; the content is a text, or a list of
    texts and of parts of type text, input_text or output_text. Its time is the `timestamp` of the entry, ISO 8601.
    """
    inner = entry.get("message")
    message = inner if isinstance(inner, Mapping) else entry
    role, content = message.get("role"), _join_text(message.get("content"))
    if role not in ("user", "assistant") or not checks.clean(content):
        return None
    return Turn(role, content, _parse_time(entry.get("timestamp")))


def _join_text(content: object) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list | tuple) else ()
    texts = (
        part.get("text") if isinstance(part, Mapping) and part.get("type") in _TEXT_PARTS else part for part in parts
    )
    return "\n".join(text for text in texts if isinstance(text, str))


def _parse_time(value: object) -> datetime | None:
    try:
        return datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
