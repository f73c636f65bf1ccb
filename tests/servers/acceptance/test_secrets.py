"""Secrets in texts: masked, refused or kept as they are written, by every way in."""

import json

import pytest

from engrain import InvalidInput, Memory, metrics
from tests.support.clock import Clock

TOKEN = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
TEXT, MASKED = f"push with {TOKEN} please", "push with ******** please"


@pytest.fixture
def opened(location):
    memories = []

    def open_memory(**privacy):
        memories.append(Memory.open(location, embedder="none", clock=Clock(), settings={"privacy": privacy}))
        return memories[-1].agent("aide", session="now")

    yield open_memory
    for memory in memories:
        memory.close()


def write_everywhere(agent, tmp_path):
    agent.observe(TEXT)
    agent.hooks.message(TEXT)
    agent.rules.add(TEXT)
    agent.notes.save("push", TEXT)
    fact = agent.remember("nothing", subject="user", predicate="pushes")
    agent.correct(fact.id, TEXT)
    path = tmp_path / "chat.jsonl"
    line = {"session": "before", "role": "user", "content": TEXT, "time": "2026-01-01T00:00:00Z"}
    path.write_text(json.dumps(line) + "\n", encoding="utf-8")
    return agent.import_file(path)


def contents(agent):
    return [memory.content for memory in agent.list(include_inactive=True) if memory.content != "nothing"]


def test_secrets_are_masked_by_default_however_they_come(opened, tmp_path):
    before = metrics.snapshot().get("secrets_masked", 0)
    agent = opened()
    write_everywhere(agent, tmp_path)
    assert contents(agent) == [MASKED] * 6
    assert metrics.snapshot()["secrets_masked"] == before + 5


def test_a_host_that_keeps_them_has_them_as_they_are(opened, tmp_path):
    agent = opened(secrets="keep")
    write_everywhere(agent, tmp_path)
    assert contents(agent) == [TEXT] * 6


def test_a_host_that_refuses_them_stores_nothing_and_says_why_without_the_secret(opened, tmp_path):
    agent = opened(secrets="refuse")
    for write in (agent.observe, agent.hooks.message, agent.remember, agent.rules.add):
        with pytest.raises(InvalidInput, match=r"holds a secret \(api key\)") as refused:
            write(TEXT)
        assert TOKEN not in str(refused.value)
    path = tmp_path / "chat.jsonl"
    path.write_text(json.dumps({"role": "user", "content": TEXT}) + "\n", encoding="utf-8")
    report = agent.import_file(path)
    assert (report.added, report.broken_count) == (0, 1)
    assert contents(agent) == []
