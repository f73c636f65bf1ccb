"""Presets: the rankings that ship, as data, by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from engrain.domain import checks
from engrain.domain.records import KINDS, Kind

if TYPE_CHECKING:
    from collections.abc import Mapping


Fusion = Literal["value", "weighted", "rrf", "rrf_full", "relevance", "blend"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """Logistic fit for one ranking, or for one channel of any: of numbers of the best statements that it found.

    `score`: of the first one; `cosine` and `words`: the largest number of these channels; `cover`: the largest share of
    what the query asks that one has, also in other words, of those by or about the speaker that it names; `names`: 1
    where one of the query's names and numbers is in none of them; `things`: how many of its things are in none, at most
    two; `unmet`: 1 where none that has one of its names has anything of what it asks beside them, and the share by
    which those of other speakers cover more; `speaker`: 1 where it names a speaker. `attribute`: the largest chance
    where it asks for an attribute, such as a phone number, that none tells of the thing. Below `weak` the level is
    none, from `strong` on it is strong.
    """

    intercept: float
    cover: float
    score: float = 0.0
    cosine: float = 0.0
    words: float = 0.0
    names: float = 0.0
    things: float = 0.0
    unmet: float = 0.0
    speaker: float = 0.0
    attribute: float = 1.0
    weak: float = 0.3
    strong: float = 0.7


# Below `weak`, and above the floor of a context block: the value may be there in words that nothing here knows.
_NO_ATTRIBUTE = 0.25
# For rankings whose scores are not calibrated, by the first of these channels that answered: fitted on LoCoMo's and
# LongMemEval's own questions against those of other conversations (area under the curve 0.99 and 0.95 on LoCoMo).
BY_CHANNEL: Mapping[str, Calibration] = {
    "vector": Calibration(intercept=-11.0, cosine=20.0, cover=4.0, attribute=_NO_ATTRIBUTE),
    "keyword": Calibration(intercept=-5.5, words=0.09, cover=9.3, attribute=_NO_ATTRIBUTE),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """Named set of fusion and ranking weights.

    `weights`: names of `channels.CHANNELS`, whose lists `fusion` combines, and of `ranking.SIGNALS`, which then add to
    the scores. From each list `depth` candidates are taken, or `depth_per_hit` for each requested hit where those are
    more. `private`: only facts about the agent itself in its own scope. `min_confidence`: effective
    confidence below which nothing is a hit. `ties`: of equal scores the better rank of this list comes first, before
    the newest and the id decide. `merges_repeats`: near-identical turns are one hit, and turns that only repeat the
    query are none. `evidence`: the calibration of its scores as evidence, where it was measured.
    """

    name: str
    fusion: Fusion
    weights: Mapping[str, float]
    depth: int = 150
    depth_per_hit: int = 1
    kinds: tuple[Kind, ...] = KINDS
    private: bool = False
    min_confidence: float = 0.0
    ties: str | None = None
    merges_repeats: bool = False
    evidence: Calibration | None = None

    def depth_for(self, limit: int) -> int:
        """The number of candidates taken from each list."""
        return max(self.depth, self.depth_per_hit * limit)


# Weights measured on LoCoMo and LongMemEval (bench/retrieval): by value, because the same lists fused by rank lose
# 10 points of evidence recall@10.
ENGRAIN = Preset(
    name="engrain",
    fusion="value",
    weights={
        "vector": 1.0,
        "keyword": 0.5,
        "reply": 1.0,
        "session": 0.2,
        "speaker": 0.3,
        "statement": 0.3,
        "moment": 0.1,
        "upcoming": 0.3,
        "answer": 0.5,
        "novelty": 1.0,
        "spread": 0.1,
        "lateness": 0.1,
        "change": 1.0,
    },
    merges_repeats=True,
    evidence=Calibration(
        intercept=-8.2, score=5.0, cover=3.2, names=-1.2, things=-0.8, unmet=-1.5, speaker=1.7, attribute=_NO_ATTRIBUTE
    ),
)

PRESETS: Mapping[str, Preset] = {
    preset.name: preset
    for preset in (
        ENGRAIN,
        Preset(name="semantic", fusion="value", weights={"vector": 1.0}),
        Preset(name="keyword", fusion="value", weights={"keyword": 1.0}),
        # A list is as long as the answer, and what it lacks stands just behind its end.
        Preset(name="hybrid", fusion="rrf_full", weights={"vector": 1.0, "keyword": 1.0}, depth=0, ties="vector"),
        # The two lists share the 0.4 of relevance: 0.4 x (1/(60+a) + 1/(60+b)) / (2/61) is 0.2 x 61/(60+a) + the same
        # of b.
        Preset(
            name="recall",
            fusion="relevance",
            weights={"vector": 0.2, "keyword": 0.2, "importance": 0.3, "recency": 0.2, "confidence": 0.1},
            depth=0,
            min_confidence=0.2,
            ties="vector",
        ),
        Preset(name="assistant", fusion="rrf", weights={"keyword": 1.0, "vector": 1.0, "entity": 1.0}),
        Preset(
            name="weighted",
            fusion="weighted",
            weights={"newest": 0.3, "vector": 0.5, "important": 0.2},
            depth=0,
            depth_per_hit=3,
        ),
        Preset(
            name="notes",
            fusion="blend",
            weights={"keyword": 0.4, "tfidf": 0.6, "age": 1.0},
            kinds=("fact",),
            private=True,
        ),
        Preset(name="recency", fusion="value", weights={"newest": 1.0}),
        Preset(name="importance", fusion="value", weights={"important": 1.0}),
    )
}


def find_preset(name: str, known: Mapping[str, Preset] = PRESETS) -> Preset:
    """The preset of that name.

    Raises:
        InvalidInput: with the known names.
    """
    return known[checks.choice(name, known, name="preset")]
