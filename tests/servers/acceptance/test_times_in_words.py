"""Times in words wherever a verb takes a time, by the clock of the memory."""

from datetime import UTC, datetime, timedelta

import pytest

from engrain.errors import InvalidInput
from engrain.service import Memory

NOW = datetime(2026, 3, 18, 15, 30, tzinfo=UTC)


@pytest.fixture
def times():
    return [NOW]


@pytest.fixture
def memory(location, times):
    with Memory.open(location, settings={"embedding": {"model": "none"}}, clock=lambda: times[-1]) as memory:
        yield memory


def test_what_is_stored_has_the_time_that_the_words_mean(memory):
    aide = memory.agent("aide")
    assert aide.observe("The tram was late.", event_time="yesterday").event_time == datetime(2026, 3, 17, tzinfo=UTC)
    fact = aide.remember("Lisbon", subject="Ana", predicate="lives in", valid_from="in May 2024", valid_to="last month")
    assert fact.valid_from == datetime(2024, 5, 1, tzinfo=UTC)
    assert fact.valid_to == datetime(2026, 3, 1, tzinfo=UTC)  # all of that month
    assert aide.remember("Faro", subject="Ana", predicate="lives in", valid_from="next May").valid_from == datetime(
        2026, 5, 1, tzinfo=UTC
    )
    key = memory.keys.create(role="reader", expires_at="in two weeks")
    assert key.key.expires_at == datetime(2026, 4, 2, tzinfo=UTC)
    with pytest.raises(InvalidInput, match="valid_from 'soon' is no time, such as 2026-05-01"):
        aide.remember("Porto", subject="Ana", predicate="lives in", valid_from="soon")


def test_a_search_is_narrowed_by_words(memory):
    aide = memory.agent("aide")
    for month in (1, 2, 3):
        aide.observe(f"The tram of month {month}.", event_time=f"2026-0{month}-02")
    found = aide.recall("tram", preset="keyword", since="last month", until="last month")
    assert [hit.memory.content for hit in found] == ["The tram of month 2."]


def test_an_end_before_the_beginning_is_refused(memory):
    aide = memory.agent("aide")
    with pytest.raises(InvalidInput, match=r"until 2026-03-01T00:00:00\S+ lies before since 2026-03-17"):
        aide.recall("tram", since="yesterday", until="2026-02")


def test_what_was_believed_last_month_is_what_was_believed_at_its_end(memory, times):
    aide = memory.agent("aide")
    for moment, town in ((-60, "Lisbon"), (-30, "Porto"), (-1, "Faro")):
        times.append(NOW + timedelta(days=moment))
        aide.remember(town, subject="Ana", predicate="lives in")
    times.append(NOW)
    assert [fact.content for fact in aide.facts("Ana", as_of="last month")] == ["Porto"]
    assert [fact.content for fact in aide.facts("Ana", as_of="now")] == ["Faro"]
