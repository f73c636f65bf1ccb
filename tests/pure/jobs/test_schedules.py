"""Schedules fire once each, in the zone's own time, whatever its clocks do."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engrain.config import load
from engrain.jobs.schedules import Schedule, find_due, list_schedules
from engrain.jobs.worker import choose_start

LISBON = ZoneInfo("Europe/Lisbon")  # puts its clocks forward at 01:00 and back at 02:00
NEW_YORK = "America/New_York"  # forward at 02:00, back at 02:00
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)


def schedule(expression, timezone="UTC"):
    return Schedule(name="decay", expression=expression, timezone=timezone)


def at(text, zone=UTC):
    return datetime.fromisoformat(text).replace(tzinfo=zone).astimezone(UTC)


def fired(asked, start, end, step=timedelta(minutes=7)):
    """Every firing that a worker sees which looks again and again, the last firing in mind."""
    found, after, now = [], start, start
    while now < end:
        now += step
        firing = find_due(asked, after, now)
        if firing is not None:
            found.append(firing)
            after = firing
    return found


@pytest.mark.req("Y07", "B32.1")
def test_the_nightly_jobs_fire_at_their_hours_and_reflection_on_sundays():
    start = at("2026-11-16T00:00")  # a Monday
    found = {job.name: fired(job, start, start + 14 * DAY, HOUR / 2) for job in list_schedules(load())}
    hours = {name: {(firing.hour, firing.minute) for firing in firings} for name, firings in found.items()}
    assert hours["enrichment"] == {(2, 0)}
    assert hours["consolidation"] == hours["reflection"] == {(3, 0)}
    assert hours["decay"] == {(4, 0)}
    assert {name: len(firings) for name, firings in found.items()} == {
        **dict.fromkeys(("enrichment", "consolidation", "decay", "cleanup", "compaction"), 14),
        "reflection": 2,
    }
    assert {firing.isoweekday() for firing in found["reflection"]} == {7}


def test_what_is_empty_is_off_and_a_backup_needs_a_folder():
    asked = {"jobs": {"schedules": {"decay": ""}, "backup_folder": "backups", "timezone": "Europe/Lisbon"}}
    found = {job.name: job.timezone for job in list_schedules(load(asked))}
    assert "decay" not in found
    assert found["backup"] == "Europe/Lisbon"
    assert "backup" not in {job.name for job in list_schedules(load())}


@pytest.mark.parametrize("gone", [timedelta(minutes=1), HOUR, DAY, 9 * DAY, 400 * DAY, 4_000 * DAY])
@pytest.mark.parametrize("expression", ["* * * * *", "*/5 * * * *", "0 4 * * *", "0 3 * * 0", "0 0 29 2 *"])
def test_of_all_that_was_missed_the_last_one_is_due_once(expression, gone):
    now = at("2026-11-22T12:00:30.5")
    firing = find_due(schedule(expression), now - gone, now)
    if firing is None:
        assert gone < {"0 0 29 2 *": 9 * 366 * DAY, "0 3 * * 0": 7 * DAY, "0 4 * * *": DAY}[expression]
        return
    assert now - gone < firing <= now
    assert find_due(schedule(expression), firing, now) is None


def test_a_firing_is_due_from_its_moment_on_and_not_before():
    four = at("2026-11-22T04:00")
    assert find_due(schedule("0 4 * * *"), four - DAY, four - timedelta(microseconds=1)) is None
    assert find_due(schedule("0 4 * * *"), four - DAY, four) == four
    assert find_due(schedule("0 4 * * *"), four, four) is None


def test_nothing_is_due_in_a_clock_that_was_put_back():
    four = at("2026-11-22T04:00")
    assert find_due(schedule("0 4 * * *"), four, four - 3 * HOUR) is None
    assert find_due(schedule("0 4 * * *"), four, four + 23 * HOUR) is None
    assert find_due(schedule("0 4 * * *"), four, four + DAY) == four + DAY


def test_a_firing_ahead_of_the_clock_does_not_silence_its_schedule():
    """As one is that was made while the clock was ten years ahead."""
    now = at("2026-11-22T03:59")
    far = now + 3_650 * DAY
    assert choose_start(far, None, now) == now
    assert find_due(schedule("0 4 * * *"), choose_start(far, now, now + HOUR), now + HOUR) == at("2026-11-22T04:00")
    assert choose_start(now - DAY, now, now) == now - DAY


def test_where_clocks_go_forward_what_is_left_out_comes_right_after():
    start = at("2026-03-29T00:00", LISBON)  # 01:00 is 02:00
    assert fired(schedule("30 1 * * *", "Europe/Lisbon"), start, start + 20 * HOUR) == [at("2026-03-29T02:00", LISBON)]
    assert fired(schedule("0,30 1 * * *", "Europe/Lisbon"), start, start + 20 * HOUR) == [
        at("2026-03-29T02:00", LISBON)
    ]
    every_half_hour = fired(schedule("*/30 * * * *", "Europe/Lisbon"), start, start + 4 * HOUR)
    assert every_half_hour == [start + place * HOUR / 2 for place in range(1, 9)]


def test_where_clocks_go_back_a_certain_hour_comes_once_and_every_hour_by_time_that_passes():
    start = at("2026-10-25T00:00", LISBON)  # 02:00 is 01:00
    once = fired(schedule("30 1 * * *", "Europe/Lisbon"), start, start + DAY)
    assert once == [start + 1.5 * HOUR]
    every_half_hour = fired(schedule("*/30 * * * *", "Europe/Lisbon"), start, start + 4 * HOUR)
    assert every_half_hour == [start + place * HOUR / 2 for place in range(1, 9)]


@given(
    st.datetimes(datetime(2020, 1, 1), datetime(2040, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001  # hypothesis adds it
    st.sampled_from(["0 4 * * *", "30 2 * * *", "*/20 * * * *", "15 1-3 * * 0", "0 0 1 * *", "59 1 31 10 *"]),
    st.sampled_from(["UTC", "Europe/Lisbon", NEW_YORK, "Australia/Lord_Howe"]),
    st.timedeltas(timedelta(0), 800 * DAY),
    st.timedeltas(timedelta(0), 40 * DAY),
)
def test_what_is_due_lies_in_the_time_that_is_asked_about_and_is_the_same_however_often_somebody_looks(
    start, expression, zone, gone, more
):
    asked = schedule(expression, zone)
    firing = find_due(asked, start, start + gone)
    if firing is not None:
        assert start < firing <= start + gone
        assert find_due(asked, firing, start + gone) is None
    later = find_due(asked, firing or start, start + gone + more)
    assert find_due(asked, start, start + gone + more) == (later or firing)
