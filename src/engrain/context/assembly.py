"""Assembly of a context block: the best memories within a token budget. Pure: the same input, the same bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engrain.context.block import ContextBlock, ContextSection
from engrain.context.budget import Budget, pack
from engrain.context.entries import BlockSources, Entry, LineOptions, build_entry, drop_sources, list_entries
from engrain.context.excerpts import clip
from engrain.context.recipes import ENGRAIN, Recipe, Section, SectionName
from engrain.domain.records import Episode
from engrain.domain.text.tokens import approximate_tokens, check_counter

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from engrain.domain.ports import TokenCounter
    from engrain.domain.records import Hit

_BY_TIME: frozenset[SectionName] = frozenset({"recent", "said"})


def build(
    sources: BlockSources,
    *,
    budget_tokens: int,
    count_tokens: TokenCounter = approximate_tokens,
    recipe: Recipe = ENGRAIN,
    options: LineOptions = LineOptions(),  # noqa: B008  # frozen
    query: str = "",
) -> ContextBlock:
    """A block of as many of the memories as fit.

    Each section has its share for certain, its best first; what shares leave goes to the best of all, and a memory that
    does not fit is passed over for smaller ones after it. Of the best hit, and of the best memory of a section of which
    nothing would stand, the part stands that says most of what the `query` asks for. An episode and what was learned
    from it do not both stand. The budget is never exceeded, by whatever counter.

    Raises:
        InvalidInput: the counter fails, or returns anything but a whole number from 0.
    """
    listed = list_entries(sources, recipe, options)
    budget = Budget.of(
        budget_tokens, check_counter(count_tokens), lambda entries: _render(_sections(entries, recipe), recipe)
    )
    most = recipe.quotas.get("said", 0.0) * budget_tokens
    candidates = drop_sources(listed, lambda entry: budget.weigh(entry.text) <= most)

    def build_part(entry: Entry, content: str) -> Entry:
        position, repeats = entry.position, entry.repeats
        return build_entry(
            entry.memory, entry.section, recipe, options, position=position, content=content, repeats=repeats
        )

    chosen = pack(candidates, recipe, budget, keep_shares=True)
    best = _find_left_out(sources.hits[:1], candidates, chosen)
    if best is not None and chosen:
        share = recipe.quotas.get(best.section, 0.0) * budget_tokens
        content = clip(best.memory.content, query, lambda text: budget.weigh(build_part(best, text).text) <= share)
        if content is not None:
            chosen = pack(candidates, recipe, budget, standing=[build_part(best, content)], keep_shares=True)
    empty = {entry.section for entry in candidates} - {entry.section for entry in chosen}
    if empty:
        for section in recipe.sections:
            if section.name in empty:
                chosen = _add_best(section, chosen, candidates, budget=budget, build_part=build_part, query=query)
        chosen = pack(candidates, recipe, budget, standing=chosen)
    return _block(chosen, candidates, recipe, budget)


def _render(sections: Sequence[tuple[Section, Sequence[Entry]]], recipe: Recipe) -> str:
    """Markdown: the title, then a heading and the lines of each section, episodes under the heading of their day."""
    body = "\n\n".join("\n".join([section.heading, *_format_lines(entries)]) for section, entries in sections)
    if not recipe.title:
        return body
    return f"{recipe.title}\n\n{body}" if body else f"{recipe.title}\n"


def _block(chosen: Sequence[Entry], candidates: Sequence[Entry], recipe: Recipe, budget: Budget) -> ContextBlock:
    sections = _sections(chosen, recipe)
    text, tokens = budget.render(chosen), budget.measure(chosen)
    if tokens > budget.tokens:  # a title alone may be too long
        text, tokens = "", 0
    standing = [entry for _, entries in sections for entry in entries]
    return ContextBlock(
        text=text,
        tokens=tokens,
        budget_tokens=budget.tokens,
        sections=tuple(
            ContextSection(
                name=section.name,
                heading=section.heading,
                lines=tuple(entry.text for entry in entries),
                ids=tuple(entry.memory.id for entry in entries),
            )
            for section, entries in sections
        ),
        memories=tuple(entry.memory for entry in standing),
        clipped=tuple(entry.memory.id for entry in standing if entry.is_clipped),
        left_out=len({entry.memory.id for entry in candidates}) - len(standing),
    )


def _sections(entries: Sequence[Entry], recipe: Recipe) -> list[tuple[Section, list[Entry]]]:
    """The sections that have entries, each in the order it is read in."""
    by_name: dict[SectionName, list[Entry]] = {}
    for entry in sorted(entries, key=lambda entry: entry.position):
        by_name.setdefault(entry.section, []).append(entry)
    for name in _BY_TIME & by_name.keys():
        by_name[name].sort(key=_moment)
    return [(section, by_name[section.name]) for section in recipe.sections if section.name in by_name]


def _moment(entry: Entry) -> tuple[datetime, str, int, str]:
    """Sort key by time; turns of a session at one moment stand in their order."""
    memory = entry.memory
    assert isinstance(memory, Episode)
    return memory.event_time, memory.session or "", memory.turn, memory.id


def _format_lines(entries: Sequence[Entry]) -> list[str]:
    lines: list[str] = []
    day = None
    for entry in entries:
        if entry.day not in (None, day):
            lines.append(entry.day)
            day = entry.day
        lines.append(entry.text)
    return lines


def _find_left_out(hits: Sequence[Hit], candidates: Sequence[Entry], chosen: Sequence[Entry]) -> Entry | None:
    """Find the first candidate of some hits of which none stands."""
    ids = {hit.memory.id for hit in hits}
    if any(entry.memory.id in ids for entry in chosen):
        return None
    return next((entry for entry in candidates if entry.memory.id in ids), None)


def _add_best(
    section: Section,
    chosen: tuple[Entry, ...],
    candidates: Sequence[Entry],
    *,
    budget: Budget,
    build_part: Callable[[Entry, str], Entry],
    query: str,
) -> tuple[Entry, ...]:
    """Add the best memory of a section of which nothing stands, or a part of it; nothing where no part fits."""
    standing = {entry.memory.id for entry in chosen}
    best = next((e for e in candidates if e.section == section.name and e.memory.id not in standing), None)
    if best is None or section.most == 0:
        return chosen
    if budget.fits([*chosen, best]):
        return (*chosen, best)
    content = clip(best.memory.content, query, lambda text: budget.fits([*chosen, build_part(best, text)]))
    return chosen if content is None else (*chosen, build_part(best, content))
