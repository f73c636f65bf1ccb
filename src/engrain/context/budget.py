"""Packing entries into a token budget: each section's share first, then the best of all. Pure.

A text is as long as its counter says, and counting it anew for each line would cost the square of its length. So lines
are weighed once, packed by the sum, and the whole is counted at the end, by which it is filled up or cut back.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from engrain.context.entries import Entry, break_tie
from engrain.domain.text.bisection import find_largest
from engrain.domain.text.tokens import piece_weight

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from engrain.context.recipes import Recipe, SectionName
    from engrain.domain.ports import TokenCounter

# Each round counts the whole once and gives what the estimate was too cautious by to further lines.
_ROUNDS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """A number of tokens by a counter, for texts written by `render`; `weigh` estimates what a piece adds."""

    tokens: int
    count: TokenCounter
    weigh: Callable[[str], float]
    render: Callable[[Sequence[Entry]], str]

    @classmethod
    def of(cls, tokens: int, count: TokenCounter, render: Callable[[Sequence[Entry]], str]) -> Budget:
        """A budget that weighs every piece once."""
        return cls(tokens=tokens, count=count, weigh=cache(piece_weight(count)), render=render)

    def measure(self, entries: Sequence[Entry]) -> int:
        """The length of entries together, in tokens; 0 for none."""
        text = self.render(entries)
        return self.count(text) if text else 0

    def fits(self, entries: Sequence[Entry]) -> bool:
        """True if entries stand within it together."""
        return self.measure(entries) <= self.tokens


def pack(
    candidates: Sequence[Entry],
    recipe: Recipe,
    budget: Budget,
    *,
    standing: Sequence[Entry] = (),
    keep_shares: bool = False,
) -> tuple[Entry, ...]:
    """The entries that stand, in the order they were taken; they fit, whatever the counter.

    What is `standing` already stays. With `keep_shares` each section then takes from its share, in order, until one
    does not fit, and keeps its share for itself while nothing of it stands. The best of all that still fit follow, and
    last what the query did not find.
    """
    present = {entry.section for entry in candidates} if keep_shares else set()
    shares = {name: share * budget.tokens for name, share in recipe.quotas.items() if name in present}
    packing = _Packing(recipe=recipe, budget=budget, shares=shares)
    packing.begin(standing)
    packing.share_out(candidates)
    for _ in range(_ROUNDS):
        packing.fill(candidates)
        taken = packing.taken
        tokens = budget.measure(taken)
        if tokens > budget.tokens:
            # For a counter by which more text may be fewer tokens, some of the longest beginning that fits.
            return tuple(taken[: find_largest(len(taken), lambda count: budget.fits(packing.taken[:count]))])
        if len(taken) == len(candidates) or tokens > packing.used - 1:
            break
        packing.used = tokens  # the estimate was too cautious by a token or more
    return tuple(packing.taken)


@dataclass(slots=True, kw_only=True)
class _Packing:
    """The entries taken so far, and their weight; `shares` holds the tokens each section is sure of."""

    recipe: Recipe
    budget: Budget
    shares: dict[SectionName, float]
    taken: list[Entry] = field(default_factory=list)
    used: float = 0.0
    _headed: set[tuple[SectionName, str | None]] = field(default_factory=set)
    _lines: Counter[SectionName] = field(default_factory=Counter)
    _ids: set[str] = field(default_factory=set)

    def begin(self, standing: Sequence[Entry]) -> None:
        """Take what stands already.

        A section is weighed with the line break at its end and the blank line before it. A text lacks the first at its
        end and, without a title, the second at its beginning.
        """
        weigh, title = self.budget.weigh, self.recipe.title
        self.used = weigh(f"{title}\n") - weigh("\n") if title else -2 * weigh("\n")
        for entry in standing:
            self._add(entry, self._cost(entry))

    def share_out(self, candidates: Sequence[Entry]) -> None:
        """Give each section what it is sure of: its entries in order, until one does not fit."""
        for section in self.recipe.sections:
            left = self.shares.get(section.name, 0.0)
            for entry in candidates:
                if entry.section == section.name and self._may_take(entry):
                    cost = self._cost(entry)
                    if cost > left or self.used + cost > self.budget.tokens:
                        break
                    self._add(entry, cost)
                    left -= cost

    def fill(self, candidates: Sequence[Entry]) -> None:
        """Take the best of all that still fits; then what the query did not find, in order."""
        for entry in _best_first(candidates):
            if self._may_take(entry):
                cost = self._cost(entry)
                if self.used + cost + self._reserve(entry.section) <= self.budget.tokens:
                    self._add(entry, cost)

    def _reserve(self, section: SectionName) -> float:
        """The tokens of other sections of which nothing stands."""
        return sum(share for name, share in self.shares.items() if name != section and not self._lines[name])

    def _may_take(self, entry: Entry) -> bool:
        """True if it does not stand yet, and its section takes more."""
        most = self.recipe.section(entry.section).most
        return entry.memory.id not in self._ids and (most is None or self._lines[entry.section] < most)

    def _add(self, entry: Entry, cost: float) -> None:
        self.used += cost
        self.taken.append(entry)
        self._ids.add(entry.memory.id)
        self._lines[entry.section] += 1
        self._headed |= {(entry.section, None), (entry.section, entry.day)}

    def _cost(self, entry: Entry) -> float:
        """The weight it adds: its line, and the headings that do not stand yet."""
        parts = [f"{entry.text}\n"]
        if (entry.section, None) not in self._headed:
            parts.append(f"{self.recipe.section(entry.section).heading}\n\n")
        if entry.day is not None and (entry.section, entry.day) not in self._headed:
            parts.append(f"{entry.day}\n")
        return sum(map(self.budget.weigh, parts))


def _best_first(candidates: Sequence[Entry]) -> list[Entry]:
    valued = [
        (-entry.value, *break_tie(entry.memory), index)
        for index, entry in enumerate(candidates)
        if entry.value is not None
    ]
    return [*(candidates[index] for *_, index in sorted(valued)), *(e for e in candidates if e.value is None)]
