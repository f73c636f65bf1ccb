"""Questions for what was said at some time, or is known of the user, with the shipped embedder."""

from datetime import UTC, datetime, timedelta

import pytest

from engrain.service import Memory

FRIDAY = datetime(2026, 11, 20, 9, tzinfo=UTC)
SAID = {
    -30: ("Hi! I'm Nora. I live in Ghent with my husband Pieter.", "Nice to meet you, Nora!"),
    -25: ("Bram has a peanut allergy.", "Important to know."),
    -9: ("My mother is home again, the surgery went well.", "Great news."),
    -8: ("We have a new car, a grey Skoda Enyaq.", "Enjoy it!"),
    -1: ("Remind me to order the cake for the party.", "I will. Chocolate again?"),
}


@pytest.fixture
def clock():
    return [FRIDAY]


@pytest.fixture
def memory(location, clock):
    with Memory.open(location, clock=lambda: clock[0]) as memory:
        for days, (said, answered) in SAID.items():
            clock[0] = FRIDAY + timedelta(days=days)
            agent = memory.agent("aide", user="nora", session=f"day {days}")
            agent.observe(said)
            agent.observe(answered, role="assistant")
        clock[0] = FRIDAY
        yield memory


@pytest.fixture
def agent(memory):
    return memory.agent("aide", user="nora", session="now")


def contents(answer):
    return [hit.memory.content for hit in answer]


def said(*days):
    return [SAID[day][0] for day in days]


@pytest.mark.parametrize(
    ("query", "days"),
    [
        ("What did I tell you yesterday?", [-1]),
        ("What did we talk about last week?", [-8, -9]),
        ("What was discussed in October?", [-25, -30]),
        ("Can you recap what we said on 2026-11-12?", [-8]),
    ],
)
def test_of_what_was_said_at_a_time_all_is_told_and_nothing_else(agent, query, days):
    answer = agent.recall(query)
    users = [content for content in contents(answer) if content in said(*SAID)]
    assert users == said(*days)
    assert users == contents(answer)[: len(users)]  # before what assistants said
    assert answer.evidence == "strong"
    text = agent.context(query).text
    assert [day for day in SAID if SAID[day][0] in text] == sorted(days)


@pytest.mark.parametrize("query", ["What did you say last week?", "What did you recommend last week?"])
def test_what_the_assistant_said_comes_first_where_it_is_asked_for(agent, clock, query):
    clock[0] = FRIDAY - timedelta(days=8, hours=1)
    agent.observe("Your new car needs winter tyres from November on.", role="assistant")
    clock[0] = FRIDAY
    tyres, *others = contents(agent.recall(query))
    assert tyres == "Your new car needs winter tyres from November on."
    assert others == said(-8, -9)


def test_where_nothing_was_said_the_question_is_one_as_any_other(agent):
    assert agent.recall("What did I tell you in March?").evidence == "none"
    assert agent.recall("What did I tell you today?").evidence == "none"


@pytest.mark.parametrize("query", ["Where did we leave off?", "What did we talk about last time?"])
def test_the_last_conversation_is_the_newest_other_session(agent, query):
    agent.observe("The tram was late.")
    answer = agent.recall(query)
    assert contents(answer)[0] == SAID[-1][0]
    assert {hit.memory.session for hit in answer} == {"day -1"}
    assert SAID[-1][0] in agent.context(query).text


def test_of_the_last_conversation_the_end_comes_first_whoever_said_it(memory, agent):
    before = memory.agent("aide", user="nora", session="later")
    before.observe("Now the login page throws an error.")
    before.observe("I have mended it; the tests of the sign-up are left.", role="assistant")
    assert contents(agent.recall("Where were we?")) == [
        "I have mended it; the tests of the sign-up are left.",
        "Now the login page throws an error.",
    ]


def test_what_is_known_of_the_user_are_the_facts_and_what_the_user_says_of_themselves(agent):
    agent.remember("wasps", subject="user", predicate="is allergic to")
    answer = agent.recall("What do you know about me?")
    assert contents(answer)[0] == "wasps"
    assert SAID[-30][0] in contents(answer)
    assert SAID[-25][1] not in contents(answer)
    assert answer.evidence == "strong"


def test_what_a_speaker_said_at_a_time_is_that_speakers_alone(memory, clock):
    clock[0] = FRIDAY - timedelta(days=1)
    for speaker, content in (("Ana", "The budget is approved."), ("Ben", "I found a leak in the roof.")):
        memory.agent("aide", session="team").observe(content, speaker=speaker)
    clock[0] = FRIDAY
    assert contents(memory.agent("aide").recall("What did Ben talk about yesterday?")) == [
        "I found a leak in the roof."
    ]


def test_filters_of_the_caller_narrow_it(agent):
    assert contents(
        agent.recall("What did I tell you in November?", since=FRIDAY - timedelta(days=2), kinds=["episode"])
    )[:1] == said(-1)
    assert not agent.recall("What did I tell you yesterday?", kinds=["rule"])


def test_a_question_about_somebody_is_no_question_about_what_is_known(agent):
    assert contents(agent.recall("What do you know about Bram?"))[0] == SAID[-25][0]
    assert contents(agent.recall("Tell me about my mother"))[0] == SAID[-9][0]


def test_a_preset_without_times_compares_as_ever(agent):
    assert agent.recall("What did I tell you yesterday?", preset="hybrid").evidence != "strong"
