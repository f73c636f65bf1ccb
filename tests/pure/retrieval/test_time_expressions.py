"""When a question asks about."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engrain.retrieval.chronology.time_expressions import (
    Span,
    list_coming_spans,
    parse_relative_span,
    parse_spans,
    split_coming_span,
)
from engrain.storage.dialects import micros

if TYPE_CHECKING:
    from numpy.typing import NDArray

NOW = datetime(2026, 11, 21, 10, tzinfo=UTC)  # a Saturday


def between(first: str, last: str) -> Span:
    return Span(datetime.fromisoformat(first).replace(tzinfo=UTC), datetime.fromisoformat(last).replace(tzinfo=UTC))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What did she paint on October 13, 2023?", [("2023-10-13", "2023-10-14")]),
        ("goodbye on 3 June, 2023", [("2023-06-03", "2023-06-04")]),
        ("the 3rd of June 2023", [("2023-06-03", "2023-06-04")]),
        ("log of 2023-05-08", [("2023-05-08", "2023-05-09")]),
        ("in the beginning of November 2022", [("2022-11-01", "2022-12-01")]),
        ("in December", [("2025-12-01", "2026-01-01")]),  # the last one that has begun
        ("next December", [("2026-12-01", "2027-01-01")]),
        ("next November", [("2027-11-01", "2027-12-01")]),
        ("last December", [("2025-12-01", "2026-01-01")]),
        ("last November", [("2025-11-01", "2025-12-01")]),
        ("on May 8th", [("2026-05-08", "2026-05-09")]),
        ("on 24 December", [("2025-12-24", "2025-12-25")]),
        ("last summer", [("2026-06-01", "2026-09-01")]),
        ("last winter", [("2025-12-01", "2026-03-01")]),
        ("this fall", [("2026-09-01", "2026-12-01")]),
        ("in spring 2024", [("2024-03-01", "2024-06-01")]),
        ("in 2022", [("2022-01-01", "2023-01-01")]),
        ("last week", [("2026-11-09", "2026-11-16")]),
        ("this week", [("2026-11-16", "2026-11-23")]),
        ("last weekend", [("2026-11-14", "2026-11-16")]),
        ("last month", [("2026-10-01", "2026-11-01")]),
        ("last year", [("2025-01-01", "2026-01-01")]),
        ("on Monday", [("2026-11-16", "2026-11-17")]),
        ("last Saturday", [("2026-11-14", "2026-11-15")]),  # today is one
        ("yesterday", [("2026-11-20", "2026-11-21")]),
        ("the day before yesterday", [("2026-11-19", "2026-11-20")]),
        ("last night", [("2026-11-20T18:00", "2026-11-22")]),  # of which one tells the day after
        ("a couple of days ago", [("2026-11-18", "2026-11-20")]),
        ("two weeks ago", [("2026-11-03", "2026-11-11")]),
        ("the week before 16 November 2023", [("2023-11-09", "2023-11-16")]),
        ("two days after March 1, 2024", [("2024-03-02", "2024-03-04")]),
    ],
)
def test_a_time_is_read_as_a_span(text: str, expected: list[tuple[str, str]]) -> None:
    assert parse_spans(text, NOW) == tuple(between(*each) for each in expected)


def test_the_past_weeks_end_now() -> None:
    [found] = parse_spans("in the past three weeks", NOW)
    assert found == Span(NOW - timedelta(days=21), NOW)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "What may I march for?",
        "Did she fall or spring up?",
        "How many years did it take?",
        "room 2022b, page 12",
        "on 31 June",
        "99999 days ago",
    ],
)
def test_what_names_no_time_gives_none(text: str) -> None:
    assert parse_spans(text, NOW) == ()


def test_a_date_is_not_its_month_or_year_besides() -> None:
    assert len(parse_spans("on 13 October 2023", NOW)) == 1


def test_two_dates_are_two_spans() -> None:
    found = parse_spans("between May 2023 and August 2023", NOW)
    assert set(found) == {between("2023-05-01", "2023-06-01"), between("2023-08-01", "2023-09-01")}


def as_micros(*moments: datetime) -> NDArray[np.int64]:
    return np.array([micros(moment) for moment in moments])


def test_nearness_falls_from_one_inside_to_zero_a_length_away() -> None:
    span = between("2023-05-01", "2023-06-01")
    moments = [span.start, span.end - timedelta(days=1), span.end + timedelta(days=15, hours=12), span.end]
    inside, last_day, half, at_end = span.measure_nearness(as_micros(*moments))
    assert (inside, last_day, half, at_end) == (1.0, 1.0, 0.5, 1.0)
    far = as_micros(span.end + timedelta(days=31), span.start - timedelta(days=365))
    assert span.measure_nearness(far).tolist() == [0.0, 0.0]


def test_a_time_told_by_an_event_waits_for_the_event() -> None:
    found = parse_relative_span("What did Bo do two weeks before Ana's wedding day?")
    assert found is not None
    assert found.event == "Ana's wedding day"
    wedding = datetime(2026, 5, 20, tzinfo=UTC)
    assert found.around(wedding) == Span(wedding - timedelta(days=17, hours=12), wedding - timedelta(days=10, hours=12))
    after = parse_relative_span("three days after the accident")
    assert after is not None
    assert after.around(wedding).start == wedding + timedelta(days=2)


@pytest.mark.parametrize("text", ["two days after March 1, 2024", "before lunch", "a week ago", ""])
def test_what_is_told_by_no_event_is_not_anchored(text: str) -> None:
    assert parse_relative_span(text) is None


@given(
    st.text(max_size=200)
    | st.lists(st.sampled_from("last may 2023 31 june two weeks ago before after on 0 99 day".split())).map(" ".join)
)
def test_any_text_is_read_without_a_fault(text: str) -> None:
    for span in parse_spans(text, NOW):
        assert span.start < span.end
    parse_relative_span(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I have a dentist appointment tomorrow", [("2026-11-22", "2026-11-23")]),
        ("Dinner tonight, and a run this weekend", [("2026-11-21", "2026-11-22"), ("2026-11-21", "2026-11-23")]),
        ("on Tuesday at 3", [("2026-11-24", "2026-11-25")]),
        ("It is on Saturday", [("2026-11-28", "2026-11-29")]),  # who means today says so
        ("last Tuesday", []),
        ("we fly on 12 December", [("2026-12-12", "2026-12-13")]),
        ("due on January 3rd", [("2027-01-03", "2027-01-04")]),
        ("in two weeks", [("2026-12-05", "2026-12-06")]),
        ("off in March", [("2027-03-01", "2027-04-01")]),
        ("may I come?", []),
        ("2026-12-01 at noon", [("2026-12-01", "2026-12-02")]),
        ("next Monday", [("2026-11-23", "2026-11-24")]),
        ("next Sunday", [("2026-11-22", "2026-11-23"), ("2026-11-29", "2026-11-30")]),
        ("every Friday", [("2026-11-27", "2026-11-28"), ("2026-12-04", "2026-12-05")]),
        ("off on Fridays", [("2026-11-27", "2026-11-28"), ("2026-12-04", "2026-12-05")]),
        ("31 June", []),
        ("the dentist is on the 24th at 3", [("2026-11-24", "2026-11-25")]),
        ("due on the 3rd", [("2026-12-03", "2026-12-04")]),
        ("on the 31st", [("2026-12-31", "2027-01-01")]),
        ("on the 40th", []),
        ("I live on the 4th floor", []),
        ("on the 4th of January", [("2027-01-04", "2027-01-05")]),
    ],
)
def test_times_to_come_are_seen_from_when_they_were_named(text, expected):
    spans = list_coming_spans(text, NOW, until=NOW + timedelta(days=16))
    assert spans == [between(*span) for span in expected]


def test_what_comes_every_week_is_no_news_of_a_long_time():
    assert list_coming_spans("piano on Thursdays, and on Friday a party", NOW, until=None) == [
        between("2026-11-27", "2026-11-28")
    ]


@pytest.mark.parametrize(
    ("text", "expected", "rest"),
    [
        ("What do I have tomorrow?", ("2026-11-22", "2026-11-23"), "What do I have  ?"),
        ("What's on this week?", ("2026-11-16", "2026-11-23"), "What's on  ?"),
        ("Am I free on Monday?", ("2026-11-23", "2026-11-24"), "Am I free  ?"),
    ],
)
def test_a_question_for_a_time_to_come_is_split_into_both(text, expected, rest):
    assert split_coming_span(text, NOW) == (between(*expected), rest)


def test_a_question_without_a_time_to_come_is_whole():
    assert split_coming_span("What did I do on 2026-11-01?", NOW) == (None, "What did I do on 2026-11-01?")
