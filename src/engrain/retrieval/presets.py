"""Rankings by name, as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from engrain.domain import checks

if TYPE_CHECKING:
    from collections.abc import Mapping

Channel = Literal["vector", "keyword", "session", "speaker"]
Fusion = Literal["value", "rrf_full"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """Which channels judge, how much each counts, and how their lists become one.

    `depth`: candidates taken from each list; at least `limit` are.
    """

    name: str
    fusion: Fusion
    weights: Mapping[Channel, float]
    depth: int = 150


# Weights measured on LoCoMo and LongMemEval (bench/retrieval): by value, because the same lists fused by rank lose
# 10 points of evidence recall@10.
ENGRAIN = Preset(
    name="engrain", fusion="value", weights={"vector": 1.0, "keyword": 0.8, "session": 0.2, "speaker": 0.2}
)

PRESETS: Mapping[str, Preset] = {
    preset.name: preset
    for preset in (
        ENGRAIN,
        Preset(name="semantic", fusion="value", weights={"vector": 1.0}),
        Preset(name="keyword", fusion="value", weights={"keyword": 1.0}),
        Preset(name="hybrid", fusion="rrf_full", weights={"vector": 1.0, "keyword": 1.0}),
    )
}


def preset(name: str) -> Preset:
    """The preset of that name.

    Raises:
        InvalidInput: with the known names.
    """
    return PRESETS[checks.choice(name, PRESETS, what="preset")]
