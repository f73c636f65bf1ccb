"""A verb that is called with parameters of another library names its own."""

import re

import pytest

from engrain.config import load
from engrain.service import Memory


@pytest.fixture
def memory():
    with Memory.open(":memory:", settings=load({"embedding": {"model": "none"}})) as memory:
        yield memory


@pytest.fixture
def agent(memory):
    return memory.agent()


def test_an_unknown_parameter_is_answered_with_the_known_ones(agent):
    with pytest.raises(TypeError, match=re.escape("recall() takes no k, user_id; it takes query, limit, ")):
        agent.recall("Lisbon", k=3, user_id="ana")


def test_too_many_values_are_answered_with_the_names(agent):
    with pytest.raises(TypeError, match=re.escape("remember() takes content by place; name the others: ")) as raised:
        agent.remember("user", "lives in", "Lisbon")
    assert "predicate=" in str(raised.value)
    assert agent.list().items == ()


def test_an_error_inside_a_verb_is_left_as_it_is(agent):
    def show(*_):
        raise TypeError("this shows nothing")

    agent.observe("I live in Lisbon.")
    with pytest.raises(TypeError, match="this shows nothing"):
        agent.audit(progress=show)


def test_a_verb_of_the_memory_names_its_own_too(memory):
    with pytest.raises(TypeError, match=re.escape("backup() takes no folder; it takes ")):
        memory.backup(folder="there")
