"""A question that goes on from another is searched for with that one, with the shipped embedder."""

import pytest

from engrain.service import Memory
from tests.support.own_calls import count_calls

SAID = (
    "My sister Clara is 34 and works as a vet in Ghent.",
    "Clara's birthday is on the 3rd of May.",
    "The flat in Lisbon costs 95 euros a night.",
    "The car is due for a service in March.",
)


@pytest.fixture
def agent(location):
    with Memory.open(location) as memory:
        for said in SAID:
            memory.agent("aide", session="told").observe(said, speaker="Ana")
        memory.flush()
        yield memory.agent("aide", session="now")


@pytest.fixture
def asked(agent):
    agent.hooks.message("When is Clara's birthday?")
    agent.hooks.message("On the 3rd of May.", role="assistant")
    return agent


@pytest.mark.parametrize("is_stored", [False, True])
def test_a_pronoun_is_what_was_asked_about_before(asked, is_stored):
    if is_stored:
        asked.hooks.message("And how old is she?")
    block = asked.context("And how old is she?")
    assert SAID[0] in block.text
    assert block.evidence == "weak"  # it may be that of her birthday
    assert "34" in str(asked.messages("And how old is she?").messages)


def test_several_questions_go_on_from_one(asked):
    asked.hooks.message("And does she have a job?")
    asked.hooks.message("She is a vet.", role="assistant")
    assert SAID[0] in asked.context("Since when does she do it?").text


def test_without_a_question_before_there_is_nothing_to_go_on_from(agent):
    assert agent.context("And how old is she?").evidence == "none"


@pytest.mark.parametrize(
    "prompt", ["What time is it?", "How is it going?", "Can you write a poem about rain?", "Thanks!"]
)
def test_what_goes_on_from_nothing_costs_no_tokens(asked, prompt):
    assert asked.context(prompt).text == ""


def test_a_question_that_has_evidence_is_searched_for_once(asked):
    calls = count_calls(lambda: asked.context("What does she work as, Clara?"))
    assert calls["_search"] == 1
    calls = count_calls(lambda: asked.context("And how old is she?"))
    assert calls["_search"] == 2
