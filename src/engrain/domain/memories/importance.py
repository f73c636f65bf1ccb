"""Importance of a memory, 0-10, from its words, its age and its references. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from engrain.domain.memories.decay import days_between
from engrain.domain.records import Episode, MemoryRecord, Role, Rule

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from engrain.domain.joined_texts import JoinedTexts

# The importance of a memory without a signal: the middle.
PLAIN = 5.0
MOST = 10.0
# Personal statements and requests to remember, and decisions. A group counts once, however many of its phrases occur.
SIGNALS: tuple[tuple[float, tuple[str, ...]], ...] = (
    (3.0, ("my name is", "i prefer", "remember that")),
    (2.0, ("i will", "let's do", "decided")),
)
TOOL_RESULT = 1.0
# New memories matter more, for two days; and so do referenced ones, up to five references.
NEW, NEW_LOST_PER_DAY = 2.0, 1.0
ASKED_FOR, ASKED_FOR_AT_MOST = 0.2, 1.0

# A bound on the work for a text of megabytes.
_MOST_CHARACTERS = 200_000
_PHRASES = tuple(phrase for _, phrases in SIGNALS for phrase in phrases)
_PATTERNS = tuple(
    (gain, re.compile(rf"\b(?:{'|'.join(re.escape(phrase) for phrase in phrases)})\b", re.IGNORECASE))
    for gain, phrases in SIGNALS
)


def importance_of(content: str, *, role: Role = "user") -> float:
    """Importance by content: 5, 3 more for a name or preference, 2 for a decision, 1 for a tool result.

    This part never changes, so it is stored where the caller gives no importance.
    """
    base = PLAIN + TOOL_RESULT if role == "tool" else PLAIN
    if content.isascii():  # there `lower` ignores case as the patterns do, and takes a tenth of their time
        lowered = content[:_MOST_CHARACTERS].lower()
        for phrase in _PHRASES:
            if phrase in lowered:
                break
        else:
            return base
    straight = content[:_MOST_CHARACTERS].replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    return _clamped(base + sum(gain for gain, pattern in _PATTERNS if pattern.search(straight)))


def importances_of(contents: Sequence[str], roles: Sequence[Role], joined: JoinedTexts) -> list[float]:
    """Importance of turns by content and role, as `importance_of`; the contents are `joined` too."""
    plain: dict[Role, float] = {role: importance_of("", role=role) for role in set(roles)}
    found = [plain[role] for role in roles]
    for place in joined.foreign | joined.find(_PHRASES):
        found[place] = importance_of(contents[place], role=roles[place])
    return found


def current(memory: MemoryRecord, now: datetime) -> float:
    """Importance of a memory now: as stored, up to 2 more while it is new, up to 1 for references.

    Both bonuses pass with time and are never stored: a memory that was new once would be important for ever.
    """
    importance = PLAIN if isinstance(memory, Rule) else memory.importance
    happened_at = memory.event_time if isinstance(memory, Episode) else memory.created_at
    return _clamped(importance + _newness(happened_at, now) + _demand(memory.reference_count))


def _newness(at: datetime, now: datetime) -> float:
    """2 now, 1 after a day, 0 from two days on; the future counts as now."""
    return max(0.0, NEW - NEW_LOST_PER_DAY * max(days_between(at, now), 0.0))


def _demand(references: int) -> float:
    return min(ASKED_FOR_AT_MOST, references * ASKED_FOR)


def _clamped(importance: float) -> float:
    return min(MOST, max(0.0, importance))
