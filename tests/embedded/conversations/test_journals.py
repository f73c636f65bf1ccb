"""Questions for one of many entries that are alike but for their day, with the shipped embedder."""

from datetime import UTC, datetime, timedelta

import pytest

from engrain.service import Memory

FRIDAY = datetime(2026, 11, 20, 14, tzinfo=UTC)
WEIGHTS = {days: f"Weight this morning: {79 + 0.3 * days:.1f} kg" for days in range(1, 11)}
RUNS = {9: "Ran 5 km in 28:40.", 6: "Ran 8 km in 49:10, felt great.", 2: "Ran 10 km in 1:02:30, new distance record!"}
SLEEP = {4: "Slept badly, about 5 hours.", 1: "Slept 8 hours."}


@pytest.fixture
def agent(location):
    clock = [FRIDAY]
    with Memory.open(location, clock=lambda: clock[0]) as memory:
        for days in range(10, 0, -1):
            for minutes, kept in enumerate((WEIGHTS, RUNS, SLEEP)):
                clock[0] = FRIDAY - timedelta(days=days, minutes=-minutes)
                if days in kept:
                    memory.agent("aide", user="nora", session=f"day {days}").observe(kept[days])
        clock[0] = FRIDAY
        memory.flush()
        yield memory.agent("aide", user="nora", session="now")


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("What did I weigh on Monday?", WEIGHTS[4]),
        ("What was my weight ten days ago?", WEIGHTS[10]),
        ("What's my latest weight?", WEIGHTS[1]),
        ("When did I last run?", RUNS[2]),
        ("How did I sleep last night?", SLEEP[1]),
    ],
)
def test_the_entry_of_the_day_that_is_asked_for_comes_first(agent, query, expected):
    assert agent.recall(query)[0].memory.content == expected
