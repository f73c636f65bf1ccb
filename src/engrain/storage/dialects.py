"""SQL dialects: the spelling of shared statements and values in each database.

Shared statements are written once, in SQLite's way, with two conventions: a value is `:name`, and one of several is
`IN :names`, where `:docs` and `:namespaces` are numbers and the rest is text. `EACH :rows` is a table of one column,
`value`: the elements of a JSON list, given as text (`as_json`). SQLite's hints to its planner
(`NOT INDEXED`, `INDEXED BY`, a unary plus) say nothing elsewhere.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, Literal

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
_LIST = re.compile(r"\bIN :(\w+)")
_EACH = re.compile(r"\bEACH :(\w+)")
_VALUE = re.compile(r"(?<![:\w]):(\w+)")
_HINT = re.compile(r" (?:NOT INDEXED|INDEXED BY \w+)\b|\+(?=(?:tenant_id|scope)\b)")
_NUMBERS = frozenset({"docs", "namespaces"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """Spelling of one database where the two differ."""

    name: Literal["sqlite", "postgres"]
    statement: Callable[[str], str]  # a shared statement in this database's spelling
    value: str  # a value by its place, in a statement that is spelled already
    time: Callable[[datetime], Any]  # values as the driver takes them
    json: Callable[[Any], Any]
    names: Callable[[Iterable[str]], Any]  # a column that holds several texts
    listed: Callable[[Iterable[Any]], Any]  # what `IN :names` is bound to
    moment: Callable[[Any], datetime]  # columns as the driver gives them
    micros: Callable[[Any], int] | None  # of a time as the driver gives it; None where it is that number
    parsed: Callable[[Any], Any]
    all_tags: str  # a condition: the column `tags` holds each of :tags
    lock: str  # after a SELECT: nobody else changes these rows until the end of the transaction
    lock_whole: str  # likewise, and nobody adds what refers to them
    hold: str  # after a SELECT: the rows stay what they are to whatever refers to them, until then
    lacks: Callable[[str, str], str]  # a condition: the object in a column does not hold a key
    is_true: Callable[[str, str], str]  # a condition: the object in a column holds a key whose value is true
    json_rows: str  # the rows of {table} that a list of objects in JSON stands for; empty where it takes longer


def micros(moment: datetime) -> int:
    """Convert a time to microseconds since 1970 in UTC, exactly."""
    return (moment - EPOCH) // MICROSECOND


def moment(value: int) -> datetime:
    """Convert microseconds since 1970 to a time in UTC."""
    return EPOCH + timedelta(microseconds=value)


@lru_cache(maxsize=1_024)
def _sqlite_statement(text: str) -> str:
    return _EACH.sub(r"json_each(:\1)", _LIST.sub(r"IN (SELECT value FROM json_each(:\1))", text))


@lru_cache(maxsize=1_024)
def _postgres_statement(text: str) -> str:
    bare = _HINT.sub("", text).replace("%", "%%")
    listed = _LIST.sub(lambda match: f"= ANY(CAST(:{match[1]} AS {_array(match[1])}))", bare)
    statement = _EACH.sub(r"json_array_elements(CAST(:\1 AS json))", listed)
    return _VALUE.sub(r"%(\1)s", statement)


def _array(name: str) -> str:
    return "bigint[]" if name in _NUMBERS else "text[]"


def _make_encoder() -> Callable[[Any], str]:
    """Make the encoder of lists and objects that `json.dumps` makes for every value: twice the work of encoding one."""
    encoder = json.JSONEncoder(ensure_ascii=False)
    make = getattr(json.encoder, "c_make_encoder", None)  # CPython's own
    if make is None:
        return encoder.encode
    encode = make(None, encoder.default, json.encoder.encode_basestring, None, ": ", ", ", False, False, True)
    return lambda value: "".join(encode(value, 0))


_encode = _make_encoder()


def as_json(value: Any) -> str:
    """Encode a list or an object as JSON."""
    kind = type(value)  # told before an abstract class is asked, which takes ten times as long
    if kind is tuple or kind is list:
        return _encode(value) if value else "[]"
    if kind is dict:
        return _encode(value) if value else "{}"
    return as_json(dict(value) if isinstance(value, Mapping) else list(value))


def parse_json(text: str) -> Any:
    """Parse a list or an object; most columns hold an empty one."""
    if text == "[]":
        return []
    return json.loads(text) if text != "{}" else {}


SQLITE = Dialect(
    name="sqlite",
    statement=_sqlite_statement,
    value="?",
    time=micros,
    json=as_json,
    names=lambda names: as_json(tuple(names)),
    listed=lambda values: json.dumps(list(values)),
    moment=moment,
    micros=None,
    parsed=parse_json,
    all_tags=(
        "NOT EXISTS (SELECT 1 FROM json_each(:tags) AS wanted"
        " WHERE wanted.value NOT IN (SELECT value FROM json_each(tags)))"
    ),
    lock="",  # there is one writer at a time
    lock_whole="",
    hold="",
    lacks=lambda column, key: f"{column} -> '$.{key}' IS NULL",
    is_true=lambda column, key: f"{column} -> '$.{key}' IS 'true'",
    json_rows="",
)


def postgres_dialect() -> Dialect:
    """Return the dialect of PostgreSQL; needs psycopg."""
    from psycopg.types.json import Json

    return Dialect(
        name="postgres",
        statement=_postgres_statement,
        value="%s",
        time=lambda value: value,
        json=lambda value: Json(dict(value) if isinstance(value, Mapping) else list(value)),
        names=list,
        listed=list,
        moment=lambda value: value.astimezone(UTC),
        micros=micros,
        parsed=lambda value: value,
        all_tags="tags @> CAST(:tags AS text[])",
        lock="FOR NO KEY UPDATE",  # whoever names such a row need not wait
        lock_whole="FOR UPDATE",
        hold="FOR KEY SHARE",
        lacks=lambda column, key: f"{column} -> '{key}' IS NULL",
        is_true=lambda column, key: f"CAST({column} -> '{key}' AS text) IS NOT DISTINCT FROM 'true'",
        json_rows="json_populate_recordset(CAST(NULL AS {table}), CAST(%s AS json))",
    )
