"""Copies of a whole memory into another database, in bounded batches; a repeat continues an unfinished copy."""

from __future__ import annotations

import hashlib
import json
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from engrain.domain.records import Record
from engrain.errors import InvalidInput
from engrain.portability.canonical_json import encode_row
from engrain.storage import IN_MEMORY, open_store, upgrades
from engrain.storage.backup.archive import DEPARTURES, VECTORS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from engrain.domain.ports import Archive

    Progress = Callable[[str, int], None]

_ROWS_AT_ONCE = 500
_SETTINGS = "memory_metadata"
# Keys of the target's settings: the fingerprint of the source, and whether the copy is whole.
_BEGUN, _FINISHED = "copy_begun", "copy_finished"
# The marks of the copy are the last settings; vectors may have been made by a process that opened an unfinished copy.
_FROM_THE_START = frozenset({_SETTINGS, VECTORS})
# Tables whose first rows stay as they are while others are added, and so identify a memory.
_IDENTIFYING = ("embedding_versions", "episodes", "facts", "rules")


@dataclass(frozen=True, slots=True, kw_only=True)
class TableCopy(Record):
    """One table of a copy: `rows` in the source, `added` by this call, and `agrees` if the target has the same."""

    table: str
    rows: int
    added: int
    sha256: str  # of the source's rows, as JSON, in the order of their keys
    agrees: bool  # whether it is the target's too


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyReport(Record):
    """Report of a copy with the comparison of the two databases."""

    tables: tuple[TableCopy, ...]

    @property
    def differing(self) -> tuple[str, ...]:
        """The tables that do not agree; none unless another process wrote meanwhile."""
        return tuple(table.table for table in self.tables if not table.agrees)


def copy_database(
    source: str | Path,
    target: str | Path,
    *,
    busy_timeout_s: float = 5.0,
    synchronous: str = "normal",
    progress: Progress | None = None,
) -> CopyReport:
    """Copy from one location to another: paths, or URLs of PostgreSQL databases. A missing target is created.

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
    open_ = partial(open_store, busy_timeout_s=busy_timeout_s, synchronous=synchronous)
    with closing(open_(source)) as from_store, closing(open_(target)) as to_store:
        return copy(from_store, to_store, progress=progress)


def copy(source: Archive, target: Archive, *, progress: Progress | None = None) -> CopyReport:
    """Copy all rows, vectors included, from `source` to `target`, and compare the two; the source is only read.

    The target is new, or an unfinished copy of the same source, which continues; a finished one is not written.
    Each transaction holds a few hundred rows. The copy is exact unless a process writes to either database meanwhile;
    then the report names the tables that differ. `progress` gets the step (copying, indexing, comparing) and the number
    of rows done so far.

    Raises:
        InvalidInput: the target holds other memories, or a copy of another source; nothing was written.
    """
    progress = progress or (lambda _step, _rows: None)
    is_finished = _prepare(source, target)
    added: dict[str, int] = {}
    for table in () if is_finished else source.tables:
        if table in {DEPARTURES, VECTORS}:
            _index(target, progress)
        added[table] = _copy_table(source, target, table, lambda rows: progress("copying", sum(added.values()) + rows))
    if not is_finished:
        _index(target, progress)  # the vectors too
    report = CopyReport(tables=tuple(_compare(source, target, added, progress)))
    if not is_finished and not report.differing:
        _mark(target, _FINISHED, "yes")
    return report


def _prepare(source: Archive, target: Archive) -> bool:
    """Mark the target as a copy of the source; returns whether it is a finished copy already.

    Raises:
        InvalidInput: it holds other memories, or a copy of another source.
    """
    marks = {row["key"]: row["value"] for row in _rows(target, _SETTINGS) if row["tenant_id"] == ""}
    fingerprint = _fingerprint(source)
    if _BEGUN not in marks:
        for table in target.tables:
            if target.last_key(table) is not None:
                raise InvalidInput(
                    f"the target holds other memories already ({table}), so nothing was copied: choose a new one"
                )
        _mark(target, _BEGUN, json.dumps(fingerprint))
    elif not _is_same(json.loads(marks[_BEGUN]), fingerprint):
        raise InvalidInput("the target holds a copy of another memory, so nothing was copied: choose a new one")
    return _FINISHED in marks


def _fingerprint(source: Archive) -> dict[str, str]:
    """The fingerprint of a memory by table; nothing for a table without rows."""
    first = {table: source.rows(table, after=None, limit=1) for table in _IDENTIFYING}
    return {
        table: _digest([{name: row.get(name) for name in ("tenant_id", "id", "created_at")} for row in rows])
        for table, rows in first.items()
        if rows
    }


def _is_same(before: Mapping[str, str], now: Mapping[str, str]) -> bool:
    """True if the source is that of the begun copy: an embedder's record stays, a first memory may be erased."""
    known = _IDENTIFYING[:1] if _IDENTIFYING[0] in before else _IDENTIFYING
    return not before or any(table in before and before[table] == now.get(table) for table in known)


def _mark(target: Archive, key: str, value: str) -> None:
    target.restore(_SETTINGS, [{"tenant_id": "", "key": key, "value": value}])


def _copy_table(source: Archive, target: Archive, table: str, progress: Callable[[int], None]) -> int:
    """Copy the rows after the target's last one; returns their number."""
    after = None if table in _FROM_THE_START else target.last_key(table)
    added = 0
    while batch := source.rows(table, after=after, limit=_ROWS_AT_ONCE):
        target.restore(table, [row for row in batch if not _is_mark(table, row)])
        after = source.key_of(table, batch[-1])
        added += sum(not _is_mark(table, row) for row in batch)
        progress(added)
    return added


def _index(target: Archive, progress: Progress) -> None:
    """Add all memories to the search index."""
    indexed = 0
    while count := target.reindex(_ROWS_AT_ONCE):
        indexed += count
        progress("indexing", indexed)


def _compare(source: Archive, target: Archive, added: Mapping[str, int], progress: Progress) -> Iterator[TableCopy]:
    """Compare every table of both databases."""
    compared = 0
    for table in source.tables:
        rows, source_digest = _count_and_digest(source, table)
        compared += rows
        _, target_digest = _count_and_digest(target, table)
        progress("comparing", compared)
        yield TableCopy(
            table=table,
            rows=rows,
            added=added.get(table, 0),
            sha256=source_digest,
            agrees=source_digest == target_digest,
        )


def _count_and_digest(store: Archive, table: str) -> tuple[int, str]:
    """The number of rows of a table, and the SHA-256 of all of them, hexadecimal."""
    hashed = hashlib.sha256()
    count = 0
    for row in _rows(store, table):
        if not _is_mark(table, row):
            hashed.update(encode_row(row))
            count += 1
    return count, hashed.hexdigest()


def _rows(store: Archive, table: str) -> Iterator[Mapping[str, Any]]:
    after = None
    while batch := store.rows(table, after=after, limit=_ROWS_AT_ONCE):
        yield from batch
        after = store.key_of(table, batch[-1])


def _is_mark(table: str, row: Mapping[str, Any]) -> bool:
    """True for the marks of a copy, which are not copied."""
    return table == _SETTINGS and row["tenant_id"] == "" and row["key"] in {_BEGUN, _FINISHED}


def _digest(rows: list[dict[str, Any]]) -> str:
    return hashlib.sha256(b"".join(map(encode_row, rows))).hexdigest()
