"""Questions for what is to come, on both databases, with the shipped embedder."""

from datetime import UTC, datetime, timedelta

import pytest

from engrain.service import Memory

FRIDAY = datetime(2026, 11, 20, 9, tzinfo=UTC)
CLARA = "My sister Clara has her birthday on the 5th of December."
PIANO = "Lotte has piano lessons on Thursdays at 4."
OSLO = "We fly to Oslo on 12 December."
SCHOOL = "School meeting about Lotte next Tuesday at 7pm."
PLUMBER = "The plumber comes next Wednesday between 8 and 10."
MOVED = "The plumber had to be rescheduled to Thursday, same time."
SOFA = "In two weeks we get the new sofa."
DINNER = "Dinner with the Janssens this weekend."
RUN = "Tomorrow I run 10 km with Sofie."
SAID = (
    (-400, CLARA),
    (-20, PIANO),
    (-8, "I have a dentist appointment on Tuesday at 3."),
    (-5, OSLO),
    (-4, "I went to the cinema with Ben on Saturday."),
    (-3, PLUMBER),
    (-2, DINNER),
    (-1, SCHOOL),
    (-1, MOVED),
    (-1, SOFA),
    (-1, "I love pizza."),
    (0, RUN),
)


@pytest.fixture
def clock():
    return [FRIDAY]


@pytest.fixture
def memory(location, clock):
    with Memory.open(location, clock=lambda: clock[0]) as memory:
        for place, (days, said) in enumerate(SAID):
            clock[0] = FRIDAY + timedelta(days=days, minutes=place)
            memory.agent("aide", user="nora", session=f"day {days}").observe(said)
        clock[0] = FRIDAY + timedelta(hours=1)
        yield memory


@pytest.fixture
def agent(memory):
    return memory.agent("aide", user="nora", session="now")


def contents(answer):
    return [hit.memory.content for hit in answer]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("What do I have tomorrow?", [RUN, DINNER]),
        ("What do we have next week?", [SCHOOL, MOVED, PIANO]),
        ("What's on for Thursday?", [MOVED, PIANO]),
        ("Am I free on Saturday?", [RUN, DINNER]),
        ("What are my plans for the weekend?", [RUN, DINNER]),
        ("Do I have any plans in December?", [SOFA, CLARA, OSLO]),
        ("What's coming up?", [RUN, DINNER, SCHOOL, MOVED, SOFA, CLARA, OSLO]),
        ("Any appointments on 12 December?", [OSLO]),
    ],
)
def test_what_is_to_come_is_told_in_the_order_of_its_times(agent, query, expected):
    answer = agent.recall(query)
    assert contents(answer) == expected
    assert answer.evidence == "strong"
    text = agent.context(query).text
    assert {said for _, said in SAID if said in text} == set(expected)


def test_an_event_that_was_changed_is_not_where_it_was(agent):
    assert contents(agent.recall("What's on for Wednesday?")) == [MOVED]
    agent.observe("The dinner with the Janssens is cancelled.")
    assert contents(agent.recall("What are my plans for the weekend?")) == [RUN]


def test_news_of_one_meeting_is_none_of_another(agent):
    agent.observe("The team meeting has moved to Monday.")
    assert contents(agent.recall("What do we have next week?"))[:2] == ["The team meeting has moved to Monday.", SCHOOL]


def test_facts_that_begin_then_are_told_too(agent):
    agent.remember("Porto", subject="Ana", predicate="lives in", valid_from=FRIDAY + timedelta(days=11))
    agent.remember("22 December", subject="Ana", predicate="due date")
    assert contents(agent.recall("What's coming up in December?")) == ["Porto", SOFA, CLARA, OSLO, "22 December"]


def test_what_assistants_say_counts_where_nobody_else_says_anything(agent):
    agent.observe("Your train to Lyon leaves on 14 December.", role="assistant")
    agent.observe("Your flight to Oslo is on 12 December.", role="assistant")
    assert contents(agent.recall("Any plans on 12 December?")) == [OSLO]
    assert contents(agent.recall("Any plans on 14 December?")) == ["Your train to Lyon leaves on 14 December."]


@pytest.mark.parametrize("query", ["What's the plan?", "Who is coming on Wednesday?", "What should I wear tomorrow?"])
def test_a_question_for_something_is_one_as_any_other(agent, query):
    assert agent.recall(query)[0].score > 0


def test_where_nothing_is_planned_the_question_is_one_as_any_other(agent):
    assert agent.recall("Do I have any plans in February?").evidence == "none"


def test_whose_plans_a_question_asks_for_by_name_are_theirs(agent):
    assert contents(agent.recall("What does Lotte have next week?")) == [SCHOOL, PIANO]
    agent.observe("I'm at a conference on Monday.", speaker="Ben")
    assert contents(agent.recall("What is Ben doing on Monday?")) == ["I'm at a conference on Monday."]
    assert agent.recall("Does Zoe have anything on Monday?")[0].score > 0


def test_a_long_time_is_none_of_an_event_in_a_short_one(agent):
    agent.observe("We are going to move house this year.")
    assert contents(agent.recall("What do I have tomorrow?")) == [RUN, DINNER]
