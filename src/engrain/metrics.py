"""Counters and timers of this process: what was degraded, how often, how long things took. Never what was said."""

from __future__ import annotations

import threading
import time
from collections import Counter, defaultdict
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_LOCK = threading.Lock()
_COUNTS: Counter[str] = Counter()
_SECONDS: defaultdict[str, float] = defaultdict(float)


def count(name: str, by: int = 1) -> None:
    """Add to a counter."""
    with _LOCK:
        _COUNTS[name] += by


@contextmanager
def timed(name: str) -> Iterator[None]:
    """Add the wall time of the block to a timer, and one to its counter."""
    start = time.perf_counter()
    try:
        yield
    finally:
        spent = time.perf_counter() - start
        with _LOCK:
            _COUNTS[name] += 1
            _SECONDS[name] += spent


def snapshot() -> Mapping[str, float]:
    """All counters by name, and the seconds of each timer under `<name>_total`."""
    with _LOCK:
        return {**_COUNTS, **{f"{name}_total": seconds for name, seconds in _SECONDS.items()}}
