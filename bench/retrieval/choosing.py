"""Weights chosen on some conversations and reported on others: what the default's would be worth on talk nobody saw."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from bench.retrieval import measures, pools

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from bench.retrieval.pools import Pool

Half: TypeAlias = Literal["first", "second", "odd", "even"]
HALVES: tuple[Half, ...] = ("first", "second", "odd", "even")
Weights: TypeAlias = "Mapping[str, float]"

# Only the proportions of weights matter, so the first channel keeps its own.
FACTORS = (0.0, 0.5, 1.0, 1.5, 2.0)
COARSE_FACTORS = (0.5, 1.0, 1.5)
_MOST_FINE_CHANNELS = 3
CHOSEN_BY = "recall@10"
_REPORTED = ("recall@5", "recall@10", "recall_all@10")
_DEPTH = 10
_CATEGORY, _COUNT, _CELL = 26, 6, 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Fold:
    """Conversations that weights are chosen on, and those they are reported on."""

    chosen_on: frozenset[str]
    held_out: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Choice of a fold, and each measure of every held-out question: float64[questions, reported] both ways."""

    fold: Fold
    weights: Weights
    categories: tuple[str, ...]
    chosen: NDArray[np.float64]
    fixed: NDArray[np.float64]


def leave_one_out(conversations: Sequence[str]) -> tuple[Fold, ...]:
    """A fold for each conversation, reported on by weights of all the others."""
    everything = frozenset(conversations)
    return tuple(Fold(chosen_on=everything - {one}, held_out=frozenset({one})) for one in conversations)


def halves(conversations: Sequence[str], half: Half) -> tuple[Fold, ...]:
    """One fold: chosen on that half, reported on the other. The first half is the smaller where the number is odd."""
    middle = len(conversations) // 2
    parts: Mapping[Half, Sequence[str]] = {
        "first": conversations[:middle],
        "second": conversations[middle:],
        "odd": conversations[::2],
        "even": conversations[1::2],
    }
    chosen_on = frozenset(parts[half])
    return (Fold(chosen_on=chosen_on, held_out=frozenset(conversations) - chosen_on),)


def grid(weights: Weights) -> tuple[dict[str, float], ...]:
    """The weights to choose from, the given ones first and then by their distance from them."""
    anchor, *free = weights
    factors = FACTORS if len(free) <= _MOST_FINE_CHANNELS else COARSE_FACTORS
    points = sorted(
        itertools.product(factors, repeat=len(free)), key=lambda point: math.dist(point, [1.0] * len(point))
    )
    return tuple(
        {anchor: weights[anchor], **{name: weights[name] * by for name, by in zip(free, point, strict=True)}}
        for point in points
    )


def choose(recorded: Sequence[Pool], weights: Weights, folds: Sequence[Fold]) -> tuple[Choice, ...]:
    """For each fold the point of the grid with the best mean of `CHOSEN_BY`; of equals the nearest to `weights`."""
    points = grid(weights)
    judged = np.array([_judged(pool, points) for pool in recorded])  # [questions, points, reported]
    choices = []
    for fold in folds:
        chosen_on = np.array([pool.conversation in fold.chosen_on for pool in recorded])
        held_out = np.array([pool.conversation in fold.held_out for pool in recorded])
        if not chosen_on.any() or not held_out.any():
            continue
        objective = judged[chosen_on][:, :, _REPORTED.index(CHOSEN_BY)].mean(axis=0)
        best = int(np.argmax(np.round(objective, 12)))
        choices.append(
            Choice(
                fold=fold,
                weights=points[best],
                categories=tuple(pool.question.category for pool in recorded if pool.conversation in fold.held_out),
                chosen=judged[held_out, best],
                fixed=judged[held_out, 0],
            )
        )
    return tuple(choices)


def table(choices: Sequence[Choice], weights: Weights, *, how: str) -> str:
    """The weights each fold chose, then held-out means by category beside those of the fixed weights."""
    return "\n".join([*_chosen(choices, weights, how), "", *_held_out(choices)])


def as_json(choices: Sequence[Choice]) -> list[dict[str, object]]:
    """Each fold with its weights and its held-out means."""
    return [
        {
            "held_out": sorted(choice.fold.held_out),
            "weights": dict(choice.weights),
            "questions": len(choice.categories),
            "chosen": dict(zip(_REPORTED, choice.chosen.mean(axis=0).round(6).tolist(), strict=True)),
            "fixed": dict(zip(_REPORTED, choice.fixed.mean(axis=0).round(6).tolist(), strict=True)),
        }
        for choice in choices
    ]


def _judged(pool: Pool, points: Sequence[Weights]) -> NDArray[np.float64]:
    """float64[points, reported]."""
    best = pools.ranked(pool, pools.weight_rows(points, pool.channels), _DEPTH)
    judge = {"recall": measures.recall, "recall_all": measures.recall_all}
    orders, of_point = np.unique(best, axis=1, return_inverse=True)  # most points order what was found alike
    of_orders = []
    for column in orders.T:
        found = [pool.places[row] for row in column]
        named = (measure.split("@") for measure in _REPORTED)
        of_orders.append([judge[name](found, pool.question.gold_turns, int(depth)) for name, depth in named])
    return np.array(of_orders)[of_point.ravel()]


def _chosen(choices: Sequence[Choice], weights: Weights, how: str) -> Iterator[str]:
    yield f"{how}: {len(grid(weights))} settings tried, chosen by {CHOSEN_BY} at turn level; fixed: {_shown(weights)}"
    counted = Counter(_shown(choice.weights) for choice in choices)
    for shown, count in counted.most_common():
        yield f"  {count} of {len(choices)} folds chose {shown}"


def _shown(weights: Weights) -> str:
    return ", ".join(f"{channel} {weight:g}" for channel, weight in weights.items())


def _held_out(choices: Sequence[Choice]) -> Iterator[str]:
    categories = np.array([category for choice in choices for category in choice.categories])
    chosen, fixed = (np.concatenate(values) for values in ([c.chosen for c in choices], [c.fixed for c in choices]))
    yield f"{'':<{_CATEGORY + _COUNT}}" + "".join(f"{name:>{2 * _CELL}}" for name in _REPORTED)
    yield f"{'held out':<{_CATEGORY}}{'asked':>{_COUNT}}" + f"{'chosen':>{_CELL}}{'fixed':>{_CELL}}" * len(_REPORTED)
    for category in ("overall", *sorted(set(categories.tolist()))):
        of = np.full(len(categories), True) if category == "overall" else categories == category
        cells = "".join(
            f"{one:>{_CELL}.3f}{other:>{_CELL}.3f}"
            for one, other in zip(chosen[of].mean(axis=0), fixed[of].mean(axis=0), strict=True)
        )
        yield f"{category:<{_CATEGORY}}{int(of.sum()):>{_COUNT}}{cells}"
