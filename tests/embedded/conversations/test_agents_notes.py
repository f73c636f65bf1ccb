"""What an agent notes down of its user in the third person, and asks for later: the newest note counts."""

import pytest

from engrain.service import Memory

NOTES = [
    "User's name is Jonas Weber.",
    "User lives in Berlin.",
    "User works as a data engineer at Zalando.",
    "User is vegetarian.",
    "User's wife is named Clara.",
    "User has two kids, Mia (6) and Ben (3).",
    "User drives a Tesla Model 3.",
    "User's partner in the chess club is Ravi.",
    "The staging database is db-staging-3.internal.",
    "User moved to Munich.",
    "User now works at BMW.",
    "User is no longer vegetarian.",
    "User sold the Tesla and bought a VW ID.3.",
    "The staging database is now db-staging-5.internal.",
    "User switched from Rust to Go.",
]
ASKED = [
    ("What is the user's name?", "Jonas Weber"),
    ("Where does the user live?", "Munich"),
    ("Where do I live?", "Munich"),
    ("Where does the user work?", "BMW"),
    ("Is the user vegetarian?", "no longer"),
    ("Who is the user's wife?", "Clara"),
    ("How many children does the user have?", "two kids"),
    ("What car does the user drive?", "VW ID.3"),
    ("What's the staging database?", "db-staging-5"),
]

NOTES_ELSEWHERE = [
    "Der Nutzer heißt Jonas Weber.",
    "Die Frau des Nutzers heißt Meike.",
    "Der Nutzer wohnt in Hannover.",
    "Der Nutzer ist 41 Jahre alt.",
    "Der Nutzer arbeitet als Logistiker bei Continental.",
    "Der Nutzer ist nach Braunschweig umgezogen.",
    "Der Nutzer hat den Job gewechselt und arbeitet jetzt bei VW.",
]
ASKED_ELSEWHERE = [
    ("Wie heißt der Nutzer?", "Jonas Weber"),
    ("Wie heiße ich?", "Jonas Weber"),
    ("Wie heißt die Frau des Nutzers?", "Meike"),
    ("Wo wohnt der Nutzer?", "Braunschweig"),
    ("Wo wohne ich?", "Braunschweig"),
    ("Wie alt bin ich?", "41"),
    ("Wo arbeitet der Nutzer?", "VW"),
]


def write(memory, notes, *, through):
    writer = memory.agent("aide", user="jonas", session="before")
    for note in notes:
        if through == "remember":
            writer.remember(note)
        else:
            writer.hooks.message(note, role="user")
    memory.flush()
    return memory.agent("aide", user="jonas", session="now")


@pytest.fixture(scope="module", params=["remember", "message"])
def agent(tmp_path_factory, request):
    with Memory.open(tmp_path_factory.mktemp("notes") / "memory.db") as memory:
        yield write(memory, NOTES, through=request.param)


@pytest.fixture(scope="module", params=["remember", "message"])
def german_agent(tmp_path_factory, request):
    with Memory.open(tmp_path_factory.mktemp("notes") / "memory.db") as memory:
        yield write(memory, NOTES_ELSEWHERE, through=request.param)


@pytest.mark.parametrize(("question", "answer"), ASKED)
def test_the_newest_note_of_a_thing_comes_first(agent, question, answer):
    found = agent.recall(question)
    assert answer in found[0].memory.content
    assert found.evidence != "none"


@pytest.mark.parametrize("question", ["What is the user's phone number?", "What is the user's blood type?"])
def test_what_no_note_tells_has_no_evidence(agent, question):
    assert agent.recall(question).evidence == "none"


@pytest.mark.parametrize(("question", "answer"), ASKED_ELSEWHERE)
def test_notes_in_another_language_are_found_like_those_in_english(german_agent, question, answer):
    found = german_agent.recall(question)
    assert answer in found[0].memory.content
    assert found.evidence != "none"
