"""What channels and judges give candidates, while a search is going on."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from engrain.domain.records import Contribution

if TYPE_CHECKING:
    from collections.abc import Iterable


class Share(NamedTuple):
    """What one channel gives one candidate, in the fields of `Contribution`.

    A tuple, as a search makes a thousand and tells of ten: a record takes four times as long to make.
    """

    channel: str
    rank: int | None
    raw: float
    weight: float
    value: float

    def told(self) -> Contribution:
        """As an explanation shows it."""
        return Contribution(channel=self.channel, rank=self.rank, raw=self.raw, weight=self.weight, value=self.value)


def total(shares: Iterable[Share]) -> float:
    """What shares add up to, exactly as their explanation will."""
    return math.fsum(share.value for share in shares)
