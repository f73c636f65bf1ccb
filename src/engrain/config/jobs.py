"""Settings of background jobs and their schedules."""

from __future__ import annotations

from datetime import UTC, datetime

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


def _parse_time_zone(value: str) -> str:
    """The name of a time zone that this system knows."""
    from zoneinfo import ZoneInfo

    if value == "UTC":
        return value  # on systems without a database of time zones, too
    try:
        ZoneInfo(value)
    except (LookupError, ValueError, OSError):
        raise ValueError("no time zone of that name is known here; write one such as Europe/Lisbon, or UTC") from None
    return value


class Schedules(Section):
    """Schedules of jobs, as cron expressions: minute, hour, day, month, weekday; empty for never."""

    enrichment: str = setting(
        default="0 2 * * *", parse=_parse_cron, description="When memories are searched for names again"
    )
    consolidation: str = setting(
        default="0 3 * * *", parse=_parse_cron, description="When facts and rules are learned from episodes"
    )
    decay: str = setting(default="0 4 * * *", parse=_parse_cron, description="When facts and rules fade and expire")
    reflection: str = setting(default="0 3 * * 0", parse=_parse_cron, description="When reflections are written")
    cleanup: str = setting(
        default="30 4 * * *",
        parse=_parse_cron,
        description="When expired and surplus episodes, ended facts and old events are removed",
    )
    compaction: str = setting(
        default="0 5 * * *", parse=_parse_cron, description="When the database is compacted and old jobs are removed"
    )
    backup: str = setting(
        default="30 5 * * *", parse=_parse_cron, description="When a backup is written, if `jobs.backup_folder` is set"
    )


class Jobs(Section):
    """Background jobs of workers: schedules, leases, retries and backups."""

    schedules: Schedules = Schedules()
    timezone: str = setting(default="UTC", parse=_parse_time_zone, description="The time zone of the schedules")
    poll_s: float = setting(default=5.0, gt=0, le=3_600, description="How often a worker looks for due jobs")
    lease_s: float = setting(default=60.0, ge=1, le=86_400, description="How long a silent worker keeps its job")
    max_attempts: int = setting(default=5, ge=1, le=100, description="How often a job is tried before it is given up")
    retry_pause_s: float = setting(default=60.0, ge=0, le=86_400, description="First pause after a failure; it doubles")
    retention_days: float = setting(default=90.0, ge=0, le=36_500, description="How many days finished jobs stay")
    backup_folder: str | None = setting(default=None, description="Folder that backups are written to; None for none")
    backup_keep: int = setting(default=7, ge=1, le=10_000, description="How many of the newest backups stay there")
