"""Cursors: where a page of a list ended, as a text that means nothing to anybody else."""

import base64
import binascii
import json
from collections.abc import Callable, Sequence
from typing import TypeVar

from engrain.errors import InvalidInput

_Each = TypeVar("_Each")
_LONGEST = 4_000


def following(verb: str, items: Sequence[_Each], limit: int, place: Callable[[_Each], tuple[str, str]]) -> str | None:
    """The cursor of the page after these items; None where they do not fill the page, so that they are the last.

    `place` says where an item stands in the order of its list.
    """
    if not items or len(items) < limit:
        return None
    said = json.dumps([verb, *place(items[-1])], ensure_ascii=False, separators=(",", ":"))
    return base64.urlsafe_b64encode(said.encode()).decode().rstrip("=")


def place(verb: str, cursor: str | None) -> tuple[str, str] | None:
    """Where the page before ended; None for the first page.

    Raises:
        InvalidInput: it is no cursor of this list.
    """
    if cursor is None:
        return None
    match _read(cursor):
        case [str() as name, str() as first, str() as second] if name == verb and _is_storable(first + second):
            return first, second
        case _:
            raise InvalidInput(f"cursor {cursor!r:.80} is none of {verb}; pass on `next` of the page before, unchanged")


def _read(cursor: str) -> object:
    if len(cursor) > _LONGEST or not cursor.isascii():
        return None
    padded = cursor + "=" * (-len(cursor) % 4)
    try:
        return json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
    except (binascii.Error, ValueError, RecursionError):
        return None


def _is_storable(text: str) -> bool:
    return "\x00" not in text and not any("\ud800" <= each <= "\udfff" for each in text)
