"""How the shared verbs of a Store enter a transaction, in which the databases differ."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from engrain.domain.records import Caller, Fact
    from engrain.domain.requests import Act
    from engrain.storage.transaction import Transaction
    from engrain.storage.write.ledger import Ledger

_Answer = TypeVar("_Answer")


class Transactions(ABC):
    """Some of a Store's verbs, said once for both databases."""

    @abstractmethod
    def _ask(self, caller: Caller | None, work: Callable[[Transaction], _Answer]) -> _Answer:
        """What `work` reads in a transaction of the caller's tenant, or of every one."""

    @abstractmethod
    def _hold(self, ledger: Ledger, episode_ids: Sequence[str], facts: Sequence[Fact]) -> None:
        """Before anything else is held: the sessions of these episodes, then the places of these facts."""

    @abstractmethod
    def _do(self, act: Act, work: Callable[[Ledger], _Answer]) -> _Answer:
        """What `work` writes in a transaction of its own, once."""
