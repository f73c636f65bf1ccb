"""Named SQL statements, loaded from `.sql` files with a name and one line of purpose each.

-- name --
-- What it is for
SELECT ...;

`COLUMNS OF runs` are the columns of a table that has a record, its fields, and `VALUES OF runs` their values by name.
"""

from __future__ import annotations

import re
from pathlib import Path

from engrain.storage.rows import column_types, find_record

_FIELDS = re.compile(r"\b(COLUMNS|VALUES) OF (\w+)")
_HEADING = re.compile(r"^-- (\w+) --$", re.MULTILINE)


def load_bodies(room: str = ".") -> dict[str, str]:
    """Load the statements of a room of the storage by name, as they are written; without a room the shared ones."""
    text = (Path(__file__).parent / room / "queries.sql").read_text(encoding="utf-8")
    _, *rest = _HEADING.split(text)
    return dict(zip(rest[::2], rest[1::2], strict=True))


def expand(body: str) -> str:
    """Return a statement in one line, without comments, and with the columns of its records."""
    return _FIELDS.sub(_list_fields, _strip_comments(body))


def _list_fields(match: re.Match[str]) -> str:
    prefix = ":" if match[1] == "VALUES" else ""
    return ", ".join(f"{prefix}{name}" for name in column_types(find_record(match[2])))


def _strip_comments(body: str) -> str:
    """Without comments, in one line: what a statement cache keys on and a log can show."""
    lines = (line.split("--")[0].strip() for line in body.splitlines())
    return " ".join(line for line in lines if line).rstrip(";")
