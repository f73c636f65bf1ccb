"""The vocabulary of parameters that take a chat: its messages, turns, prompt and tools, and when to learn from it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, NotRequired, TypedDict

from engrain.domain.runs.additions import LearningTime
from engrain.verbs.words import Content, EventTime, Speaker, TurnRole, Word


class ChatMessage(TypedDict):
    """A message of a chat."""

    role: NotRequired[TurnRole]
    content: Content
    speaker: NotRequired[Speaker]
    name: NotRequired[Annotated[str, Word("Name of the speaker, as chat APIs have it.")]]
    event_time: NotRequired[EventTime]


ChatMessages = Annotated[
    Iterable[ChatMessage],
    Word(
        "Messages of the chat, in their order.",
        example=[{"role": "user", "content": "I moved to Lisbon in May.", "speaker": "Ana"}],
        most=1000,
        option="--message",
        metavar="JSON",
    ),
]
LearnWhen = Annotated[LearningTime, Word("Learn from them now, in the background, or later (when `consolidate` runs).")]
SessionTurns = Annotated[
    int,
    Word(
        "Number of the newest turns of the session to leave out: the model has them; the setting if left out.",
        low=0,
        high=100_000,
        metavar="N",
    ),
]
SystemPrompt = Annotated[str, Word("System prompt of the chat.", metavar="TEXT")]
Tools = Annotated[
    Sequence[Mapping[str, Any] | str] | int,
    Word("Schemas of the tools, which are counted, or their number.", metavar="N"),
]
