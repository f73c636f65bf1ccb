"""The chat that `make run` imports, and the questions it is asked, are what examples/README.md says they are."""

import json
import unicodedata
from datetime import UTC, datetime, timedelta
from itertools import groupby, pairwise
from pathlib import Path

import pytest

from engrain.portability.formats import detect, read
from engrain.portability.formats.records import ImportedTurn

EXAMPLES = Path(__file__).parents[2] / "examples"
DIALOGUE = EXAMPLES / "two_friends.jsonl"


@pytest.fixture(scope="module")
def messages():
    return [json.loads(line) for line in DIALOGUE.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def sessions(messages):
    """Name and messages of each run of one session: a session taken up again would be here twice."""
    return [(name, list(run)) for name, run in groupby(messages, key=lambda message: message["session"])]


@pytest.fixture(scope="module")
def questions():
    return json.loads((EXAMPLES / "questions.json").read_text(encoding="utf-8"))


def sent_at(message):
    return datetime.strptime(message["time"], "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)


def test_it_is_long_enough_to_need_a_memory(messages, sessions):
    assert len(messages) >= 220
    assert len(sessions) >= 8
    assert sent_at(messages[-1]) - sent_at(messages[0]) > timedelta(days=400)


def test_every_message_has_the_documented_keys_in_order_and_only_text(messages):
    for message in messages:
        assert list(message) == ["session", "role", "speaker", "content", "time"]
        assert all(isinstance(value, str) for value in message.values())


def test_each_session_is_one_unbroken_run_named_by_its_date(sessions):
    names = [name for name, _ in sessions]
    assert len(set(names)) == len(names)
    for name, run in sessions:
        assert {message["time"][:10] for message in run} == {name[:10]}


def test_time_only_goes_forward(messages):
    assert all(sent_at(earlier) < sent_at(later) for earlier, later in pairwise(messages))


def test_two_people_talk_and_both_talk_in_every_session(sessions):
    for _, run in sessions:
        assert {(message["role"], message["speaker"]) for message in run} == {("user", "Noor"), ("user", "Marek")}


def test_messages_are_of_a_natural_length_and_in_one_normal_form(messages):
    for message in messages:
        content = message["content"]
        assert content == content.strip()
        assert unicodedata.is_normalized("NFC", content)
        assert 5 <= len(content.split()) <= 60, content


def test_nobody_says_the_same_thing_twice(messages):
    said = [message["content"].casefold() for message in messages]
    assert len(set(said)) == len(said)


def test_every_question_points_at_messages_that_exist(questions, sessions):
    turns = {name: len(run) for name, run in sessions}
    assert len({question["ask"] for question in questions}) == 6
    for question in questions:
        assert list(question) == ["ask", "evidence", "why"]
        assert question["ask"].endswith("?")
        assert question["why"]
        assert question["evidence"]
        assert all(0 <= piece["turn"] < turns[piece["session"]] for piece in question["evidence"])


@pytest.mark.parametrize(
    ("ask", "told_in_order"),
    [
        ("How much did the cedar for the canoe cost?", ["£685"]),
        ("When was Marek's knee operation?", ["on Tuesday"]),
        ("What is Marek allergic to?", ["the dog", "cedar"]),
        ("What colour is Marek painting the canoe?", ["The second one"]),
        ("Noor is invited to a conference in Madrid. Should we book her a flight?", ["aeroplane"]),
        ("Where does Noor's tortoise live, and what is its new name?", ["Cardiff", "Hercule"]),
    ],
)
def test_the_evidence_of_a_question_holds_its_answer_oldest_first(questions, sessions, ask, told_in_order):
    by_name = dict(sessions)
    (question,) = (question for question in questions if question["ask"] == ask)
    evidence = [by_name[piece["session"]][piece["turn"]] for piece in question["evidence"]]
    assert all(sent_at(earlier) < sent_at(later) for earlier, later in pairwise(evidence))
    for message, words in zip(evidence, told_in_order, strict=True):
        assert words in message["content"]


def test_the_questions_reach_into_at_least_six_sessions(questions):
    assert len({piece["session"] for question in questions for piece in question["evidence"]}) >= 6


def test_the_colour_is_said_only_in_the_message_before_the_evidence(questions, sessions):
    (question,) = (question for question in questions if "colour" in question["ask"])
    ((name, turn),) = [(piece["session"], piece["turn"]) for piece in question["evidence"]]
    run = dict(sessions)[name]
    assert "mustard" in run[turn - 1]["content"]
    assert [at for at, message in enumerate(run) if "mustard" in message["content"]] == [turn - 1]


def test_the_importer_knows_the_format_and_reads_every_message_unchanged(messages):
    assert detect(DIALOGUE) == "jsonl"
    turns = list(read(DIALOGUE, "jsonl"))
    assert all(isinstance(turn, ImportedTurn) for turn in turns)
    assert [(turn.session, turn.role, turn.speaker, turn.content, turn.event_time) for turn in turns] == [
        (message["session"], message["role"], message["speaker"], message["content"], sent_at(message))
        for message in messages
    ]
