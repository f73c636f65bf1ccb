"""The revisions of the schema, oldest first, and their SQL for each database.

A revision is one `.sql` file per database: a new database runs them all, an older one those it lacks. Alembic sees the
same files through `versions/` (branch label `memory`), so that a host application can run them inside its own
migrations.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import Literal

Dialect = Literal["sqlite", "postgres"]

REVISIONS = ("mem_001", "mem_002", "mem_003", "mem_004", "mem_005", "mem_006")
HEAD = REVISIONS[-1]


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
    return (files("engrain.storage") / dialect / "revisions" / f"{revision}.sql").read_text(encoding="utf-8")
