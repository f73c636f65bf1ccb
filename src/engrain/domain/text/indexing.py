"""Which words a memory can be found by, and which text its vector stands for."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from engrain.domain.records import Episode, Fact, MemoryRecord, Rule
from engrain.domain.text.analysis import stems, terms, words

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

# Two turns before and after, the first 40 words of each: measured on LoCoMo, where leaving neighbours out costs 5.9
# points of evidence recall@5, and on LongMemEval, where 80 words of long answers drown a turn's own (bench/retrieval).
NEIGHBOURS = 2
NEIGHBOUR_WORDS = 40

# Latin, full-width, Arabic, Armenian, Greek and Ethiopic question marks.
_ASKS = ("?", "\uff1f", "\u061f", "\u055e", "\u037e", "\u1367")
_CLOSING = "\"')]}\u2019\u201d\u00bb*_ \n\t"
_SENTENCE_END = re.compile(r"(?<=[.!?\uff1f\u3002\u061f\u1362\u1367])\s+|(?<=[\uff1f\u3002])|\n+")


def own_terms(memory: MemoryRecord) -> list[str]:
    """A memory's own words: what it says, who says it, and the day ("07 May 2023"); of a rule its guidance alone."""
    match memory:
        case Episode():
            return turn_terms(memory.content, speaker=memory.speaker, event_time=memory.event_time)
        case Fact():
            return fact_terms(memory)
        case Rule():
            return terms(memory.content)


def turn_terms(content: str, *, speaker: str | None, event_time: datetime) -> list[str]:
    """The own words of an episode of which only this is at hand."""
    return terms(f"{speaker or ''} {_day(event_time)} {content}")


def fact_terms(fact: Fact) -> list[str]:
    """The own words of a fact: its statement, and the day it began to be true where that is known."""
    day = "" if fact.valid_from is None else _day(fact.valid_from)
    return terms(f"{fact.subject} {fact.predicate} {day} {fact.content}")


def question_share(content: str) -> float:
    """The share of a turn's words, 0-1, that are in sentences which end with a question mark.

    Whoever asks states little: of two turns with the same words the one that tells is more often the evidence.
    """
    if not _may_ask(content):
        return 0.0
    sentences = [(len(each.split()), each.rstrip(_CLOSING).endswith(_ASKS)) for each in _SENTENCE_END.split(content)]
    said = sum(count for count, _ in sentences)
    return sum(count for count, asks in sentences if asks) / said if said else 0.0


def _may_ask(content: str) -> bool:
    """Whether a question mark is anywhere: most turns have none, and every turn is judged while its writer waits."""
    for mark in _ASKS:  # noqa: SIM110  # a generator for any() takes three times as long
        if mark in content:
            return True
    return False


def is_searched(memory: MemoryRecord) -> bool:
    """Whether searches hold it: an episode's end is a matter of time, a fact's of validity, a rule's of forgetting."""
    match memory:
        case Episode():
            return True
        case Fact():
            return memory.validity == "active"
        case Rule():
            return not memory.is_forgotten


def near_terms(neighbours: Iterable[str]) -> list[str]:
    """The words of the turns around an episode, given as their contents in order."""
    return [term for content in neighbours for term in _lent(content)]


def embedding_text(memory: MemoryRecord) -> str:
    """What is embedded: a turn with its speaker, a fact as its statement, a rule as its guidance."""
    match memory:
        case Episode():
            return f"{memory.speaker}: {memory.content}" if memory.speaker else memory.content
        case Fact():
            return f"{memory.subject} {memory.predicate}: {memory.content}"
        case Rule():
            return memory.content


@lru_cache(maxsize=4_096)
def _lent(content: str) -> tuple[str, ...]:
    """What a turn lends its neighbours; each is asked for at least four times while a conversation is written."""
    return tuple(stems(words(content)[:NEIGHBOUR_WORDS]))


def _day(moment: datetime) -> str:
    return f"{moment.day:02} {_MONTHS[moment.month - 1]} {moment.year}"


# Not strftime: its month names follow the process's locale.
_MONTHS = "January February March April May June July August September October November December".split()
