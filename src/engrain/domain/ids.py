"""Identifiers: UUIDv7 (RFC 9562 §5.7), fresh from the clock or derived from content; and numbers in order of time."""

from __future__ import annotations

import hashlib
import os
import threading
import uuid
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
_TIMESTAMP_LIMIT = 1 << 48
_RANDOM_BITS = 74
_BYTES = 10  # that hold them
_DRAWN_AT_ONCE = 128
_TAIL = (1 << 4 * 12) - 1  # the twelve digits after the last hyphen
_HEAD = "%08x-%04x-7%03x-%04x-"  # takes two thirds of the time of `format`
_VERSION = 7
_LENGTHS = [length.to_bytes(8, "big") for length in range(512)]
# A number: 41 bits of milliseconds since 2020, enough until 2089; 20 from somewhere in the lower half on; 2 for kinds.
_NUMBER_EPOCH = 1_577_836_800_000
_COUNT_BITS, _KIND_BITS = 20, 2
_LEAP_BITS = 10


class _Process:
    """The number of forks between the first process and this one."""

    number = 0


_PROCESS = _Process()
_drawn: list[int] = []


def _begin_anew() -> None:
    """Leave to the parent of a forked process what is left of its random bits, and the ids after its last ones."""
    _drawn.clear()
    _PROCESS.number += 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)


def _draw_bits() -> int:
    """Draw 74 random bits, from many of the system's at once: asking it lets every other thread run first."""
    while True:
        try:
            return _drawn.pop()
        except IndexError:
            drawn = os.urandom(_BYTES * _DRAWN_AT_ONCE)
            parts = (drawn[start : start + _BYTES] for start in range(0, len(drawn), _BYTES))
            _drawn.extend(int.from_bytes(part, "big") >> 8 * _BYTES - _RANDOM_BITS for part in parts)


class IdSource:
    """Fresh UUIDv7 strings that increase strictly within one source, whatever the clock does.

    The first id of a millisecond is drawn at random, and those after it in this millisecond are the next ones: a tenth
    of the work.
    """

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._milliseconds = -1
        self._head = ""  # of the last id, up to its last hyphen
        self._tail = _TAIL
        self._process = _PROCESS.number

    def __call__(self) -> str:
        """The next id, `"018f..."`, 36 characters."""
        milliseconds = (self._clock() - _EPOCH) // _MILLISECOND  # as `_milliseconds`, and `_draw` takes none below 0
        with self._lock:
            if milliseconds > self._milliseconds or self._tail >= _TAIL or self._process != _PROCESS.number:
                self._draw(milliseconds)
            self._tail = tail = self._tail + 1
            return "%s%012x" % (self._head, tail)  # noqa: UP031  # two fifths of the time of an f-string

    def several(self, count: int) -> list[str]:
        """The next `count` ids, one above the other."""
        milliseconds = _milliseconds(self._clock())
        with self._lock:
            tail = self._tail
            if milliseconds > self._milliseconds or tail + count > _TAIL or self._process != _PROCESS.number:
                self._draw(milliseconds)
                tail = self._tail
            self._tail = tail + count
            head = self._head
        return [f"{head}{value:012x}" for value in range(tail + 1, tail + count + 1)]

    def _draw(self, milliseconds: int) -> None:
        """Begin at a random id of this millisecond, or of the next one that no id has been of."""
        self._milliseconds = max(milliseconds, self._milliseconds + 1)
        time, bits = self._milliseconds, _draw_bits()
        self._head = _HEAD % (time >> 16, time & 0xFFFF, bits >> 62, 0x8000 | bits >> 48 & 0x3FFF)
        self._tail = bits & _TAIL >> 1  # room for many
        self._process = _PROCESS.number


fresh_id = IdSource(partial(datetime.now, UTC))  # of this process: a memory and its event begin in one millisecond


class NumberSource:
    """Fresh numbers of 63 bits that increase strictly within one source; no two kinds have one in common.

    Processes need no word with each other: in one millisecond each begins at a number drawn at random, and only those
    who write for one tenant in that very millisecond can meet, once in a million times. A unique key finds them out.
    """

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._last = 0

    def several(self, count: int, *, kind: int) -> list[int]:
        """Return the next `count` numbers of a kind (0 to 3), ascending."""
        drawn = _draw_bits()
        milliseconds = max(_milliseconds(self._clock()) - _NUMBER_EPOCH, 0)
        fresh = milliseconds << _COUNT_BITS | drawn & ((1 << _COUNT_BITS - 1) - 1)
        with self._lock:
            if fresh <= self._last:  # by a leap, as a forked process goes on from the same number
                fresh = self._last + 1 + (drawn & ((1 << _LEAP_BITS) - 1))
            self._last = fresh + count - 1
        return [number << _KIND_BITS | kind for number in range(fresh, fresh + count)]


def derived_id(*parts: str, at: datetime | None) -> str:
    """Id of a record from another system: the same parts and time give the same id in every process.

    The 74 random bits of a UUIDv7 are the SHA-256 of the length-prefixed parts; an unknown time counts as 1970.
    """
    pieces: list[bytes] = []
    for part in parts:
        encoded = part.encode("utf-8", "surrogatepass")
        pieces += _LENGTHS[len(encoded)] if len(encoded) < len(_LENGTHS) else len(encoded).to_bytes(8, "big"), encoded
    digest = hashlib.sha256(b"".join(pieces))
    milliseconds = 0 if at is None else _milliseconds(at)
    return _format(milliseconds << _RANDOM_BITS | int.from_bytes(digest.digest()[:10], "big") >> 6)


def keyed_id(key: str, *, tenant_id: str, scope: str) -> str:
    """Id that an idempotency key gives a memory of a scope, with the time of a key that is a UUIDv7."""
    return derived_id(tenant_id, scope, "idempotency", key, at=moment_of(key))


def later_id(id_: str, count: int) -> str:
    """Id of the same time that lies `count` above another, as the ids of one call do."""
    return f"{id_[:-12]}{int(id_[-12:], 16) + count & _TAIL:012x}"


def moment_of(text: str) -> datetime | None:
    """Time of a UUIDv7, in milliseconds; None if the text is none, or of a time after the year 9999."""
    try:
        parsed = uuid.UUID(text)
        return _EPOCH + (parsed.int >> 80) * _MILLISECOND if parsed.version == _VERSION else None
    except (ValueError, OverflowError):
        return None


def is_id(text: str) -> bool:
    """True if `text` is an id in the form of the store: a lower-case, hyphenated UUID."""
    try:
        return str(uuid.UUID(text)) == text
    except ValueError:
        return False


def _milliseconds(moment: datetime) -> int:
    milliseconds = (moment - _EPOCH) // _MILLISECOND
    return milliseconds if 0 <= milliseconds < _TIMESTAMP_LIMIT else (0 if milliseconds < 0 else _TIMESTAMP_LIMIT - 1)


def _format(value: int) -> str:
    """48 bits of time and 74 other bits, laid out around the version (7) and variant (0b10) fields."""
    time, rest = value >> _RANDOM_BITS, value & ((1 << _RANDOM_BITS) - 1)
    head = _HEAD % (time >> 16, time & 0xFFFF, rest >> 62, 0x8000 | rest >> 48 & 0x3FFF)
    return f"{head}{rest & _TAIL:012x}"
