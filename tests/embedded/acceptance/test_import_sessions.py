"""Imports of transcripts that hooks have stored already: nothing comes twice, and nothing that went comes back."""

import json

import pytest

from engrain import Memory
from engrain.portability.assistants.projects import tag_of
from engrain.portability.assistants.transcripts import read_turns

SETTINGS = {"embedding": {"model": "none"}}
SAID = ["The API listens on port 8443", "Noted.", "Never push to main", "Understood."]


@pytest.fixture
def transcript(tmp_path):
    path = tmp_path / "session.jsonl"
    lines = [
        {
            "type": role,
            "sessionId": "monday",
            "uuid": f"u{place}",
            "cwd": str(tmp_path),
            "timestamp": f"2026-11-20T09:00:0{place}.000Z",
            "message": {"id": f"m{place}", "role": role, "content": text},
        }
        for place, (role, text) in enumerate(zip(["user", "assistant"] * 2, SAID, strict=True))
    ]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return path


def store_by_hooks(agent, transcript):
    turns, _ = read_turns(transcript, 0)
    said = {"tags": [tag_of(transcript.parent)]}
    return [
        agent.hooks.message(turn.text, role=turn.role, event_time=turn.at, idempotency_key=turn.key, **said)
        for turn in turns
    ]


@pytest.mark.parametrize("user", [None, "ana"])
def test_a_session_that_hooks_have_stored_adds_nothing(tmp_path, transcript, user):
    with Memory.open(tmp_path / "memory.db", settings=SETTINGS) as memory:
        agent = memory.agent("aide", session="monday", user=user)
        store_by_hooks(agent, transcript)
        report = memory.agent("aide", user=user).import_file(transcript)
        assert (report.format, report.added, report.present) == ("claude-code", 0, len(SAID))


def test_a_session_that_is_imported_is_as_hooks_would_have_stored_it(tmp_path, transcript):
    with Memory.open(tmp_path / "memory.db", settings=SETTINGS) as memory:
        agent = memory.agent("aide", session="monday")
        assert agent.import_file(transcript).added == len(SAID)
        stored = agent.list("episode").items
        assert sorted(turn.content for turn in stored) == sorted(SAID)
        assert {(turn.session, turn.tags) for turn in stored} == {("monday", (tag_of(tmp_path),))}
        store_by_hooks(agent, transcript)
        assert agent.stats().episodes.total == len(SAID)


def test_what_was_forgotten_or_erased_stays_so(tmp_path, transcript):
    with Memory.open(tmp_path / "memory.db", settings=SETTINGS) as memory:
        agent = memory.agent("aide", session="monday")
        forgotten, erased, *_ = [receipt.episode for receipt in store_by_hooks(agent, transcript)]
        agent.forget(forgotten.id)
        agent.erase([erased.id])
        assert agent.import_file(transcript).added == 0
        assert sorted(turn.content for turn in agent.list("episode").items) == sorted(SAID[2:])
        assert agent.get(erased.id) is None
