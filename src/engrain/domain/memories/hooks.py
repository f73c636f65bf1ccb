"""What the hooks of an agent's host answer: values that say what could not be done, as nothing is raised for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from engrain.domain.records import Record
from engrain.domain.wording import Wording, worded
from engrain.errors import IntegrityViolated, InvalidInput, MemoryClosed, NotFound

if TYPE_CHECKING:
    from engrain.domain.records import Episode


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageReceipt(Record):
    """What became of one message: durable (`is_stored`), or waiting in this process for the next call that works."""

    episode: Episode  # as stored, or as it will be but for its turn
    is_stored: bool
    degraded: tuple[Wording, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionEnd(Record):
    """A session that is over: how many of its episodes wait to be consolidated, as far as that can be told.

    `is_handed_over` where they are consolidated now, in the background.
    """

    session: str
    pending: int = 0
    is_handed_over: bool = False
    degraded: tuple[Wording, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RecentTurns(Record):
    """The newest turns of a session, oldest first."""

    episodes: tuple[Episode, ...] = ()
    degraded: tuple[Wording, ...] = ()


def fails_open(error: Exception) -> bool:
    """Whether a host goes on in spite of an error: all but what is wrong in itself, and calls after the end."""
    return not isinstance(error, InvalidInput | NotFound | IntegrityViolated | MemoryClosed)


def told(error: Exception) -> Wording:
    """An error as `degraded` names it."""
    return Wording(f"{type(error).__name__}: {error}", worded(error).outside)
