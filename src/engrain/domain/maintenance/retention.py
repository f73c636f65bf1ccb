"""How long episodes are kept once they have run out, and how many are kept at all."""

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
    """What a cleanup leaves: of one tenant, episodes that ran out less than so many days ago, and at most so many.

    More than `max_entries` stay where they are not consolidated yet and have not run out.
    """

    expired_days: float = 0.0
    max_entries: int | None = 10_000  # None: as many as there are


@dataclass(frozen=True, slots=True, kw_only=True)
class CleanupBatch:
    """One batch of a cleanup: how many episodes went, and why; `remaining` is None while more may have to go."""

    expired: int = 0
    capacity: int = 0
    remaining: int | None = None


def has_run_out(episode: Episode, retention: Retention, *, now: datetime) -> bool:
    """Whether it expired before the days it is kept for."""
    return episode.expires_at is not None and episode.expires_at < expiry_cutoff(retention, now)


def expiry_cutoff(retention: Retention, now: datetime) -> datetime:
    """What expired before this goes."""
    return now - timedelta(days=retention.expired_days)
