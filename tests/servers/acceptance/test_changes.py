"""A user who says that something changed: the newer turn comes before the one that it corrects, on both databases."""

from datetime import timedelta

import pytest

from engrain.service import Memory
from tests.support.clock import NOON, Clock
from tests.support.sample_search import WordEmbedder

OLDER, NEWER = "My address is Rua da Rosa 4 in Lisbon.", "Actually my address has changed: we moved to Porto."
OTHERS = ["My sister plays the oboe.", "The tram was late again.", "I bought a new lamp on Monday."]


@pytest.fixture(params=["none", "words"])
def agent(location, request):
    embedder = WordEmbedder() if request.param == "words" else "none"
    with Memory.open(location, embedder=embedder, clock=Clock(microseconds=1)) as memory:
        agent = memory.agent("aide")
        for day, text in enumerate([OLDER, *OTHERS, NEWER]):
            agent.observe(text, session=f"day {day}", event_time=NOON - timedelta(days=9 - day))
        memory.flush()
        yield agent


def ask(agent, question, **options):
    """The hits among the two turns, best first."""
    return [hit for hit in agent.recall(question, **options) if hit.memory.content in {OLDER, NEWER}]


def test_a_change_comes_before_what_it_corrects_and_says_so(agent):
    newer, older = ask(agent, "What is my address in Lisbon?")
    assert (newer.memory.content, older.memory.content) == (NEWER, OLDER)
    [gain] = [share for share in newer.why.contributions if share.channel == "change"]
    assert gain.raw == pytest.approx(older.score)
    assert newer.score == pytest.approx(older.score + 0.001)
    assert "change" not in {share.channel for share in older.why.contributions}
    again = ask(agent, "What is my address in Lisbon?")  # what the process knows of both by now says the same
    assert [(hit.memory.id, hit.why) for hit in again] == [(hit.memory.id, hit.why) for hit in (newer, older)]


def test_a_question_about_the_past_finds_the_older_turn_first(agent):
    assert [hit.memory.content for hit in ask(agent, "What was my address in Lisbon?")] == [OLDER, NEWER]


def test_a_change_that_is_forgotten_corrects_nothing(agent):
    agent.forget(ask(agent, "What is my address in Lisbon?")[0].memory.id)
    assert [hit.memory.content for hit in ask(agent, "What is my address in Lisbon?")] == [OLDER]


def test_a_number_put_right_comes_before_the_wrong_one(location):
    with Memory.open(location, embedder="none", clock=Clock(microseconds=1)) as memory:
        agent = memory.agent("aide")
        for day, text in enumerate(["The rent for the flat is 620 euros.", *OTHERS, "The rent is 580 euros, not 620."]):
            agent.observe(text, session=f"day {day}", event_time=NOON - timedelta(days=9 - day))
        memory.flush()
        assert agent.recall("How high is the rent for the flat?")[0].memory.content == "The rent is 580 euros, not 620."
