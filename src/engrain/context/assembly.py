"""How a context block is made: the best of what was found, within a budget. Pure: the same input, the same bytes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from engrain.context import entries
from engrain.context.block import ContextBlock, ContextSection
from engrain.context.budget import Budget, budget, pack
from engrain.context.entries import BlockSources, LineOptions
from engrain.context.excerpts import clip
from engrain.context.recipes import ENGRAIN, Recipe, Section, SectionName
from engrain.domain.records import Episode
from engrain.domain.text.tokens import approximate_tokens, checked

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from engrain.context.entries import Entry
    from engrain.domain.ports import TokenCounter

_BY_TIME: frozenset[SectionName] = frozenset({"recent", "said"})


def build(
    found: BlockSources,
    *,
    budget_tokens: int,
    count_tokens: TokenCounter = approximate_tokens,
    recipe: Recipe = ENGRAIN,
    options: LineOptions = LineOptions(),  # noqa: B008  # frozen
    query: str = "",
) -> ContextBlock:
    """As much as fits of what was found.

    Each section has its share for certain, its best first; what shares leave goes to the best of all, and a memory that
    does not fit is passed over for smaller ones after it. Where nothing of a section would stand, the part of its best
    memory stands that says most of the `query` asks for. The budget is never exceeded, by whatever counter.

    Raises:
        InvalidInput: the counter fails, or returns anything but a whole number from 0.
    """
    candidates = entries.of(found, recipe, options)
    within = budget(budget_tokens, checked(count_tokens), lambda chosen: render(_sections(chosen, recipe), recipe))
    chosen = pack(candidates, recipe, within, keep_shares=True)
    empty = {each.section for each in candidates} - {each.section for each in chosen}
    if empty:
        clip = _Clip(recipe=recipe, options=options, query=query)
        for section in recipe.sections:
            if section.name in empty:
                chosen = _with_its_best(section, chosen, candidates, within=within, how=clip)
        chosen = pack(candidates, recipe, within, standing=chosen)
    return _block(chosen, candidates, recipe, within)


def render(sections: Sequence[tuple[Section, Sequence[Entry]]], recipe: Recipe) -> str:
    """Markdown: the title, then a heading and the lines of each section, episodes under the heading of their day."""
    body = "\n\n".join("\n".join([section.heading, *_dated(chosen)]) for section, chosen in sections)
    if not recipe.title:
        return body
    return f"{recipe.title}\n\n{body}" if body else f"{recipe.title}\n"


def _block(chosen: Sequence[Entry], candidates: Sequence[Entry], recipe: Recipe, within: Budget) -> ContextBlock:
    sections = _sections(chosen, recipe)
    text, tokens = within.render(chosen), within.counted(chosen)
    if tokens > within.tokens:  # a title alone may be too long
        text, tokens = "", 0
    standing = [each for _, entries_ in sections for each in entries_]
    return ContextBlock(
        text=text,
        tokens=tokens,
        budget_tokens=within.tokens,
        sections=tuple(
            ContextSection(
                name=section.name,
                heading=section.heading,
                lines=tuple(each.text for each in entries_),
                ids=tuple(each.memory.id for each in entries_),
            )
            for section, entries_ in sections
        ),
        memories=tuple(each.memory for each in standing),
        clipped=tuple(each.memory.id for each in standing if each.is_clipped),
        left_out=len({each.memory.id for each in candidates}) - len(standing),
    )


def _sections(chosen: Sequence[Entry], recipe: Recipe) -> list[tuple[Section, list[Entry]]]:
    """The sections that have entries, each in the order it is read in."""
    by_name: dict[SectionName, list[Entry]] = {}
    for each in sorted(chosen, key=lambda each: each.place):
        by_name.setdefault(each.section, []).append(each)
    for name in _BY_TIME & by_name.keys():
        by_name[name].sort(key=_moment)
    return [(section, by_name[section.name]) for section in recipe.sections if section.name in by_name]


def _moment(entry: Entry) -> tuple[datetime, str, int, str]:
    """When it was said; the turns of a session that were said at one moment in their order."""
    memory = entry.memory
    assert isinstance(memory, Episode)
    return memory.event_time, memory.session or "", memory.turn, memory.id


def _dated(chosen: Sequence[Entry]) -> list[str]:
    lines: list[str] = []
    day = None
    for each in chosen:
        if each.day not in (None, day):
            lines.append(each.day)
            day = each.day
        lines.append(each.text)
    return lines


@dataclass(frozen=True, slots=True, kw_only=True)
class _Clip:
    recipe: Recipe
    options: LineOptions
    query: str


def _with_its_best(
    section: Section, chosen: tuple[Entry, ...], candidates: Sequence[Entry], *, within: Budget, how: _Clip
) -> tuple[Entry, ...]:
    """With the best memory of a section of which nothing stands, or a part of it; without, where no part fits."""
    standing = {each.memory.id for each in chosen}
    here = [each for each in candidates if each.section == section.name and each.memory.id not in standing]
    if not here or section.most == 0:
        return chosen
    best = here[0]
    if within.fits([*chosen, best]):
        return (*chosen, best)

    def part(content: str) -> Entry:
        return entries.entry(best.memory, section.name, how.recipe, how.options, place=best.place, content=content)

    content = clip(best.memory.content, how.query, lambda text: within.fits([*chosen, part(text)]))
    return chosen if content is None else (*chosen, part(content))
