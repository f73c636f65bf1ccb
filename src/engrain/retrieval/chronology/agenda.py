"""Answers to questions for what is to come: the statements that name a time then, in the order of these times.

When an event is stands in no column: a statement's times are read where somebody asks, seen from when it was said.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import chain
from typing import TYPE_CHECKING, Final

from engrain.domain.records import Episode, Fact
from engrain.domain.text.analysis import terms, words
from engrain.domain.text.dialogue.changes import CHANGE_TERMS, describe_sentence
from engrain.domain.text.dialogue.chronology import asks_for_plans
from engrain.domain.text.dialogue.questions import split_sentences
from engrain.domain.text.patterns import lazy_pattern
from engrain.retrieval.chronology.newest import load_newest, make_hits
from engrain.retrieval.chronology.time_expressions import (
    Span,
    list_coming_spans,
    names_coming_time,
    put_into_english,
    split_coming_span,
)
from engrain.retrieval.repeats import is_statement

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from engrain.domain.records import Hit, MemoryRecord
    from engrain.domain.requests import Request
    from engrain.retrieval.search_query import SearchQuery
    from engrain.storage.unit_of_work import Snapshot

_MOST: Final = 500  # memories are looked at, the newest
_AHEAD: Final = timedelta(days=60)
_MANY_DAYS: Final = timedelta(days=8)  # in a longer time what comes every week is no news
# "I saw the dentist on Tuesday" names no time to come, "we've booked Tuesday" does.
_PAST = lazy_pattern(
    r"\b(?:was|were|had|did|went|saw|met|came|got|took|last|ago|yesterday|war(?:en)?|hatten?|ging(?:en)?|wurden?"
    r"|(?:habe?|hat|bin|ist|sind) .*\bge\w+(?:t|en)|fui(?:mos)?|fue|estuv\w+|tuv[eio]\w*|hubo|étai\w+|avai\w+|suis"
    r" allée?|er[oa]|sono stat[oa]|andat[oa]|estive\w*|tive\w*)\b|\w{3,}ed\b",
    re.IGNORECASE,
)
_TO_COME = lazy_pattern(
    r"\b(?:will|going to|gonna|is|are|am|have|has|need|must|should|remind|booked|scheduled|planned|invited|moved"
    r"|postponed|rescheduled|starts?|begins?|next|tomorrow|due|\w+['\u2019](?:ll|s|re|m))\b",
    re.IGNORECASE,
)
_YEARLY = lazy_pattern(r"\b(?:birthdays?|anniversar(?:y|ies))\b", re.IGNORECASE)
_NAME = lazy_pattern(r"(?<!^)\b[^\W\d_a-z]\w+(?:['\u2019]s)?")
# Of these there are several, and when one is says nothing of which: "the team meeting moved" is no news of another.
_COMMON: Final = frozenset(
    terms(
        "appointment meeting visit call lesson party trip event time date day week month year morning afternoon evening"
        " night noon midnight today tonight tomorrow weekend monday tuesday wednesday thursday friday saturday sunday"
        " january february march april may june july august september october november december one two three four five"
        " six seven eight nine ten eleven twelve half past quarter clock same"
    )
)


@dataclass(frozen=True, slots=True)
class _Event:
    """A statement of an event, and when it is."""

    memory: MemoryRecord
    span: Span


def list_agenda(snapshot: Snapshot, request: Request, query: SearchQuery) -> tuple[Hit, ...]:
    """List the statements of events in the time to come that a question asks for, or soon; none for another question.

    An event that a later statement changes is out: where all are, these statements stand for them. What assistants say
    counts where nobody else has said anything.
    """
    now = request.now.astimezone(query.time_zone)
    window, rest = split_coming_span(query.text, now)
    names = frozenset(words(" ".join(_NAME.findall(rest))))
    if not asks_for_plans(_NAME.sub(" ", rest), is_dated=window is not None):
        return ()
    span = window or Span(now, now + _AHEAD)
    criteria = replace(request.filter, kinds=tuple(kind for kind in request.filter.kinds if kind != "rule"))
    memories = load_newest(snapshot, replace(request, filter=criteria), query, _MOST) if criteria.kinds else ()
    stated = [memory for memory in memories if is_statement(memory, query.text)]
    all_events = [event for event in _find_events(stated, span) if _is_about(event.memory, names)]
    events = [event for event in all_events if not _is_assistants(event.memory)] or all_events
    own = (memory for memory in stated if not _is_assistants(memory)) if events else ()
    changes = [(other, _list_own_terms(other)) for other in own if _states_change(other)]
    in_order = [event.memory for event in sorted(events, key=lambda event: event.span.start)]
    changed = {memory.id: change for memory in in_order if (change := _find_change(memory, changes))}
    standing = [memory for memory in in_order if memory.id not in changed]
    return make_hits(query, standing or list({change.id: change for change in changed.values()}.values()))


def _find_events(memories: Sequence[MemoryRecord], window: Span) -> Iterator[_Event]:
    """Find the statements of events within a time, each once; "this year" is no time of an event tomorrow."""
    longest = max(window.end - window.start, _MANY_DAYS)
    for memory in memories:
        begin = memory.happened_at
        if isinstance(memory, Fact) and window.start <= begin < window.end:
            yield _Event(memory, Span(begin, begin))
        elif names_coming_time(statement := put_into_english(memory.statement)):
            times = chain.from_iterable(_list_times(part, begin, window) for part in split_sentences(statement))
            inside = [span for span in times if span.start < window.end and span.end > window.start]
            first = min(inside, key=lambda span: span.start, default=None)
            if first is not None and first.end - first.start <= longest:
                yield _Event(memory, first)


def _list_times(sentence: str, said_at: datetime, window: Span) -> Sequence[Span]:
    """List the times to come that a sentence names; a birthday comes every year."""
    if _PAST.search(sentence) and not _TO_COME.search(sentence):
        return ()
    seen_from = window.start if _YEARLY.search(sentence) else said_at.astimezone(window.start.tzinfo)
    is_short = window.end - window.start <= _MANY_DAYS
    return list_coming_spans(sentence, seen_from, until=window.end if is_short else None)


def _find_change(memory: MemoryRecord, changes: Sequence[tuple[MemoryRecord, frozenset[str]]]) -> MemoryRecord | None:
    """Find the newest statement by which an event is otherwise now: most of what it is about, the event is about."""
    about = frozenset(terms(memory.statement))
    later = (
        other for other, own in changes if other.happened_at > memory.happened_at and 2 * len(own & about) > len(own)
    )
    return next(later, None)


def _is_about(memory: MemoryRecord, names: frozenset[str]) -> bool:
    """True if a statement is by or about everybody that a question names."""
    speaker = memory.speaker if isinstance(memory, Episode) else None
    return names <= frozenset(words(f"{speaker or ''} {memory.statement}")) if names else True


def _is_assistants(memory: MemoryRecord) -> bool:
    return isinstance(memory, Episode) and memory.role == "assistant"


def _states_change(memory: MemoryRecord) -> bool:
    return isinstance(memory, Episode) and describe_sentence(memory.content)[0]


def _list_own_terms(memory: MemoryRecord) -> frozenset[str]:
    """List the terms of what a statement of a change is about."""
    return frozenset(term for term in terms(memory.content) if term.isalpha()) - CHANGE_TERMS - _COMMON
