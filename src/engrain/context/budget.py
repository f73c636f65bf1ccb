"""Which entries stand within a budget: each section's share first, then the best of all. Pure.

A text is as long as its counter says, and counting it anew for each line would cost the square of its length. So lines
are weighed once, packed by the sum, and the whole is counted at the end, by which it is filled up or cut back.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from engrain.context.entries import newest
from engrain.domain.text.tokens import weight

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from engrain.context.entries import Entry
    from engrain.context.recipes import Recipe, SectionName
    from engrain.domain.ports import TokenCounter

# Each round counts the whole once and gives what the estimate was too cautious by to further lines.
_ROUNDS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """So many tokens by that counter, for texts written by `render`; `weigh` estimates what a piece adds."""

    tokens: int
    count: TokenCounter
    weigh: Callable[[str], float]
    render: Callable[[Sequence[Entry]], str]

    def counted(self, chosen: Sequence[Entry]) -> int:
        """How long these are together; nothing is of no length."""
        text = self.render(chosen)
        return self.count(text) if text else 0

    def fits(self, chosen: Sequence[Entry]) -> bool:
        """Whether these stand within it together."""
        return self.counted(chosen) <= self.tokens


def budget(tokens: int, count: TokenCounter, render: Callable[[Sequence[Entry]], str]) -> Budget:
    """A budget that weighs every piece once."""
    return Budget(tokens=tokens, count=count, weigh=cache(weight(count)), render=render)


def pack(
    candidates: Sequence[Entry],
    recipe: Recipe,
    within: Budget,
    *,
    standing: Sequence[Entry] = (),
    keep_shares: bool = False,
) -> tuple[Entry, ...]:
    """The entries that stand, in the order they were taken; they fit, whatever the counter.

    What is `standing` already stays. With `keep_shares` each section then takes from its share, in order, until one
    does not fit, and keeps its share for itself while nothing of it stands. The best of all that still fit follow, and
    last what was not found by the question.
    """
    packing = _Packing(recipe=recipe, budget=within, kept=_shares(candidates, recipe, within) if keep_shares else {})
    packing.begin(standing)
    packing.share_out(candidates)
    for _ in range(_ROUNDS):
        packing.fill(candidates)
        counted = within.counted(packing.taken)
        if counted > within.tokens:
            return _longest_that_fits(packing.taken, within)
        if len(packing.taken) == len(candidates) or counted > packing.used - 1:
            break
        packing.used = counted  # the estimate was too cautious by a token or more
    return tuple(packing.taken)


def _shares(candidates: Sequence[Entry], recipe: Recipe, within: Budget) -> dict[SectionName, float]:
    there = {each.section for each in candidates}
    return {name: share * within.tokens for name, share in recipe.quotas.items() if name in there}


@dataclass(slots=True, kw_only=True)
class _Packing:
    """What was taken so far, and its weight; `kept` is the share of each section."""

    recipe: Recipe
    budget: Budget
    kept: dict[SectionName, float]
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
        for each in standing:
            self._add(each, self._cost(each))

    def share_out(self, candidates: Sequence[Entry]) -> None:
        """Give each section what it is sure of: its entries in order, until one does not fit."""
        for section in self.recipe.sections:
            left = self.kept.get(section.name, 0.0)
            for each in candidates:
                if each.section == section.name and self._may_take(each):
                    cost = self._cost(each)
                    if cost > left or self.used + cost > self.budget.tokens:
                        break
                    self._add(each, cost)
                    left -= cost

    def fill(self, candidates: Sequence[Entry]) -> None:
        """Take the best of all that still fits; then what was not found by the question, in order."""
        for each in _best_first(candidates):
            if self._may_take(each):
                cost = self._cost(each)
                if self.used + cost + self._reserved(each.section) <= self.budget.tokens:
                    self._add(each, cost)

    def _reserved(self, section: SectionName) -> float:
        """What other sections keep of which nothing stands."""
        return sum(share for name, share in self.kept.items() if name != section and not self._lines[name])

    def _may_take(self, entry: Entry) -> bool:
        """Whether it does not stand yet, and its section takes more."""
        most = next(each.most for each in self.recipe.sections if each.name == entry.section)
        return entry.memory.id not in self._ids and (most is None or self._lines[entry.section] < most)

    def _add(self, entry: Entry, cost: float) -> None:
        self.used += cost
        self.taken.append(entry)
        self._ids.add(entry.memory.id)
        self._lines[entry.section] += 1
        self._headed |= {(entry.section, None), (entry.section, entry.day)}

    def _cost(self, entry: Entry) -> float:
        """What it adds: its line, and the headings that do not stand yet."""
        parts = [f"{entry.text}\n"]
        if (entry.section, None) not in self._headed:
            heading = next(each.heading for each in self.recipe.sections if each.name == entry.section)
            parts.append(f"{heading}\n\n")
        if entry.day is not None and (entry.section, entry.day) not in self._headed:
            parts.append(f"{entry.day}\n")
        return sum(map(self.budget.weigh, parts))


def _best_first(candidates: Sequence[Entry]) -> list[Entry]:
    valued = [
        (-each.value, *newest(each.memory), place) for place, each in enumerate(candidates) if each.value is not None
    ]
    return [*(candidates[place] for *_, place in sorted(valued)), *(each for each in candidates if each.value is None)]


def _longest_that_fits(taken: Sequence[Entry], within: Budget) -> tuple[Entry, ...]:
    """The most of them, from the first on, that fit; for a counter by which more text may be fewer tokens, some."""
    low, high = 0, len(taken)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if within.fits(taken[:middle]) else (low, middle - 1)
    return tuple(taken[:low])
