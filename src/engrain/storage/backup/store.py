"""Backups and the archive of a Store: rows read in one snapshot, and restored in one transaction."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, TypeVar

from engrain.storage.backup import archive
from engrain.storage.backup.extraction import BACKED_UP, SqlExtraction
from engrain.storage.backup.restoration import RestoreIndex, SqlRestoration
from engrain.storage.transactions import Transactions

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from engrain.domain.maintenance.backups import Extent, Extraction, Restoration
    from engrain.storage.transaction import Transaction

_Result = TypeVar("_Result")


class SqlBackups(Transactions):
    """Implements `domain.maintenance.backups.Backups`, and what `domain.ports.Archive` reads alike everywhere."""

    @abstractmethod
    def _read_snapshot(self, tenant_id: str | None, work: Callable[[Transaction], _Result]) -> _Result:
        """Return what `work` reads in one snapshot of all rows, of a tenant or of every one."""

    @abstractmethod
    def _restore_backup(self, tenant_id: str | None, work: Callable[[Transaction, RestoreIndex], _Result]) -> _Result:
        """Return what `work` writes in one transaction with the search index, of a tenant or of every one."""

    @property
    def backed_up(self) -> Mapping[str, Sequence[str]]:
        return BACKED_UP

    def extracting(self, extent: Extent, work: Callable[[Extraction], _Result]) -> _Result:
        return self._read_snapshot(extent.tenant_id, lambda tx: work(SqlExtraction(tx, extent)))

    def restoring(self, tenant_id: str | None, work: Callable[[Restoration], _Result]) -> _Result:
        return self._restore_backup(tenant_id, lambda tx, index: work(SqlRestoration(tx, index, self._ids)))

    @property
    def tables(self) -> Sequence[str]:
        return archive.TABLES

    def key_of(self, table: str, row: Mapping[str, Any]) -> Sequence[Any]:
        return archive.row_key(table, row)

    def last_key(self, table: str) -> Sequence[Any] | None:
        return self._read(None, lambda tx: archive.find_last_key(tx, table))
