"""A whole memory into another database: every tenant's rows, in bounded batches, and any number of times until done."""

from __future__ import annotations

import hashlib
import json
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from engrain.domain.records import Record
from engrain.errors import InvalidInput
from engrain.portability.canonical import canonical
from engrain.storage import IN_MEMORY, open_store, upgrades
from engrain.storage.backup.archive import DEPARTURES, VECTORS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from engrain.domain.ports import Archive

    Progress = Callable[[str, int], None]

_ROWS_AT_ONCE = 500
_SETTINGS = "memory_metadata"
# Where the target keeps, among its settings, whose copy it is and whether it is whole.
_BEGUN, _FINISHED = "copy_begun", "copy_finished"
# Our own marks are the last settings; vectors may have been made by somebody who looked at an unfinished copy.
_FROM_THE_START = frozenset({_SETTINGS, VECTORS})
# First rows that stay what they are while others are added: what tells one memory from another.
_TELLING = ("embedding_versions", "episodes", "facts", "rules")


@dataclass(frozen=True, slots=True, kw_only=True)
class TableCopy(Record):
    """One table of a copy: `rows` in the source, `added` by this call, and whether the target says the same."""

    table: str
    rows: int
    added: int
    sha256: str  # of the source's rows, as JSON, in the order of their keys
    agrees: bool  # whether it is the target's too


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyReport(Record):
    """What a copy did, and whether the two databases say the same."""

    tables: tuple[TableCopy, ...]

    @property
    def differing(self) -> tuple[str, ...]:
        """The tables that do not agree; none where nobody wrote to either database meanwhile."""
        return tuple(each.table for each in self.tables if not each.agrees)


def copy_database(
    source: str | Path,
    target: str | Path,
    *,
    busy_timeout_s: float = 5.0,
    synchronous: str = "normal",
    progress: Progress | None = None,
) -> CopyReport:
    """`copy` from one location to another: paths, or URLs of PostgreSQL databases. The target is made where it is not.

    Raises:
        InvalidInput: there is no memory at the source, its schema is old, the two are one, or the target is in use.
        StorageError: the leaf that says what is wrong with one of them.
    """
    if str(target) == IN_MEMORY:
        raise InvalidInput("a copy in memory would be gone at once; name a file or a database")
    found = upgrades.inspect_schema(source)
    if not found.revision:
        raise InvalidInput(f"there is no memory at {found.location}, so nothing was copied")
    if found.is_behind:
        raise InvalidInput(
            f"{found.location} has the older schema {found.revision}, and a copy leaves its source as it is: "
            f"run first: engrain migrate {found.location}"
        )
    if upgrades.inspect_schema(target).location == found.location:
        raise InvalidInput(f"source and target are both {found.location}; name another target")
    opened = partial(open_store, busy_timeout_s=busy_timeout_s, synchronous=synchronous)
    with closing(opened(source)) as read, closing(opened(target)) as written:
        return copy(read, written, progress=progress)


def copy(source: Archive, target: Archive, *, progress: Progress | None = None) -> CopyReport:
    """Make `target` say what `source` says, vectors included, and compare the two; the source is only read.

    The target is new, or an unfinished copy of the same source, which goes on where it stopped; of a finished one
    nothing is written. Each transaction holds a few hundred rows. The copy is exact where nobody writes to either
    database meanwhile; where somebody does, the report says which tables differ. `progress` is told what is being done
    (copying, indexing, comparing) and how many rows of it are done so far.

    Raises:
        InvalidInput: the target holds other memories, or a copy of another source; nothing was written.
    """
    told = progress or _unheard
    is_finished = _prepare(source, target)
    added: dict[str, int] = {}
    for table in () if is_finished else source.tables:
        if table in {DEPARTURES, VECTORS}:
            _index(target, told)
        added[table] = _copy_table(source, target, table, lambda rows: told("copying", sum(added.values()) + rows))
    if not is_finished:
        _index(target, told)  # the vectors too
    report = CopyReport(tables=tuple(_compared(source, target, added, told)))
    if not is_finished and not report.differing:
        _mark(target, _FINISHED, "yes")
    return report


def _prepare(source: Archive, target: Archive) -> bool:
    """Make the target ours to write to; whether it is a finished copy already.

    Raises:
        InvalidInput: it holds other memories, or a copy of another source.
    """
    marks = {row["key"]: row["value"] for row in _rows(target, _SETTINGS) if row["tenant_id"] == ""}
    whose = _fingerprint(source)
    if _BEGUN not in marks:
        for table in target.tables:
            if target.last_key(table) is not None:
                raise InvalidInput(
                    f"the target holds other memories already ({table}), so nothing was copied: choose a new one"
                )
        _mark(target, _BEGUN, json.dumps(whose))
    elif not _is_same(json.loads(marks[_BEGUN]), whose):
        raise InvalidInput("the target holds a copy of another memory, so nothing was copied: choose a new one")
    return _FINISHED in marks


def _fingerprint(source: Archive) -> dict[str, str]:
    """What tells this memory from any other, by table; nothing for a table without rows."""
    first = {table: source.rows(table, after=None, limit=1) for table in _TELLING}
    return {
        table: _digest([{name: row.get(name) for name in ("tenant_id", "id", "created_at")} for row in rows])
        for table, rows in first.items()
        if rows
    }


def _is_same(then: Mapping[str, str], now: Mapping[str, str]) -> bool:
    """Whether the source is the one that was begun with: an embedder's record stays, a first memory may be erased."""
    known = _TELLING[:1] if _TELLING[0] in then else _TELLING
    return not then or any(table in then and then[table] == now.get(table) for table in known)


def _mark(target: Archive, key: str, value: str) -> None:
    target.restore(_SETTINGS, [{"tenant_id": "", "key": key, "value": value}])


def _copy_table(source: Archive, target: Archive, table: str, told: Callable[[int], None]) -> int:
    """Copy what comes after the last row that is there; how many rows it was."""
    after = None if table in _FROM_THE_START else target.last_key(table)
    added = 0
    while batch := source.rows(table, after=after, limit=_ROWS_AT_ONCE):
        target.restore(table, [row for row in batch if not _is_mark(table, row)])
        after = source.key_of(table, batch[-1])
        added += sum(not _is_mark(table, row) for row in batch)
        told(added)
    return added


def _index(target: Archive, told: Progress) -> None:
    """Give all memories their places in the searches."""
    indexed = 0
    while count := target.reindex(_ROWS_AT_ONCE):
        indexed += count
        told("indexing", indexed)


def _compared(source: Archive, target: Archive, added: Mapping[str, int], told: Progress) -> Iterator[TableCopy]:
    """Every table of both databases, read anew."""
    compared = 0
    for table in source.tables:
        rows, ours = _count_and_digest(source, table)
        compared += rows
        _, theirs = _count_and_digest(target, table)
        told("comparing", compared)
        yield TableCopy(table=table, rows=rows, added=added.get(table, 0), sha256=ours, agrees=ours == theirs)


def _count_and_digest(store: Archive, table: str) -> tuple[int, str]:
    """How many rows a table has, and the SHA-256 of all of them, hexadecimal."""
    hashed = hashlib.sha256()
    count = 0
    for row in _rows(store, table):
        if not _is_mark(table, row):
            hashed.update(canonical(row))
            count += 1
    return count, hashed.hexdigest()


def _rows(store: Archive, table: str) -> Iterator[Mapping[str, Any]]:
    after = None
    while batch := store.rows(table, after=after, limit=_ROWS_AT_ONCE):
        yield from batch
        after = store.key_of(table, batch[-1])


def _is_mark(table: str, row: Mapping[str, Any]) -> bool:
    """Whether this is what a copy says of itself: a copy of a copy has its own."""
    return table == _SETTINGS and row["tenant_id"] == "" and row["key"] in {_BEGUN, _FINISHED}


def _digest(rows: list[dict[str, Any]]) -> str:
    return hashlib.sha256(b"".join(map(canonical, rows))).hexdigest()


def _unheard(_step: str, _rows: int) -> None:
    pass
