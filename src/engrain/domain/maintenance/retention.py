"""Retention: how long expired episodes, ended facts and rules and events stay, and how many episodes stay in all."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from engrain.domain.records import Episode, Fact, MemoryRecord, Record, Rule

Removal = Literal["expired", "capacity"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention(Record):
    """Retention policy of a tenant: days that expired episodes, ended facts and events stay, and the most episodes.

    More than `max_entries` stay while they are neither consolidated nor expired.
    """

    expired_days: float = 0.0
    max_entries: int | None = 10_000  # None for no limit
    fact_days: float = 0.0  # of rules, too; 0 for ever
    event_days: float = 0.0  # 0 for ever


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


def has_ended(memory: MemoryRecord, retention: Retention, *, now: datetime) -> bool:
    """True if a fact or rule ended before the cutoff of the retention."""
    end = ended_at(memory)
    return retention.fact_days > 0 and end is not None and end < end_cutoff(retention, now)


def ended_at(memory: MemoryRecord) -> datetime | None:
    """Time at which a fact or rule ended; None where nothing ended it.

    It was superseded, retracted or forgotten, or it expired; or the period of an active fact ended, which counts from
    when the fact was stored, if that is later.
    """
    match memory:
        case Fact(validity="active"):
            return None if memory.valid_to is None else max(memory.valid_to, memory.created_at)
        case Rule(is_forgotten=False) | Episode():
            return None
    return memory.invalidated_at or memory.created_at


def end_cutoff(retention: Retention, now: datetime) -> datetime:
    """Time before which ended facts and rules are erased."""
    return now - timedelta(days=retention.fact_days)


def event_cutoff(retention: Retention, now: datetime) -> datetime | None:
    """Time before which events are removed; None where they stay for ever."""
    return now - timedelta(days=retention.event_days) if retention.event_days > 0 else None
