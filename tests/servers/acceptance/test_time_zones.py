"""Days in words are those of the setting `retrieval.timezone`, on both databases."""

from datetime import UTC, datetime, timedelta

import pytest

from engrain import errors
from engrain.config import load
from engrain.service import Memory

EVENING = datetime(2026, 11, 21, 2, tzinfo=UTC)  # in New York still Friday, nine in the evening
RUN, BRUNCH = "On Saturday I run 10 km.", "Brunch with Ana on Sunday."


@pytest.fixture
def open_agent(location):
    opened = []

    def open_(zone):
        clock = [EVENING - timedelta(days=2)]
        settings = load({"retrieval": {"timezone": zone}, "embedding": {"model": "none"}})
        memory = Memory.open(location, settings=settings, clock=lambda: clock[0])
        opened.append(memory)
        agent = memory.agent("aide", user="nora", session="before")
        agent.observe(f"{RUN} {BRUNCH}")
        for hours, content in ((-30, "The lift is broken."), (-12, "The lift works."), (-1, "I had soup.")):
            clock[0] = EVENING + timedelta(hours=hours)
            agent.observe(content)
        clock[0] = EVENING
        return memory.agent("aide", user="nora", session="now")

    yield open_
    for memory in opened:
        memory.close()


def contents(answer):
    return [hit.memory.content for hit in answer]


def test_tomorrow_is_the_next_day_where_the_user_is(open_agent):
    agent = open_agent("America/New_York")
    agent.observe(RUN)
    assert RUN in contents(agent.recall("What do I have tomorrow?"))
    agent.observe(BRUNCH)
    assert BRUNCH not in contents(agent.recall("What do I have tomorrow?"))


def test_in_utc_tomorrow_is_a_day_later(open_agent):
    agent = open_agent("UTC")
    agent.observe(RUN)
    agent.observe(BRUNCH)
    assert contents(agent.recall("What do I have tomorrow?"))[0] == BRUNCH


@pytest.mark.parametrize(
    ("zone", "midnight", "today"),
    [
        ("America/New_York", datetime(2026, 11, 20, 5, tzinfo=UTC), ["I had soup.", "The lift works."]),
        ("UTC", datetime(2026, 11, 21, tzinfo=UTC), ["I had soup."]),
    ],
)
def test_today_begins_at_midnight_there(open_agent, zone, midnight, today):
    agent = open_agent(zone)
    assert contents(agent.recall("What did I tell you today?")) == today
    answer = agent.recall("lift", since="today")
    assert sorted(contents(answer)) == today
    assert answer.times == {"since": midnight}
    assert answer.times["since"].tzinfo is UTC


@pytest.mark.parametrize(("zone", "day"), [("America/New_York", "2026-11-20"), ("Asia/Tokyo", "2026-11-21")])
def test_a_block_tells_the_day_there(open_agent, zone, day):
    agent = open_agent(zone)
    block = agent.context("What did I tell you today?").text
    assert f"### {day}" in block
    assert block.count("###") == 1
    assert f"### {day}" in str(agent.messages("What did I tell you today?").messages)


def test_a_zone_that_is_none_is_refused(open_agent):
    with pytest.raises(errors.InvalidInput, match=r"retrieval\.timezone"):
        open_agent("Mars/Olympus")
