"""Facts of free text: a content that stands for itself, beside all others of its subject."""

import pytest

from engrain.service import Memory


@pytest.fixture
def agent(tmp_path):
    with Memory.open(tmp_path / "memory.db", settings={"embedding": {"model": "none"}}) as memory:
        yield memory.agent("ana")


def test_texts_stand_beside_each_other_and_the_same_text_is_confirmed(agent):
    first = agent.remember("Ana lives in Lisbon")
    agent.remember("Ana has a cat")
    again = agent.remember("Ana lives in Lisbon")
    assert {fact.content for fact in agent.facts()} == {"Ana lives in Lisbon", "Ana has a cat"}
    assert (again.id, again.subject) == (first.id, "ana")


def test_a_note_about_the_user_is_about_the_user(agent):
    assert agent.remember("The user's wife is Eva").subject == "user"
    assert agent.remember("User sessions expire after an hour").subject == "ana"


@pytest.mark.parametrize(("subject", "line"), [(None, "- afraid of heights"), ("Ben", "- Ben: afraid of heights")])
def test_a_text_is_shown_without_its_predicate(agent, subject, line):
    fact = agent.remember("afraid of heights", subject=subject)
    assert fact.predicate not in agent.context("heights").text
    assert line in agent.context("heights").text.splitlines()


def test_a_text_is_found_and_corrected_as_any_fact(agent):
    fact = agent.remember("The wifi password hangs on the fridge")
    [hit] = agent.recall("Where is the password?", preset="keyword")
    assert hit.memory == fact
    corrected = agent.correct(fact.id, "The wifi password hangs on the door")
    assert [found.content for found in agent.facts()] == [corrected.content]
