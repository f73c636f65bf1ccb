"""Retention of episodes: how long expired ones stay, and how many stay in all."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Literal

from engrain.domain.records import Episode, Record

if TYPE_CHECKING:
    from datetime import datetime

Removal = Literal["expired", "capacity"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention(Record):
    """Retention policy of a tenant: days that expired episodes stay, and the largest number of episodes.

    More than `max_entries` stay while they are neither consolidated nor expired.
    """

    expired_days: float = 0.0
    max_entries: int | None = 10_000  # None for no limit


@dataclass(frozen=True, slots=True, kw_only=True)
class CleanupBatch:
    """Result of one batch of a cleanup: removed episodes by reason; `remaining` is None while there may be more."""

    expired: int = 0
    capacity: int = 0
    remaining: int | None = None


def has_run_out(episode: Episode, retention: Retention, *, now: datetime) -> bool:
    """True if an episode expired before the cutoff of the retention."""
    return episode.expires_at is not None and episode.expires_at < expiry_cutoff(retention, now)


def expiry_cutoff(retention: Retention, now: datetime) -> datetime:
    """Time before which expired episodes are removed."""
    return now - timedelta(days=retention.expired_days)
