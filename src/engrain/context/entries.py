"""Entries of a context block: memories in the sections they may stand in, as Markdown lines, with their value. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, tzinfo
from typing import TYPE_CHECKING

from engrain.domain.memories.statement_times import read_said_at
from engrain.domain.memories.trust import TrustLevel, role_trust
from engrain.domain.records import REFLECTION, Episode, Fact, Hit, Kind, Maturity, MemoryRecord, Repeats, Rule
from engrain.domain.text.names import is_sentence_about
from engrain.domain.text.prompt_safety import flatten
from engrain.domain.text.repetition import repeat_key

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence

    from engrain.context.recipes import LineStyle, Recipe, SectionName

_SECTION_OF: Mapping[Kind, SectionName] = {"fact": "facts", "rule": "rules", "episode": "said"}
# A warning rests on three harms at least, a candidate on little.
MATURITY_RANKS: Mapping[Maturity, int] = {"proven": 0, "established": 1, "anti_pattern": 2, "candidate": 3}
_ORIGINS: Mapping[TrustLevel, str] = {
    "tool": "said by a tool or page",
    "assistant": "said by an assistant",
    "import": "imported",
}
_BY_QUERY = frozenset(_SECTION_OF.values())
_END_OF_TIME = datetime.max.replace(tzinfo=UTC)
_SHORT = 100  # characters: the length from which on a memory is priced


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockSources:
    """Memories that a block is made of: hits of the query, recent episodes (newest first), the latest reflection.

    `profile` holds the user's standing facts, for a query that hardly anything answers; `rules` those that stand
    whatever is asked; `share` is what may be filled of the budget; `is_short_of_evidence`: less was found than the
    recipe's floor.
    """

    share: float = 1.0
    is_short_of_evidence: bool = False
    profile: Sequence[Fact] = ()
    rules: Sequence[Rule] = ()
    hits: Sequence[Hit] = ()
    recent: Sequence[Episode] = ()
    reflection: Fact | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LineOptions:
    """Options for lines beyond the style of the recipe."""

    with_dates: bool = True
    with_sources: bool = False
    time_zone: tzinfo = UTC  # of the headings of days


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One memory in one section.

    Attributes:
        text: its line.
        position: its place among all entries: sections in order, and in each the best first.
        day: the heading of its day, for episodes with dates.
        value: what it is worth beside entries of other sections; None where the query did not find it.
        is_clipped: whether the line holds a part of it alone.
        repeats: the near-identical turns that it stands for.
    """

    section: SectionName
    memory: MemoryRecord
    text: str
    position: int
    day: str | None
    value: float | None
    is_clipped: bool = False
    repeats: Repeats | None = None


def list_entries(sources: BlockSources, recipe: Recipe, options: LineOptions) -> tuple[Entry, ...]:
    """Every memory in each section it could stand in, by position.

    Facts stand by score (those that hold no more behind, the newest first), rules by maturity and score, what was said
    by score less the price of its length; ties by created_at, the newest first, and id.
    """
    recent, recent_repeats = _merge_repeats(sources.recent)
    hits = _with_recent(sources.hits, recent)
    values = _values(hits, recipe)
    scores = {hit.memory.id: hit.score for hit in hits}
    standing = (rule for rule in sources.rules if rule.id not in values)
    memories = [*(hit.memory for hit in hits if not _is_reflection(hit.memory)), *standing]
    by_section: Mapping[SectionName, Sequence[MemoryRecord]] = {
        **{
            section: sorted(
                (memory for memory in memories if memory.kind == kind),
                key=lambda memory: _rank(memory, scores, values),
            )
            for kind, section in _SECTION_OF.items()
        },
        "profile": sources.profile,
        "recent": recent,
        "reflection": [sources.reflection] if sources.reflection else [],
    }
    repeats = recent_repeats | {hit.memory.id: hit.repeats for hit in hits if hit.repeats}
    placed = [(section.name, memory) for section in recipe.sections for memory in by_section[section.name]]
    return tuple(
        build_entry(
            memory,
            section,
            recipe,
            options,
            position=position,
            value=values.get(memory.id) if section in _BY_QUERY else None,
            repeats=repeats.get(memory.id),
        )
        for position, (section, memory) in enumerate(placed)
    )


def drop_sources(entries: Sequence[Entry], may_stand: Callable[[Entry], bool]) -> tuple[Entry, ...]:
    """The entries without those that say the same: of an episode and what was learned from it the better ones stand.

    An episode that `may_stand` refuses, as it is too long, leaves its place to what was learned from it.
    """
    sources = {entry.memory.id: source for entry in entries if (source := source_of(entry.memory))}
    known = set(sources.values())
    found = (entry for entry in entries if entry.value is not None and entry.memory.id in known)
    values = {entry.memory.id: entry.value for entry in found if may_stand(entry)}
    learned = [entry for entry in entries if entry.memory.id in sources]
    weaker = {entry.memory.id for entry in learned if _is_less(entry.value, values.get(sources[entry.memory.id]))}
    replaced = {source for id_, source in sources.items() if id_ not in weaker}
    return tuple(entry for entry in entries if entry.memory.id not in weaker | replaced)


def _is_less(value: float | None, than: float | None) -> bool:
    """True if the query found the other one better."""
    return than is not None and (value is None or value < than)


def build_entry(
    memory: MemoryRecord,
    section: SectionName,
    recipe: Recipe,
    options: LineOptions,
    *,
    position: int,
    value: float | None = None,
    content: str | None = None,
    repeats: Repeats | None = None,
) -> Entry:
    """A memory as it would stand in a section; with `content` in place of its own it counts as clipped."""
    return Entry(
        section=section,
        memory=memory,
        text=_line(memory, recipe.style, options, content, repeats=repeats),
        position=position,
        day=_day_heading(memory.happened_at, options) if isinstance(memory, Episode) else None,
        value=value,
        is_clipped=content is not None,
        repeats=repeats,
    )


def _day_heading(moment: datetime, options: LineOptions) -> str | None:
    return f"### {moment.astimezone(options.time_zone).date()}" if options.with_dates else None


def _merge_repeats(recent: Sequence[Episode]) -> tuple[list[Episode], dict[str, Repeats | None]]:
    """The newest of near-identical turns, and the repeats that it stands for by its id."""
    groups: dict[Hashable, list[Episode]] = {}
    for turn in recent:
        groups.setdefault(_key(turn), []).append(turn)
    newest = [turns[0] for turns in groups.values()]
    return newest, {
        turns[0].id: Repeats.of(turn.event_time for turn in turns) for turns in groups.values() if len(turns) > 1
    }


def _with_recent(hits: Sequence[Hit], recent: Sequence[Episode]) -> list[Hit]:
    """The hits, the newest of a turn's repeats in its place, so that what stands among the recent stands once."""
    newest = {_key(turn): turn for turn in recent}
    return [
        replace(hit, memory=newest.get(_key(hit.memory), hit.memory))
        if hit.repeats and isinstance(hit.memory, Episode)
        else hit
        for hit in hits
    ]


def _key(turn: Episode) -> Hashable:
    return repeat_key(turn.content, role=turn.role, speaker=turn.speaker)


def break_tie(memory: MemoryRecord) -> tuple[timedelta, str]:
    """Sort key for ties: the later created first, then the lower id."""
    return _END_OF_TIME - memory.created_at, memory.id


def source_of(memory: MemoryRecord) -> str | None:
    """The id of the episode that a memory was learned from; None of an episode itself."""
    return None if isinstance(memory, Episode) else memory.source_episode_id


def _values(hits: Sequence[Hit], recipe: Recipe) -> dict[str, float]:
    """Scores as shares of the best, less the price of length; where none is above 0 there is nothing to price."""
    best = max((hit.score for hit in hits), default=0.0)
    if best <= 0:
        return {hit.memory.id: hit.score for hit in hits}
    return {hit.memory.id: hit.score / best - recipe.length_price * _doublings(hit.memory.content) for hit in hits}


def _doublings(content: str) -> float:
    return math.log2(max(len(" ".join(content.split())), _SHORT) / _SHORT)


def _rank(
    memory: MemoryRecord, scores: Mapping[str, float], values: Mapping[str, float]
) -> tuple[int, float, timedelta, str]:
    match memory:
        case Fact(validity="active"):
            return 0, -scores[memory.id], *break_tie(memory)
        case Fact():
            return 1, 0.0, *break_tie(memory)
        case Rule():
            return MATURITY_RANKS[memory.maturity], -scores.get(memory.id, 0.0), *break_tie(memory)
        case _:
            return 0, -values[memory.id], *break_tie(memory)


def _is_reflection(memory: MemoryRecord) -> bool:
    """True if it belongs into the section of reflections."""
    return isinstance(memory, Fact) and memory.category == REFLECTION


def _line(
    memory: MemoryRecord, style: LineStyle, options: LineOptions, content: str | None, *, repeats: Repeats | None
) -> str:
    """The line of a memory; an episode's date stands in the heading of its day."""
    text = flatten(memory.content if content is None else content)
    match memory:
        case Fact():
            text = f"{_fact_line(memory, text, style, options)}{_origin(memory)}"
        case Rule():
            judged = f" (maturity: {memory.maturity}, effectiveness: {memory.effectiveness_score:.2f})"
            text = f"{text}{judged if style == 'judged' else ''}{_origin(memory)}"
        case Episode():
            text = f"{_name_speaker(memory)}: {text}{f' ({repeats})' if repeats else ''}"
    return f"- {text}{_source(memory) if options.with_sources else ''}"


def _name_speaker(episode: Episode) -> str:
    """Name the speaker of a turn; behind a tool's or an assistant's name stands its role."""
    if episode.speaker is None:
        return flatten(episode.role)
    is_other = role_trust(episode.role) != "user" and episode.speaker.casefold() != episode.role
    return f"{flatten(episode.speaker)}{f' ({episode.role})' if is_other else ''}"


def _origin(memory: Fact | Rule) -> str:
    """A mark on what others than the user have said."""
    if memory.trust == "user":
        return ""
    who = _ORIGINS[memory.trust]
    return f" (unconfirmed, {who})" if isinstance(memory, Fact) and memory.is_pending else f" ({who})"


def _fact_line(fact: Fact, text: str, style: LineStyle, options: LineOptions) -> str:
    if _is_reflection(fact):
        return text  # it is about everything
    if style == "judged":
        about = f"[{flatten(fact.subject)}] [{flatten(fact.predicate)}]"
        return f"{about}: {text} (confidence: {fact.confidence:.2f}){_validity(fact, dated=False)}"
    about = f"{flatten(fact.about)}: " if fact.about and not is_sentence_about(text, fact.subject) else ""
    times = _times(fact) if options.with_dates else ""
    return f"{about}{text}{times}{_validity(fact, dated=options.with_dates)}"


def _times(fact: Fact) -> str:
    """The period in which it is true; where nobody said, when it was mentioned."""
    start, end = fact.valid_from, fact.valid_to
    if end and fact.invalidated_at and end.date() == fact.invalidated_at.date():
        end = None  # `_validity` tells the day
    if start is None and end is None:
        said_at = read_said_at(fact.metadata)
        return "" if said_at is None else f" (said {said_at.date()})"
    if end is None:
        return f" ({'since' if fact.has_begun(fact.created_at) else 'from'} {start.date()})" if start else ""
    return f" (until {_day(end)})" if start is None else f" ({_day(start)} to {_day(end)})"


def _day(bound: datetime) -> str:
    """The day on which a period begins or ends; the month where it is the first moment of that."""
    is_month = bound == bound.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    return f"{bound:%Y-%m}" if is_month else f"{bound:%Y-%m-%d}"


def _validity(fact: Fact, *, dated: bool) -> str:
    """A mark that it holds no more, where it was asked for all the same."""
    if fact.validity == "active":
        return ""
    when = f" {fact.invalidated_at.date()}" if dated and fact.invalidated_at else ""
    return f" ({fact.validity}{when})"


def _source(memory: MemoryRecord) -> str:
    """Its source and id, so that an answer can cite it."""
    match memory:
        case Fact(source=str(source)):
            return f" [{flatten(source)}, {memory.id}]"
        case Episode(session=str(session)) if session:
            return f" [{flatten(session)}, {memory.id}]"
        case _:
            return f" [{memory.id}]"
