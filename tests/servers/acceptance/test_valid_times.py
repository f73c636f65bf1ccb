"""What was true at a time, by what is known now, beside what was believed at a time."""

from datetime import UTC, datetime

import pytest

from engrain.service import Memory

NOW = datetime(2026, 5, 11, 9, tzinfo=UTC)


@pytest.fixture
def times():
    return [NOW]


@pytest.fixture
def aide(location, times):
    with Memory.open(location, settings={"embedding": {"model": "none"}}, clock=lambda: times[-1]) as memory:
        yield memory.agent("aide")


def contents(page):
    return sorted(fact.content for fact in page)


def test_facts_are_listed_as_they_were_true_at_a_time(aide):
    aide.remember("Helen", subject="Robin", predicate="reports to", valid_from="2024-01-08")
    aide.remember("Karim", subject="Robin", predicate="reports to", valid_from="2026-04-01")
    assert contents(aide.facts("Robin", "reports to")) == ["Karim"]
    assert contents(aide.facts("Robin", "reports to", valid_at="2026-03-31")) == ["Helen"]
    assert contents(aide.facts("Robin", "reports to", valid_at="2026-04-01")) == ["Karim"]
    assert contents(aide.facts("Robin", "reports to", valid_at="last month")) == ["Karim"]
    assert contents(aide.facts("Robin", "reports to", valid_at="2023-12-31")) == []


def test_a_correction_that_is_dated_earlier_closes_the_old_period_there(aide, times):
    times.append(datetime(2026, 4, 6, tzinfo=UTC))
    before = aide.remember("desk 2.07", subject="Robin", predicate="sits at")
    times.append(NOW)
    aide.correct(before.id, "desk 3.01", valid_from="yesterday")
    assert aide.get(before.id).valid_to == datetime(2026, 5, 10, tzinfo=UTC)
    assert contents(aide.facts("Robin", valid_at="2026-04-20")) == ["desk 2.07"]
    assert contents(aide.facts("Robin", valid_at="now")) == ["desk 3.01"]


def test_a_search_finds_what_was_true_at_a_time(aide):
    aide.remember(
        "in Lisbon by the river", subject="Ana", predicate="lives in", valid_from="2020", valid_to="2023-05-01"
    )
    aide.remember("in Porto by the river", subject="Ana", predicate="lives in", valid_from="2023-05-01")
    aide.observe("The river was high.")

    def facts(**asked):
        found = aide.recall("river", preset="keyword", kinds="fact", **asked)
        return sorted(hit.memory.content for hit in found)

    assert facts() == ["in Porto by the river"]
    assert facts(valid_at="in 2021") == ["in Lisbon by the river"]
    assert len(aide.recall("river", preset="keyword", valid_at="2021-01-01")) == 2  # and what was said of it


def test_what_was_true_is_told_of_what_was_believed_then(aide, times):
    aide.remember("Lisbon", subject="Ana", predicate="lives in", valid_from="2020-01-01")
    times.append(datetime(2026, 6, 1, tzinfo=UTC))
    aide.remember("Porto", subject="Ana", predicate="lives in", valid_from="2025-01-01")  # as is known since June
    assert contents(aide.facts("Ana", valid_at="2025-06-01")) == ["Porto"]
    assert contents(aide.facts("Ana", valid_at="2024-06-01")) == ["Lisbon"]
    assert contents(aide.facts("Ana", as_of="2026-05-20", valid_at="2024-06-01")) == ["Lisbon"]
    assert contents(aide.facts("Ana", as_of="2026-05-20", valid_at="2019-06-01")) == []


def test_what_was_taken_back_was_never_true(aide):
    wrong = aide.remember("Lisbon", subject="Ana", predicate="lives in", valid_from="2020-01-01")
    aide.forget(wrong.id)
    assert contents(aide.facts("Ana", valid_at="2021-01-01")) == []
