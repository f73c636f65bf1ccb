"""Parsing at the edge: what a caller hands in becomes a trusted value here, or an InvalidInput that says why."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, TypeVar, cast

from engrain.domain.records import VALIDITIES, Validity
from engrain.errors import InvalidInput

MAX_CONTENT_BYTES = 10_000_000
MAX_NAME_LENGTH = 512
MAX_LIMIT = 1_000
# Far less than Python's own recursion limit, so that whatever is kept can also be read, copied and printed.
MAX_METADATA_DEPTH = 100

_Choice = TypeVar("_Choice", bound=str)
_SURROGATE = re.compile("[\ud800-\udfff]")


def clean(text: str) -> str:
    """Text both databases can hold: NUL characters removed, lone surrogates replaced by U+FFFD, ends stripped."""
    return _storable(text).strip()


def content(value: object, *, name: str = "content") -> str:
    """Cleaned text that says something.

    Raises:
        InvalidInput: not a string, nothing left after cleaning, or more than 10 MB of UTF-8.
    """
    if not isinstance(value, str):
        raise InvalidInput(f"{name} must be text, not {type(value).__name__} ({_shown(value)}); pass a str")
    text = clean(value)
    if not text:
        raise InvalidInput(f"{name} is empty ({_shown(value)}); pass text that says something")
    if 4 * len(text) > MAX_CONTENT_BYTES < len(text.encode()):
        raise InvalidInput(f"{name} has {len(text.encode()):,} bytes; the most is {MAX_CONTENT_BYTES:,}: split it")
    return text


def query(value: object, *, name: str = "query") -> str:
    """Any text as a search: cleaned, possibly empty."""
    if not isinstance(value, str):
        raise InvalidInput(f"{name} must be text, not {type(value).__name__} ({_shown(value)}); pass a str")
    return clean(value)


def name(value: object, *, what: str) -> str:
    """A short identifier: an agent, a session, a speaker, a subject, a tag."""
    text = content(value, name=what)
    if len(text) > MAX_NAME_LENGTH:
        said = f"{what} {_shown(text)} has {len(text):,} characters"
        raise InvalidInput(f"{said}; the most is {MAX_NAME_LENGTH}: shorten it")
    return text


def path(value: object, *, what: str) -> str:
    """Where a file lies, `~` expanded.

    Raises:
        InvalidInput: neither text nor a path object, empty, or a name that no file can have.
    """
    text = os.fspath(value) if isinstance(value, os.PathLike) else value
    if not isinstance(text, str):
        raise InvalidInput(f"{what} must be a path, not {type(value).__name__} ({_shown(value)}); pass a str or a Path")
    if not text.strip():
        raise InvalidInput(f"{what} is empty ({_shown(value)}); name a file")
    if "\x00" in text or _SURROGATE.search(text):
        raise InvalidInput(f"{what} {_shown(value)} is no name of a file; choose another")
    expanded = os.path.expanduser(text)  # noqa: PTH111  # Path.expanduser raises RuntimeError for a stranger's home
    if expanded.startswith("~") and expanded == text:
        raise InvalidInput(f"{what} {_shown(value)} begins with ~ and is no known user's home; write it out (./~...)")
    return expanded


def optional_name(value: object, *, what: str) -> str | None:
    """Like `name`, and None stays None."""
    return None if value is None else name(value, what=what)


def names(value: object, *, what: str) -> tuple[str, ...]:
    """None, one name or several, as a tuple without repeats in the order given."""
    if value is None:
        return ()
    if isinstance(value, str):
        return (name(value, what=what),)
    if not isinstance(value, Iterable):
        raise InvalidInput(f"{what} must be a name or several, not {type(value).__name__} ({_shown(value)})")
    return tuple(dict.fromkeys(name(each, what=what) for each in value))


def choice(value: object, known: Iterable[_Choice], *, what: str) -> _Choice:
    """One of the known words.

    Raises:
        InvalidInput: with the known words.
    """
    options = tuple(known)
    if not isinstance(value, str) or value not in options:
        raise InvalidInput(f"{what} {_shown(value)} is unknown; choose one of: {', '.join(options)}")
    return options[options.index(value)]


def unknown(name: str, known: Iterable[str], *, what: str) -> str:
    """What is said of a name that nobody knows: the nearest that somebody does, or all of them."""
    import difflib

    options = list(known)
    near = difflib.get_close_matches(name.lower(), options, n=1)
    hint = f"did you mean {near[0]}?" if near else f"known are: {', '.join(options) or 'none'}"
    return f"{what} {name!r:.80} is unknown; {hint}"


def choices(value: object, known: Iterable[_Choice], *, what: str) -> tuple[_Choice, ...]:
    """None, one or several of the known words."""
    options = tuple(known)
    return tuple(choice(each, options, what=what) for each in names(value, what=what))


def validity(value: object) -> Validity:
    """The validity of a fact; "forgotten", as older records say, means retracted."""
    return choice("retracted" if value == "forgotten" else value, VALIDITIES, what="validity")


def number(value: object, *, what: str, low: float, high: float) -> float:
    """A finite number in [low, high]."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not -math.inf < value < math.inf:
        raise InvalidInput(f"{what} must be a finite number, not {_shown(value)}")
    if not low <= value <= high:
        raise InvalidInput(f"{what} is {_shown(value)}; it must lie in [{low:g}, {high:g}]")
    return float(value)


def count(value: object, *, what: str, high: int = MAX_LIMIT) -> int:
    """A whole number in [0, high]."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidInput(f"{what} must be a whole number, not {_shown(value)}")
    if not 0 <= value <= high:
        raise InvalidInput(f"{what} is {_shown(value)}; it must lie in [0, {high:,}]")
    return value


def moment(value: object, *, what: str) -> datetime | None:
    """A time in UTC from a datetime or ISO 8601 text ("2026-05-01", "2026-05-01T09:30:00+02:00"); naive means UTC."""
    if value is None:
        return None
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value.strip())
        except ValueError as error:
            raise InvalidInput(f"{what} {_shown(value)} is no ISO 8601 date or time, such as 2026-05-01") from error
    if not isinstance(value, datetime):
        raise InvalidInput(f"{what} must be a datetime or ISO 8601 text, not {_shown(value)}")
    try:
        return value.replace(tzinfo=UTC) if value.utcoffset() is None else value.astimezone(UTC)
    except OverflowError as error:
        raise InvalidInput(f"{what} {_shown(value)} is outside the years 1 to 9999 in UTC") from error


def flag(value: object, *, what: str) -> bool:
    """True or False, and nothing that merely counts as one of them."""
    if not isinstance(value, bool):
        raise InvalidInput(f"{what} must be true or false, not {_shown(value)}")
    return value


def metadata(value: object) -> dict[str, Any]:
    """A JSON object, as given.

    Raises:
        InvalidInput: not a mapping, or holding what JSON cannot (NaN and infinity included).
    """
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise InvalidInput(f"metadata must be a mapping, not {type(value).__name__} ({_shown(value)})")
    return cast("dict[str, Any]", _json(dict(value), what="metadata"))


def json_values(value: object, *, what: str) -> tuple[Any, ...]:
    """None or several JSON values, as given.

    Raises:
        InvalidInput: one value instead of several, or holding what JSON cannot (NaN and infinity included).
    """
    if value is None:
        return ()
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise InvalidInput(f"{what} must be a list, not {type(value).__name__} ({_shown(value)})")
    return tuple(_json(list(value), what=what))


def _json(value: Any, *, what: str) -> Any:
    try:
        parsed = json.loads(json.dumps(value, allow_nan=False, ensure_ascii=False))
    except RecursionError as error:
        raise InvalidInput(_too_deep(what)) from error
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"{what} {_shown(value)} is not JSON: {error}") from error
    return _cleaned(parsed, what=what, levels=MAX_METADATA_DEPTH)


def _cleaned(value: Any, *, what: str, levels: int) -> Any:
    """The same JSON without NULs and lone surrogates, which a database cannot hold, and at most so many levels deep."""
    if levels == 0 and isinstance(value, list | dict):
        raise InvalidInput(_too_deep(what))
    match value:
        case str():
            return _storable(value)
        case list():
            return [_cleaned(each, what=what, levels=levels - 1) for each in value]
        case dict():
            return {_storable(key): _cleaned(each, what=what, levels=levels - 1) for key, each in value.items()}
        case _:
            return value


def _too_deep(what: str) -> str:
    return f"{what} nests deeper than {MAX_METADATA_DEPTH} levels; flatten it"


def _storable(text: str) -> str:
    bare = text.replace("\x00", "")
    return bare if bare.isascii() else _SURROGATE.sub("\ufffd", bare)


def _shown(value: object) -> str:
    """At most 80 characters of it; of what cannot be printed (a giant number, a bottomless structure) its type."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):
        return f"<{type(value).__name__}>"
    return text if len(text) <= 80 else text[:77] + "..."  # noqa: PLR2004  # a line of a terminal
