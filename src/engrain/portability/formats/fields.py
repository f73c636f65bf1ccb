"""Parsers of untrusted JSON values: each function returns a typed value or raises Malformed."""

from __future__ import annotations

import hashlib
import json
import re
import reprlib
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from engrain.portability.formats.records import BrokenRecord, Json, Role

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

P = ParamSpec("P")
_Read = TypeVar("_Read")

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# Numbers that are no seconds before the year 9999: of the years 1978 and 2001 to 2100.
_FINER = {"milliseconds": (253_402_300_799, 4_102_444_800_000), "microseconds": (10**15, 4_102_444_800_000_000)}
_IS_EPOCH = re.compile(r"[0-9]{9,10}(?:\.[0-9]{1,9})?|[0-9]{13}|[0-9]{16}").fullmatch
_MAX_DIGITS = 400  # beyond the largest float; int() itself refuses 4,300 and would refuse the whole file with it
_MAX_KEYS_SHOWN = 8
_IN_SECONDS = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T(?:[01][0-9]|2[0-3]):[0-9]{2}:[0-9]{2}(?:Z|\+00:00)").fullmatch

_shortener = reprlib.Repr()
_shortener.maxstring = _shortener.maxother = _shortener.maxlong = 60
_shortener.maxlevel = 2


class Malformed(Exception):  # not an EngrainError: it never leaves the package, it becomes a BrokenRecord
    """Fault of a record that cannot be read."""


def parse_json(text: str) -> object:
    """Parse `text` as JSON; Malformed gives the position of the fault. NaN and Infinity are accepted."""
    try:
        if text.startswith("{"):  # as every line does, which takes no look for white space before it
            value, end = decoder.raw_decode(text)
            if end == len(text):
                return value
        return decoder.decode(text)
    except json.JSONDecodeError as error:
        at = f"column {error.colno}" if error.lineno == 1 else f"line {error.lineno}, column {error.colno}"
        raise Malformed(f"not JSON: {error.msg} at {at}") from error
    except RecursionError as error:
        raise Malformed("JSON nested too deeply") from error


def _whole_number(digits: str) -> int | float:
    return int(digits) if len(digits) < _MAX_DIGITS else float(digits)


# Made once: json.loads() and json.dumps() with options make one for every call, a third of the time per line.
decoder = json.JSONDecoder(parse_int=_whole_number)
scan: Callable[[str, int], tuple[object, int]] = decoder.scan_once  # type: ignore[attr-defined]  # what `raw_decode` calls
_encoder = json.JSONEncoder(default=str)  # writes ASCII: lone surrogates stay escapes
_quote = json.encoder.encode_basestring_ascii


def shorten(value: object) -> str:
    """Shorten the Python form of `value`; safe for any depth and for lone surrogates."""
    return _shortener.repr(value)


def describe(value: object) -> str:
    """Describe `value` with its JSON kind: "a number (5)"."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int() | float():
            return f"a number ({shorten(value)})"
        case str():
            return f"text ({shorten(value)})"
        case list():
            return f"a list ({shorten(value)})"
        case _:
            return f"an object ({shorten(value)})"


def missing_key(key: str, record: Json) -> Malformed:
    """The error that `record` lacks `key`, with the keys it has."""
    return Malformed(f"{key} is missing; {keys_found(record)}")


def keys_found(record: Json) -> str:
    """The first keys of `record`, for a message about its format."""
    if not record:
        return "it has no keys"
    more = ", ..." if len(record) > _MAX_KEYS_SHOWN else ""
    return "keys found: " + ", ".join(shorten(key)[1:-1] for key in list(record)[:_MAX_KEYS_SHOWN]) + more


def is_blank(value: object) -> bool:
    """True for null, and for text of white space only."""
    return value is None or (isinstance(value, str) and not value.strip())


def as_object(value: object, name: str) -> Json:
    """Check that `value` is a JSON object."""
    if not isinstance(value, dict):
        raise Malformed(f"{name} is {describe(value)}, expected an object")
    return value


def as_list(value: object, name: str) -> list[object]:
    """Check that `value` is a JSON list."""
    if not isinstance(value, list):
        raise Malformed(f"{name} is {describe(value)}, expected a list")
    return value


def as_text(value: object, name: str) -> str:
    """Check that `value` is text; it may be blank."""
    if not isinstance(value, str):
        raise Malformed(f"{name} is {describe(value)}, expected text")
    return value


def optional_text(record: Json, key: str) -> str | None:
    """The text under `key`, None where it is absent or blank."""
    value = record.get(key)
    if isinstance(value, str):  # as nearly every value is, of a few for each line
        return value if value.strip() else None
    return None if value is None else as_text(value, key)


def required_text(record: Json, key: str) -> str:
    """The text under `key`; Malformed where it is absent or blank."""
    text = optional_text(record, key)
    if text is None:
        raise missing_key(key, record)
    return text


def optional_object(record: Json, key: str) -> Json:
    """The JSON object under `key`, an empty one where it is absent or null."""
    value = record.get(key)
    return {} if value is None else as_object(value, key)


def as_tags(value: object, name: str) -> tuple[str, ...]:
    """Parse tags; None stands for none."""
    if value is None:
        return ()
    return tuple(as_text(tag, f"{name}[{index}]") for index, tag in enumerate(as_list(value, name)))


def as_title(value: object) -> str | None:
    """A conversation's title, None where it has none; a title of another kind is ignored."""
    return value if isinstance(value, str) and value.strip() else None


def as_role(value: object, known: Mapping[str, Role], *, name: str = "role") -> Role:
    """The role for the source's `value`; Malformed names the known ones."""
    if isinstance(value, str) and value in known:
        return known[value]
    raise Malformed(f"{name} is {describe(value)}, known are {', '.join(known)}")


def as_time(value: object, name: str) -> datetime | None:
    """UTC time of ISO 8601 text or of epoch seconds, None where it is blank; a naive time is UTC.

    A number beyond the year 9999 is of milliseconds, as JavaScript has them, or of microseconds, if that is a time
    before 2100. A number may be a text.
    """
    if is_blank(value):
        return None
    if not isinstance(value, str) and (isinstance(value, bool) or not isinstance(value, int | float)):
        raise Malformed(f"{name} is {describe(value)}, expected ISO 8601 or epoch seconds")
    try:
        if isinstance(value, str) and not _IS_EPOCH(value.strip()):
            return _in_utc(datetime.fromisoformat(value.strip()))
        number = float(value) if isinstance(value, str) else value
        for unit, (first, last) in _FINER.items():
            if first < number < last:
                return _EPOCH + timedelta(**{unit: number})
        return _EPOCH + timedelta(seconds=number)
    except OverflowError as error:
        raise Malformed(f"{name} is {describe(value)}, outside the years 1 to 9999 (epoch times in seconds)") from error
    except ValueError as error:
        raise Malformed(f"{name} is {describe(value)}, expected ISO 8601 or epoch seconds") from error


def as_times(values: Sequence[object], name: str) -> list[datetime | None]:
    """Times of many values, as `as_time`."""
    try:
        moments = list(map(datetime.fromisoformat, map(str.strip, values)))  # type: ignore[arg-type]  # where all are
        return [moment if moment.tzinfo is UTC else _in_utc(moment) for moment in moments]
    except (TypeError, ValueError, OverflowError):
        return [as_time(value, name) for value in values]


def _in_utc(moment: datetime) -> datetime:
    if moment.tzinfo is UTC:
        return moment
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def as_block_text(
    blocks: list[object], name: str, *, text_types: Collection[str] = ("text",), marks: Mapping[str, str] | None = None
) -> str:
    """Join the text blocks of a message, a line each, with `marks` for the types it names; others are left out."""
    pieces: list[str] = []
    for index, block in enumerate(blocks):
        at = f"{name}[{index}]"
        record = as_object(block, at)
        kind = as_text(record.get("type"), f"{at}.type")
        if kind in text_types:
            pieces.append(as_text(record.get("text"), f"{at}.text"))
        elif marks and kind in marks:
            pieces.append(marks[kind])
    return join_lines(pieces)


def join_lines(pieces: list[str]) -> str:
    """Join the pieces that are not blank, a line each."""
    return "\n".join(piece for piece in pieces if piece.strip())


def fingerprint(*fields: object) -> str:
    """Hexadecimal digest of the fields, 32 digits: the identity of a message without an id."""
    encoded = f"[{', '.join([_quote(field) if type(field) is str else _encode(field) for field in fields])}]"
    return _digest(encoded)


def fingerprints(
    heads: Sequence[tuple[str | None, ...]],
    contents: Sequence[str],
    times: Sequence[datetime | None],
    values: Sequence[object],
) -> list[str]:
    """Return the `fingerprint` of each of many messages: of its head, its content and its time, which was a `value`."""
    written = {head: f"[{', '.join([_encode(field) for field in head])}, " for head in set(heads)}
    # Nearly every time is written so that its text is that of the time, which takes ten times as long to write anew.
    ends = [
        f' "{value[:10]} {value[11:19]}+00:00"]' if type(value) is str and _IN_SECONDS(value) else f" {_encode(time)}]"
        for time, value in zip(times, values, strict=True)
    ]
    rows = zip(heads, map(_quote, contents), ends, strict=True)
    return [_digest(f"{written[head]}{content},{end}") for head, content, end in rows]


def _digest(encoded: str) -> str:
    return hashlib.blake2b(encoded.encode("ascii"), digest_size=16).hexdigest()


def _encode(field: object) -> str:
    """The field as `json.dumps` writes it, which takes three times as long for a text or a time."""
    if field is None:
        return "null"
    return f'"{field}"' if type(field) is datetime else _encoder.encode(field)


def read_record(
    position: str, read: Callable[P, _Read | None], *args: P.args, **kwargs: P.kwargs
) -> Iterator[_Read | BrokenRecord]:
    """Read the record at `position`: its value, nothing for None, or a BrokenRecord with its fault."""
    try:
        value = read(*args, **kwargs)
    except Malformed as fault:
        yield BrokenRecord(position, str(fault))
    else:
        if value is not None:
            yield value
