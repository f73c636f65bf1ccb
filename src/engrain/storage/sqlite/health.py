"""Health check of a file for `doctor`, sound or damaged: rows, indexes and file agree."""

from __future__ import annotations

from typing import TYPE_CHECKING

import apsw

from engrain.storage.entities import registry
from engrain.storage.sqlite.statements import STATEMENTS
from engrain.storage.transaction import Transaction

if TYPE_CHECKING:
    from collections.abc import Iterator

_DAMAGED = "the file is damaged: restore a backup"
_STRANGER = "the file was changed by something other than engrain; import it anew"
_STRAYS = {
    "missing_words": "memories are missing from the keyword index",
    "stray_words": "memories that are gone are still in the keyword index",
    "missing_entries": "memories have no place in the searches",
    "unvectored": "memories have lost their vector",
    "stray_entries": "places in the searches belong to no memory",
}


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
        return [*damage, _DAMAGED] if damage else list(_find_strays(db))
    except apsw.CorruptError as error:
        return [str(error), _DAMAGED]


def _find_strays(db: apsw.Connection) -> Iterator[str]:
    for statement, sentence in _STRAYS.items():
        found = db.execute(STATEMENTS.named[statement]).get
        if found:
            yield f"{found} {sentence}: {_STRANGER}"
    found = registry.count_strays(Transaction(db, STATEMENTS))
    if found:
        yield f"{found} names of entities are missing or nobody's: {_STRANGER}"
