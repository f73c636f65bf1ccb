"""The backup verbs of a Store, which differ between databases in how a transaction is entered and searches are made."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, TypeVar

from engrain.storage.backup.extraction import BACKED_UP, SqlExtraction
from engrain.storage.backup.restoration import RestoreIndex, SqlRestoration

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from engrain.domain.ids import IdSource
    from engrain.domain.maintenance.backups import Extent, Extraction, Restoration
    from engrain.storage.transaction import Transaction

_Answer = TypeVar("_Answer")


class SqlBackups(ABC):
    """`domain.maintenance.backups.Backups`."""

    _ids: IdSource

    @abstractmethod
    def _copying(self, tenant_id: str | None, work: Callable[[Transaction], _Answer]) -> _Answer:
        """What `work` reads in one snapshot, of a tenant or of every one."""

    @abstractmethod
    def _filling(self, tenant_id: str | None, work: Callable[[Transaction, RestoreIndex], _Answer]) -> _Answer:
        """What `work` writes in one transaction, of a tenant or of every one."""

    @property
    def backed_up(self) -> Mapping[str, Sequence[str]]:
        return BACKED_UP

    def extracting(self, extent: Extent, work: Callable[[Extraction], _Answer]) -> _Answer:
        return self._copying(extent.tenant_id, lambda tx: work(SqlExtraction(tx, extent)))

    def restoring(self, tenant_id: str | None, work: Callable[[Restoration], _Answer]) -> _Answer:
        return self._filling(tenant_id, lambda tx, searches: work(SqlRestoration(tx, searches, self._ids)))
