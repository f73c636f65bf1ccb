"""Bounded cache with a time to live, in front of slow computations and reads."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from itertools import takewhile
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

DEFAULT_TTL_S = 300.0

_Value = TypeVar("_Value")


class LruCache(Generic[_Value]):
    """At most `max_entries` values by name: the least recently used goes first, and each after `ttl_s`. Thread-safe.

    Setting a value starts its time anew; reading it does not. What is too old is never returned, and is removed at the
    next call that meets it.
    """

    def __init__(
        self, max_entries: int, *, ttl_s: float = DEFAULT_TTL_S, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Start empty; `clock` gives seconds that never run backwards."""
        self._max_entries, self._ttl_s, self._clock = max_entries, ttl_s, clock
        self._lock = threading.RLock()
        self._entries: OrderedDict[str, _Value] = OrderedDict()  # the least recently used first
        self._ends: OrderedDict[str, float] = OrderedDict()  # when each is too old, the oldest first

    def get(self, key: str) -> _Value | None:
        """The value, from now on the most recently used; None where there is none or it is too old."""
        with self._lock:
            if key not in self._ends:
                return None
            if self._ends[key] <= self._clock():
                self._pop(key)
                return None
            self._entries.move_to_end(key)
            return self._entries[key]

    def set(self, key: str, value: _Value, *, prefix: str = "", most: int | None = None) -> None:
        """Store a value; at capacity the least recently used one is dropped.

        Where others are here too, names of a `prefix` beyond `most` drop the least recently used of their own.
        """
        with self._lock:
            self.prune()
            if key not in self._entries and len(self._entries) >= self._max_entries:
                own = [] if most is None else [name for name in self._entries if name.startswith(prefix)]
                self._pop(own[0] if most is not None and len(own) >= most else next(iter(self._entries)))
            self._entries[key], self._ends[key] = value, self._clock() + self._ttl_s
            self._entries.move_to_end(key)
            self._ends.move_to_end(key)

    def delete(self, key: str) -> bool:
        """Remove a value; True if it was there and not too old."""
        with self._lock:
            self.prune()
            return self._pop(key)

    def invalidate_prefix(self, prefix: str) -> int:
        """Remove the values whose name begins with `prefix`; returns their number."""
        with self._lock:
            self.prune()
            return sum(self._pop(name) for name in [*self._entries] if name.startswith(prefix))

    def count_prefix(self, prefix: str) -> int:
        """Number of values that are not too old and whose name begins with `prefix`."""
        with self._lock:
            self.prune()
            return sum(name.startswith(prefix) for name in self._entries)

    def clear(self) -> None:
        """Remove all values."""
        with self._lock:
            self._entries.clear()
            self._ends.clear()

    def prune(self) -> int:
        """Remove the values that are too old; returns their number."""
        with self._lock:
            now = self._clock()
            old = list(takewhile(lambda name: self._ends[name] <= now, self._ends))
            return sum(map(self._pop, old))

    def __len__(self) -> int:
        """Number of values that are not too old."""
        with self._lock:
            self.prune()
            return len(self._entries)

    def _pop(self, key: str) -> bool:
        """Remove a value; True if it was there."""
        self._entries.pop(key, None)
        return self._ends.pop(key, None) is not None
