"""The revisions of the schema, oldest first, and their SQL for each database.

A revision is one `.sql` file per database: a new database runs them all, an older one those it lacks. A revision is
frozen, as databases have run it; a change of the schema is a new revision. Alembic sees the same files through
`versions/` (branch label `memory`), so that a host application can run them inside its own migrations.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from engrain.errors import SchemaTooNew, StorageError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

Dialect = Literal["sqlite", "postgres"]

REVISIONS = tuple(f"mem_{number:03}" for number in range(1, 18))
HEAD = REVISIONS[-1]
_OURS = "mem_"  # the prefix of our revisions; a host application's stand beside them
_TABLES = re.compile(r"^(CREATE|DROP|ALTER) (?:VIRTUAL )?TABLE (\w+)(?: RENAME TO (\w+))?", re.MULTILINE)


def current_revision(recorded: Iterable[object], existing: Collection[str], dialect: Dialect, location: str) -> str:
    """Return our revision of those `recorded` in alembic_version, "" for none; `existing` has the names of all tables.

    Raises:
        SchemaTooNew: the revision is unknown here.
        StorageError: tables of that revision are missing.
    """
    ours = max((name for name in map(str, recorded) if name.startswith(_OURS)), default="")
    if not ours:
        return ""
    if ours not in REVISIONS:
        raise SchemaTooNew(
            f"{location} has schema {ours}; this engrain knows up to {HEAD}, "
            "so nothing was changed: upgrade engrain (pip install --upgrade engrain)"
        )
    missing = [table for table in table_names(dialect, ours) if table not in existing]
    if missing:
        raise StorageError(
            f"{location} records schema {ours} but lacks tables of it ({', '.join(missing[:3])}), so nothing was "
            "changed: it is damaged or of an engrain that was never released; restore a backup into a new database"
        )
    return ours


@cache
def table_names(dialect: Dialect, revision: str) -> tuple[str, ...]:
    """The names of the tables that a database of that revision has, in the order of their creation."""
    names: list[str] = []
    for earlier in REVISIONS[: REVISIONS.index(revision) + 1]:
        for act, table, renamed in _TABLES.findall(script(dialect, earlier)):
            if act == "DROP" or renamed:
                names.remove(table)
            if act == "CREATE" or renamed:
                names.append(renamed or table)
    return tuple(names)


def scripts(dialect: Dialect) -> dict[str, str]:
    """The SQL of every revision by its name, oldest first."""
    return {revision: script(dialect, revision) for revision in REVISIONS}


def statements(dialect: Dialect, revision: str) -> list[str]:
    """The SQL of one revision as single statements, for drivers that take no more at a time."""
    return single_statements(script(dialect, revision))


def single_statements(script: str) -> list[str]:
    """A script's statements, each of which ends with its last line, comments before it included."""
    return re.findall(r"(?:.*\n)*?(?!--).*;$", script, re.MULTILINE)


def for_alembic(dialect_name: str, revision: str) -> list[str]:
    """The same, for the database as Alembic names it."""
    known: dict[str, Dialect] = {"sqlite": "sqlite", "postgresql": "postgres"}
    return statements(known[dialect_name], revision)


@cache
def script(dialect: Dialect, revision: str) -> str:
    """The SQL that takes a database from the revision before to this one."""
    return (Path(__file__).parents[1] / dialect / "revisions" / f"{revision}.sql").read_text(encoding="utf-8")
