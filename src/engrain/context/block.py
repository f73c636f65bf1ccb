"""A context block: facts, rules, then what was said, as many as fit. Pure: the same hits give the same bytes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from engrain.domain.records import Fact, Hit, Kind, MemoryRecord, Record, Rule

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from engrain.domain.ports import TokenCounter

FACTS_HEADING = "## What is known"
RULES_HEADING = "## Rules"
EPISODES_HEADING = "## What was said"

# The order of the sections, and who goes first where the budget is short.
_HEADINGS: Mapping[Kind, str] = {"fact": FACTS_HEADING, "rule": RULES_HEADING, "episode": EPISODES_HEADING}
_PLACES: Mapping[Kind, int] = {kind: place for place, kind in enumerate(_HEADINGS)}


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
    """The best hits that fit, facts before rules before episodes, each section in the order of time.

    A hit that does not fit is passed over and smaller ones after it may still stand; the budget is never exceeded.
    """
    chosen: list[MemoryRecord] = []
    text = ""
    for hit in sorted(hits, key=lambda hit: _PLACES[hit.memory.kind]):
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
    lines = {kind: [_line(each) for each in _in_order(memories) if each.kind == kind] for kind in _HEADINGS}
    return "\n\n".join("\n".join([_HEADINGS[kind], *said]) for kind, said in lines.items() if said)


def _in_order(memories: Sequence[MemoryRecord]) -> list[MemoryRecord]:
    return sorted(memories, key=lambda each: (_PLACES[each.kind], each.happened_at, each.id))


def _line(memory: MemoryRecord) -> str:
    """One line, whatever line breaks its parts hold: a memory cannot pass for a heading or for another memory."""
    match memory:
        case Fact():
            since = f" (since {memory.valid_from.date()})" if memory.valid_from else ""
            line = f"- {memory.subject} {memory.predicate}: {memory.content}{since}"
        case Rule():
            line = f"- {memory.content}"
        case _:
            line = f"- {memory.event_time.date()} {memory.speaker or memory.role}: {memory.content}"
    return " ".join(line.split())
