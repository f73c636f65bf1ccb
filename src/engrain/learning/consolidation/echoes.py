"""What a memory handed out and a conversation says back: a text must not prove itself by being repeated. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from engrain.domain.records import Fact
from engrain.domain.text.analysis import terms, words
from engrain.learning.consolidation.folding import FoldedText, fold, strip_marks

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from engrain.domain.records import Episode, MemoryRecord

# Fewer words than this say nothing of their own, and prove nothing.
LEAST_WORDS = 2
# Shorter contents ("Lisbon") are words that anybody uses.
_LEAST_CHARACTERS = 12
# What stands over the lists of a context block, here and in what others put before a prompt.
_HEADING = re.compile(
    r"#{1,4} ?(?:what is known|what was said|rules|active rules|facts|known facts|relevant memor(?:y|ies)|memories|"
    r"memory context|key facts|recently|weekly insight|recent episodes|profile facts|task-relevant facts|"
    r"\d{4}-\d\d-\d\d) ?:?"  # the day of what was said
)
# A message that says in short what did not fit into the block.
_SUMMARY = "[previous context summary]"
# An episode that writes the prompt's own tags, or a reply, wants to speak to the model that reads it.
_IMITATES = re.compile(
    r"< ?/? ?(?:episode_content|episodes|known_facts|known_rules)\b"
    r"|[\"'](?:new_facts|updated_facts|new_rules|confirmations)[\"'] ?:"
)
_LISTED = re.compile(r"[-*\N{BULLET}] ?")


class Span(NamedTuple):
    """Characters of a folded text, from `start` to before `end`."""

    start: int
    end: int


class EchoSource(NamedTuple):
    """A memory, and the folded words in which it is handed out."""

    memory: MemoryRecord
    line: FoldedText  # as an entry of a list
    said: tuple[FoldedText, ...]  # anywhere


@dataclass(frozen=True, slots=True)
class EpisodeText:
    """The text of an episode as quotes are looked for in it, and which parts of it were handed out before."""

    episode: Episode
    text: FoldedText
    echoes: tuple[Span, ...]

    @property
    def imitates(self) -> bool:
        """Whether it writes tags of the prompt or a reply, as nobody does who talks to somebody else."""
        return _IMITATES.search(self.text) is not None

    def says_anew(self, span: Span) -> bool:
        """Whether what stands there is more than what was handed out, by two words of which one carries meaning."""
        outside = " ".join(_outside(self.text, span, self.echoes))
        return len(words(outside)) >= LEAST_WORDS and bool(terms(outside))

    @property
    def own(self) -> str:
        """The folded text without what was handed out."""
        return " ".join(_outside(self.text, Span(0, len(self.text)), self.echoes))


def list_echo_sources(memories: Iterable[MemoryRecord]) -> list[EchoSource]:
    """In which words memories are handed out."""
    return [_telling(memory) for memory in memories]


def read_episode(episode: Episode, told: Sequence[EchoSource]) -> EpisodeText:
    """An episode, and what of it is an echo.

    That is a line of a context block, and the words of a memory that was handed out before the episode: by itself, or
    after its subject and predicate.
    """
    lines = [folded for line in episode.content.split("\n") if (folded := fold(line))]
    text = FoldedText(" ".join(lines))  # as `fold` has the whole
    before = [each for each in told if each.memory.id != episode.id and each.memory.created_at <= episode.created_at]
    spans = [*_of_blocks(lines, {each.line for each in before})]
    for each in before:
        if _was_handed_out(each.memory, episode):
            spans += (span for said in each.said for span in find_spans(text, said))
    return EpisodeText(episode, text, tuple(_joined(spans)))


def find_spans(text: FoldedText, said: FoldedText) -> Iterator[Span]:
    """Where folded words stand in a folded text, as whole words, from the first on, without overlaps."""
    start = text.find(said) if said else -1
    while start >= 0:
        end = start + len(said)
        if _is_edge(text, start) and _is_edge(text, end):
            yield Span(start, end)
        start = text.find(said, end)


def _is_edge(text: str, place: int) -> bool:
    """Whether no word goes across this place; where scripts need no spaces there is an edge everywhere."""
    if place in {0, len(text)}:
        return True
    pair = text[place - 1 : place + 1]
    return not (pair.isascii() and pair.isalnum())


def _was_handed_out(memory: MemoryRecord, episode: Episode) -> bool:
    """Whether somebody was given it before the episode, as far as can be told.

    Only the last time is known: what was asked for several times may have been handed out before that as well.
    """
    at = memory.last_referenced_at
    return at is not None and (at <= episode.created_at or memory.reference_count > 1)


def _telling(memory: MemoryRecord) -> EchoSource:
    alone = (strip_marks(memory.content),) if len(memory.content) >= _LEAST_CHARACTERS else ()
    if not isinstance(memory, Fact):
        return EchoSource(memory, fold(memory.content), alone)
    line = fold(f"{memory.subject} {memory.predicate}: {memory.content}")
    return EchoSource(
        memory, line, (strip_marks(line), strip_marks(f"{memory.subject} {memory.predicate} {memory.content}"), *alone)
    )


def _of_blocks(lines: Iterable[FoldedText], known: set[FoldedText]) -> Iterator[Span]:
    """Headings of context blocks with the lists under them, and lines of lists that say what is known already."""
    start, is_in_block = 0, False
    for line in lines:
        end = start + len(line)
        listed = _LISTED.match(line)
        is_heading = _HEADING.fullmatch(line) is not None
        is_in_block = is_heading or (is_in_block and listed is not None)
        if (
            is_in_block
            or line.startswith(_SUMMARY)
            or (listed is not None and _without_date(line[listed.end() :]) in known)
        ):
            yield Span(start, end)
        start = end + 1


def _without_date(line: str) -> str:
    return line.partition(" (since ")[0]


def _outside(text: FoldedText, span: Span, echoes: Iterable[Span]) -> Iterator[str]:
    """The pieces of a span that no echo covers; `echoes` are in order and apart."""
    start = span.start
    for echo in echoes:
        if echo.start >= span.end:
            break
        if echo.end > start:
            yield text[start : echo.start]  # empty where the echo began before
            start = echo.end
    yield text[start : span.end]


def _joined(spans: Iterable[Span]) -> Iterator[Span]:
    """The same characters in as few spans as there can be, in order."""
    current: Span | None = None
    for span in sorted(spans):
        if current is not None and span.start <= current.end + 1:
            current = Span(current.start, max(current.end, span.end))
            continue
        if current is not None:
            yield current
        current = span
    if current is not None:
        yield current
