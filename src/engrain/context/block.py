"""A context block: facts, then what was said, as many as fit the budget. Pure: the same hits give the same bytes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from engrain.domain.records import Episode, Fact, Hit, MemoryRecord, Record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engrain.domain.ports import TokenCounter

FACTS_HEADING = "## What is known"
EPISODES_HEADING = "## What was said"


def approximate_tokens(text: str) -> int:
    """Four characters to the token, rounded up: close for English, and the same everywhere."""
    return -(-len(text) // 4)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextBlock(Record):
    """A Markdown text of at most `budget_tokens`, and the memories it is made of, in the order they stand in it."""

    text: str
    tokens: int
    budget_tokens: int
    memories: tuple[MemoryRecord, ...] = ()
    left_out: int = 0  # found, but over the budget
    degraded: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.text


def build(hits: Sequence[Hit], *, budget_tokens: int, count_tokens: TokenCounter) -> ContextBlock:
    """The best hits that fit, facts before episodes, each section in the order of time.

    A hit that does not fit is passed over and smaller ones after it may still stand; the budget is never exceeded.
    """
    chosen: list[MemoryRecord] = []
    text = ""
    for hit in sorted(hits, key=lambda hit: not isinstance(hit.memory, Fact)):
        attempt = render([*chosen, hit.memory])
        if count_tokens(attempt) <= budget_tokens:
            chosen.append(hit.memory)
            text = attempt
    return ContextBlock(
        text=text,
        tokens=count_tokens(text) if text else 0,
        budget_tokens=budget_tokens,
        memories=tuple(_in_order(chosen)),
        left_out=len(hits) - len(chosen),
    )


def render(memories: Sequence[MemoryRecord]) -> str:
    """Markdown, a section for each kind there is, a line for each memory."""
    facts = [_line(each) for each in _in_order(memories) if isinstance(each, Fact)]
    episodes = [_line(each) for each in _in_order(memories) if isinstance(each, Episode)]
    sections = [(FACTS_HEADING, facts), (EPISODES_HEADING, episodes)]
    return "\n\n".join("\n".join([heading, *lines]) for heading, lines in sections if lines)


def _in_order(memories: Sequence[MemoryRecord]) -> list[MemoryRecord]:
    return sorted(memories, key=lambda each: (not isinstance(each, Fact), each.happened_at, each.id))


def _line(memory: MemoryRecord) -> str:
    """One line, whatever line breaks its parts hold: a memory cannot pass for a heading or for another memory."""
    if isinstance(memory, Fact):
        since = f" (since {memory.valid_from.date()})" if memory.valid_from else ""
        line = f"- {memory.subject} {memory.predicate}: {memory.content}{since}"
    else:
        line = f"- {memory.event_time.date()} {memory.speaker or memory.role}: {memory.content}"
    return " ".join(line.split())
