"""Parsing of arguments: each function returns a trusted value, or raises InvalidInput that says why."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import Any, TypeVar, cast

from engrain.domain.records import VALIDITIES, Validity
from engrain.errors import InvalidInput

MAX_CONTENT_BYTES = 10_000_000
MAX_NAME_LENGTH = 512
MAX_LIMIT = 1_000
# Far less than Python's own recursion limit, so that whatever is kept can also be read, copied and printed.
MAX_METADATA_DEPTH = 100
_MOST_COMPARED = 10_000  # names, in about a second

# Entries of a memory's metadata that forgetting and decay write.
_RESERVED: Mapping[str, object] = {"hidden": True, "forgotten": True, "status": "fading"}

_Choice = TypeVar("_Choice", bound=str)
_SURROGATE = re.compile("[\ud800-\udfff]")


def clean(text: str) -> str:
    """Text that both databases can store: no NUL characters, U+FFFD for lone surrogates, ends stripped."""
    return _storable(text).strip()


def content(value: object, *, name: str = "content") -> str:
    """Cleaned text that is not empty.

    Raises:
        InvalidInput: not a string, nothing left after cleaning, or more than 10 MB of UTF-8.
    """
    if isinstance(value, str) and value.isascii() and "\x00" not in value:  # as `query` cleans it
        text = value.strip()
    else:
        text = query(value, name=name)
    if not text:
        raise InvalidInput(f"{name} is empty ({_shown(value)}); pass text that says something")
    if 4 * len(text) > MAX_CONTENT_BYTES < len(text.encode()):
        raise InvalidInput(f"{name} has {len(text.encode()):,} bytes; the most is {MAX_CONTENT_BYTES:,}: split it")
    return text


def contents(values: Sequence[str]) -> list[str]:
    """Cleaned texts that are not empty, as `content` cleans one."""
    if "\x00" not in "".join(values) and 4 * max(map(len, values), default=0) <= MAX_CONTENT_BYTES:
        texts = list(map(str.strip, values))
        with suppress(UnicodeEncodeError):  # of a lone surrogate
            if all(texts) and "".join(texts).encode():
                return texts
    return list(map(content, values))


def several_texts(texts: Sequence[str | None]) -> None:
    """Refuse one text where several are asked for: its letters would be taken for them.

    Raises:
        InvalidInput: one text.
    """
    if isinstance(texts, str):
        raise InvalidInput(f"texts must be a list of texts, not one of {len(texts):,} characters; give [text]")


def query(value: object, *, name: str = "query") -> str:
    """Cleaned text of a search, possibly empty."""
    if not isinstance(value, str):
        raise InvalidInput(f"{name} must be text, not {type(value).__name__} ({_shown(value)}); pass a str")
    # Nearly every text has nothing to clean, and an observed turn passes here twice while its writer waits.
    return value.strip() if value.isascii() and "\x00" not in value else clean(value)


def name(value: object, *, name: str) -> str:
    """A short identifier: an agent, a session, a speaker, a subject, a tag. `name` is that of the argument."""
    # As `content` cleans it; nearly every name has nothing to clean, and a turn has two.
    if isinstance(value, str) and len(value) <= MAX_NAME_LENGTH and value.isascii() and "\x00" not in value:
        text = value.strip()
        if text:
            return text
    text = content(value, name=name)
    if len(text) > MAX_NAME_LENGTH:
        shown = f"{_shown(text)} has {len(text):,} characters"
        raise InvalidInput(f"{name} {shown}; the most is {MAX_NAME_LENGTH}: shorten it")
    return text


def identity(value: object, *, name: str) -> str:
    """A name of somebody whose memories nobody else sees: a tenant, an agent or a user.

    Raises:
        InvalidInput: as `name`, or cleaning would make it the name of another.
    """
    cleaned = _identifier(value, name=name)
    if cleaned != value:
        raise InvalidInput(
            f"{name} {_shown(value)} has a blank at an end, a NUL or a lone surrogate; choose a name without"
        )
    return cleaned


_identifier = name  # where an argument is called `name`


def exact_name(value: object, *, name: str) -> str:
    """A name of 1 to 512 characters that is kept as it is, blanks included.

    Raises:
        InvalidInput: no text, empty, too long, or with what no database stores: a NUL or a lone surrogate.
    """
    if not isinstance(value, str):
        raise InvalidInput(f"{name} must be text, not {type(value).__name__} ({_shown(value)}); pass a str")
    if not 0 < len(value) <= MAX_NAME_LENGTH:
        raise InvalidInput(f"{name} {_shown(value)} has {len(value):,} characters; it needs 1 to {MAX_NAME_LENGTH}")
    if not is_storable(value):
        raise InvalidInput(f"{name} {_shown(value)} has a NUL or a lone surrogate; choose a name without")
    return value


def is_storable(text: str) -> bool:
    """True for text that both databases store as it is."""
    return "\x00" not in text and (text.isascii() or _SURROGATE.search(text) is None)


def path(value: object, *, name: str) -> str:
    """Path of a file, with `~` expanded.

    Raises:
        InvalidInput: neither text nor a path object, empty, or a name that no file can have.
    """
    text = os.fspath(value) if isinstance(value, os.PathLike) else value
    if not isinstance(text, str):
        raise InvalidInput(f"{name} must be a path, not {type(value).__name__} ({_shown(value)}); pass a str or a Path")
    if not text.strip():
        raise InvalidInput(f"{name} is empty ({_shown(value)}); name a file")
    if "\x00" in text or _SURROGATE.search(text):
        raise InvalidInput(f"{name} {_shown(value)} is no name of a file; choose another")
    expanded = os.path.expanduser(text)  # noqa: PTH111  # Path.expanduser raises RuntimeError for a stranger's home
    if expanded.startswith("~") and expanded == text:
        raise InvalidInput(f"{name} {_shown(value)} begins with ~ and is no known user's home; write it out (./~...)")
    return expanded


def is_address(location: str) -> bool:
    """Tell whether a location is the address of a server, not a database."""
    return location.startswith(("https://", "http://"))


def optional_identity(value: object, *, name: str) -> str | None:
    """None, or the name of somebody as `identity` checks it."""
    return None if value is None else identity(value, name=name)


def optional_name(value: object, *, name: str) -> str | None:
    """A short identifier, or None."""
    return None if value is None else _identifier(value, name=name)


def names(value: object, *, name: str) -> tuple[str, ...]:
    """Short identifiers from None, one or several: a tuple without repeats, in their order."""
    if value is None:
        return ()
    if isinstance(value, str):
        return (_identifier(value, name=name),)
    if not isinstance(value, Iterable):
        raise InvalidInput(f"{name} must be a name or several, not {type(value).__name__} ({_shown(value)})")
    return tuple(dict.fromkeys(_identifier(item, name=name) for item in value))


def required_names(value: object, *, name: str) -> tuple[str, ...]:
    """Short identifiers from one or several, where None would be a mistake."""
    if value is None:
        raise InvalidInput(f"{name} must be a name or several, not None; an empty list names none")
    if isinstance(value, str) or not isinstance(value, Iterable):
        return names(value, name=name)
    found = []
    for index, item in enumerate(value):
        with locate(f"{name}s[{index}]"):
            found.append(_identifier(item, name=name))
    return tuple(dict.fromkeys(found))


@contextmanager
def locate(label: str) -> Iterator[None]:
    """Let what is refused inside be labelled as one of several, such as ids[1]."""
    try:
        yield
    except InvalidInput as error:
        raise InvalidInput(f"{label}: {error}") from error


def choice(value: object, known: Iterable[_Choice], *, name: str) -> _Choice:
    """One of the known words; the error lists them."""
    if type(value) is str and type(known) is tuple and value in known:  # as nearly every word is
        return value  # type: ignore[return-value]  # one of them
    options = tuple(known)
    if not isinstance(value, str) or value not in options:
        raise InvalidInput(f"{name} {_shown(value)} is unknown; choose one of: {', '.join(options)}")
    return options[options.index(value)]


def describe_unknown(value: str, known: Iterable[str], *, name: str) -> str:
    """Message about an unknown word, with the nearest known one, or all of them."""
    import difflib

    options = list(known)
    near = difflib.get_close_matches(value.lower(), options, n=1)
    hint = f"did you mean {near[0]}?" if near else f"known are: {', '.join(options) or 'none'}"
    return f"{name} {value!r:.80} is unknown; {hint}"


def nearest_name(name: str, known: Sequence[str]) -> str | None:
    """Return the known name that differs in case alone, or else the nearest of the first 10,000; None if none is."""
    import difflib

    folded = name.strip().casefold()
    same = next((other for other in known if other.strip().casefold() == folded), None)
    return same or next(iter(difflib.get_close_matches(name, known[:_MOST_COMPARED], n=1)), None)


def choices(value: object, known: Iterable[_Choice], *, name: str) -> tuple[_Choice, ...]:
    """Known words from None, one or several."""
    options = tuple(known)
    return tuple(choice(item, options, name=name) for item in names(value, name=name))


def validity(value: object) -> Validity:
    """Validity of a fact; "forgotten", as older records have it, means retracted."""
    return choice("retracted" if value == "forgotten" else value, VALIDITIES, name="validity")


def number(value: object, *, name: str, low: float, high: float) -> float:
    """A finite number in [low, high]."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not -math.inf < value < math.inf:
        raise InvalidInput(f"{name} must be a finite number, not {_shown(value)}")
    if not low <= value <= high:
        raise InvalidInput(f"{name} is {_shown(value)}; it must lie in [{low:g}, {high:g}]")
    return float(value)


def count(value: object, *, name: str, high: int = MAX_LIMIT) -> int:
    """A whole number in [0, high]."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidInput(f"{name} must be a whole number, not {_shown(value)}")
    if not 0 <= value <= high:
        raise InvalidInput(f"{name} is {_shown(value)}; it must lie in [0, {high:,}]")
    return value


def moment(value: object, *, name: str) -> datetime | None:
    """Time in UTC from a datetime or ISO 8601 text ("2026-05-01", "2026-05-01T09:30:00+02:00"); naive means UTC."""
    if value is None:
        return None
    time = value
    if isinstance(value, str):
        try:
            time = datetime.fromisoformat(value.strip())
        except ValueError as error:
            raise InvalidInput(
                f"{name} {_shown(value)} is no time, such as 2026-05-01 (ISO 8601) or last month"
            ) from error
    if not isinstance(time, datetime):
        raise InvalidInput(f"{name} must be a datetime or ISO 8601 text, not {_shown(value)}")
    try:
        return time.replace(tzinfo=UTC) if time.utcoffset() is None else time.astimezone(UTC)
    except OverflowError as error:
        raise InvalidInput(f"{name} {_shown(value)} is outside the years 1 to 9999 in UTC") from error


def flag(value: object, *, name: str) -> bool:
    """True or False; no other value that Python takes for one."""
    if not isinstance(value, bool):
        raise InvalidInput(f"{name} must be true or false, not {_shown(value)}")
    return value


def metadata(value: object) -> dict[str, Any]:
    """A JSON object from a mapping; empty from None.

    Raises:
        InvalidInput: not a mapping, or with a value that JSON has not (NaN and infinity included).
    """
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise InvalidInput(f"metadata must be a mapping, not {type(value).__name__} ({_shown(value)})")
    for key, item in value.items():
        if type(key) is not str or type(item) is not str:
            return cast("dict[str, Any]", _json(dict(value), name="metadata"))
    return {_storable(key): _storable(item) for key, item in value.items()}  # a tenth of the time


def host_metadata(value: object) -> dict[str, Any]:
    """Metadata that a host gives a memory: a JSON object, as `metadata`.

    Raises:
        InvalidInput: as `metadata`, or with an entry that marks a memory as forgotten or fading.
    """
    own = metadata(value)
    for key, mark in _RESERVED.items():
        entry = {key: mark}
        if type(own.get(key)) is type(mark) and own[key] == mark:
            raise InvalidInput(
                f"metadata has {entry}, by which engrain marks what was forgotten or fades; "
                "choose another key, or another value"
            )
    return own


def json_values(value: object, *, name: str) -> tuple[Any, ...]:
    """JSON values from a list; none from None.

    Raises:
        InvalidInput: one value instead of several, or with a value that JSON has not (NaN and infinity included).
    """
    if value is None:
        return ()
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise InvalidInput(f"{name} must be a list, not {type(value).__name__} ({_shown(value)})")
    return tuple(_json(list(value), name=name))


def json_objects(value: object, *, name: str, most: int) -> list[tuple[dict[str, Any], str]]:
    """JSON objects from a list, each as JSON has it and encoded in ASCII: nothing in it is cleaned.

    Raises:
        InvalidInput: no list, more than `most`, or an item that is no JSON object, too deep or too long.
    """
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise InvalidInput(f"{name} must be a list of objects, not {type(value).__name__} ({_shown(value)})")
    items = list(value)
    if len(items) > most:
        raise InvalidInput(f"{name} has {len(items):,} items; the most is {most:,}: split it")
    return [json_object(item, name=f"{name}[{place}]") for place, item in enumerate(items)]


def json_object(value: object, *, name: str) -> tuple[dict[str, Any], str]:
    """A JSON object as JSON has it, and encoded in ASCII; of one key given twice, as 1 and "1", the last counts.

    Raises:
        InvalidInput: no JSON object, deeper than 100 levels, or more than 10 MB long.
    """
    if not isinstance(value, Mapping):
        raise InvalidInput(f"{name} must be a JSON object, not {type(value).__name__} ({_shown(value)})")
    try:
        text = json.dumps(dict(value), allow_nan=False)
        parsed = json.loads(text)
    except RecursionError as error:
        raise InvalidInput(_too_deep(name)) from error
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"{name} {_shown(value)} is not JSON: {error}") from error
    if len(text) > MAX_CONTENT_BYTES:
        raise InvalidInput(f"{name} has {len(text):,} bytes; the most is {MAX_CONTENT_BYTES:,}: split it")
    _check_depth(parsed, name=name, levels=MAX_METADATA_DEPTH)
    return parsed, text


def _check_depth(value: Any, *, name: str, levels: int) -> None:
    if isinstance(value, list | dict):
        if levels == 0:
            raise InvalidInput(_too_deep(name))
        for item in value.values() if isinstance(value, dict) else value:
            _check_depth(item, name=name, levels=levels - 1)


def _json(value: Any, *, name: str) -> Any:
    try:
        parsed = json.loads(json.dumps(value, allow_nan=False, ensure_ascii=False))
    except RecursionError as error:
        raise InvalidInput(_too_deep(name)) from error
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"{name} {_shown(value)} is not JSON: {error}") from error
    return _cleaned(parsed, name=name, levels=MAX_METADATA_DEPTH)


def _cleaned(value: Any, *, name: str, levels: int) -> Any:
    """The same JSON without NULs and lone surrogates, which no database stores, and at most `levels` deep."""
    if levels == 0 and isinstance(value, list | dict):
        raise InvalidInput(_too_deep(name))
    match value:
        case str():
            return _storable(value)
        case list():
            return [_cleaned(item, name=name, levels=levels - 1) for item in value]
        case dict():
            return {_storable(key): _cleaned(item, name=name, levels=levels - 1) for key, item in value.items()}
        case _:
            return value


def _too_deep(name: str) -> str:
    return f"{name} nests deeper than {MAX_METADATA_DEPTH} levels; flatten it"


def _storable(text: str) -> str:
    bare = text.replace("\x00", "")
    return bare if bare.isascii() else _SURROGATE.sub("\ufffd", bare)


def _shown(value: object) -> str:
    """The value in at most 80 characters; its type where it cannot be printed (a giant number, endless nesting)."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):
        return f"<{type(value).__name__}>"
    return text if len(text) <= 80 else text[:77] + "..."  # noqa: PLR2004  # a line of a terminal
