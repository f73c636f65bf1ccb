"""What agents look up of "the user", with the shipped embedder."""

import pytest

NAME, HOME, WORK = "Hi! I'm Nora.", "I'm 34 and live in Ghent.", "I'm a nurse at St. Mary's."
FOOD, ALLERGY, CELLO = "My favourite food is ramen.", "I'm allergic to peanuts.", "I play the cello on Thursdays."
OTHERS = (
    "The name of the restaurant was Casa Luna.",
    "My boss is called Pieter.",
    "My grandmother turned 90 last week.",
    "Ben is 36 now.",
    "Our team works on a payroll app.",
    "I watched a documentary about whales.",
)


@pytest.fixture
def agent(memory):
    for number, said in enumerate((NAME, HOME, WORK, FOOD, ALLERGY, CELLO, *OTHERS)):
        memory.agent("aide", user="nora", session=f"day {number}").observe(said)
    memory.flush()
    return memory.agent("aide", user="nora", session="now")


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("user's name", NAME),
        ("What is the user's name?", NAME),
        ("How old is the user?", HOME),
        ("Where does the user live?", HOME),
        ("Where does Nora live?", HOME),
        ("user occupation", WORK),
        ("What does the user do for a living?", WORK),
        ("user's favourite food", FOOD),
        ("What is the user allergic to?", ALLERGY),
        ("Is Nora allergic to anything?", ALLERGY),
    ],
)
def test_what_the_user_said_answers(agent, query, expected):
    answer = agent.recall(query)
    assert answer[0].memory.content == expected
    assert answer.evidence != "none"
    assert expected in agent.context(query, budget_tokens=200).text


def test_the_answer_says_what_was_searched_for(agent):
    assert agent.recall("What is the user's name?").query == "What is my name?"
    assert agent.recall("What is the user's name?", preset="keyword").query == "What is the user's name?"


def test_a_profile_is_all_that_the_user_said_of_themselves(agent):
    answer = agent.recall("user profile")
    assert {NAME, HOME, WORK, FOOD, ALLERGY, CELLO} <= {hit.memory.content for hit in answer}
    assert answer.evidence == "strong"


@pytest.mark.parametrize("query", ["Where are the user's sessions stored?", "Which table has the user ids?"])
def test_a_query_about_software_stays_what_it_is(agent, query):
    assert agent.recall(query).query == query


def test_a_query_that_is_answered_better_as_it_was_asked_stays(memory):
    memory.agent("aide", session="code").observe("One user may open four windows.", role="assistant")
    memory.flush()
    query = "How many tabs can the user have?"
    answer = memory.agent("aide", session="now").recall(query)
    assert (answer.query, answer.evidence) == (query, "strong")


def test_a_speaker_of_that_name_is_meant(memory):
    for speaker, said in (("Nora", "I live in Ghent."), ("Ben", "I live in Lyon.")):
        memory.agent("aide", user="nora", session="chat").observe(said, speaker=speaker)
    memory.flush()
    asking = memory.agent("aide", user="nora", session="now")
    for query in ("Where does Nora live?", "Where does Ben live?"):
        assert asking.recall(query).query == query
    assert asking.recall("Where does Ben live?")[0].memory.content == "I live in Lyon."
