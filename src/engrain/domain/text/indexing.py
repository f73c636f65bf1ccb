"""Index terms of memories, and the texts that are embedded."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING

from engrain.domain.records import Episode, Fact, MemoryRecord, Rule
from engrain.domain.text.analysis import is_foreign, split_terms, terms
from engrain.domain.text.names import is_side

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from datetime import date, datetime

    from engrain.domain.text.bm25 import Terms

# Two turns before and after, the first 40 words of each: measured on LoCoMo, where leaving neighbours out costs 5.9
# points of evidence recall@5, and on LongMemEval, where 80 words of long answers drown a turn's own (bench/retrieval).
NEIGHBOURS = 2
NEIGHBOUR_WORDS = 40

_MOST_CACHED_CHARACTERS = 4_000
_LEAST_AT_ONCE = 50


def own_terms(memory: MemoryRecord) -> list[str]:
    """Terms of a memory's own words: content, speaker and day ("07 May 2023"); of a rule its content alone."""
    match memory:
        case Episode():
            return turn_terms(memory.content, speaker=memory.speaker, event_time=memory.event_time)
        case Fact():
            return fact_terms(memory)
        case Rule():
            return terms(memory.content)


def turn_terms(content: str, *, speaker: str | None, event_time: datetime) -> list[str]:
    """Terms of an episode's own words, from its fields."""
    # Of every hit: one call less.
    begins, goes_on = _cached_terms(content) if len(content) <= _MOST_CACHED_CHARACTERS else _split_content(content)
    return [*heading_terms(speaker, event_time.date()).words, *begins.words, *goes_on.words]


@lru_cache(maxsize=1_024)
def heading_terms(speaker: str | None, day: date) -> Terms:
    """Terms that a turn is indexed under before its content: its speaker's, and the day ("07 May 2023").

    A side of the chat ("assistant") adds none: "my assistant" would find half of all turns.
    """
    name = "" if speaker is None or is_side(speaker) else speaker
    return _load_encoder()(terms(f"{name} {_day(day)}"))


def content_terms(content: str) -> tuple[Terms, Terms]:
    """Terms of a turn's content: of its first words, which it lends to its neighbours, and of the rest.

    Needed some times while a conversation is written, so those of short texts are cached.
    """
    return _cached_terms(content) if len(content) <= _MOST_CACHED_CHARACTERS else _split_content(content)


def content_terms_of(contents: Iterable[str]) -> dict[str, tuple[Terms, Terms]]:
    """Terms of the contents of many turns as `content_terms`, by content; a few are likely to be needed again."""
    texts = list(contents)
    if len(texts) < _LEAST_AT_ONCE:
        return {text: content_terms(text) for text in texts}
    split = [split_terms(text, NEIGHBOUR_WORDS) for text in texts]
    encoded = _load_several_encoder()([terms for both in split for terms in both])
    return dict(zip(texts, zip(encoded[::2], encoded[1::2], strict=True), strict=True))


def fact_terms(fact: Fact) -> list[str]:
    """Terms of a fact's own words: subject, predicate, content, and the day of `valid_from` where it is known."""
    day = "" if fact.valid_from is None else _day(fact.valid_from)
    return [*terms(f"{fact.about} {day}"), *terms(fact.content)]


def has_foreign_words(memory: MemoryRecord) -> bool:
    """True if a memory has words of another language than English, whose stems are not those of English."""
    about = f"{memory.subject} {memory.predicate} " if isinstance(memory, Fact) else ""
    heading = f"{memory.speaker or ''} " if isinstance(memory, Episode) else ""
    return is_foreign(f"{heading}{about}{memory.content}")


def is_searched(memory: MemoryRecord) -> bool:
    """True if searches index the memory: every episode, active facts, and rules that are not forgotten."""
    match memory:
        case Episode():
            return True
        case Fact():
            return memory.validity == "active"
        case Rule():
            return not memory.is_forgotten


def find_expiry(memory: MemoryRecord) -> datetime | None:
    """Return when time alone takes a memory out of the searches; None for never."""
    match memory:
        case Episode():
            return memory.expires_at
        case Fact():
            return memory.valid_to
        case Rule():
            return None


def near_terms(neighbours: Iterable[str]) -> list[str]:
    """Terms of the turns around an episode, from their contents in order."""
    return [term for content in neighbours for term in content_terms(content)[0].words]


def embedding_text(memory: MemoryRecord) -> str:
    """Text to embed: of an episode speaker and content, of a fact its statement, of a rule its content."""
    match memory:
        case Episode():
            return f"{memory.speaker}: {memory.content}" if memory.speaker else memory.content
        case Fact():
            return memory.statement
        case Rule():
            return memory.content


@cache
def _load_encoder() -> Callable[[Sequence[str]], Terms]:
    from engrain.domain.text.bm25 import encode  # loads NumPy, which `import engrain` does not

    return encode


@cache
def _load_several_encoder() -> Callable[[Sequence[Sequence[str]]], list[Terms]]:
    from engrain.domain.text.bm25 import encode_all

    return encode_all


def _split_content(content: str) -> tuple[Terms, Terms]:
    encode = _load_encoder()
    begins, goes_on = split_terms(content, NEIGHBOUR_WORDS)
    return encode(begins), encode(goes_on)


_cached_terms = lru_cache(maxsize=4_096)(_split_content)


def _day(day: date) -> str:
    return f"{day.day:02} {_MONTHS[day.month - 1]} {day.year}"


# Not strftime: its month names follow the process's locale.
_MONTHS = "January February March April May June July August September October November December".split()
