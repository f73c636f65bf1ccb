"""Copies of a whole memory into another database, in bounded batches; a repeat continues an unfinished copy."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from engrain.domain.maintenance.backups import Extent, Row
from engrain.domain.records import Record
from engrain.errors import InvalidInput
from engrain.portability.canonical_json import encode_row
from engrain.storage import IN_MEMORY, open_store, upgrades
from engrain.storage.backup.restoration import SqlRestoration
from engrain.storage.backup.tables import DEPARTURES, TABLES, VECTORS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from engrain.storage.backup.extraction import SqlExtraction
    from engrain.storage.store import SqlStore

    Progress = Callable[[str, int], None]

_ROWS_AT_ONCE = 500
_SETTINGS = "memory_metadata"
# Keys of the target's settings: the fingerprint of the source, and whether the copy is whole.
_BEGUN, _FINISHED = "copy_begun", "copy_finished"
_EMBEDDERS = "embedding_versions"
_FIRST = (_SETTINGS, _EMBEDDERS)
# Tables whose first rows stay as they are while others are added, and so identify a memory.
_IDENTIFYING = ("embedding_versions", "episodes", "facts", "rules")
_IDENTITY = ("tenant_id", "id", "created_at")


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


def copy(source: SqlStore, target: SqlStore, *, progress: Progress | None = None) -> CopyReport:
    """Copy all rows, vectors included, from `source` to `target`, and compare the two; the source is only read.

    The target is new, has only been opened before, or is an unfinished copy of the same source, which continues; a
    finished one is not written. The rows are those of one moment. Each transaction holds a few hundred of them. Where a
    process writes to either database until the comparison ends, the report names the tables that differ. `progress`
    gets the step (copying, indexing, comparing) and the number of rows done so far.

    Raises:
        InvalidInput: the target is not empty, or holds a copy of another source; nothing was written.
    """
    progress = progress or (lambda _step, _rows: None)
    added = source.extract(Extent(), partial(_copy_rows, target=target, progress=progress))
    report = CopyReport(tables=tuple(_compare(source, target, added or {}, progress)))
    if added is not None and not report.differing:
        target.restore(None, lambda rows: rows.add(_SETTINGS, [_mark(_FINISHED, "yes")]), is_part=True)
    return report


def _copy_rows(source: SqlExtraction, *, target: SqlStore, progress: Progress) -> Mapping[str, int] | None:
    """Copy the rows that the target has not, and return their number by table; None where it is a finished copy."""
    marks, occupied = target.extract(Extent(), _inspect_target)
    fingerprint = _fingerprint(source)
    if _BEGUN not in marks and occupied is not None:
        raise InvalidInput(
            f"the target is not empty ({occupied} has rows), so nothing was copied: choose a new one, into which no "
            "engrain has written yet"
        )
    if _BEGUN in marks and not _is_same(json.loads(marks[_BEGUN]), fingerprint):
        raise InvalidInput("the target holds a copy of another memory, so nothing was copied: choose a new one")
    if _FINISHED in marks:
        return None

    def begin(restoration: SqlRestoration) -> Counter[str]:
        if _BEGUN not in marks:
            restoration.clear_embedders()
        restoration.add(_SETTINGS, [_mark(_BEGUN, json.dumps(fingerprint))])
        # Whoever opens the copy from now on finds the embedders of the source, and records none of its own.
        return Counter({table: restoration.add(table, list(_rows(source, table))) for table in _FIRST})

    added = target.restore(None, begin, is_part=True)
    seen = 0
    for table in (table for table in TABLES if table not in _FIRST):
        if table in {DEPARTURES, VECTORS}:
            _index(target, progress)
        for rows in _batches(_rows(source, table)):
            add = partial(SqlRestoration.add_or_correct, name=table, rows=rows)
            added[table] += target.restore(None, add, is_part=True)
            seen += len(rows)
            progress("copying", seen)
    _index(target, progress)
    target.restore(None, lambda restoration: restoration.finish())
    return added


def _index(target: SqlStore, progress: Progress) -> None:
    """Add all memories to the search index."""
    indexed = 0
    while count := target.flush_index():
        indexed += count
        progress("indexing", indexed)


def _inspect_target(target: SqlExtraction) -> tuple[dict[str, str], str | None]:
    """Find the marks of a copy, and the first table with a row; an embedder is noted by whoever opens a database."""
    marks = {row["key"]: row["value"] for row in target.rows(_SETTINGS, exact=True) if row["tenant_id"] == ""}
    return marks, next(
        (table for table in TABLES if table != _EMBEDDERS and any(True for _ in target.rows(table, exact=True))), None
    )


def _fingerprint(source: SqlExtraction) -> dict[str, str]:
    """The fingerprint of a memory by table; nothing for a table without rows."""
    first = {table: next(source.rows(table, exact=True), None) for table in _IDENTIFYING}
    return {
        table: hashlib.sha256(encode_row({name: row.get(name) for name in _IDENTITY})).hexdigest()
        for table, row in first.items()
        if row is not None
    }


def _is_same(before: Mapping[str, str], now: Mapping[str, str]) -> bool:
    """True if the source is that of the begun copy: an embedder's record stays, a first memory may be erased."""
    known = _IDENTIFYING[:1] if _IDENTIFYING[0] in before else _IDENTIFYING
    return not before or any(table in before and before[table] == now.get(table) for table in known)


def _mark(key: str, value: str) -> Row:
    return {"tenant_id": "", "key": key, "value": value}


def _compare(source: SqlStore, target: SqlStore, added: Mapping[str, int], progress: Progress) -> Iterator[TableCopy]:
    """Compare every table of both databases, as it is by now."""
    compared = 0
    for table in TABLES:
        rows, source_digest = source.extract(Extent(), partial(_count_and_digest, table=table))
        compared += rows
        _, target_digest = target.extract(Extent(), partial(_count_and_digest, table=table))
        progress("comparing", compared)
        yield TableCopy(
            table=table,
            rows=rows,
            added=added.get(table, 0),
            sha256=source_digest,
            agrees=source_digest == target_digest,
        )


def _count_and_digest(extraction: SqlExtraction, *, table: str) -> tuple[int, str]:
    """The number of rows of a table, and the SHA-256 of all of them, hexadecimal."""
    hashed = hashlib.sha256()
    count = 0
    for row in _rows(extraction, table):
        hashed.update(encode_row(row))
        count += 1
    return count, hashed.hexdigest()


def _rows(extraction: SqlExtraction, table: str) -> Iterator[Row]:
    """Every row of a table but the marks of a copy."""
    for row in extraction.rows(table, exact=True):
        if not (table == _SETTINGS and row["tenant_id"] == "" and row["key"] in {_BEGUN, _FINISHED}):
            yield row


def _batches(rows: Iterator[Row]) -> Iterator[list[Row]]:
    while batch := list(islice(rows, _ROWS_AT_ONCE)):
        yield batch
