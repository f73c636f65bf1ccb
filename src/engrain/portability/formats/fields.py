"""Values out of JSON that may hold anything: each function gives a typed value or says what is wrong with it."""

from __future__ import annotations

import hashlib
import json
import reprlib
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from engrain.portability.formats.records import BrokenRecord, Json, Role

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

P = ParamSpec("P")
_Read = TypeVar("_Read")

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MOST_DIGITS = 400  # beyond the largest float; int() itself refuses 4,300 and would refuse the whole file with it
_MOST_KEYS_SHOWN = 8

_shortener = reprlib.Repr()
_shortener.maxstring = _shortener.maxother = _shortener.maxlong = 60
_shortener.maxlevel = 2


class Malformed(Exception):  # not an EngrainError: it never leaves the package, it becomes a BrokenRecord
    """Why a record cannot be read."""


def parse_json(text: str) -> object:
    """The JSON value of `text`; Malformed says where it stops being JSON. NaN and Infinity are accepted."""
    try:
        return _decoder.decode(text)
    except json.JSONDecodeError as error:
        at = f"column {error.colno}" if error.lineno == 1 else f"line {error.lineno}, column {error.colno}"
        raise Malformed(f"not JSON: {error.msg} at {at}") from error
    except RecursionError as error:
        raise Malformed("JSON nested too deeply") from error


def _whole_number(digits: str) -> int | float:
    return int(digits) if len(digits) < _MOST_DIGITS else float(digits)


# Made once: json.loads() and json.dumps() with options make one for every call, a third of the time per line.
_decoder = json.JSONDecoder(parse_int=_whole_number)
_encoder = json.JSONEncoder(default=str)  # writes ASCII: lone surrogates stay escapes


def shown(value: object) -> str:
    """`value` as Python writes it, shortened; safe for any depth and for lone surrogates."""
    return _shortener.repr(value)


def described(value: object) -> str:
    """`value` with its JSON kind: "a number (5)"."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int() | float():
            return f"a number ({shown(value)})"
        case str():
            return f"text ({shown(value)})"
        case list():
            return f"a list ({shown(value)})"
        case _:
            return f"an object ({shown(value)})"


def missing(key: str, record: Json) -> Malformed:
    """The complaint that `record` lacks `key`, with the keys it has."""
    return Malformed(f"{key} is missing; {keys_found(record)}")


def keys_found(record: Json) -> str:
    """The first keys of `record`, for a person who wonders which format it is."""
    if not record:
        return "it has no keys"
    more = ", ..." if len(record) > _MOST_KEYS_SHOWN else ""
    return "keys found: " + ", ".join(shown(key)[1:-1] for key in list(record)[:_MOST_KEYS_SHOWN]) + more


def is_blank(value: object) -> bool:
    """Whether a field says nothing: null, or text of white space only."""
    return value is None or (isinstance(value, str) and not value.strip())


def as_object(value: object, name: str) -> Json:
    """`value`, which must be a JSON object."""
    if not isinstance(value, dict):
        raise Malformed(f"{name} is {described(value)}, expected an object")
    return value


def as_list(value: object, name: str) -> list[object]:
    """`value`, which must be a JSON list."""
    if not isinstance(value, list):
        raise Malformed(f"{name} is {described(value)}, expected a list")
    return value


def as_text(value: object, name: str) -> str:
    """`value`, which must be text; it may be blank."""
    if not isinstance(value, str):
        raise Malformed(f"{name} is {described(value)}, expected text")
    return value


def optional_text(record: Json, key: str) -> str | None:
    """The text under `key`, None where it is absent or blank."""
    value = record.get(key)
    return None if is_blank(value) else as_text(value, key)


def as_tags(value: object, name: str) -> tuple[str, ...]:
    """Short texts that something is filed under; None says none."""
    if value is None:
        return ()
    return tuple(as_text(each, f"{name}[{index}]") for index, each in enumerate(as_list(value, name)))


def as_title(value: object) -> str | None:
    """A conversation's title, None where it has none; a title of another kind is no reason to lose what was said."""
    return value if isinstance(value, str) and value.strip() else None


def as_role(value: object, known: Mapping[str, Role], *, name: str = "role") -> Role:
    """The role that the source calls `value`; Malformed names the known ones."""
    if isinstance(value, str) and value in known:
        return known[value]
    raise Malformed(f"{name} is {described(value)}, known are {', '.join(known)}")


def as_time(value: object, name: str) -> datetime | None:
    """UTC time of ISO 8601 text or of epoch seconds, None where the source says nothing; a naive time is UTC."""
    if is_blank(value):
        return None
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise Malformed(f"{name} is {described(value)}, expected ISO 8601 or epoch seconds")
    try:
        return _from_iso(value.strip()) if isinstance(value, str) else _EPOCH + timedelta(seconds=value)
    except OverflowError as error:
        raise Malformed(
            f"{name} is {described(value)}, outside the years 1 to 9999 (epoch times in seconds)"
        ) from error
    except ValueError as error:
        raise Malformed(f"{name} is {described(value)}, expected ISO 8601 or epoch seconds") from error


def _from_iso(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def as_block_text(
    blocks: list[object], name: str, *, text_types: Collection[str] = ("text",), marks: Mapping[str, str] | None = None
) -> str:
    """The text blocks of a message, a line each, `marks` in place of the types it names; the rest is left out."""
    pieces: list[str] = []
    for index, block in enumerate(blocks):
        at = f"{name}[{index}]"
        record = as_object(block, at)
        kind = as_text(record.get("type"), f"{at}.type")
        if kind in text_types:
            pieces.append(as_text(record.get("text"), f"{at}.text"))
        elif marks and kind in marks:
            pieces.append(marks[kind])
    return joined(pieces)


def joined(pieces: list[str]) -> str:
    """The pieces that say something, a line each."""
    return "\n".join(piece for piece in pieces if piece.strip())


def fingerprint(*fields: object) -> str:
    """Hexadecimal digest of the fields, 32 digits: what tells a message without an id from another in its place."""
    return hashlib.blake2b(_encoder.encode(fields).encode("ascii"), digest_size=16).hexdigest()


def attempted(
    position: str, read: Callable[P, _Read | None], *args: P.args, **kwargs: P.kwargs
) -> Iterator[_Read | BrokenRecord]:
    """What `read` gives for the record at `position`: a value, nothing where nothing was said, or its fault."""
    try:
        found = read(*args, **kwargs)
    except Malformed as fault:
        yield BrokenRecord(position, str(fault))
    else:
        if found is not None:
            yield found
