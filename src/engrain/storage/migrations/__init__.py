"""The revisions of the schema, oldest first, and their SQL for each database.

A revision is one `.sql` file per database: a new file runs them all, an older one those it lacks. Alembic sees the same
files through `versions/` (branch label `memory`), so that a host application can run them inside its own migrations.
"""

from __future__ import annotations

import re
from importlib.resources import files
from typing import Literal

Dialect = Literal["sqlite"]

REVISIONS = ("mem_001",)
HEAD = REVISIONS[-1]


def scripts(dialect: Dialect) -> dict[str, str]:
    """The SQL of every revision by its name, oldest first."""
    return {revision: script(dialect, revision) for revision in REVISIONS}


def statements(dialect: Dialect, revision: str) -> list[str]:
    """The SQL of one revision as single statements, for drivers that take no more at a time."""
    return re.findall(r"(?:.*\n)*?(?!--).*;$", script(dialect, revision), re.MULTILINE)


def script(dialect: Dialect, revision: str) -> str:
    """The SQL that takes a database from the revision before to this one."""
    return (files(f"engrain.storage.{dialect}") / "revisions" / f"{revision}.sql").read_text(encoding="utf-8")
