"""How much two sets have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet


def jaccard(one: AbstractSet[str], other: AbstractSet[str]) -> float:
    """The share of what is in either set that is in both, 0-1; 0 for two empty ones."""
    shared = len(one & other)
    return shared / (len(one) + len(other) - shared) if shared else 0.0
