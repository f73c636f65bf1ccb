"""Recipes of context blocks, as data: their sections, the order and shares of these, the style of lines."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, get_args

from engrain.domain import checks
from engrain.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from engrain.domain.records import Kind

SectionName = Literal["profile", "facts", "rules", "recent", "said", "reflection"]
SECTIONS: tuple[SectionName, ...] = get_args(SectionName)
LineStyle = Literal["plain", "judged"]

# The share each section is sure of; the rest goes to the best, whatever their section.
QUOTAS: Mapping[SectionName, float] = {"facts": 0.3, "rules": 0.1, "recent": 0.1, "said": 0.4, "reflection": 0.1}
MOST_RECENT = 100
_FEWEST, _SHORT_LINE_TOKENS = 50, 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One part of a block, under a Markdown heading; at most `most` memories stand in it."""

    name: SectionName
    heading: str
    most: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """A way to make a block.

    Attributes:
        title: the first line of every block, also where nothing was found.
        sections: in the order they stand in.
        preset: the ranking it asks for; None for the caller's.
        candidates: how many memories it asks for at most.
        length_price: what a memory has to be better by, as a share of the best score, for each time it is twice as long
            as 100 characters.
        style: plain lines, or lines with the confidence of facts and the maturity of rules.
        has_floor: with too little evidence it holds the user's profile and standing rules alone.
    """

    name: str
    title: str = ""
    sections: tuple[Section, ...]
    quotas: Mapping[SectionName, float]
    preset: str | None = None
    candidates: int
    length_price: float = 0.0
    style: LineStyle = "plain"
    has_floor: bool = True

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds of memory it searches."""
        kinds: Mapping[SectionName, Kind] = {"facts": "fact", "rules": "rule", "said": "episode"}
        return tuple(kinds[section.name] for section in self.sections if section.name in kinds)

    def candidates_for(self, budget_tokens: int) -> int:
        """The number of memories it asks for within a budget: no more than lines of few words would fill it."""
        return min(self.candidates, max(_FEWEST, budget_tokens // _SHORT_LINE_TOKENS))

    def section(self, name: SectionName) -> Section:
        """The section of a name, which it must have."""
        return next(section for section in self.sections if section.name == name)

    def has(self, name: SectionName) -> bool:
        """True if there is such a section."""
        return any(section.name == name for section in self.sections)


# 150 candidates fill 4,000 tokens, and the price buys more evidence at every budget: bench/README.md.
ENGRAIN = Recipe(
    name="engrain",
    sections=(
        Section(name="profile", heading="## About the user"),
        Section(name="facts", heading="## What is known"),
        Section(name="rules", heading="## Rules"),
        Section(name="recent", heading="## Recently"),
        Section(name="said", heading="## What was said"),
        Section(name="reflection", heading="## Weekly insight", most=1),
    ),
    quotas=QUOTAS,
    candidates=150,
    length_price=0.03,
)

RECIPES: Mapping[str, Recipe] = {
    recipe.name: recipe
    for recipe in (
        ENGRAIN,
        Recipe(
            name="butler",
            title="# Memory Context",
            sections=(
                Section(name="facts", heading="## Key Facts"),
                Section(name="rules", heading="## Active Rules"),
                Section(name="recent", heading="## Recent Episodes"),
            ),
            quotas=QUOTAS,
            preset="recall",
            candidates=20,
            style="judged",
            has_floor=False,
        ),
        # More are asked for than stand: facts learned in the current session leave their places to others.
        Recipe(
            name="assistant",
            sections=(
                Section(name="facts", heading="## Relevant memory", most=5),
                Section(name="reflection", heading="## Weekly insight", most=1),
            ),
            quotas=QUOTAS,
            preset="assistant",
            candidates=20,
            has_floor=False,
        ),
    )
}


def build_recipes(order: Iterable[str], quotas: Mapping[str, float], candidates: int) -> Mapping[str, Recipe]:
    """The recipes by name, their sections those of `order` that they have, in that order.

    A section that `quotas` do not name is sure of nothing; the default asks for `candidates`.

    Raises:
        InvalidInput: an unknown section, a share outside 0-1, or shares that add up to more than 1.
    """
    names, shares = checks.choices(order, SECTIONS, name="section"), _check_shares(quotas)
    return {
        name: replace(
            recipe,
            sections=tuple(recipe.section(section) for section in names if recipe.has(section)),
            quotas=shares,
            candidates=candidates if recipe is ENGRAIN else recipe.candidates,
        )
        for name, recipe in RECIPES.items()
    }


def _check_shares(quotas: Mapping[str, float]) -> dict[SectionName, float]:
    shares = {
        checks.choice(name, SECTIONS, name="section"): checks.number(share, name=f"quota of {name}", low=0, high=1)
        for name, share in quotas.items()
    }
    total = math.fsum(shares.values())
    if total > 1 + 1e-9:  # what tenths may add up to
        raise InvalidInput(f"the quotas of context sections add up to {total:g}; at most 1: lower some")
    return shares
