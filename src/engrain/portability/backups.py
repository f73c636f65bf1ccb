"""Backups: the memories of an agent, a user, a tenant or a whole database in one sealed file of JSON lines."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING

from engrain.domain.records import Record
from engrain.errors import NotFound
from engrain.portability.backup_lines import BackupWriter, Header, TableBackup
from engrain.portability.sealed_files import SealedWriter, create_file
from engrain.storage.backup.tables import BACKED_UP, MEMORIES, VECTORS
from engrain.storage.migrations import HEAD

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import datetime
    from pathlib import Path

    from engrain.domain.maintenance.backups import Extent, VectorSpace
    from engrain.portability.encryption import Cipher
    from engrain.portability.signing import SigningKey
    from engrain.storage.backup.extraction import SqlExtraction
    from engrain.storage.store import SqlStore

    Progress = Callable[[str, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupReport(Record):
    """Contents of a backup; `sha256` is of the whole file except its seal, and identifies it."""

    path: str
    tenant_id: str | None  # None: every tenant
    agent: str | None  # None: every agent of the tenant
    user: str | None = None  # None: of every user and of none
    made_at: datetime
    embedder: VectorSpace | None  # whose vectors it holds
    tables: tuple[TableBackup, ...]
    bytes: int
    sha256: str

    @property
    def memories(self) -> int:
        """The number of episodes, facts and rules."""
        return sum(table.rows for table in self.tables if table.table in MEMORIES)


def backup(
    store: SqlStore,
    path: Path,
    extent: Extent,
    *,
    made_at: datetime,
    key: SigningKey,
    cipher: Cipher | None = None,
    vectors: bool = True,
    progress: Progress | None = None,
) -> BackupReport:
    """Write the rows of an extent into a signed file, from one snapshot, while others may write.

    It holds a few hundred rows and a megabyte of text in memory. `progress` gets the table and the number of its rows
    written. The same agent or tenant gives the same tables on every database.

    Raises:
        NotFound: there is nothing of the agent, tenant or agent's user that is named; an earlier file is as it was.
        InvalidInput: the path is no place for a file.
        DatabaseFull, StorageError: it cannot be written; nothing is left of it.
    """
    tables = [table for table in BACKED_UP if vectors or table != VECTORS]
    with create_file(path, replaces=True) as stream:

        def write(source: SqlExtraction) -> tuple[VectorSpace | None, list[TableBackup], str]:
            embedder = source.embedder if vectors else None
            header = Header(
                engrain=version("engrain"),
                schema=HEAD,
                made_at=made_at,
                extent=extent,
                embedder=embedder,
                tables=tuple(tables),
            )
            lines = BackupWriter(SealedWriter(stream, path, key, cipher), header)
            written = [lines.table(table, source.rows(table), progress) for table in tables]
            check_contents(extent, written)
            return embedder, written, lines.end()

        embedder, written, sha256 = store.extract(extent, write)
    return BackupReport(
        path=str(path),
        tenant_id=extent.tenant_id,
        agent=extent.agent,
        user=extent.user,
        made_at=made_at,
        embedder=embedder,
        tables=tuple(written),
        bytes=path.stat().st_size,
        sha256=sha256,
    )


def check_contents(extent: Extent, tables: Iterable[TableBackup]) -> None:
    """Check that there is something of what is named: a misspelt name replaces no good backup.

    Raises:
        NotFound: there is not a row of it.
    """
    is_named = extent.tenant_id is not None and (extent.user is None or extent.agent is not None)
    if is_named and not any(table.rows for table in tables):
        whose = extent if extent.user is None else f"agent {extent.agent}, of {extent},"
        raise NotFound(f"there is nothing of {whose} to back up, and nothing was written; engrain agents lists them")
