"""Bounded cache with a time to live, in front of slow computations and reads."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Generic, TypeVar

from cachetools import TTLCache

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
        self._lock = threading.RLock()  # cachetools leaves locking to its callers
        self._entries: TTLCache[str, _Value] = TTLCache(max_entries, ttl_s, timer=clock)

    def get(self, key: str) -> _Value | None:
        """The value, from now on the most recently used; None where there is none or it is too old."""
        with self._lock:
            self._entries.expire()
            return self._entries.get(key)

    def set(self, key: str, value: _Value, *, prefix: str = "", most: int | None = None) -> None:
        """Store a value; at capacity the least recently used one is dropped.

        Where others are here too, names of a `prefix` beyond `most` drop the oldest of their own.
        """
        with self._lock:
            if most is not None and key not in self._entries and len(self._entries) >= self._entries.maxsize:
                own = [name for name in self._entries if name.startswith(prefix)]
                if most <= len(own) < len(self._entries):
                    self._entries.pop(own[0], None)
            self._entries[key] = value

    def delete(self, key: str) -> bool:
        """Remove a value; True if it was there and not too old."""
        with self._lock:
            is_present = key in self._entries
            self._entries.pop(key, None)
            return is_present

    def invalidate_prefix(self, prefix: str) -> int:
        """Remove the values whose name begins with `prefix`; returns their number."""
        with self._lock:
            matching = [key for key in self._entries if key.startswith(prefix)]
            for key in matching:
                self._entries.pop(key, None)  # may have grown too old since
            return len(matching)

    def count_prefix(self, prefix: str) -> int:
        """Number of values that are not too old and whose name begins with `prefix`."""
        with self._lock:
            self._entries.expire()
            return sum(key.startswith(prefix) for key in self._entries)

    def clear(self) -> None:
        """Remove all values."""
        with self._lock:
            self._entries.clear()

    def prune(self) -> int:
        """Remove the values that are too old; returns their number."""
        with self._lock:
            return len(list(self._entries.expire()))

    def __len__(self) -> int:
        """Number of values that are not too old."""
        with self._lock:
            return len(self._entries)
