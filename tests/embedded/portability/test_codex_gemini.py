"""Sessions of Codex and Gemini CLI, as they lie on the disk."""

import json
from datetime import UTC, datetime

import pytest

from engrain.portability.assistants.projects import tag_of
from engrain.portability.assistants.turns import make_key
from engrain.portability.formats import detect, read
from engrain.portability.formats.records import BrokenRecord, ImportedTurn

SAID = [("user", "Why does the parser refuse 29 February?"), ("assistant", "It takes every year for a common one.")]
SESSION, TURN = "019cb655-7826-7080-b375-f4bd0ec83d54", "019cb655-8000-7000-8000-000000000001"


def said(records):
    return [(turn.role, turn.content) for turn in records]


def test_of_a_rollout_prompts_and_last_messages_are_read_under_the_keys_of_hooks(samples):
    first, last = read(samples / "codex.jsonl")
    assert first == ImportedTurn(
        session=SESSION,
        role="user",
        speaker=None,
        content=SAID[0][1],
        event_time=datetime(2026, 3, 4, 9, 0, 2, 300_000, tzinfo=UTC),
        source_id=f"{SESSION}:6",
        metadata={"format": "codex"},
        tags=(tag_of("/home/ana/parser"),),
        key=make_key("codex", SESSION, TURN, *SAID[0]),
    )
    assert said([last]) == SAID[1:]
    assert last.key == make_key("codex", SESSION, TURN, *SAID[1])


def test_a_folder_of_rollouts_is_read_without_subagents(written, tmp_path):
    meta = {"type": "session_meta", "payload": {"id": "s", "source": {"subagent": "review"}}}
    spoken = {"type": "event_msg", "payload": {"type": "user_message", "message": "hi"}}
    written("2026/a.jsonl", [meta, spoken])
    written("2026/b.jsonl", [{**meta, "payload": {}}, spoken, {"payload": 5}, {"type": "event_msg", "payload": 5}])
    turn, *broken = read(tmp_path)
    assert detect(tmp_path) == "codex"
    assert (turn.session, turn.content, turn.tags) == ("b", "hi", ())
    assert broken == [
        BrokenRecord("2026/b.jsonl, line 3", "type is missing; keys found: payload"),
        BrokenRecord("2026/b.jsonl, line 4", "payload is a number (5), expected an object"),
    ]


def test_of_a_session_of_gemini_prompts_and_last_messages_are_read(samples):
    turns = list(read(samples / "gemini.json"))
    assert said(turns) == SAID
    assert {turn.session for turn in turns} == {"92f625c6-a764-48e3-b922-3766d41f9c4c"}
    assert turns[0].event_time == datetime(2026, 3, 4, 9, 0, 1, tzinfo=UTC)


def test_a_session_in_lines_is_read_as_it_stands_in_the_end(samples, written):
    document = json.loads((samples / "gemini.json").read_text(encoding="utf-8"))
    *messages, last = document.pop("messages")
    draft = {**last, "content": "Let me see"}
    lines = [document, *messages, {**last, "id": "m9", "type": "user"}, {"$rewindTo": "m9"}, draft, {"$set": {}}, last]
    assert list(read(written("session.jsonl", lines))) == list(read(samples / "gemini.json"))


@pytest.mark.parametrize("message", [5, {"id": "m"}, {"type": "user", "content": 5}, {"type": "user", "content": [5]}])
def test_a_broken_message_of_gemini_is_named(written, message):
    good = {"id": "g", "type": "user", "content": "hi"}
    path = written("g.json", {"sessionId": "s", "projectHash": "h", "messages": [message, good]})
    broken, turn = read(path)
    assert broken.position.endswith("messages[0]")
    assert turn.content == "hi"
