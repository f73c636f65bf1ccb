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


FACTS = [
    ("user", "lives in", "Berlin"),
    ("user", "drives", "a Tesla Model 3"),
    ("user", "phone number", "0171 555 0134"),
    ("user", "diet", "vegetarian"),
    ("Minerva", "contact", "Dr. Conti"),
    ("staging", "host", "db-staging-3"),
    ("gym", "opening hours", "6 to 22"),
]
SINCE = [
    "I moved to Munich last week.",
    "I sold the Tesla and bought a VW ID.3.",
    "My phone number changed to 0160 222 333.",
    "I'm no longer vegetarian.",
    "Mr. Doyle left Aurora, Ms. Quinn is the contact now.",
    "The staging host is db-staging-5 now.",
    "The pool opens at 7 now.",
]


@pytest.fixture(params=["turns", "notes"])
def moved(location, request):
    """An agent that knows facts, and what somebody said since, or it noted down itself."""
    clock = Clock(microseconds=1)
    with Memory.open(location, clock=clock) as memory:
        agent = memory.agent("aide", user="jonas", session="before")
        for subject, predicate, value in FACTS:
            agent.remember(value, subject=subject, predicate=predicate)
        clock.pass_time(days=9)
        for text in SINCE:
            if request.param == "turns":
                agent.observe(text)
            else:
                agent.remember(text.replace("I'm", "User is").replace("I ", "User ").replace("My", "User's"))
        memory.flush()
        yield memory.agent("aide", user="jonas", session="now")


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Where do I live?", "Munich"),
        ("Where does the user live?", "Munich"),
        ("What car do I drive?", "VW ID.3"),
        ("What's my phone number?", "0160 222 333"),
        ("Am I vegetarian?", "no longer"),
        ("What is the staging host?", "db-staging-5"),
        ("Who is our contact at Minerva?", "Dr. Conti"),  # of whom nothing was said since
        ("When does the gym open?", "6 to 22"),
    ],
)
def test_what_was_said_since_comes_before_a_fact_that_it_corrects(moved, question, answer):
    assert answer in moved.recall(question)[0].memory.content


def test_a_fact_that_has_not_begun_corrects_nothing(location):
    with Memory.open(location, embedder="none", clock=Clock(microseconds=1)) as memory:
        agent = memory.agent("aide")
        agent.remember(
            "20 degrees", subject="living room", predicate="temperature", valid_from=NOON - timedelta(days=9)
        )
        agent.observe("The living room's temperature is set to 20 degrees.")
        agent.remember(
            "19 degrees", subject="living room", predicate="temperature", valid_from=NOON + timedelta(days=30)
        )
        assert "20" in agent.recall("What is the living room's temperature set to?")[0].memory.content
