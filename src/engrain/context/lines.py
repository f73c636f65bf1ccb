"""How a memory is written in a block: one line, whatever line breaks its parts hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engrain.domain.records import REFLECTION, Fact, MemoryRecord, Rule

if TYPE_CHECKING:
    from engrain.context.recipes import LineStyle

ELLIPSIS = "\u2026"


def flat(text: str) -> str:
    """The text on one line: it can then pass neither for a heading nor for another memory."""
    return " ".join(text.split())


def line(
    memory: MemoryRecord, *, style: LineStyle, with_dates: bool, with_sources: bool, content: str | None = None
) -> str:
    """The line of a memory, with `content` in place of its own where it is clipped.

    An episode's date stands in the heading of its day.
    """
    said = flat(memory.content if content is None else content)
    match memory:
        case Fact():
            written = _fact(memory, said, style=style, with_dates=with_dates)
        case Rule():
            judged = f" (maturity: {memory.maturity}, effectiveness: {memory.effectiveness_score:.2f})"
            written = said + (judged if style == "judged" else "")
        case _:
            written = f"{flat(memory.speaker or memory.role)}: {said}"
    return f"- {written}{_source(memory) if with_sources else ''}"


def day(memory: MemoryRecord) -> str:
    """The heading of a day."""
    return f"### {memory.happened_at.date()}"


def _fact(fact: Fact, said: str, *, style: LineStyle, with_dates: bool) -> str:
    if fact.category == REFLECTION:
        return said  # it is about everything
    subject, predicate = flat(fact.subject), flat(fact.predicate)
    if style == "judged":
        return f"[{subject}] [{predicate}]: {said} (confidence: {fact.confidence:.2f}){_validity(fact, dated=False)}"
    since = f" (since {fact.valid_from.date()})" if with_dates and fact.valid_from else ""
    return f"{subject} {predicate}: {said}{since}{_validity(fact, dated=with_dates)}"


def _validity(fact: Fact, *, dated: bool) -> str:
    """That it holds no more, where it was asked for all the same."""
    if fact.validity == "active":
        return ""
    when = f" {fact.invalidated_at.date()}" if dated and fact.invalidated_at else ""
    return f" ({fact.validity}{when})"


def _source(memory: MemoryRecord) -> str:
    """Where it comes from and what it is called, so that an answer can cite it."""
    match memory:
        case Fact(source=str(source)):
            return f" [{flat(source)}, {memory.id}]"
        case Fact() | Rule():
            return f" [{memory.id}]"
        case _:
            return f" [{flat(memory.session)}, {memory.id}]" if memory.session else f" [{memory.id}]"
