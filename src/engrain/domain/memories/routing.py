"""Routing of an input to the kind of memory it belongs to, and the result; statistics of working memory."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from engrain.domain.records import Answer, Degraded, MemoryRecord, Record

if TYPE_CHECKING:
    from collections.abc import Mapping

    from engrain.domain.memories.notes import Note

Route = Literal["episode", "fact", "rule", "note", "recall", "past", "forget", "working"]


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
    """Route of an input, with reasons: store `content` as an episode, fact, rule, note or message, or recall it.

    Attributes:
        topic: of the routes "past" and "forget", what they are about in the words of the input; "" for the last thing
            said, or for everything of that time.
        of_everything: of the route "forget", whether all that is known is meant, whatever the topic.
        speaker_alone: whether the request is about what the speaker said, and nobody else.
        is_part: of the routes "fact" and "forget", whether the words say more: all of them are an episode besides, or
            what stands behind the request to forget, which is then the `content`.
    """

    route: Route
    content: str
    reasons: tuple[str, ...]
    subject: str | None = None  # of a fact
    predicate: str | None = None
    key: str | None = None  # of a note
    topic: str | None = None
    of_everything: bool = False
    speaker_alone: bool = False
    is_part: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion(Record):
    """Act that the words of a user ask for, for the host to confirm: nothing was done.

    Attributes:
        verb: the method of the agent to call, once with each of `calls`.
        calls: the arguments by name.
        memories: what the calls would change, in their order.
    """

    verb: Literal["forget", "remember"]
    calls: tuple[Mapping[str, Any], ...] = field(hash=False)
    memories: tuple[MemoryRecord, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class HandledInput(Record):
    """Result of a routed input: what was stored, answered, forgotten or suggested, or the size of working memory."""

    routing: Routing
    kept: MemoryRecord | Note | None = None
    answer: Answer | None = None
    working: WorkingStats | None = None
    suggestion: Suggestion | None = None
    forgotten: tuple[MemoryRecord, ...] = ()
