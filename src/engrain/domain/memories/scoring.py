"""What time leaves of a memory's worth. Pure; nothing computed here is ever written back."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

RECENCY_HALF_LIFE_DAYS = 7.0
# Younger than so many days, a memory keeps this share of its score; older than all of them, the least.
AGE_STEPS = ((7.0, 1.0), (30.0, 0.8), (90.0, 0.6))
LEAST_AGE_MULTIPLIER = 0.4

_SECONDS_A_DAY = 86_400.0


def effective_confidence(
    confidence: float, decay_rate: float, confirmed_at: datetime | None, *, now: datetime
) -> float:
    """`confidence * exp(-decay_rate * days since confirmed_at)`; 0 where nobody ever confirmed it.

    A rate of 0 never decays; a confirmation in the future counts as one of now.
    """
    if confirmed_at is None:
        return 0.0
    return confidence * math.exp(-decay_rate * max(days_between(confirmed_at, now), 0.0))


def recency(referenced_at: datetime | None, *, now: datetime) -> float:
    """`exp(-ln 2 / 7 * days since referenced_at)`, in [0, 1]: half after a week, 0 where nobody ever asked for it."""
    if referenced_at is None:
        return 0.0
    days = max(days_between(referenced_at, now), 0.0)
    return math.exp(-math.log(2) / RECENCY_HALF_LIFE_DAYS * days)


def age_multiplier(changed_at: datetime, *, now: datetime) -> float:
    """In steps: 1.0 under 7 days since the last change, 0.8 under 30, 0.6 under 90, then 0.4 and never less."""
    days = days_between(changed_at, now)
    return next((multiplier for below, multiplier in AGE_STEPS if days < below), LEAST_AGE_MULTIPLIER)


def days_between(earlier: datetime, later: datetime) -> float:
    """Days with their fraction; negative where `earlier` is the later one."""
    return (later - earlier).total_seconds() / _SECONDS_A_DAY
