"""Memories as text: who said them, what they say, and since when they hold no more."""

from __future__ import annotations

from engrain.domain.records import Episode, Fact, MemoryRecord, Rule
from engrain.interfaces.cli import output

_LONGEST_SUMMARY = 200  # two lines of a terminal


def speaker(memory: MemoryRecord) -> str:
    """The name or role of the speaker; `fact` or `rule` where it is known rather than said."""
    return memory.speaker or memory.role if isinstance(memory, Episode) else memory.kind


def statement(memory: MemoryRecord) -> str:
    """The content of a memory; of a fact with its subject, predicate and interval."""
    if not isinstance(memory, Fact):
        return memory.content
    since = f" since {memory.valid_from:%Y-%m-%d}" if memory.valid_from else ""
    until = f" until {memory.valid_to:%Y-%m-%d}" if memory.valid_to else ""
    return f"{memory.statement}{since}{until}"


def statement_with_end(memory: MemoryRecord) -> str:
    """The statement of a memory, and of a fact or rule that is believed no more since when and why."""
    match memory:
        case Fact() if memory.validity != "active":
            ended: str = memory.validity
        case Rule() if memory.is_forgotten:
            ended = "forgotten"
        case _:
            return statement(memory)
    day = f" {memory.invalidated_at:%Y-%m-%d}" if memory.invalidated_at else ""
    return f"{statement(memory)} ({ended}{day})"


def summary(memory: MemoryRecord) -> str:
    """One line that recognises a memory."""
    text = output.one_line(statement(memory))
    short = text if len(text) <= _LONGEST_SUMMARY else f"{text[: _LONGEST_SUMMARY - 3]}..."
    return f"{memory.happened_at:%Y-%m-%d} {speaker(memory)}: {short}"
