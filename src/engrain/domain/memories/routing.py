"""Where an input goes, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from engrain.domain.records import Record

if TYPE_CHECKING:
    from engrain.domain.memories.notes import Note
    from engrain.domain.memories.working import WorkingStats
    from engrain.domain.records import Answer, MemoryRecord

Route = Literal["episode", "fact", "rule", "note", "recall", "working"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Routing(Record):
    """What to do with an input, and why: store `content` as an episode, fact, rule or note, recall it, or hold it."""

    route: Route
    content: str
    reasons: tuple[str, ...]
    subject: str | None = None  # of a fact
    predicate: str | None = None
    key: str | None = None  # of a note


@dataclass(frozen=True, slots=True, kw_only=True)
class HandledInput(Record):
    """An input where it belongs: what was stored, what was found, or what is at hand now."""

    routing: Routing
    kept: MemoryRecord | Note | None = None
    answer: Answer | None = None
    working: WorkingStats | None = None
