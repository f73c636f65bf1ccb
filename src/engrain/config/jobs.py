"""Settings of background jobs and their schedules."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo

from engrain.config.section import Section, setting

_CRON_FIELDS = 5


def _parse_cron(value: str) -> str:
    """The expression with single blanks; "" for never."""
    from cronsim import CronSim, CronSimError

    expression = " ".join(value.split())
    meant = "write minute hour day month weekday, such as '0 4 * * *' for every day at 4, or '' for never"
    if expression and len(expression.split(" ")) != _CRON_FIELDS:
        raise ValueError(f"a schedule has five fields; {meant}")
    try:
        if expression and next(CronSim(expression, datetime(2000, 1, 1, tzinfo=UTC)), None) is None:
            raise ValueError(f"it never fires; {meant}")
    except CronSimError as error:
        raise ValueError(f"{str(error)[:1].lower()}{str(error)[1:]}; {meant}") from None
    return expression


def parse_time_zone(value: str) -> str:
    """The name of a time zone that this system knows."""
    from zoneinfo import ZoneInfo

    if value == "UTC":
        return value  # on systems without a database of time zones, too
    try:
        ZoneInfo(value)
    except (LookupError, ValueError, OSError):
        raise ValueError("no time zone of that name is known here; write one such as Europe/Lisbon, or UTC") from None
    return value


def find_time_zone(name: str) -> tzinfo:
    """Find a time zone by a name that `parse_time_zone` has passed."""
    from zoneinfo import ZoneInfo

    return UTC if name == "UTC" else ZoneInfo(name)


class Schedules(Section):
    """Schedules of jobs, as cron expressions: minute, hour, day, month, weekday; empty for never."""

    enrichment: str = setting("0 2 * * *", "When memories are searched for names again", parse=_parse_cron)
    consolidation: str = setting("0 3 * * *", "When facts and rules are learned from episodes", parse=_parse_cron)
    decay: str = setting("0 4 * * *", "When facts and rules fade and expire", parse=_parse_cron)
    reflection: str = setting("0 3 * * 0", "When reflections are written", parse=_parse_cron)
    cleanup: str = setting(
        "30 4 * * *", "When expired and surplus episodes, ended facts and old events are removed", parse=_parse_cron
    )
    compaction: str = setting("0 5 * * *", "When the database is compacted and old jobs are removed", parse=_parse_cron)
    backup: str = setting("30 5 * * *", "When a backup is written, if `jobs.backup_folder` is set", parse=_parse_cron)


class Jobs(Section):
    """Background jobs of workers: schedules, leases, retries and backups."""

    schedules: Schedules = Schedules()
    timezone: str = setting("UTC", "The time zone of the schedules", parse=parse_time_zone)
    poll_s: float = setting(5.0, "How often a worker looks for due jobs", gt=0, le=3_600)
    lease_s: float = setting(60.0, "How long a silent worker keeps its job", ge=1, le=86_400)
    max_attempts: int = setting(5, "How often a job is tried before it is given up", ge=1, le=100)
    retry_pause_s: float = setting(60.0, "First pause after a failure; it doubles", ge=0, le=86_400)
    retention_days: float = setting(90.0, "How many days finished jobs stay", ge=0, le=36_500)
    backup_folder: str | None = setting(None, "Folder that backups are written to; None for none")
    backup_keep: int = setting(7, "How many of the newest backups stay there", ge=1, le=10_000)
