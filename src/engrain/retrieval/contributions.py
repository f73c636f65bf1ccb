"""Contributions of channels and ranking signals to the scores of candidates, as tuples."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from engrain.domain.records import Contribution

if TYPE_CHECKING:
    from collections.abc import Iterable


class ContributionRow(NamedTuple):
    """Contribution of one channel to the score of one candidate, with the fields of `Contribution`.

    A tuple, as a search makes a thousand and shows ten: a record takes four times as long to make.
    """

    channel: str
    rank: int | None
    raw: float
    weight: float
    value: float

    def to_record(self) -> Contribution:
        """The record that an explanation shows."""
        return Contribution(channel=self.channel, rank=self.rank, raw=self.raw, weight=self.weight, value=self.value)


def total(contributions: Iterable[ContributionRow]) -> float:
    """The sum of contributions, rounded exactly as in their explanation."""
    return math.fsum(contribution.value for contribution in contributions)
