"""Unit of work: one transaction with who acts in it, the search index and the audit record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from engrain.domain.ids import IdSource
    from engrain.domain.records import Event
    from engrain.domain.requests import Act
    from engrain.storage.search.index import SearchIndex
    from engrain.storage.transaction import Transaction

_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class UnitOfWork:
    """One write: its transaction, the search index to keep up to date, who acts when, and a source of ids."""

    tx: Transaction
    index: SearchIndex
    act: Act
    ids: IdSource

    @property
    def at(self) -> Any:
        """The time of the act as the driver takes it."""
        return self.tx.dialect.time(self.act.at)

    def savepoint(self, work: Callable[[], _Result]) -> _Result:
        """Return what `work` returns; where it fails nothing of it is left, and the rest of the transaction goes on."""
        mark = self.index.mark()
        try:
            return self.tx.savepoint(work)
        except BaseException:
            self.index.go_back(mark)
            raise

    def record(self, event: Event) -> None:
        """Write an audit event in the transaction of the change that it describes."""
        self.tx.add(self.tx.statements.records.events, "memory_events", event)
