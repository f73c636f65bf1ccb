"""TF-IDF vectors of short texts, and their cosine similarity. Pure but for the corpus.

Salton and Buckley, "Term-weighting approaches in automatic text retrieval" (1988), with idf = log((N + 1) / (1 + df)),
which is 0 for a word that every text of the corpus holds.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

from engrain.domain.text.analysis import STOP_WORDS, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_SHORTEST = 2


def tokenize(text: str) -> list[str]:
    """Folded words in order, repeats kept, without punctuation, stop words and what is shorter than two characters."""
    return [word for word in words(text) if len(word) >= _SHORTEST and word not in STOP_WORDS]


def term_frequencies(tokens: Sequence[str]) -> dict[str, float]:
    """The frequency of each term, as a share of the text's length."""
    return {term: count / len(tokens) for term, count in Counter(tokens).items()}


class IdfCorpus:
    """Corpus with the document frequency of each term; grows and shrinks by whole texts."""

    def __init__(self, texts: Iterable[Sequence[str]] = ()) -> None:
        """A corpus of the texts given as tokens."""
        self._frequencies: Counter[str] = Counter()
        self._size = 0
        for tokens in texts:
            self.add(tokens)

    @property
    def size(self) -> int:
        """The number of texts."""
        return self._size

    @property
    def vocabulary(self) -> list[str]:
        """The terms of all texts, sorted."""
        return sorted(self._frequencies)

    def add(self, tokens: Sequence[str]) -> None:
        """Count one text more."""
        self._frequencies.update(set(tokens))
        self._size += 1

    def remove(self, tokens: Sequence[str]) -> None:
        """Count one text less; counts never fall below zero."""
        self._frequencies.subtract(set(tokens))
        self._frequencies = +self._frequencies  # without terms of count 0
        self._size = max(self._size - 1, 0)

    def idf(self, term: str) -> float:
        """`log((N + 1) / (1 + df))`."""
        return math.log((self._size + 1) / (1 + self._frequencies[term]))

    def vector(self, tokens: Sequence[str]) -> dict[str, float]:
        """The sparse vector of a text: term frequency x idf by term."""
        return {term: share * self.idf(term) for term, share in term_frequencies(tokens).items()}

    def dense_vector(self, tokens: Sequence[str], vocabulary: Sequence[str]) -> list[float]:
        """The vector of a text as a number for each term of a vocabulary, in its order; other terms are left out."""
        weights = self.vector(tokens)
        return [weights.get(term, 0.0) for term in vocabulary]


def cosine(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    """The cosine of two sparse vectors, in [-1, 1]; 0 where one of them is zero."""
    shared = [term for term in one if term in other]
    units = [dict(zip(vector, _normalize(vector.values()), strict=True)) for vector in (one, other)]
    return _clamp(math.fsum(units[0][term] * units[1][term] for term in shared))


def dense_cosine(one: Sequence[float], other: Sequence[float]) -> float:
    """The cosine of two dense vectors of one vocabulary, in [-1, 1]; 0 where one of them is zero."""
    return _clamp(math.fsum(a * b for a, b in zip(_normalize(one), _normalize(other), strict=True)))


def _normalize(vector: Iterable[float]) -> list[float]:
    """Scale a vector to length 1, by its largest number first: squares of others are too large, or vanish."""
    values = list(vector)
    largest = max(map(abs, values), default=0.0)
    scaled = [value / largest for value in values] if largest else values
    length = math.hypot(*scaled)
    return [value / length for value in scaled] if length else scaled


def _clamp(cosine: float) -> float:
    return max(-1.0, min(1.0, cosine))
