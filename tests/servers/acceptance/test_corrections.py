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


@pytest.mark.parametrize(
    ("predicate", "said", "statement"),
    [
        ("live in", "Milan", "user live in: Milan"),
        ("lives in", "The user lives in Milan since 2024", "user lives in: Milan since 2024"),
        ("live in", "I live in Milan.", "user live in: Milan"),
        ("live in", "I moved to Milan last week.", "user live in: Milan last week"),
        ("live in", "user live in: Milan", "user live in: Milan"),
        ("dog", "The user's dog is called Rex", "user dog: Rex"),
        ("live in", "The user lives partly in Milan", "The user lives partly in Milan"),
        ("live in", "My dog is called Rex", "user live in: My dog is called Rex"),
    ],
)
def test_a_fact_gets_the_value_that_a_sentence_gives_it(memory, predicate, said, statement):
    agent = memory.agent("aide")
    wrong = agent.remember("Rome", subject="user", predicate=predicate)
    right = correct_memory(agent, wrong.id, said)
    assert right.statement == statement
    assert (right.predicate, right.supersedes_id) == (predicate, wrong.id)


def test_a_sentence_about_a_user_of_a_name_is_read_too(memory):
    agent = memory.agent("aide", user="Ana")
    for subject in ("user", "Ana"):
        wrong = agent.remember("Rome", subject=subject, predicate="live in")
        assert correct_memory(agent, wrong.id, "I live in Milan").content == "Milan"
    other = agent.remember("Rome", subject="Ben", predicate="live in")
    assert correct_memory(agent, other.id, "Ben lives in Milan").statement == "Ben lives in Milan"


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


@pytest.mark.parametrize(
    "said",
    [
        "Deploy window is Tuesday",
        "My dog is called Rex and he needs insulin.",
        "My dog is called Rex",
        "Never deploy on Fridays.",
    ],
)
def test_what_stands_in_the_place_of_a_turn_has_its_tags(memory, said):
    agent = memory.agent("aide", session="monday")
    wrong = agent.observe("Deploy window is Monday", tags=["project:x", "ops"])
    right = correct_memory(agent, wrong.id, said)
    assert right.tags == ("project:x", "ops")
    assert {one.tags for one in agent.list()} == {right.tags}
    assert right.id in {hit.memory.id for hit in agent.recall(said, tags=["project:x"])}


def test_what_stands_in_the_place_of_a_rule_has_its_tags(memory):
    agent = memory.agent("aide")
    wrong = agent.rules.add("Deploy on Mondays.", tags=["project:x"])
    assert correct_memory(agent, wrong.id, "Deploy on Tuesdays.").tags == ("project:x",)
