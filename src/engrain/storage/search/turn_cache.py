"""Cache of turns: what ranking weighs of episodes that searches have found, which never changes while they are there.

Facts and rules do change, and are not in it; nor is when a turn was last referenced.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

import numpy as np

from engrain.storage.search.doc_slots import DocSlots

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

    Owner = tuple[str, str]  # tenant and scope

# Of an allowance in bytes for vectors, what one turn takes: an eighth goes to turns, of which each is some 500 bytes.
BYTES_PER_TURN = 8 * 500


class _Turns:
    """The known turns of one tenant and scope."""

    def __init__(self, kind: np.dtype[Any]) -> None:
        self.slots = DocSlots()
        self.rows = np.empty(0, kind)

    def add(self, rows: NDArray[Any]) -> None:
        """Add turns that are new here."""
        start, stop = len(self.slots), len(self.slots) + len(rows)
        if stop > len(self.rows):
            wider = np.zeros(max(stop, 2 * start), self.rows.dtype)  # `empty` writes objects, in ten times the time
            wider[:start] = self.rows[:start]
            self.rows = wider
        self.rows[start:stop] = rows
        self.slots.append(np.ascontiguousarray(rows["doc"]))

    def drop(self, docs: NDArray[np.int64]) -> int:
        """Forget those of the docs that are here, and return their number."""
        known = docs[self.slots.find(docs) >= 0]
        holes, movers = self.slots.drop(known)
        self.rows[holes] = self.rows[movers]
        self.rows[len(self.slots) : len(self.slots) + len(known)] = np.zeros((), self.rows.dtype)
        return len(known)


class TurnCache:
    """Turns by tenant and scope, so that a search finds those of its own scopes alone.

    Holds at most `most` turns: beyond them those of the scope that was not searched for longest leave. Whoever adds to
    it has read what is committed. Thread-safe.
    """

    def __init__(self, most: int = 200_000) -> None:
        self._most = most
        self._count = 0
        self._owners: OrderedDict[Owner, _Turns] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return self._count

    def find(self, owners: Collection[Owner], docs: NDArray[np.int64]) -> list[NDArray[Any]]:
        """Find the rows of those of `docs` that are known of these owners."""
        found = []
        with self._lock:
            for owner in owners:
                turns = self._owners.get(owner)
                if turns is None:
                    continue
                self._owners.move_to_end(owner)
                slots = turns.slots.find(docs)
                slots = slots[slots >= 0]
                if len(slots):
                    found.append(turns.rows[slots])
        return found

    def drop(self, docs: Collection[int]) -> None:
        """Forget turns that are erased, whoever owns them."""
        gone = np.array(sorted(docs), np.int64)
        with self._lock:
            for turns in self._owners.values():
                self._count -= turns.drop(gone)

    def add(self, owner: Owner, rows: NDArray[Any]) -> None:
        """Add turns of one owner; those that are known stay."""
        with self._lock:
            turns = self._owners.get(owner)
            if turns is None:
                turns = self._owners[owner] = _Turns(rows.dtype)
            new = rows[turns.slots.find(np.ascontiguousarray(rows["doc"])) < 0]
            turns.add(new)
            self._owners.move_to_end(owner)
            self._count += len(new)
            while self._count > self._most:
                _, gone = self._owners.popitem(last=False)
                self._count -= len(gone.slots)
