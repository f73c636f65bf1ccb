"""Comparison of each variant with the default, in points with confidence intervals."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from bench.retrieval import findings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from bench.retrieval.findings import Level
    from bench.retrieval.runner import AnsweredQuestion, Run

COMPARED = ("recall@5", "recall@10", "recall_all@10")
ROUNDS = 2_000
_SEED = 20_240_527
_NAME, _VALUE, _DIFFERENCE = 24, 8, 23


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """In points of a hundred: the mean over questions, and its 95 % interval."""

    points: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.points:+.1f} [{self.low:+.1f}, {self.high:+.1f}]"


def paired(values: ArrayLike, reference: ArrayLike) -> Difference:
    """The mean of value - reference of the same questions, which are drawn anew `ROUNDS` times for its interval.

    Percentile bootstrap: Efron and Tibshirani, "An Introduction to the Bootstrap" (1993), §13.3. The draws are the same
    in every run. Questions of one conversation are taken as independent, so intervals are a little too narrow.
    """
    differences = 100 * (np.asarray(values, np.float64) - np.asarray(reference, np.float64))
    drawn = np.random.default_rng(_SEED).integers(0, len(differences), (ROUNDS, len(differences)))
    low, high = np.quantile(differences[drawn].mean(axis=1), [0.025, 0.975])
    return Difference(points=float(differences.mean()), low=float(low), high=float(high))


def differences(run: Run, reference: str, level: Level) -> dict[str, dict[str, Difference]]:
    """Of every other variant and each compared measure; nothing where no question is judged at that level."""
    judged = {name: _judged(run, asked, level) for name, asked in run.answers.items()}
    if not judged[reference]["recall@5"].size:
        return {}
    return {
        name: {measure: paired(values[measure], judged[reference][measure]) for measure in COMPARED}
        for name, values in judged.items()
        if name != reference
    }


def table(run: Run, reference: str) -> str:
    """Every variant's measures, with the difference to the reference and its interval, and the cost of a search.

    The cost is the median CPU of a search whose question has its vector.
    """
    return "\n\n".join("\n".join(_lines(run, reference, level)) for level in findings.LEVELS)


def as_json(run: Run, reference: str) -> dict[str, dict[str, dict[str, dict[str, float]]]]:
    """`{name: {level: {measure: {"points", "low", "high"}}}}` of every variant but the reference."""
    by_level = {level: differences(run, reference, level) for level in findings.LEVELS}
    return {
        name: {
            level: {
                measure: {"points": round(each.points, 3), "low": round(each.low, 3), "high": round(each.high, 3)}
                for measure, each in compared.get(name, {}).items()
            }
            for level, compared in by_level.items()
        }
        for name in run.answers
        if name != reference
    }


def _lines(run: Run, reference: str, level: Level) -> Iterator[str]:
    yield f"{level} level, less {reference}: points [95 % interval, paired bootstrap over questions]"
    measures = "".join(f"{measure:>{_VALUE + _DIFFERENCE}}" for measure in COMPARED)
    yield f"{'':<{_NAME}}{measures}   CPU ms of a search"
    compared = differences(run, reference, level)
    for name, asked in run.answers.items():
        values: Mapping[str, NDArray[np.float64]] = _judged(run, asked, level)
        cells = (_cell(values[measure], compared.get(name, {}).get(measure)) for measure in COMPARED)
        search_ms = median(1e3 * each.search_cpu_s for each in asked)
        row = f"{name:<{_NAME}}{''.join(cells)}"
        yield f"{row:<{_NAME + len(COMPARED) * (_VALUE + _DIFFERENCE)}}{search_ms:>8.2f}"


def _cell(values: NDArray[np.float64], difference: Difference | None) -> str:
    value = f"{values.mean():.3f}" if values.size else "-"
    return f"{value:>{_VALUE}}{'' if difference is None else str(difference):>{_DIFFERENCE}}"


def _judged(run: Run, asked: Sequence[AnsweredQuestion], level: Level) -> dict[str, NDArray[np.float64]]:
    """Each compared measure of every question that has gold at that level and counts in the overall figures."""
    of_questions = [
        judgement
        for each in asked
        if each.question.category not in run.corpus.apart and (judgement := findings.judged(each, level))
    ]
    return {measure: np.array([question[measure] for question in of_questions]) for measure in COMPARED}
