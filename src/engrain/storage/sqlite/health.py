"""Health check of a file for `doctor`, sound or damaged: rows, indexes and file agree."""

from __future__ import annotations

from contextlib import suppress

import apsw

from engrain.storage.reports.strays import find_strays
from engrain.storage.sqlite.statements import STATEMENTS
from engrain.storage.transaction import Transaction

_TOTALS = ("count_memories", "count_searched", "count_unembedded")
_ROWS = ("count_memories", "count_indexed", "count_unembedded")
_DAMAGED = "the file is damaged: restore a backup"


def examine(db: apsw.Connection, *, thorough: bool) -> tuple[int, int, int, tuple[str, ...]]:
    """Count all memories, those that are searched, and those of them that wait for a vector; and list the problems.

    Only a thorough check reads the whole file. A file that is too damaged for another is checked thoroughly.
    """
    if not thorough:
        with suppress(apsw.CorruptError):
            memories, searched, waiting = (int(db.execute(STATEMENTS.named[name]).get) for name in _TOTALS)
            return memories, searched, waiting, ()
    memories, indexed, waiting = (count_rows(db, name) for name in _ROWS)
    return memories, indexed, waiting, tuple(find_problems(db))


def count_rows(db: apsw.Connection, statement: str) -> int:
    """Count by a statement; 0 where the file is too damaged, which `find_problems` reports."""
    try:
        return int(db.execute(STATEMENTS.named[statement]).get)
    except apsw.CorruptError:
        return 0


def find_problems(db: apsw.Connection) -> list[str]:
    """Return sentences that say what is wrong and what to do; none for a sound file."""
    try:
        damage = [row for (row,) in db.execute("PRAGMA quick_check(10)") if row != "ok"]
        return [*damage, _DAMAGED] if damage else list(find_strays(Transaction(db, STATEMENTS), "file", {}))
    except apsw.CorruptError as error:
        return [str(error), _DAMAGED]
