"""Conversion of records to rows and back: fields are columns, each value in the dialect's type."""

from __future__ import annotations

import json
from dataclasses import MISSING, fields
from datetime import datetime, timedelta
from functools import cached_property
from importlib import import_module
from itertools import repeat
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from engrain.domain.compiled_records import compile_function
from engrain.domain.records import EmbeddingVersion, Entity, Episode, Event, Fact, Kind, Record, Rule
from engrain.storage.dialects import EPOCH, MICROSECOND, Dialect

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from engrain.domain.access.keys import AccessKey
    from engrain.domain.rules.maturity import Application
    from engrain.domain.runs.jobs import Job
    from engrain.domain.runs.runs import Run

RecordT = TypeVar("RecordT", bound=Record)
ColumnType = Literal["text", "whole", "number", "time", "names", "list", "object", "vector"]
_TYPES: Mapping[str, ColumnType] = {"datetime": "time", "int": "whole", "float": "number", "tuple[str, ...]": "names"}
_NOTHING: Mapping[ColumnType, str] = {"names": "()", "list": "()", "object": "{}"}
_EMPTY: Mapping[ColumnType, str] = {"names": "[]", "list": "[]", "object": "{}"}  # as SQLite has them
_GENERIC_TYPES: Mapping[str, ColumnType] = {"tuple": "list", "Mapping": "object"}

KIND_TABLES: Mapping[Kind, str] = {"episode": "episodes", "fact": "facts", "rule": "rules"}
KIND_RECORDS: Mapping[Kind, type[Episode | Fact | Rule]] = {"episode": Episode, "fact": Fact, "rule": Rule}
# The module and the name of each table's record: few processes need those that are no memories.
RECORD_HOMES: Mapping[str, tuple[str, str]] = {
    **{KIND_TABLES[kind]: ("engrain.domain.records", record.__name__) for kind, record in KIND_RECORDS.items()},
    "memory_events": ("engrain.domain.records", "Event"),
    "entities": ("engrain.domain.records", "Entity"),
    "embedding_versions": ("engrain.domain.records", "EmbeddingVersion"),
    "rule_applications": ("engrain.domain.rules.maturity", "Application"),
    "runs": ("engrain.domain.runs.runs", "Run"),
    "access_keys": ("engrain.domain.access.keys", "AccessKey"),
    "jobs": ("engrain.domain.runs.jobs", "Job"),
}


def find_record(table: str) -> type[Record]:
    """Return the record whose fields are the columns of a table."""
    module, name = RECORD_HOMES[table]
    record: type[Record] = getattr(import_module(module), name)
    return record


def column_types(record: type[Record]) -> dict[str, ColumnType]:
    """Return the columns of a record's table, which are its fields, with their types."""
    return {field.name: _column_type(str(field.type)) for field in fields(record)}  # type: ignore[arg-type]  # every Record is a dataclass


def column_defaults(record: type[Record]) -> dict[str, Any]:
    """Return the defaults of a record's fields as JSON, by name, of those that have one."""
    defaults: dict[str, Any] = {}
    for field in fields(record):  # type: ignore[arg-type]  # likewise
        if field.default_factory is not MISSING:
            defaults[field.name] = field.default_factory()
        elif field.default is not MISSING:
            defaults[field.name] = list(field.default) if isinstance(field.default, tuple) else field.default
    return defaults


def _column_type(annotation: str) -> ColumnType:
    bare = annotation.removesuffix(" | None")
    return _TYPES.get(bare) or _GENERIC_TYPES.get(bare.partition("[")[0], "text")


class _Insertions(dict[tuple[str, ...], str]):
    """Statements that add a row of some columns to a table, each built when it is first asked for."""

    def __init__(self, names: tuple[str, ...], value: str) -> None:
        super().__init__()
        self._names = names
        self._value = value

    def __missing__(self, key: tuple[str, ...]) -> str:
        table, *more = key
        columns = [*self._names, *more]
        bound = ", ".join([self._value] * len(columns))
        statement = self[key] = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({bound})"  # noqa: S608  # names of the schema
        return statement


class Rows(Generic[RecordT]):
    """Rows of one kind of record in one dialect."""

    def __init__(self, record: type[RecordT], dialect: Dialect) -> None:
        """Read the columns off the record's fields."""
        types = column_types(record)
        self.names: tuple[str, ...] = tuple(types)
        self.columns = ", ".join(types)
        self._read = attrgetter(*types)
        self._json_rows = dialect.json_rows
        self.values: Callable[[RecordT], list[Any]] = _compile_values(types, dialect)
        """Returns a record's columns as the driver takes them, in their order."""
        self.insertions: Mapping[tuple[str, ...], str] = _Insertions(self.names, dialect.value)
        """By table and further columns, a statement that adds one row, bound by place to `values` and then to those."""
        self._encoders = {name: encoder for name, type_ in types.items() if (encoder := _encoder(type_, dialect))}
        self.record: Callable[[Sequence[Any]], RecordT] = _compile_record(record, types, dialect)
        """Returns the record of a row selected as `columns`."""

    def insertion_of_json(self, table: str, *more: str) -> str:
        """Build a statement that adds the rows of one `json` value: half the work of one bound for each row.

        COPY, which is less, is not for tables with row-level security.
        """
        columns = ", ".join([*self.names, *more])
        given = self._json_rows.format(table=table)
        return f"INSERT INTO {table} ({columns}) SELECT {columns} FROM {given}"  # noqa: S608  # names of the schema

    def json(self, records: Iterable[tuple[RecordT, Iterable[Any]]], *more: str) -> str:
        """Encode records and their further columns as a list of objects."""
        names = (*self.names, *more)
        return _encode([dict(zip(names, (*self._read(record), *columns), strict=True)) for record, columns in records])

    def values_like(self, sample: RecordT, columns: Mapping[str, Iterable[Any]]) -> Iterator[tuple[Any, ...]]:
        """Yield the `values` of records that are as a sample but for some columns, and then further columns."""
        of_sample = {name: repeat(value) for name, value in zip(self.names, self.values(sample), strict=True)}
        encoders = self._encoders
        given = {name: map(encoders[name], c) if name in encoders else c for name, c in columns.items()}
        return zip(*(of_sample | given).values(), strict=False)  # a sample's values have no end

    def json_like(self, sample: RecordT, columns: Mapping[str, Iterable[Any]]) -> str:
        """Encode such records as `json`."""
        of_sample = dict(zip(self.names, self._read(sample), strict=True))
        return _encode(
            [of_sample | dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        )


class RecordRows:
    """Rows of every kind of record in one dialect, each made when it is first needed."""

    def __init__(self, dialect: Dialect) -> None:
        """Make those of memories, which every process reads."""
        self._dialect = dialect
        self.kinds: Mapping[Kind, Rows[Any]] = {kind: Rows(record, dialect) for kind, record in KIND_RECORDS.items()}

    @cached_property
    def events(self) -> Rows[Event]:
        return Rows(Event, self._dialect)

    @cached_property
    def entities(self) -> Rows[Entity]:
        return Rows(Entity, self._dialect)

    @cached_property
    def embedding_versions(self) -> Rows[EmbeddingVersion]:
        return Rows(EmbeddingVersion, self._dialect)

    @cached_property
    def applications(self) -> Rows[Application]:
        from engrain.domain.rules.maturity import Application

        return Rows(Application, self._dialect)

    @cached_property
    def runs(self) -> Rows[Run]:
        from engrain.domain.runs.runs import Run

        return Rows(Run, self._dialect)

    @cached_property
    def keys(self) -> Rows[AccessKey]:
        from engrain.domain.access.keys import AccessKey

        return Rows(AccessKey, self._dialect)

    @cached_property
    def jobs(self) -> Rows[Job]:
        from engrain.domain.runs.jobs import Job

        return Rows(Job, self._dialect)


def _compile_values(types: Mapping[str, ColumnType], dialect: Dialect) -> Callable[[Any], list[Any]]:
    """Compile what a loop over the columns takes twice as long for: every row that is written passes here."""
    encoders = {name: _encoder(type_, dialect) for name, type_ in types.items()}
    # Most lists and objects are empty, and in SQLite those are texts, and times numbers: a call less for each of them.
    is_sqlite = dialect.name == "sqlite"
    empty = _EMPTY if is_sqlite else {}
    values = []
    for name, type_ in types.items():
        value = f"record.{name}"
        if is_sqlite and type_ == "time":
            value = f"None if {value} is None else ({value} - epoch) // microsecond"
        elif encoders[name] is not None:
            nothing = f"{empty[type_]!r} if {value} == {_NOTHING[type_]} else " if type_ in empty else ""
            value = f"None if {value} is None else {nothing}{name}({value})"
        values.append(value)
    names = {**encoders, "epoch": EPOCH, "microsecond": MICROSECOND}
    return compile_function("values(record)", [f"return [{', '.join(values)}]"], names)


def _compile_record(
    record: type[RecordT], types: Mapping[str, ColumnType], dialect: Dialect
) -> Callable[[Sequence[Any]], RecordT]:
    """Compile the way back, for every row that is read."""
    decoders = {name: _decoder(type_, dialect) for name, type_ in types.items()}
    empty = dict.fromkeys(("names", "list"), "() if {0} == '[]' else ") | {"object": "{{}} if {0} == '{{}}' else "}
    # A row has a few times, which are numbers in SQLite: a call less for each of them.
    decoded = {"time": "EPOCH + timedelta(0, 0, {0})"} if dialect.name == "sqlite" else {}
    values = []
    for name, decode in decoders.items():
        value = decoded.get(types[name], "decode_{0}({0})").format(name)
        nothing = f"{empty.get(types[name], '').format(name)}None if {name} is None else "
        values.append(f"{name}={name}" if decode is None else f"{name}={nothing}{value}")
    lines = [f"{', '.join(types)} = row", f"return new({', '.join(values)})"]
    named = {f"decode_{name}": decode for name, decode in decoders.items()}
    return compile_function("record(row)", lines, {"new": record, "EPOCH": EPOCH, "timedelta": timedelta, **named})


def _as_plain(value: Any) -> Any:
    """Return what JSON has in place of a value that it has not."""
    return value.isoformat() if isinstance(value, datetime) else dict(value)


_encode = json.JSONEncoder(ensure_ascii=False, default=_as_plain).encode


def _encoder(type_: ColumnType, dialect: Dialect) -> Callable[[Any], Any] | None:
    match type_:
        case "time":
            return dialect.time
        case "names":
            return dialect.names
        case "list" | "object":
            return dialect.json
        case _:
            return None


def _decoder(type_: ColumnType, dialect: Dialect) -> Callable[[Any], Any] | None:
    match type_:
        case "time":
            return dialect.moment
        case "names" if dialect.name == "postgres":
            return tuple
        case "names" | "list":
            return lambda value: tuple(dialect.parsed(value))
        case "object":
            return dialect.parsed
        case _:
            return None
