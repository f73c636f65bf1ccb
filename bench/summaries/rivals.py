"""Other ways to choose sentences, for comparison: each an order in which candidates are taken while they fit."""

from __future__ import annotations

import math
import random
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from engrain.domain.text.analysis import terms
from engrain.domain.text.tokens import approximate_tokens
from engrain.learning.summaries.extractive import list_candidates, render

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from engrain.learning.summaries.extractive import Sentence
    from engrain.learning.summaries.passages import Passage

_SEED = 2026
_RELEVANCE = 0.7
_DAMPING = 0.85
_ROUNDS = 50


def lead(found: Sequence[Sentence]) -> Iterable[int]:
    """The first ones."""
    return range(len(found))


def by_chance(found: Sequence[Sentence]) -> Iterable[int]:
    """Any, by a fixed seed."""
    order = list(range(len(found)))
    random.Random(_SEED).shuffle(order)
    return order


def centroid(found: Sequence[Sentence]) -> Iterable[int]:
    """The most like all of them by TF-IDF, each less like those before it (MMR: Carbonell and Goldstein, 1998)."""
    rows = _unit_rows(found)
    middle = rows.sum(axis=0)
    return _diverse(rows @ middle / (np.linalg.norm(middle) or 1.0), rows)


def lexrank(found: Sequence[Sentence]) -> Iterable[int]:
    """Those that many others resemble, counted as pages are by links (LexRank: Erkan and Radev, 2004), then MMR."""
    rows = _unit_rows(found)
    alike = rows @ rows.T
    sums = alike.sum(axis=1, keepdims=True)
    steps = np.divide(alike, sums, out=np.zeros_like(alike), where=sums > 0)
    rank = np.full(len(found), 1 / max(len(found), 1))
    for _ in range(_ROUNDS):
        rank = (1 - _DAMPING) / len(found) + _DAMPING * (steps.T @ rank)
    return _diverse(rank, rows)


ORDERS: Mapping[str, Callable[[Sequence[Sentence]], Iterable[int]]] = {
    "lead": lead,
    "chance": by_chance,
    "centroid": centroid,
    "lexrank": lexrank,
}


def summary(passages: Sequence[Passage], target_tokens: int, order: str) -> str:
    """The candidates that fit in this order, as `extract` writes them down."""
    found = list_candidates(passages)
    chosen: list[int] = []
    for index in ORDERS[order](found) if found else ():
        if approximate_tokens(render(passages, found, sorted([*chosen, index]))) <= target_tokens:
            chosen.append(index)
    return render(passages, found, sorted(chosen))


def _unit_rows(found: Sequence[Sentence]) -> NDArray[Any]:
    """TF-IDF of each sentence, unit norm, float64[sentences, terms]."""
    said = [Counter(terms(each.text)) for each in found]
    known = Counter(term for each in said for term in each)
    place = {term: column for column, term in enumerate(sorted(known))}
    rows: NDArray[Any] = np.zeros((len(found), max(len(place), 1)))
    for row, each in enumerate(said):
        for term, count in each.items():
            rows[row, place[term]] = (1 + math.log(count)) * math.log((len(found) + 1) / (0.5 + known[term]))
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    np.divide(rows, lengths, out=rows, where=lengths > 0)
    return rows


def _diverse(score: NDArray[Any], rows: NDArray[Any]) -> Iterator[int]:
    relevant = score / (score.max() or 1.0)
    alike = np.zeros(len(score))
    left = np.ones(len(score), dtype=bool)
    while left.any():
        best = int(np.where(left, _RELEVANCE * relevant - (1 - _RELEVANCE) * alike, -np.inf).argmax())
        left[best] = False
        yield best
        alike = np.maximum(alike, rows @ rows[best])
