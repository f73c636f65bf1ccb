"""Backups: the memories of an agent, a tenant or a whole database in one sealed file of JSON lines.

The first line is a header, then each table has a line that begins it, its rows, and a line that ends it with
their count and SHA-256; the last line has the count and digest of all lines before it. docs/backup.md shows it.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engrain.domain.records import Record
from engrain.portability.canonical_json import encode_row
from engrain.portability.sealed_files import SealedWriter, create_file
from engrain.storage.backup.tables import BACKED_UP, MEMORIES, VECTORS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import datetime
    from pathlib import Path

    from engrain.domain.maintenance.backups import Extent, Row, VectorSpace
    from engrain.storage.backup.extraction import SqlExtraction
    from engrain.storage.store import SqlStore

    Progress = Callable[[str, int], None]

FORMAT = 1
KIND = "engrain backup"
_PROGRESS_EVERY = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class TableBackup(Record):
    """One table of a backup: the number of rows, and the SHA-256 of their lines, hexadecimal."""

    table: str
    rows: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupReport(Record):
    """Contents of a backup; `sha256` is of the whole file except its seal, and identifies it."""

    path: str
    tenant_id: str | None  # None: every tenant
    agent: str | None  # None: every agent of the tenant
    made_at: datetime
    embedder: VectorSpace | None  # whose vectors it holds
    tables: tuple[TableBackup, ...]
    bytes: int
    sha256: str

    @property
    def memories(self) -> int:
        """The number of episodes, facts and rules."""
        return sum(table.rows for table in self.tables if table.table in MEMORIES)


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupOrigin:
    """Origin of a backup: version, schema and time."""

    version: str  # of engrain
    schema: str  # the newest revision it knows
    made_at: datetime


def backup(
    store: SqlStore,
    path: Path,
    extent: Extent,
    *,
    origin: BackupOrigin,
    vectors: bool = True,
    progress: Progress | None = None,
) -> BackupReport:
    """Write the rows of an extent into a file, from one snapshot, while others may write.

    It holds a few hundred rows and a megabyte of text in memory. `progress` gets the table and the number of its rows
    written. The same agent or tenant gives the same tables on every database.

    Raises:
        InvalidInput: the path is no place for a file.
        DatabaseFull, StorageError: it cannot be written; nothing is left of it.
    """
    tables = [table for table in BACKED_UP if vectors or table != VECTORS]
    with create_file(path, replaces=True) as stream:

        def write(source: SqlExtraction) -> tuple[VectorSpace | None, list[TableBackup], str]:
            lines = _LineWriter(SealedWriter(stream, path))
            embedder = source.embedder if vectors else None
            lines.write(_header(extent, origin, embedder, tables))
            written = [lines.table(table, source.rows(table), progress) for table in tables]
            return embedder, written, lines.end()

        embedder, written, sha256 = store.extract(extent, write)
    return BackupReport(
        path=str(path),
        tenant_id=extent.tenant_id,
        agent=extent.agent,
        made_at=origin.made_at,
        embedder=embedder,
        tables=tuple(written),
        bytes=path.stat().st_size,
        sha256=sha256,
    )


class _LineWriter:
    """Writer of the lines of a backup, which counts and digests them."""

    def __init__(self, writer: SealedWriter) -> None:
        self._writer = writer
        self._all = hashlib.sha256()
        self._count = 0

    def write(self, value: dict[str, Any]) -> None:
        self._write(encode_row(value))

    def table(self, table: str, rows: Iterable[Row], progress: Progress | None) -> TableBackup:
        self.write({"begin": table})
        digest = hashlib.sha256()
        count = 0
        for count, row in enumerate(rows, start=1):
            line = encode_row(row)
            digest.update(line)
            self._write(line)
            if progress is not None and count % _PROGRESS_EVERY == 0:
                progress(table, count)
        self.write({"end": table, "rows": count, "sha256": digest.hexdigest()})
        return TableBackup(table=table, rows=count, sha256=digest.hexdigest())

    def end(self) -> str:
        """Write the last line and the seal; returns the digest of the file."""
        self.write({"lines": self._count, "sha256": self._all.hexdigest()})
        return self._writer.seal()

    def _write(self, line: bytes) -> None:
        self._writer.write(line)
        self._all.update(line)
        self._count += 1


def _header(extent: Extent, origin: BackupOrigin, embedder: VectorSpace | None, tables: list[str]) -> dict[str, Any]:
    return {
        "kind": KIND,
        "format": FORMAT,
        "engrain": origin.version,
        "schema": origin.schema,
        "made_at": origin.made_at.isoformat(),
        "tenant": extent.tenant_id,
        "agent": extent.agent,
        "embedder": None if embedder is None else embedder.to_dict(),
        "tables": tables,
    }
