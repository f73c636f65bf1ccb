"""Times in words as arguments: what stands alone is a span, seen from the clock of the caller."""

from datetime import UTC, datetime, timedelta

import pytest

from engrain.retrieval.chronology.time_expressions import parse_span

NOW = datetime(2026, 3, 18, 15, 30, tzinfo=UTC)  # a Wednesday


def day(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("yesterday", "2026-03-17", "2026-03-18"),
        ("Last  Month", "2026-02-01", "2026-03-01"),
        ("in March 2026", "2026-03-01", "2026-04-01"),
        ("March 2026", "2026-03-01", "2026-04-01"),
        ("May", "2025-05-01", "2025-06-01"),
        ("7 May 2024", "2024-05-07", "2024-05-08"),
        ("2025", "2025-01-01", "2026-01-01"),
        ("2025-12", "2025-12-01", "2026-01-01"),
        ("last friday", "2026-03-13", "2026-03-14"),
        ("three weeks ago", "2026-02-25", "2026-02-26"),
        ("a month ago", "2026-02-18", "2026-02-19"),
        ("tomorrow", "2026-03-19", "2026-03-20"),
        ("next month", "2026-04-01", "2026-05-01"),
        ("next week", "2026-03-23", "2026-03-30"),
        ("next wednesday", "2026-03-25", "2026-03-26"),
        ("in two years", "2028-03-18", "2028-03-19"),
        ("in 11 months", "2027-02-18", "2027-02-19"),
        ("three months from now", "2026-06-18", "2026-06-19"),
        ("day before yesterday", "2026-03-16", "2026-03-17"),
        ("29 February", "2024-02-29", "2024-03-01"),
        ("31 December", "2025-12-31", "2026-01-01"),
    ],
)
def test_a_time_in_words_is_a_span(text, start, end):
    found = parse_span(text, NOW)
    assert (found.start, found.end) == (day(start), day(end))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "soon",
        "when Ana moved",
        "last month and yesterday",
        "31 June",
        "31 June 2025",
        "29 Feb 2025",
        "2025-13",
        "in a bit",
    ],
)
def test_a_text_that_says_more_or_less_than_a_time_is_none(text):
    assert parse_span(text, NOW) is None


def test_now_is_now():
    assert parse_span("now", NOW).start == NOW


@pytest.mark.parametrize(
    ("text", "hours"), [("in 2 hours", 2), ("an hour ago", -1), ("90 minutes ago", -1.5), ("two hours from now", 2)]
)
def test_hours_and_minutes_away_are_a_moment(text, hours):
    assert parse_span(text, NOW).start == parse_span(text, NOW).end == NOW + timedelta(hours=hours)


def test_the_last_day_of_a_shorter_month_is_its_last():
    assert parse_span("in a month", datetime(2026, 1, 31, tzinfo=UTC)).start == day("2026-02-28")


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("until the end of next month", "2026-04-30", "2026-05-01"),
        ("the end of the year", "2026-12-31", "2027-01-01"),
        ("beginning of May 2026", "2026-05-01", "2026-05-02"),
        ("since last March", "2025-03-01", "2025-04-01"),
        ("as of 2024", "2024-01-01", "2025-01-01"),
        ("this friday", "2026-03-20", "2026-03-21"),
        ("this monday", "2026-03-16", "2026-03-17"),
        ("next weekend", "2026-03-28", "2026-03-30"),
        ("2026-W53", "2026-12-28", "2027-01-04"),
        ("week 12 of 2026", "2026-03-16", "2026-03-23"),
        ("Q3 2026", "2026-07-01", "2026-10-01"),
    ],
)
def test_ends_weeks_and_quarters_are_spans(text, start, end):
    found = parse_span(text, NOW)
    assert (found.start, found.end) == (day(start), day(end))


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("friday", "2026-03-20"),
        ("until Friday", "2026-03-20"),
        ("wednesday", "2026-03-18"),
        ("tuesday", "2026-03-24"),
        ("this monday", "2026-03-23"),
        ("last friday", "2026-03-13"),
        ("next friday", "2026-03-20"),
        ("31 December", "2026-12-31"),
        ("March 17th", "2027-03-17"),
        ("18 March", "2026-03-18"),
        ("29 February", "2028-02-29"),
        ("March", "2026-03-01"),
        ("February", "2027-02-01"),
        ("last May", "2025-05-01"),
        ("the end of May", "2026-05-31"),
        ("May 2025", "2025-05-01"),
    ],
)
def test_what_comes_again_is_the_first_that_is_not_over_where_a_text_looks_ahead(text, start):
    assert parse_span(text, NOW, after=NOW).start == day(start)


@pytest.mark.parametrize(
    "text", ["31 June", "W12", "2026-W54", "week 60 of 2026", "the end of", "end of soon", "end of " * 5000 + "May"]
)
def test_no_time_is_none_whichever_way_it_looks(text):
    assert parse_span(text, NOW, after=NOW) is None
