"""Candidates of one search as columns, and the share of the score that each channel or signal adds. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from engrain.domain.records import Contribution, Explanation, Hit
from engrain.domain.text.indexing import own_terms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from engrain.domain.records import MemoryRecord, Repeats


@dataclass(frozen=True, slots=True)
class Share:
    """Contributions of one channel or signal, a row for each candidate; 0 where it `is_given` none.

    `raws` are its own numbers, `values` what they count for; signals have no `ranks`.
    """

    channel: str
    weight: float
    raws: NDArray[np.float64]
    values: NDArray[np.float64]
    is_given: NDArray[np.bool_]
    ranks: NDArray[np.int64] | None = None


def explain_row(shares: Sequence[Share], row: int) -> tuple[Contribution, ...]:
    """Make the records of one candidate's contributions, in their order."""
    given = [
        Contribution(
            channel=share.channel,
            rank=None if share.ranks is None else int(share.ranks[row]),
            raw=float(share.raws[row]),
            weight=share.weight,
            value=float(share.values[row]),
        )
        for share in shares
        if share.is_given[row]
    ]
    return tuple(given)


def add_up(shares: Sequence[Share]) -> NDArray[np.float64]:
    """Add up the contributions of each candidate, rounded exactly as in their explanation."""
    rows = np.stack([share.values for share in shares], axis=1).tolist()
    return np.fromiter(map(math.fsum, rows), np.float64, len(rows))


@dataclass(frozen=True, slots=True)
class Candidates:
    """All candidates as columns, by doc: scores, what these are made of, and traits where these count."""

    preset: str
    docs: NDArray[np.int64]
    shares: Sequence[Share]
    scores: NDArray[np.float64]
    traits: NDArray[Any] | None = None

    def explain(self, row: int) -> Explanation:
        """The explanation of a score."""
        return Explanation(preset=self.preset, contributions=explain_row(self.shares, row))

    def find_id(self, row: int) -> str | None:
        """The id of a memory, where its traits are known."""
        return None if self.traits is None else self.traits["id"][row]

    def rank_in(self, row: int, channel: str | None) -> float:
        """The rank in one list; infinite where it is not there."""
        for share in self.shares:
            if share.channel == channel and share.ranks is not None and share.is_given[row]:
                return int(share.ranks[row])
        return math.inf

    def make_hit(self, row: int, memory: MemoryRecord, query_terms: Sequence[str], same: Repeats | None = None) -> Hit:
        """The hit of one row."""
        own = set(own_terms(memory))
        why = Explanation(
            preset=self.preset,
            contributions=explain_row(self.shares, row),
            matched_terms=tuple([term for term in query_terms if term in own]),
        )
        return Hit(score=float(self.scores[row]), memory=memory, why=why, repeats=same)
