"""Answers of the hooks for an agent's host. Hooks fail open: a failure is reported in the answer, not raised."""

from __future__ import annotations

from dataclasses import dataclass

from engrain.domain.compiled_records import assign_fields, compile_maker
from engrain.domain.records import Degraded, Episode, Record
from engrain.errors import IntegrityViolated, InvalidInput, MemoryClosed, NotFound


@assign_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class MessageReceipt(Record):
    """Receipt of one message: stored (`is_stored`), or queued in this process until the next call that works."""

    episode: Episode  # as stored, or as it will be stored, without its turn
    is_stored: bool
    degraded: tuple[Degraded, ...] = ()


make_receipt = compile_maker(MessageReceipt)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionEnd(Record):
    """Answer at the end of a session: `pending` episodes wait to be consolidated, as far as they could be counted.

    `is_handed_over` if they are being consolidated in the background.
    """

    session: str
    pending: int = 0
    is_handed_over: bool = False
    degraded: tuple[Degraded, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RecentTurns(Record):
    """The newest turns of a session, oldest first."""

    episodes: tuple[Episode, ...] = ()
    degraded: tuple[Degraded, ...] = ()


def fails_open(error: Exception) -> bool:
    """True if a host continues after this error; false for invalid input, and for calls after `close`."""
    return not isinstance(error, InvalidInput | NotFound | IntegrityViolated | MemoryClosed)
