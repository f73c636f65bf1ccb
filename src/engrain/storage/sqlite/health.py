"""Health check of a file for `doctor`, sound or damaged: rows, indexes and file agree."""

from __future__ import annotations

import apsw

from engrain.storage.reports.strays import find_strays
from engrain.storage.sqlite.statements import STATEMENTS
from engrain.storage.transaction import Transaction

_DAMAGED = "the file is damaged: restore a backup"


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
