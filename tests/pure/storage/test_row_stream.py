"""A column is declared once, in its record: SQL, backups, copies, exports, imports and digests follow."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal, get_origin

import pytest

from engrain.domain import events
from engrain.domain.records import Fact
from engrain.portability.canonical_json import encode_row
from engrain.portability.exports import UNEXPORTED, export_row
from engrain.portability.record_converter import imported_columns
from engrain.portability.verification import column_checks
from engrain.storage.backup.tables import BACKED_UP, TABLES
from engrain.storage.dialects import SQLITE
from engrain.storage.named_sql import expand, load_bodies
from engrain.storage.rows import KIND_RECORDS, KIND_TABLES, RECORD_HOMES, Rows, column_types, find_record
from tests.support.sample_records import episode, fact, rule

if TYPE_CHECKING:
    from collections.abc import Mapping

MEMORIES = {KIND_TABLES[memory.kind]: memory for memory in (episode("A turn."), fact("Lisbon"), rule("Take it."))}
# Another value of each type, in the record and as JSON.
OTHERS = {
    "text": ("another", "another"),
    "whole": (17, 17),
    "number": (0.25, 0.25),
    "time": (datetime(2031, 1, 2, tzinfo=UTC), "2031-01-02T00:00:00+00:00"),
    "names": (("x",), ["x"]),
    "list": (({"x": 1},), [{"x": 1}]),
    "object": ({"x": 1}, {"x": 1}),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Extended(Fact):
    """A fact with a column more of every type."""

    more_text: str | None = None
    more_whole: int = 0
    more_number: float = 0.0
    more_time: datetime | None = None
    more_names: tuple[str, ...] = ()
    more_list: tuple[Any, ...] = ()
    more_object: Mapping[str, Any] = field(default_factory=dict, hash=False)


def row_of(table):
    """A row whose every column has a value."""
    return {name: OTHERS[type_][1] for name, type_ in TABLES[table].columns.items()}


@pytest.mark.parametrize("table", RECORD_HOMES)
def test_the_columns_of_a_record_are_its_fields_with_their_types(table):
    record = find_record(table)
    types = column_types(record)
    assert list(types) == [each.name for each in fields(record)]
    assert set(types) <= set(TABLES[table].columns)
    for each in fields(record):
        bare = str(each.type).removesuffix(" | None")
        if types[each.name] == "text" and bare != "str" and not bare.startswith("Literal["):
            assert get_origin(getattr(__import__(record.__module__, fromlist=[bare]), bare)) is Literal, each.name
    assert Rows(record, SQLITE).columns.split(", ") == list(types)


def test_a_new_field_is_a_column_that_is_written_and_read():
    rows = Rows(Extended, SQLITE)
    more = {name: type_ for name, type_ in column_types(Extended).items() if name.startswith("more_")}
    assert more == {f"more_{type_}": type_ for type_ in OTHERS}
    extended = Extended(
        **{each.name: getattr(MEMORIES["facts"], each.name) for each in fields(Fact)},
        **{name: OTHERS[type_][0] for name, type_ in more.items()},
    )
    assert rows.insertions["facts",].count("?") == len(fields(Extended))
    assert rows.record(rows.values(extended)) == extended


# Events of a batch share most of their columns, which are bound once for all of them.
LISTED = {"add_events": "memory_events"}


@pytest.mark.parametrize("package", ["engrain.storage", "engrain.storage.sqlite", "engrain.storage.postgres"])
def test_no_statement_lists_the_columns_of_a_record(package):
    text = (files(package) / "queries.sql").read_text(encoding="utf-8")
    for name, statement in re.findall(r"^-- (\w+) --\n(.*?);$", text, re.MULTILINE | re.DOTALL):
        words = set(re.findall(r"\w+", statement))
        listed = [table for table in RECORD_HOMES if set(column_types(find_record(table))) <= words]
        assert listed == [LISTED[name]] if name in LISTED else listed == [], name


def test_statements_name_the_columns_of_a_record_by_its_table():
    bodies = load_bodies()
    statements = {name: expand(body) for name, body in bodies.items()}
    columns = Rows(find_record("access_keys"), SQLITE).columns
    assert f"SELECT {columns} FROM access_keys" in statements["keys_of"]
    assert ":dedupe_key" in statements["add_job"]
    assert not any(" OF " in statement for statement in statements.values())


@pytest.mark.parametrize("table", [table for table in RECORD_HOMES if not TABLES[table].is_local])
def test_a_backup_holds_and_checks_every_field(table):
    assert set(column_types(find_record(table))) <= set(BACKED_UP[table])
    assert {name for name, _ in column_checks(table)} == set(BACKED_UP[table])
    row = row_of(table)
    for name, check in column_checks(table):
        check(name, row[name])


@pytest.mark.parametrize("table", RECORD_HOMES)
def test_the_digest_of_rows_tells_every_column(table):
    row = row_of(table)
    for name in row:
        assert encode_row({**row, name: None}) != encode_row(row), name


@pytest.mark.parametrize("table", MEMORIES)
def test_an_export_holds_every_field_and_an_import_reads_it(table):
    kind = MEMORIES[table].kind
    columns = set(column_types(find_record(table))) - UNEXPORTED
    assert columns <= set(export_row(kind, row_of(table), {}))
    assert columns <= imported_columns(kind)


@pytest.mark.parametrize("table", MEMORIES)
def test_the_digest_of_an_erased_memory_and_its_json_tell_every_field(table):
    memory = MEMORIES[table]
    for name, type_ in column_types(type(memory)).items():
        other = replace(memory, **{name: OTHERS[type_][0]})
        assert events.digest_memory(other) != events.digest_memory(memory), name
        assert memory.to_dict().keys() == other.to_dict().keys() >= column_types(type(memory)).keys()


def test_every_kind_of_memory_is_tried():
    assert {type(memory) for memory in MEMORIES.values()} == set(KIND_RECORDS.values())
