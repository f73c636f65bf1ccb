"""Search index of a backend: the port by which writes add memories to the searches and take them out."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from engrain.domain.memories.turn_columns import NewTurns
    from engrain.domain.records import Episode, MemoryRecord
    from engrain.storage.transaction import Transaction


class StoredTurns(NamedTuple):
    """New turns as they were stored: their docs, ascending, and their numbers in their sessions."""

    turns: NewTurns
    docs: Sequence[int]
    numbers: Sequence[int]

    def choose(self, positions: Sequence[int]) -> StoredTurns:
        """Return the turns at some positions."""
        docs, numbers = (
            [self.docs[position] for position in positions],
            [self.numbers[position] for position in positions],
        )
        return StoredTurns(self.turns.choose(positions), docs, numbers)

    def build(self) -> dict[int, Episode]:
        """Build the episodes, by doc."""
        return dict(zip(self.docs, self.turns.build(self.numbers), strict=True))


class SearchIndex(Protocol):
    """Keyword index and vectors of a backend, as far as writes touch them."""

    defers_turns: bool  # whether one new episode alone is left to the next `flush_index`

    def add(self, tx: Transaction, memories: Mapping[int, MemoryRecord]) -> None:
        """Index new memories, by doc, at once or by the next `flush_index`."""

    def add_turns(self, tx: Transaction, stored: StoredTurns) -> None:
        """Index new turns as `add`."""

    def add_later(self, tx: Transaction, memories: Mapping[int, MemoryRecord]) -> None:
        """Index new memories by the next `Backend.index_all`, or at once where nothing is left for later."""

    def index_again(self, tx: Transaction, memories: Mapping[int, MemoryRecord]) -> None:
        """Index memories that are in the searches under their words of today, and the turns around them, by doc."""

    def is_stale(self, memory: MemoryRecord) -> bool:
        """Tell whether a memory that an older version has indexed is indexed in another way today."""

    def is_out(self, tx: Transaction, doc: int) -> bool:
        """Tell whether a memory is out of the searches already."""

    def take_out(
        self, tx: Transaction, tenant_id: str, docs: Sequence[int], *, turns: Sequence[Episode] = (), at: datetime
    ) -> None:
        """Take a tenant's memories out of the searches; their vectors stay, for questions about the past.

        `turns` are those of them that are episodes, whose neighbours forget their words as of `at`.
        """

    def put_back(self, tx: Transaction, doc: int, memory: MemoryRecord) -> None:
        """Put a fact back into the searches, with the vector it had."""

    def erase(self, tx: Transaction, tenant_id: str, memories: Mapping[int, MemoryRecord], at: datetime) -> None:
        """Erase everything about a tenant's memories, by doc, whose rows have just gone."""

    def mark(self) -> object:
        """Return a mark of the state outside of the database, for `go_back`."""

    def go_back(self, mark: object) -> None:
        """Return to a mark: the database has rolled back its part."""

    def finish(self, tx: Transaction, tenant_id: str) -> None:
        """End the unit of work: write what it has counted, last of all."""
