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


@pytest.mark.parametrize(
    ("words", "end"),
    [
        ("friday", datetime(2026, 3, 21, tzinfo=UTC)),
        ("this friday", datetime(2026, 3, 21, tzinfo=UTC)),
        ("31 December", datetime(2027, 1, 1, tzinfo=UTC)),
        ("until the end of next month", datetime(2026, 5, 1, tzinfo=UTC)),
        ("2026-W13", datetime(2026, 3, 30, tzinfo=UTC)),
    ],
)
def test_an_end_is_to_come_so_what_it_ends_holds_now(memory, words, end):
    aide = memory.agent("aide")
    assert aide.remember("Faro", subject="Ana", predicate="stays in", valid_to=words).valid_to == end
    assert [fact.content for fact in aide.facts("Ana")] == ["Faro"]
    assert [hit.memory.content for hit in aide.recall("Where does Ana stay?", preset="keyword")] == ["Faro"]
    assert memory.keys.create(role="reader", expires_at=words).key.expires_at == end


def test_an_end_without_a_year_is_the_first_after_the_beginning(memory):
    aide = memory.agent("aide")
    fact = aide.remember("Porto", subject="Ana", predicate="lives in", valid_from="in May 2024", valid_to="February")
    assert fact.valid_to == datetime(2025, 3, 1, tzinfo=UTC)
    moved = aide.correct(fact.id, "Braga", valid_from="May 2024", valid_to="1 June")
    assert (moved.content, moved.valid_to) == ("Braga", datetime(2024, 6, 2, tzinfo=UTC))


def test_a_search_looks_back(memory):
    aide = memory.agent("aide")
    aide.observe("The tram was late.", event_time="friday")
    found = aide.recall("tram", preset="keyword", since="friday", until="friday")
    assert found.times == {"since": datetime(2026, 3, 13, tzinfo=UTC), "until": datetime(2026, 3, 14, tzinfo=UTC)}
    assert [hit.memory.content for hit in found] == ["The tram was late."]


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
