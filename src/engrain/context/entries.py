"""What could stand in a block: each memory found, in its section, as its line, with what it is worth there. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from engrain.context import lines
from engrain.domain.records import REFLECTION, Episode, Fact, Rule

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import timedelta

    from engrain.context.recipes import Recipe, SectionName
    from engrain.domain.records import Hit, Kind, Maturity, MemoryRecord

_SECTION_OF: Mapping[Kind, SectionName] = {"fact": "facts", "rule": "rules", "episode": "said"}
# A warning rests on three harms at least, a candidate on little.
_MATURITY: Mapping[Maturity, int] = {"proven": 0, "established": 1, "anti_pattern": 2, "candidate": 3}
_BY_QUESTION = frozenset(_SECTION_OF.values())
_END_OF_TIME = datetime.max.replace(tzinfo=UTC)
_SHORT = 100  # characters: the length from which on a memory is priced


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockSources:
    """What was found for a block: by the question, by time alone, and of reflections the latest."""

    hits: Sequence[Hit] = ()
    recent: Sequence[Episode] = ()  # the newest first
    reflection: Fact | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LineOptions:
    """How lines are written beyond what the recipe says."""

    with_dates: bool = True
    with_sources: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One memory in one section.

    Attributes:
        text: its line.
        place: where it stands among all, the sections in order and in each the one first that is to stand first.
        day: the heading of its day, for episodes with dates.
        value: what it is worth beside those of other sections; None where it was not found by the question.
        is_clipped: whether the line holds a part of it alone.
    """

    section: SectionName
    memory: MemoryRecord
    text: str
    place: int
    day: str | None
    value: float | None
    is_clipped: bool = False


def of(found: BlockSources, recipe: Recipe, written: LineOptions) -> tuple[Entry, ...]:
    """Every memory in each section it could stand in, by place.

    Facts stand by score (those that hold no more behind, the newest first), rules by maturity and score, what was said
    by score less the price of its length; ties by created_at, the newest first, and id.
    """
    worth = _worth(found.hits, recipe)
    scores = {hit.memory.id: hit.score for hit in found.hits}
    told = [hit.memory for hit in found.hits if not _is_reflection(hit.memory)]
    reflections = [found.reflection] if found.reflection else []
    by_section: Mapping[SectionName, Sequence[MemoryRecord]] = {
        **{
            section: sorted((each for each in told if each.kind == kind), key=lambda each: _rank(each, scores, worth))
            for kind, section in _SECTION_OF.items()
        },
        "recent": found.recent,
        "reflection": reflections,
    }
    placed = [(section.name, each) for section in recipe.sections for each in by_section[section.name]]
    return tuple(
        entry(each, section, recipe, written, place=place, value=worth[each.id] if section in _BY_QUESTION else None)
        for place, (section, each) in enumerate(placed)
    )


def entry(
    memory: MemoryRecord,
    section: SectionName,
    recipe: Recipe,
    written: LineOptions,
    *,
    place: int,
    value: float | None = None,
    content: str | None = None,
) -> Entry:
    """A memory as it would stand in a section; with `content` in place of its own it counts as clipped."""
    return Entry(
        section=section,
        memory=memory,
        text=lines.line(
            memory,
            style=recipe.style,
            with_dates=written.with_dates,
            with_sources=written.with_sources,
            content=content,
        ),
        place=place,
        day=lines.day(memory) if written.with_dates and isinstance(memory, Episode) else None,
        value=value,
        is_clipped=content is not None,
    )


def newest(memory: MemoryRecord) -> tuple[timedelta, str]:
    """How ties are broken: the later created first, then the lower id."""
    return _END_OF_TIME - memory.created_at, memory.id


def _worth(hits: Sequence[Hit], recipe: Recipe) -> dict[str, float]:
    """Scores as shares of the best, less the price of length; where none is above 0 there is nothing to price."""
    best = max((hit.score for hit in hits), default=0.0)
    if best <= 0:
        return {hit.memory.id: hit.score for hit in hits}
    return {
        hit.memory.id: hit.score / best - recipe.length_price * _doublings(lines.flat(hit.memory.content))
        for hit in hits
    }


def _doublings(text: str) -> float:
    return math.log2(max(len(text), _SHORT) / _SHORT)


def _rank(
    memory: MemoryRecord, scores: Mapping[str, float], worth: Mapping[str, float]
) -> tuple[int, float, timedelta, str]:
    match memory:
        case Fact(validity="active"):
            return 0, -scores[memory.id], *newest(memory)
        case Fact():
            return 1, 0.0, *newest(memory)
        case Rule():
            return _MATURITY[memory.maturity], -scores[memory.id], *newest(memory)
        case _:
            return 0, -worth[memory.id], *newest(memory)


def _is_reflection(memory: MemoryRecord) -> bool:
    """Reflections have a section of their own."""
    return isinstance(memory, Fact) and memory.category == REFLECTION
