"""Named SQL statements, loaded from `.sql` files with a name and one line of purpose each.

-- name --
-- What it is for
SELECT ...;
"""

from __future__ import annotations

import re
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_HEADING = re.compile(r"^-- (\w+) --$", re.MULTILINE)


def load_sql(package: str, name: str) -> Mapping[str, str]:
    """Load the statements of one file by name."""
    text = (files(package) / name).read_text(encoding="utf-8")
    _, *rest = _HEADING.split(text)
    return {name: _strip_comments(body) for name, body in zip(rest[::2], rest[1::2], strict=True)}


def _strip_comments(body: str) -> str:
    """Without comments, in one line: what a statement cache keys on and a log can show."""
    lines = (line.split("--")[0].strip() for line in body.splitlines())
    return " ".join(line for line in lines if line).rstrip(";")
