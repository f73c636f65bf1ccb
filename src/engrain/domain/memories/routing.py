"""Routing of an input to the kind of memory it belongs to, and the result; statistics of working memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from engrain.domain.records import Record

if TYPE_CHECKING:
    from engrain.domain.memories.notes import Note
    from engrain.domain.records import Answer, Degraded, MemoryRecord

Route = Literal["episode", "fact", "rule", "note", "recall", "working"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkingStats(Record):
    """Size of one agent's working memory of one session, in this process."""

    messages: int = 0
    tokens: int = 0
    tool_results: int = 0
    scratchpad_characters: int = 0
    estimated_bytes: int = 0
    degraded: tuple[Degraded, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Routing(Record):
    """Route of an input, with reasons: store `content` as an episode, fact, rule, note or message, or recall it."""

    route: Route
    content: str
    reasons: tuple[str, ...]
    subject: str | None = None  # of a fact
    predicate: str | None = None
    key: str | None = None  # of a note


@dataclass(frozen=True, slots=True, kw_only=True)
class HandledInput(Record):
    """Result of a routed input: the stored memory, the answer of a recall, or the size of working memory."""

    routing: Routing
    kept: MemoryRecord | Note | None = None
    answer: Answer | None = None
    working: WorkingStats | None = None
