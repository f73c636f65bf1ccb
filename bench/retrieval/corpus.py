"""Corpora: turns, questions and the turns that answer them, in the same form for all data sets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from datetime import datetime

Role: TypeAlias = Literal["user", "assistant"]
Place: TypeAlias = tuple[str, int]
"""A turn: its session, and its number there by arrival, from 1."""


class UnknownData(Exception):
    """The file is no data set this bench reads; the message says what was expected."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One thing said; `session` is a name of ours, never an id of the data set, which may give the answer away."""

    session: str
    role: Role
    speaker: str | None
    content: str
    said_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question and its evidence. Where the data set marks none of a level, that level is not judged."""

    text: str
    category: str
    gold_turns: frozenset[Place]
    gold_sessions: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """Turns of one agent, in the order they arrive, with its questions."""

    name: str
    turns: tuple[Turn, ...]
    questions: tuple[Question, ...]
    asked_at: datetime | None = None

    @property
    def now(self) -> datetime:
        """Time of the questions, to which "last week" refers: as the data set says, else after the last turn."""
        return self.asked_at or max(turn.said_at for turn in self.turns)


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """A data set. `apart`: categories reported, but kept out of the overall figures."""

    name: str
    conversations: tuple[Conversation, ...]
    apart: frozenset[str]
    left_out: int
    """Questions without any valid evidence; they are not asked."""


def places(turns: tuple[Turn, ...]) -> tuple[Place, ...]:
    """The place of each turn."""
    counts: dict[str, int] = {}
    found = []
    for turn in turns:
        counts[turn.session] = counts.get(turn.session, 0) + 1
        found.append((turn.session, counts[turn.session]))
    return tuple(found)
