"""Echoes: words that the memory handed out and a conversation repeats, which must not prove themselves. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from engrain.domain.records import Episode, Fact, MemoryRecord
from engrain.domain.text.analysis import terms, words
from engrain.learning.consolidation.equivalence import FoldedText, fold, strip_marks
from engrain.learning.instructions import is_order_to_reader

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


# Fewer words than this say nothing of their own, and prove nothing.
LEAST_WORDS = 2
# Shorter contents ("Lisbon") are words that anybody uses.
_LEAST_CHARACTERS = 12
# Headings over the lists of a context block, here and in what others put before a prompt.
_HEADING = re.compile(
    r"#{1,4} ?(?:what is known|what was said|rules|active rules|facts|known facts|relevant memor(?:y|ies)|memories|"
    r"memory context|key facts|recently|weekly insight|recent episodes|profile facts|task-relevant facts|"
    r"\d{4}-\d\d-\d\d) ?:?"  # the day of what was said
)
# A message that says in short what did not fit into the block.
_SUMMARY = "[previous context summary]"
# An episode that writes the prompt's own tags, or a reply, wants to speak to the model that reads it.
_IMITATES = re.compile(
    r"< ?/? ?(?:episode_content|episodes|earlier_turns|known_facts|known_rules)\b"
    r"|[\"'](?:new_facts|updated_facts|new_rules|confirmations)[\"'] ?:"
)
_TIMES = re.compile(r" \((?:since|said) [^()]*\).*")  # behind a fact
_BULLET = re.compile(r"[-*\N{BULLET}] ?")


class Span(NamedTuple):
    """Characters of a folded text, from `start` to before `end`."""

    start: int
    end: int


class EchoSource(NamedTuple):
    """A memory, and the folded words in which it is handed out."""

    memory: MemoryRecord
    line: FoldedText  # as an entry of a list
    phrases: tuple[FoldedText, ...]  # anywhere


@dataclass(frozen=True, slots=True)
class EpisodeText:
    """The folded text of an episode, in which quotes are looked up, and the parts of it that were handed out before."""

    episode: Episode
    folded: FoldedText
    echoes: tuple[Span, ...]

    @property
    def imitates(self) -> bool:
        """True if it writes tags of the prompt, a reply or orders to its reader, as nobody does who talks to others."""
        return _IMITATES.search(self.folded) is not None or is_order_to_reader(self.folded)

    def says_anew(self, span: Span) -> bool:
        """True if a span says more than what was handed out, by two words of which one carries meaning."""
        uncovered = " ".join(_uncovered(self.folded, span, self.echoes))
        return len(words(uncovered)) >= LEAST_WORDS and bool(terms(uncovered))

    @property
    def own(self) -> str:
        """The folded text without what was handed out."""
        return " ".join(_uncovered(self.folded, Span(0, len(self.folded)), self.echoes))


def list_echo_sources(memories: Iterable[MemoryRecord]) -> list[EchoSource]:
    """The memories with the words in which they are handed out."""
    return [_echo_source(memory) for memory in memories]


def read_episode(episode: Episode, sources: Sequence[EchoSource]) -> EpisodeText:
    """The folded text of an episode with its echoes.

    Those are lines of a context block, and the words of a memory that was handed out before the episode: by itself, or
    after its subject and predicate.
    """
    lines = [folded for line in episode.content.split("\n") if (folded := fold(line))]
    text = FoldedText(" ".join(lines))  # as `fold` has the whole
    earlier = [
        source
        for source in sources
        if source.memory.id != episode.id and source.memory.created_at <= episode.created_at
    ]
    spans = [*_find_blocks(lines, {source.line for source in earlier})]
    for source in earlier:
        if _was_recalled(source.memory, episode):
            spans += (span for phrase in source.phrases for span in find_spans(text, phrase))
    return EpisodeText(episode, text, tuple(_join(spans)))


def find_spans(text: FoldedText, phrase: FoldedText) -> Iterator[Span]:
    """The spans where folded words stand in a folded text, as whole words, in order, without overlaps."""
    start = text.find(phrase) if phrase else -1
    while start >= 0:
        end = start + len(phrase)
        if _is_boundary(text, start) and _is_boundary(text, end):
            yield Span(start, end)
        start = text.find(phrase, end)


def _is_boundary(text: str, position: int) -> bool:
    """True if no word goes across this position; where scripts need no spaces there is a boundary everywhere."""
    if position in {0, len(text)}:
        return True
    pair = text[position - 1 : position + 1]
    return not (pair.isascii() and pair.isalnum())


def _was_recalled(memory: MemoryRecord, episode: Episode) -> bool:
    """True if somebody was given it before the episode, as far as can be known.

    Only the last time is known: a memory asked for several times may have been handed out before that as well.
    """
    at = memory.last_referenced_at
    return at is not None and (at <= episode.created_at or memory.reference_count > 1)


def _echo_source(memory: MemoryRecord) -> EchoSource:
    alone = (strip_marks(memory.content),) if len(memory.content) >= _LEAST_CHARACTERS else ()
    if not isinstance(memory, Fact):
        return EchoSource(memory, fold(memory.content), alone)
    line, plain = fold(memory.statement), strip_marks(f"{memory.about} {memory.content}")
    return EchoSource(memory, line, (strip_marks(line), plain, *alone))


def _find_blocks(lines: Iterable[FoldedText], known: set[FoldedText]) -> Iterator[Span]:
    """Headings of context blocks with the lists under them, and lines of lists that say what is known already."""
    start, is_in_block = 0, False
    for line in lines:
        end = start + len(line)
        bullet = _BULLET.match(line)
        is_in_block = _HEADING.fullmatch(line) is not None or (is_in_block and bullet is not None)
        is_known = bullet is not None and _TIMES.sub("", line[bullet.end() :]) in known
        if is_in_block or is_known or line.startswith(_SUMMARY):
            yield Span(start, end)
        start = end + 1


def _uncovered(text: FoldedText, span: Span, echoes: Iterable[Span]) -> Iterator[str]:
    """The pieces of a span that no echo covers; `echoes` are in order and apart."""
    start = span.start
    for echo in echoes:
        if echo.start >= span.end:
            break
        if echo.end > start:
            yield text[start : echo.start]  # empty where the echo began before
            start = echo.end
    yield text[start : span.end]


def _join(spans: Iterable[Span]) -> list[Span]:
    """The same characters in as few spans as there can be, in order."""
    joined: list[Span] = []
    for span in sorted(spans):
        if joined and span.start <= joined[-1].end + 1:
            joined[-1] = Span(joined[-1].start, max(joined[-1].end, span.end))
        else:
            joined.append(span)
    return joined
