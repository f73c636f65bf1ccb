"""How often somebody may come: token buckets, one for each name."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_MOST_NAMES = 10_000


class Rate:
    """So many a minute for each name, as many at once after a minute's rest; 0 for no bound. Thread-safe.

    The names that came last are remembered, 10,000 of them: whoever is forgotten begins anew.
    """

    def __init__(self, per_minute: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        """`clock` gives seconds that never go back."""
        self._per_minute = per_minute
        self._clock = clock
        self._counting = threading.Lock()
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()  # tokens, and when there were so many

    def take(self, name: str) -> float:
        """Take one; 0.0, or where there is none how many seconds it takes until there is."""
        with self._counting:
            tokens = self._tokens(name)
            if tokens < 1:
                return (1 - tokens) * 60 / self._per_minute
            if self._per_minute:
                self._keep(name, tokens - 1)
            return 0.0

    def wait(self, name: str) -> float:
        """What `take` would return; nothing is taken."""
        with self._counting:
            tokens = self._tokens(name)
            return 0.0 if tokens >= 1 else (1 - tokens) * 60 / self._per_minute

    def _tokens(self, name: str) -> float:
        if not self._per_minute:
            return 1.0
        tokens, then = self._left.get(name, (float(self._per_minute), self._clock()))
        return min(float(self._per_minute), tokens + (self._clock() - then) * self._per_minute / 60)

    def _keep(self, name: str, tokens: float) -> None:
        self._left[name] = (tokens, self._clock())
        self._left.move_to_end(name)
        if len(self._left) > _MOST_NAMES:
            self._left.popitem(last=False)
