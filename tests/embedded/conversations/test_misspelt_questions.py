"""Questions with a typing error, with the shipped embedder."""

import pytest

from engrain.service import Memory
from tests.support.own_calls import count_calls

SAID = (
    "My Netflix password is Sunflower!42.",
    "I adopted a Labrador called Biscuit last year.",
    "The restaurant Osteria was amazing, we went for our anniversary.",
    "My sister Anna lives in Wroclaw.",
)


@pytest.fixture
def agent(location):
    with Memory.open(location) as memory:
        agent = memory.agent("aide", session="told")
        for said in SAID:
            agent.observe(said)
        memory.flush()
        yield memory.agent("aide", session="now")


@pytest.mark.parametrize(
    ("query", "searched", "said"),
    [
        ("netflx pasword", "Netflix password", SAID[0]),
        ("whats the name of my labrdor", "whats the name of my Labrador", SAID[1]),
        ("which resturant did we go to for our aniversary", None, SAID[2]),
        ("where does my siter live", "where does my sister live", SAID[3]),
    ],
)
def test_a_misspelt_question_is_answered_as_the_right_one(agent, query, searched, said):
    answer = agent.recall(query)
    assert answer[0].memory.content == said
    assert answer.evidence == "strong"
    assert searched is None or answer.query == searched
    assert said in agent.context(query).text


def test_a_question_for_something_else_is_as_it_is(agent):
    answer = agent.recall("What does my blister look like?")
    assert answer.query == "What does my blister look like?"
    assert answer.evidence == "none"


def test_a_misspelt_question_that_was_stored_is_no_word_of_its_own(agent):
    for session in ("first", "second"):
        agent.observe("Where does my siter live?", session=session)
        agent.observe("In Wroclaw.", role="assistant", session=session)
    answer = agent.recall("where does my siter live")
    assert answer.query == "where does my sister live"
    assert answer.evidence == "strong"


def test_a_word_that_a_fact_or_a_long_text_has_is_one_of_its_own(agent):
    agent.remember("The resturant in the harbour is closed on Mondays")
    agent.observe("Our new sorter siterama is loud. " * 40 + "The labrdor is a machine, too.", role="assistant")
    assert agent.recall("when is the resturant open").query == "when is the resturant open"
    assert agent.recall("how loud is the labrdor").query == "how loud is the labrdor"


@pytest.mark.parametrize(("query", "searches"), [("where does my brother live", 1), ("where does my siter live", 2)])
def test_only_a_misspelt_question_is_searched_for_again(agent, query, searches):
    assert count_calls(lambda: agent.recall(query))["_find_candidates"] == searches
