"""Level of evidence in an answer, so that an agent can say "I don't remember". Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from engrain.domain.records import EvidenceLevel, Hit

_MOST_JUDGED = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """Logistic fit for one ranking, or for one channel of any: of numbers of the best statements that it found.

    `score`: of the first one; `cosine` and `words`: the largest number of these channels; `cover`: the largest share of
    the query's words in one. Below `weak` the level is none, from `strong` on it is strong.
    """

    intercept: float
    cover: float
    score: float = 0.0
    cosine: float = 0.0
    words: float = 0.0
    weak: float = 0.3
    strong: float = 0.7


# For rankings whose scores are not calibrated, by the first of these channels that answered: fitted on LoCoMo's and
# LongMemEval's own questions against those of other conversations (area under the curve 0.99 and 0.95 on LoCoMo).
BY_CHANNEL: Mapping[str, Calibration] = {
    "vector": Calibration(intercept=-11.0, cosine=20.0, cover=4.0),
    "keyword": Calibration(intercept=-5.5, words=0.09, cover=9.3),
}


def assess(
    calibration: Calibration, statements: Sequence[Hit], query_terms: Collection[str]
) -> tuple[float, EvidenceLevel]:
    """The chance, 0-1, that the answer holds evidence, and its level; `query_terms` are without names.

    `statements` are best first; the first ten are judged. Calibrated on answerable questions against those of other
    conversations, and that of `engrain` also against such as name the wrong person, half of each side
    (bench/retrieval): a chance in such a mixture, not in yours.
    """
    judged = statements[:_MOST_JUDGED]
    if not judged:
        return 0.0, "none"
    matched = max(len(set(hit.why.matched_terms) & set(query_terms)) for hit in judged)
    logit = (
        calibration.intercept
        + calibration.score * judged[0].score
        + calibration.cosine * _find_largest("vector", judged)
        + calibration.words * _find_largest("keyword", judged)
        + calibration.cover * (matched / len(query_terms) if query_terms else 0.0)
    )
    chance = 1 / (1 + math.exp(-logit))
    if chance < calibration.weak:
        return chance, "none"
    return chance, "strong" if chance >= calibration.strong else "weak"


def _find_largest(channel: str, hits: Sequence[Hit]) -> float:
    """The largest number of a channel among some hits; 0 where it has none of them."""
    return max((share.raw for hit in hits for share in hit.why.contributions if share.channel == channel), default=0.0)
