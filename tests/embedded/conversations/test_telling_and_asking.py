"""Turns that tell something and ask for something else, with the shipped embedder."""

import pytest

from engrain.service import Memory

SAID = (
    "I live in Lyon. Can you recommend a good restaurant nearby for tonight?",
    "My son Leo has a fever of 39. What can I give him, and when should I call a doctor?",
    "I weigh 82 kilos now. How many calories should I eat each day if I want to lose some weight slowly?",
    "I'm allergic to cats, Tom, could you lock Minka away?",
)


@pytest.fixture
def agent(location):
    with Memory.open(location) as memory:
        for place, said in enumerate(SAID):
            agent = memory.agent("aide", user="ana", session=f"s{place}")
            agent.observe(said)
            agent.observe("Let me see what I can do for you there.", role="assistant")
        memory.flush()
        yield memory.agent("aide", user="ana", session="now")


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("Where do I live?", SAID[0]),
        ("What's my son's name?", SAID[1]),
        ("How much do I weigh?", SAID[2]),
        ("Who is allergic to cats?", SAID[3]),
    ],
)
def test_what_was_told_beside_a_question_is_evidence(agent, query, said):
    answer = agent.recall(query)
    assert answer[0].memory.content == said
    assert answer.evidence in ("weak", "strong")
    assert said in agent.context(query).text


def test_a_question_alone_is_none(agent):
    agent.observe("I forgot where I put my passport. Where is it, do you have any idea?", session="other")
    agent.observe("Do I need a visa for Toronto?", session="other")
    assert agent.recall("Where is my passport?").evidence == "none"
    assert agent.recall("Do I need a visa for Toronto?").evidence == "none"


def test_what_an_assistant_says_before_it_asks_is_none(agent):
    agent.observe(
        "I can help with that. What is your tracking number, and where was it sent?", role="assistant", session="other"
    )
    assert agent.recall("What is my tracking number?").evidence == "none"
