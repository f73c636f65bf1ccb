"""Corrections by what some words say, of a memory of any kind, on both databases."""

import pytest

from engrain import Memory
from engrain.agent.compat import correct_memory
from engrain.errors import InvalidInput, NotFound


@pytest.fixture
def memory(location):
    with Memory.open(location, embedder="none") as memory:
        yield memory


def active(agent):
    return {(one.kind, one.content) for one in agent.list()}


def test_a_turn_makes_way_for_the_fact_that_is_right_and_for_words_that_say_more(memory):
    agent = memory.agent("aide", session="monday")
    wrong = agent.observe("My dog is called Max.")
    agent.remember("Max", subject="user", predicate="dog")
    right = correct_memory(agent, wrong.id, "My dog is called Rex and he needs insulin.")
    assert (right.subject, right.predicate, right.content) == ("user", "dog", "Rex")
    whole = "My dog is called Rex and he needs insulin."
    assert active(agent) == {("fact", "Rex"), ("fact", "Max"), ("episode", whole)}  # she may have two dogs
    assert agent.get(right.source_episode_id).content == whole
    assert [hit.memory.content for hit in agent.recall("Max", kinds=["episode"])] == []


def test_a_rule_makes_way_for_a_rule_in_its_scope(memory):
    wrong = memory.agent("aide").rules.add("Answer in French.", scope="global")
    right = correct_memory(memory.agent("aide"), wrong.id, "Answer in German.")
    assert (right.kind, right.scope) == ("rule", "global")
    assert active(memory.agent("cook")) == {("rule", "Answer in German.")}


def test_a_correction_that_is_refused_writes_nothing(memory):
    wrong = memory.agent("aide").rules.add("Answer in French.", scope="global")
    ana = memory.agent("aide", user="ana")
    with pytest.raises(InvalidInput, match="everybody's"):
        correct_memory(ana, wrong.id, "Answer in German.")
    with pytest.raises(NotFound):
        correct_memory(ana, "nobody's", "Answer in German.")
    with pytest.raises(InvalidInput):
        correct_memory(memory.agent("aide"), wrong.id, " ")
    assert active(ana) == active(memory.agent("aide")) == {("rule", "Answer in French.")}
