"""Pagination: pages of long lists, and the opaque cursors that lead from one page to the next."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeVar, overload

from engrain.domain import checks
from engrain.domain.records import Record
from engrain.errors import InvalidInput

_Item = TypeVar("_Item")
_Item_co = TypeVar("_Item_co", covariant=True)
Position = tuple[datetime | str, str]  # where an item stands in the order of its list
_LONGEST = 4_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Page(Record, Sequence[_Item_co]):
    """One page of a list: a sequence of its items, and the cursor of the page after it.

    `next` is the `after` of the next page; None on the last one. `times` are those that were given in words, as they
    were understood. `removed_before` is on the last page of a list of events the time before which events were removed.
    """

    items: tuple[_Item_co, ...] = ()
    next: str | None = None
    times: Mapping[str, datetime] = field(default_factory=dict, hash=False)
    removed_before: datetime | None = None

    @overload
    def __getitem__(self, index: int) -> _Item_co: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[_Item_co, ...]: ...
    def __getitem__(self, index: int | slice) -> _Item_co | tuple[_Item_co, ...]:
        return self.items[index]

    def __len__(self) -> int:
        return len(self.items)

    def to_dict(self) -> dict[str, Any]:
        page = Record.to_dict(self)
        return {name: value for name, value in page.items() if value or name in {"items", "next"}}


def cut(name: str, rows: Sequence[_Item], limit: int, position: Callable[[_Item], Position]) -> Page[_Item]:
    """Make a page of the first `limit` rows of the list `name`; further rows say that there is a next page.

    `position` says where a row stands in the order of the list.
    """
    items = tuple(rows[:limit])
    more = bool(items) and len(rows) > limit
    return Page(items=items, next=encode(name, position(items[-1])) if more else None)


def encode(name: str, position: Position) -> str:
    """The cursor of a position in the list `name`: URL-safe text without padding."""
    first, second = position
    at = first.isoformat() if isinstance(first, datetime) else first
    text = json.dumps([name, at, second], ensure_ascii=False, separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def decode(name: str, cursor: str | None) -> tuple[str, str] | None:
    """The position that a cursor of the list `name` stands for; None without a cursor.

    Raises:
        InvalidInput: it is no cursor of this list.
    """
    if cursor is None:
        return None
    match _parse(cursor):
        case [str() as of, str() as first, str() as second] if of == name and checks.is_storable(first + second):
            return first, second
        case _:
            raise InvalidInput(f"cursor {cursor!r:.80} is none of {name}; pass on `next` of the page before, unchanged")


def decode_moment(name: str, cursor: str | None) -> tuple[datetime, str] | None:
    """The time and id that a cursor of a list in the order of time stands for; None without a cursor.

    Raises:
        InvalidInput: it is no cursor of this list.
    """
    position = decode(name, cursor)
    at = None if position is None else checks.moment(position[0], name="time of the cursor")
    return None if position is None or at is None else (at, position[1])


def _parse(cursor: object) -> object:
    if not isinstance(cursor, str) or len(cursor) > _LONGEST or not cursor.isascii():
        return None
    padded = cursor + "=" * (-len(cursor) % 4)
    try:
        return json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
    except (binascii.Error, ValueError, RecursionError):
        return None
