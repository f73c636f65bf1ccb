"""Transactions that the shared parts of a Store run their statements in; each database opens them in its own way."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from engrain.domain.ids import IdSource
    from engrain.domain.records import Caller, Fact
    from engrain.domain.requests import Act
    from engrain.storage.transaction import Transaction
    from engrain.storage.write.memories import MemoryWrites

_Result = TypeVar("_Result")


class Transactions(ABC):
    """Base of every part of a Store that is written once for both databases."""

    _ids: IdSource

    @abstractmethod
    def _read(self, caller: Caller | None, work: Callable[[Transaction], _Result]) -> _Result:
        """Return what `work` reads in a transaction of the caller's tenant; None stands for every tenant."""

    @abstractmethod
    def _write(self, act: Act, work: Callable[[MemoryWrites], _Result], *, repeatable: bool = False) -> _Result:
        """Return what `work` writes in a transaction of its own; `repeatable` work may be committed twice."""

    @abstractmethod
    def _execute(
        self, tenant_id: str | None, work: Callable[[Transaction], _Result], *, repeatable: bool = False
    ) -> _Result:
        """Return what `work` writes in a transaction of a tenant, or of every one, without an audit record."""

    @abstractmethod
    def _lock(self, unit: MemoryWrites, episode_ids: Sequence[str], facts: Sequence[Fact]) -> None:
        """Lock the sessions of episodes, then the slots of facts, before anything else; nothing with one writer."""

    @abstractmethod
    def _lock_removal(self, unit: MemoryWrites, episode_ids: Sequence[str], *, everywhere: bool = False) -> None:
        """Lock the sessions and speakers of episodes that go, in the caller's scopes or in all of the tenant's."""
