"""Level of evidence in an answer, so that an agent can say "I don't remember". Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

    from engrain.domain.records import EvidenceLevel, Hit


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """Logistic fit for one ranking: of the best hit's score, and the share of the query's words in it.

    Below `weak` the level is none, from `strong` on it is strong.
    """

    intercept: float
    score: float
    cover: float
    weak: float = 0.3
    strong: float = 0.7


def assess(calibration: Calibration, best: Hit | None, query_terms: Collection[str]) -> tuple[float, EvidenceLevel]:
    """The chance, 0-1, that the answer holds evidence, and its level; `query_terms` are without names.

    Calibrated on answerable questions against those of other conversations and such as name the wrong person, half of
    each side (bench/retrieval): a chance in such a mixture, not in yours.
    """
    if best is None:
        return 0.0, "none"
    cover = len(set(best.why.matched_terms) & set(query_terms)) / len(query_terms) if query_terms else 0.0
    chance = 1 / (1 + math.exp(-(calibration.intercept + calibration.score * best.score + calibration.cover * cover)))
    if chance < calibration.weak:
        return chance, "none"
    return chance, "strong" if chance >= calibration.strong else "weak"
