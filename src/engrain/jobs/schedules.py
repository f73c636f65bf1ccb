"""Schedules: cron expressions and the moments they fire at. Pure arithmetic over the caller's clock."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import takewhile
from typing import TYPE_CHECKING

from engrain.config.jobs import find_time_zone
from engrain.domain.runs.jobs import JOB_NAMES, JobName

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engrain.config.tree import Settings

# How far back to look for the newest firing: what fires often is found in the first, at most 60 steps away.
_LOOKS = (*(timedelta(days=days) for days in (1 / 24, 1, 8, 32, 370)), timedelta(days=36_525))


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """A job by name, and its cron expression of five fields in a time zone."""

    name: JobName
    expression: str
    timezone: str = "UTC"


def list_schedules(settings: Settings) -> list[Schedule]:
    """The schedules that are on; a backup is where it has a folder."""
    jobs = settings.jobs
    return [
        Schedule(name=name, expression=expression, timezone=jobs.timezone)
        for name in JOB_NAMES
        if (expression := getattr(jobs.schedules, name)) and (name != "backup" or jobs.backup_folder)
    ]


def find_due(schedule: Schedule, after: datetime, now: datetime) -> datetime | None:
    """The newest firing after one moment and not after another, in UTC; None where there is none.

    One, however many there were: what was missed while nobody was there is made up for once. Where clocks are put
    forward, a firing of the hour that is left out comes right after it. Where they are put back, one at a certain hour
    comes once, at the first of the two; one of every hour, or every few minutes, goes on by time that passes. That is
    what Debian's cron does: https://manpages.debian.org/stable/cron/cron.8.en.html (Daylight Saving Time).
    """
    for look in _LOOKS:
        since = max(after, now - look)
        firings = takewhile(lambda firing: firing <= now, _firings(schedule, since))
        newest = max(firings, default=None)
        if newest is not None or since == after:
            return newest
    return None


def _firings(schedule: Schedule, after: datetime) -> Iterator[datetime]:
    """The firings after a moment, in UTC, in order."""
    from cronsim import CronSim

    zone = find_time_zone(schedule.timezone)
    # In the second of two hours of one name it begins with the first, which is over.
    firings = (firing.astimezone(UTC) for firing in CronSim(schedule.expression, after.astimezone(zone)))
    return (firing for firing in firings if firing > after)
