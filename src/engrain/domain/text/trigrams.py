"""How alike two texts are by the trigrams of their words, as PostgreSQL's pg_trgm defines it.

https://www.postgresql.org/docs/current/pgtrgm.html#PGTRGM-CONCEPTS: each word (letters and digits, lower case) has two
blanks before it and one after it; the trigrams of a text are a set.
"""

from __future__ import annotations

import re
from functools import lru_cache

from engrain.domain.text.likeness import jaccard

_WORD = re.compile(r"[^\W_]+")


@lru_cache(maxsize=10_000)
def trigrams(text: str) -> frozenset[str]:
    """The trigrams of all words of a text."""
    padded = (f"  {word} " for word in _WORD.findall(text.lower()))
    return frozenset(word[start : start + 3] for word in padded for start in range(len(word) - 2))


def similarity(one: str, two: str) -> float:
    """The share of the trigrams of either that both have, in [0, 1]; 0 where neither has a word."""
    return jaccard(trigrams(one), trigrams(two))
