"""How much a memory matters, told by what it says and how it fared. Pure; on the scale of importance, 0-10."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from engrain.domain.memories.scoring import days_between
from engrain.domain.records import Episode, Rule

if TYPE_CHECKING:
    from datetime import datetime

    from engrain.domain.records import MemoryRecord, Role

# What a memory is worth of which nothing is known: the middle.
PLAIN = 5.0
MOST = 10.0
# What somebody says of themselves or asks to keep, and what was decided. A group counts once, however often it speaks.
SIGNALS: tuple[tuple[float, tuple[str, ...]], ...] = (
    (3.0, ("my name is", "i prefer", "remember that")),
    (2.0, ("i will", "let's do", "decided")),
)
TOOL_RESULT = 1.0
# New memories matter more, for two days; and so does what is asked for, up to five times.
NEW, NEW_LOST_PER_DAY = 2.0, 1.0
ASKED_FOR, ASKED_FOR_AT_MOST = 0.2, 1.0

# A bound on the work for a text of megabytes.
_MOST_CHARACTERS = 200_000
_PHRASES = tuple(phrase for _, phrases in SIGNALS for phrase in phrases)
_SPEAKS = tuple(
    (gain, re.compile(rf"\b(?:{'|'.join(re.escape(phrase) for phrase in phrases)})\b", re.IGNORECASE))
    for gain, phrases in SIGNALS
)


def importance_of(content: str, *, role: Role = "user") -> float:
    """What a memory is worth by what it says: 5, 3 more for a name or preference, 2 for a decision, 1 for a tool.

    This part never changes, so it is what is stored where the caller names no importance.
    """
    straight = content[:_MOST_CHARACTERS].replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    signals = sum(gain for gain, speaks in _SPEAKS if speaks.search(straight)) if _may_speak(straight) else 0.0
    return _clamped(PLAIN + signals + (TOOL_RESULT if role == "tool" else 0.0))


def _may_speak(text: str) -> bool:
    """Whether a text can hold a signal: a tenth of the patterns' work. In ASCII `lower` ignores case as they do."""
    if not text.isascii():
        return True
    lowered = text.lower()
    for phrase in _PHRASES:  # noqa: SIM110  # a generator for any() takes twice as long
        if phrase in lowered:
            return True
    return False


def current(memory: MemoryRecord, now: datetime) -> float:
    """What it is worth at a moment: its importance, up to 2 more while it is new, up to 1 for being asked for.

    Both bonuses are of the moment, and so never stored: what was new once would be important for ever.
    """
    importance = PLAIN if isinstance(memory, Rule) else memory.importance
    happened_at = memory.event_time if isinstance(memory, Episode) else memory.created_at
    return _clamped(importance + _newness(happened_at, now) + _demand(memory.reference_count))


def _newness(at: datetime, now: datetime) -> float:
    """2 now, 1 a day ago, 0 from two days on; what lies ahead counts as now."""
    return max(0.0, NEW - NEW_LOST_PER_DAY * max(days_between(at, now), 0.0))


def _demand(references: int) -> float:
    return min(ASKED_FOR_AT_MOST, references * ASKED_FOR)


def _clamped(importance: float) -> float:
    return min(MOST, max(0.0, importance))
