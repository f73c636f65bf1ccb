"""Bisection: the largest number for which a monotone condition holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def find_largest(high: int, holds: Callable[[int], bool]) -> int:
    """The largest number up to `high` for which `holds` is true, as it is for all below it; 0 where it is for none."""
    low = 0
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if holds(middle) else (low, middle - 1)
    return low
