"""Ids that a backup file names, in a temporary database: checked and mapped in little memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Self

import apsw

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import TracebackType

_TABLES = """
PRAGMA journal_mode = off; PRAGMA synchronous = off; PRAGMA cache_size = -8000;
CREATE TABLE named (tenant TEXT, kind TEXT, id TEXT, target TEXT, is_new INTEGER, PRIMARY KEY (tenant, kind, id))
WITHOUT ROWID;
CREATE TABLE wanted (tenant TEXT, kind TEXT, id TEXT, line INTEGER);
BEGIN;
"""
_MISSING = """
SELECT line, kind, id FROM wanted WHERE NOT EXISTS (
    SELECT 1 FROM named WHERE named.tenant = wanted.tenant AND named.kind = wanted.kind AND named.id = wanted.id
) AND NOT (wanted.kind = 'memory' AND EXISTS (
    SELECT 1 FROM named WHERE named.tenant = wanted.tenant AND named.id = wanted.id
    AND named.kind IN ('episode', 'fact', 'rule', 'tombstone')
)) ORDER BY line LIMIT 1
"""
_TARGET = "SELECT target FROM named WHERE tenant = ? AND kind = ? AND id = ?"
_MEMORY = """
SELECT target, is_new FROM named WHERE tenant = ? AND kind IN ('episode', 'fact', 'rule') AND id = ?
"""
_SET = "UPDATE named SET target = ?, is_new = ? WHERE tenant = ? AND kind = ? AND id = ?"


class Missing(NamedTuple):
    """Reference of a line to an id that the file does not name."""

    line: int
    kind: str
    id: str


class NamedIds:
    """Ids by tenant and kind, with the ids they are restored under.

    A temporary database of SQLite's own, which nobody else can open and which is gone when it is closed.
    """

    def __init__(self) -> None:
        """Nothing is named yet."""
        self._db = apsw.Connection("")
        self._db.execute(_TABLES).fetchall()  # a row of a pragma would stop it

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._db.close()

    def add(self, tenant: str, kind: str, id_: str) -> bool:
        """Name an id; False where it is named already."""
        before = self._db.total_changes()
        self._db.execute("INSERT OR IGNORE INTO named VALUES (?, ?, ?, NULL, NULL)", (tenant, kind, id_))
        return self._db.total_changes() > before

    def want(self, line: int, tenant: str, kind: str, id_: str) -> None:
        """Note that a line of the file refers to an id, named before or after it."""
        self._db.execute("INSERT INTO wanted VALUES (?, ?, ?, ?)", (tenant, kind, id_, line))

    def missing(self) -> Missing | None:
        """Find the first reference to an id that is not named."""
        found = self._db.execute(_MISSING).fetchone()
        return None if found is None else Missing(*found)

    def begin_again(self) -> None:
        """Clear the ids that were restored."""
        self._db.execute("UPDATE named SET target = NULL, is_new = NULL WHERE target IS NOT NULL")

    def has_memory(self, tenant: str, id_: str) -> bool:
        """Tell whether an episode, a fact or a rule has this id."""
        return self._db.execute(_MEMORY, (tenant, id_)).fetchone() is not None

    def become(self, tenant: str, kind: str, targets: Iterable[tuple[str, str]], *, is_new: bool) -> None:
        """Note the restored ids, and whether this restore made them; ids that are left out map to nothing."""
        self._db.executemany(_SET, [(target, is_new, tenant, kind, id_) for id_, target in targets])

    def target(self, tenant: str, kind: str, id_: str | None) -> str | None:
        """Return the restored id, or None."""
        if id_ is None:
            return None
        found = self._db.execute(_TARGET, (tenant, kind, id_)).fetchone()
        return None if found is None else found[0]

    def target_of_memory(self, tenant: str, id_: str, *, new: bool = False) -> str | None:
        """Return the restored id of a memory of any kind; with `new`, only if this restore made it."""
        found = self._db.execute(_MEMORY, (tenant, id_)).fetchone()
        return None if found is None or (new and not found[1]) else found[0]

    def anything(self, tenant: str, id_: str) -> str | None:
        """Return the restored id of a memory or an entity."""
        return self.target_of_memory(tenant, id_) or self.target(tenant, "entity", id_)
