"""CPU time of calls: the machine is shared, and the clock on the wall measures the neighbours."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

T = TypeVar("T")

FEWEST_CALLS = 15


def per_call(
    call: Callable[[T], object],
    over: Iterable[T],
    *,
    clock: Callable[[], float] = time.process_time,
    most_seconds: float = float("inf"),
) -> list[float]:
    """Seconds by `clock` of the call on each item; past `most_seconds` in all, and 15 calls, the rest is left out."""
    took: list[float] = []
    for each in over:
        start = clock()
        call(each)
        took.append(clock() - start)
        if len(took) >= FEWEST_CALLS and sum(took) > most_seconds:
            break
    return took


def total(call: Callable[[], object], *, clock: Callable[[], float] = time.process_time) -> float:
    """Seconds of one call by `clock`; by default the CPU of all threads, background ones included."""
    start = clock()
    call()
    return clock() - start
