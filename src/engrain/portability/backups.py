"""A backup: the memories of an agent, a tenant or a whole database, in one sealed file of JSON lines.

The first line says what the file is, then each table has a line that begins it, its rows, and a line that ends it with
their count and SHA-256; the last line has the count and digest of all lines before it. docs/backup.md shows it.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engrain.domain.records import Record
from engrain.portability.canonical import canonical
from engrain.portability.sealed import SealedWriter, created

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import datetime
    from pathlib import Path

    from engrain.domain.maintenance.backups import Backups, Extent, Extraction, Row, VectorSpace

    Progress = Callable[[str, int], None]

FORMAT = 1
KIND = "engrain backup"
VECTORS = "memory_vectors"
MEMORIES = ("episodes", "facts", "rules")
_TOLD_EVERY = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class TableBackup(Record):
    """One table of a backup: how many rows, and the SHA-256 of their lines, hexadecimal."""

    table: str
    rows: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupReport(Record):
    """What a backup holds; `sha256` is of the whole file but its seal, and tells it from any other."""

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
        """How many episodes, facts and rules."""
        return sum(each.rows for each in self.tables if each.table in MEMORIES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Maker:
    """Who makes a backup, and of what."""

    version: str  # of engrain
    schema: str  # the newest revision it knows
    made_at: datetime


def backup(
    store: Backups, path: Path, extent: Extent, *, maker: Maker, vectors: bool = True, progress: Progress | None = None
) -> BackupReport:
    """Write what an extent holds into a file, as it is at one moment, whoever writes meanwhile.

    Memory does not grow with it: a few hundred rows and a megabyte of text are held. `progress` is told the table and
    how many rows of it are written. The same agent or tenant gives the same tables, on whichever database it lies.

    Raises:
        InvalidInput: the path is no place for a file.
        DatabaseFull, StorageError: it cannot be written; nothing is left of it.
    """
    tables = [table for table in store.backed_up if vectors or table != VECTORS]
    with created(path, replaces=True) as stream:

        def write(source: Extraction) -> tuple[VectorSpace | None, list[TableBackup], str]:
            lines = _Lines(SealedWriter(stream, path))
            embedder = source.embedder if vectors else None
            lines.say(_header(extent, maker, embedder, tables))
            written = [lines.table(table, source.rows(table), progress) for table in tables]
            return embedder, written, lines.end()

        embedder, written, sha256 = store.extracting(extent, write)
    return BackupReport(
        path=str(path),
        tenant_id=extent.tenant_id,
        agent=extent.agent,
        made_at=maker.made_at,
        embedder=embedder,
        tables=tuple(written),
        bytes=path.stat().st_size,
        sha256=sha256,
    )


class _Lines:
    """The lines of a backup, counted and digested on their way."""

    def __init__(self, writer: SealedWriter) -> None:
        self._writer = writer
        self._all = hashlib.sha256()
        self._count = 0

    def say(self, value: dict[str, Any]) -> None:
        self._write(canonical(value))

    def table(self, table: str, rows: Iterable[Row], progress: Progress | None) -> TableBackup:
        self.say({"begin": table})
        digest = hashlib.sha256()
        count = 0
        for count, row in enumerate(rows, start=1):
            line = canonical(row)
            digest.update(line)
            self._write(line)
            if progress is not None and count % _TOLD_EVERY == 0:
                progress(table, count)
        self.say({"end": table, "rows": count, "sha256": digest.hexdigest()})
        return TableBackup(table=table, rows=count, sha256=digest.hexdigest())

    def end(self) -> str:
        """Write the last line and the seal; the digest of the file."""
        self.say({"lines": self._count, "sha256": self._all.hexdigest()})
        return self._writer.seal()

    def _write(self, line: bytes) -> None:
        self._writer.write(line)
        self._all.update(line)
        self._count += 1


def _header(extent: Extent, maker: Maker, embedder: VectorSpace | None, tables: list[str]) -> dict[str, Any]:
    return {
        "kind": KIND,
        "format": FORMAT,
        "engrain": maker.version,
        "schema": maker.schema,
        "made_at": maker.made_at.isoformat(),
        "tenant": extent.tenant_id,
        "agent": extent.agent,
        "embedder": None if embedder is None else embedder.to_dict(),
        "tables": tables,
    }
