"""Candidates of one search as columns, and the share of the score that each channel or signal adds. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import repeat
from typing import TYPE_CHECKING, Any

import numpy as np

from engrain.domain.records import Contribution, Explanation, Hit, MemoryRecord, Repeats
from engrain.domain.text.indexing import own_terms

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray


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


def explain_rows(shares: Sequence[Share], rows: Sequence[int]) -> list[tuple[Contribution, ...]]:
    """Make the records of the contributions of some candidates, in their order: of each column at once."""
    why: list[list[Contribution]] = [[] for _ in rows]
    places = np.array(rows, np.intp)  # once: NumPy makes an array of a list at each look-up
    for share in shares:
        ranks = repeat(None) if share.ranks is None else share.ranks[places].tolist()
        columns = (share.is_given[places].tolist(), ranks, share.raws[places].tolist(), share.values[places].tolist())
        for of_row, is_given, rank, raw, value in zip(why, *columns, strict=False):
            if is_given:
                of_row.append(Contribution(channel=share.channel, rank=rank, raw=raw, weight=share.weight, value=value))
    return list(map(tuple, why))


def add_up(shares: Sequence[Share]) -> NDArray[np.float64]:
    """Add up the contributions of each candidate, rounded exactly as in their explanation."""
    columns = [share.values.tolist() for share in shares]
    return np.fromiter(map(math.fsum, zip(*columns, strict=True)), np.float64, len(columns[0]))


@dataclass(frozen=True, slots=True)
class Candidates:
    """All candidates as columns, by doc: scores, what these are made of, and traits where these count."""

    preset: str
    docs: NDArray[np.int64]
    shares: Sequence[Share]
    scores: NDArray[np.float64]
    traits: NDArray[Any] | None = None

    def explain(self, rows: Sequence[int]) -> list[Explanation]:
        """The explanations of some scores."""
        return [Explanation(preset=self.preset, contributions=why) for why in explain_rows(self.shares, rows)]

    def find_id(self, row: int) -> str | None:
        """The id of a memory, where its traits are known."""
        return None if self.traits is None else self.traits["id"][row]

    def sort_rows(
        self, rows: Sequence[int], ties: str | None, *, moments: Sequence[int], ids: Sequence[str]
    ) -> list[int]:
        """Sort rows by score, then by rank in the list of `ties`, newest, id; `moments` and `ids` are theirs."""
        ranks: Iterable[float] = repeat(math.inf)
        for share in self.shares:
            if share.channel == ties and share.ranks is not None:
                ranks = np.where(share.is_given[rows], share.ranks[rows], math.inf).tolist()
        keys = zip((-self.scores[rows]).tolist(), ranks, [-moment for moment in moments], ids, rows, strict=False)
        return [row for *_, row in sorted(keys)]

    def make_hits(
        self,
        memories: Mapping[int, MemoryRecord],
        query_terms: Sequence[str],
        same: Mapping[int, Repeats] | None = None,
        *,
        explained: Sequence[int] | None = None,
    ) -> list[Hit]:
        """The hits of some memories, by row, in their order; only the `explained` rows, by default all, say why."""
        rows = list(memories)
        explained = rows if explained is None else explained
        why = {}
        for row, shares in zip(explained, explain_rows(self.shares, explained), strict=True):
            own = set(own_terms(memories[row]))
            matched = tuple(filter(own.__contains__, query_terms))
            why[row] = Explanation(preset=self.preset, contributions=shares, matched_terms=matched)
        unsaid = Explanation(preset=self.preset, contributions=())
        return [
            Hit(score=score, memory=memory, why=why.get(row, unsaid), repeats=(same or {}).get(row))
            for (row, memory), score in zip(memories.items(), self.scores[rows].tolist(), strict=True)
        ]
