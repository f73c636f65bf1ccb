"""Similarity of sets, and of texts by the trigrams of their words, as PostgreSQL's pg_trgm defines it.

https://www.postgresql.org/docs/current/pgtrgm.html#PGTRGM-CONCEPTS: each word (letters and digits, lower case) has two
blanks before it and one after it; the trigrams of a text are a set.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

_WORD = re.compile(r"[^\W_]+")


def jaccard(one: AbstractSet[str], other: AbstractSet[str]) -> float:
    """Share of the elements of either set that are in both, 0-1; 0 for two empty sets."""
    shared = len(one & other)
    return shared / (len(one) + len(other) - shared) if shared else 0.0


@lru_cache(maxsize=10_000)
def trigrams(text: str) -> frozenset[str]:
    """Trigrams of all words of a text."""
    padded = (f"  {word} " for word in _WORD.findall(text.lower()))
    return frozenset(word[start : start + 3] for word in padded for start in range(len(word) - 2))


def similarity(one: str, two: str) -> float:
    """Jaccard similarity of the trigrams of two texts; 0 where neither has a word."""
    return jaccard(trigrams(one), trigrams(two))
