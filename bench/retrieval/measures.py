"""Measures of one ranking and of many: pure functions of a list without repeats and the wanted set."""

from __future__ import annotations

import math
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

T = TypeVar("T")

DEPTHS = (5, 10, 20, 50)
NDCG_DEPTH = 10


def recall(ranked: Sequence[T], gold: Collection[T], k: int) -> float:
    """The share of the gold that is among the first k."""
    return len(set(ranked[:k]) & set(gold)) / len(set(gold))


def recall_any(ranked: Sequence[T], gold: Collection[T], k: int) -> float:
    """1 where any of the gold is among the first k, else 0; LongMemEval's name for it, elsewhere called hit."""
    return float(recall(ranked, gold, k) > 0)


def recall_all(ranked: Sequence[T], gold: Collection[T], k: int) -> float:
    """1 where all of the gold is among the first k, else 0; LongMemEval's name for it."""
    return float(set(gold) <= set(ranked[:k]))


def reciprocal_rank(ranked: Sequence[T], gold: Collection[T]) -> float:
    """One over the place of the first of the gold, counted from 1; 0 where the list holds none."""
    return next((1 / place for place, each in enumerate(ranked, start=1) if each in gold), 0.0)


def ndcg(ranked: Sequence[T], gold: Collection[T], k: int) -> float:
    """Discounted gain of the gold among the first k over that of the best order; a piece of gold counts 1.

    Järvelin and Kekäläinen, "Cumulated gain-based evaluation of IR techniques" (TOIS 20:4, 2002), discount log2(1 + i).
    """
    gained = math.fsum(_discount(place) for place, each in enumerate(islice(ranked, k), start=1) if each in gold)
    possible = math.fsum(_discount(place) for place in range(1, min(k, len(set(gold))) + 1))
    return gained / possible


def judge(ranked: Sequence[T], gold: Collection[T]) -> dict[str, float]:
    """Every measure of one ranking; `gold` is not empty."""
    by_depth = {"recall": recall, "recall_any": recall_any, "recall_all": recall_all}
    measured = {f"{name}@{k}": measure(ranked, gold, k) for name, measure in by_depth.items() for k in DEPTHS}
    return {**measured, "mrr": reciprocal_rank(ranked, gold), f"ndcg@{NDCG_DEPTH}": ndcg(ranked, gold, NDCG_DEPTH)}


def mean(judgements: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The mean of each measure over questions; every question counts the same. Nothing of nothing."""
    if not judgements:
        return {}
    return {name: math.fsum(judgement[name] for judgement in judgements) / len(judgements) for name in judgements[0]}


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least `share` (0-1) of the values do not exceed; nearest rank."""
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


def first_appearances(items: Iterable[T]) -> list[T]:
    """The items in order, each once: a session stands where its best turn does."""
    return list(dict.fromkeys(items))


def _discount(place: int) -> float:
    return 1 / math.log2(1 + place)
