"""Rate limiter: one token bucket for each key or address."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_MAX_NAMES = 10_000


class RateLimit:
    """Limits calls per minute and name, with bursts of one minute's worth; 0 for no limit. Thread-safe.

    The 10,000 names that came last are remembered; others begin with a full bucket.
    """

    def __init__(self, per_minute: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        """`clock` gives seconds that never go back."""
        self._per_minute = per_minute
        self._clock = clock
        self._lock = threading.Lock()
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()  # tokens, and when there were so many

    def take(self, name: str) -> float:
        """Take a token and return 0.0; where there is none, return the seconds until there is."""
        with self._lock:
            tokens = self._tokens(name)
            if tokens < 1:
                return (1 - tokens) * 60 / self._per_minute
            if self._per_minute:
                self._store(name, tokens - 1)
            return 0.0

    def _tokens(self, name: str) -> float:
        if not self._per_minute:
            return 1.0
        tokens, then = self._buckets.get(name, (float(self._per_minute), self._clock()))
        return min(float(self._per_minute), tokens + (self._clock() - then) * self._per_minute / 60)

    def _store(self, name: str, tokens: float) -> None:
        self._buckets[name] = (tokens, self._clock())
        self._buckets.move_to_end(name)
        if len(self._buckets) > _MAX_NAMES:
            self._buckets.popitem(last=False)
