"""Caches of one process, and what another one has erased or forgotten meanwhile."""

import os
import subprocess

import pytest

from engrain import Memory
from tests.support.processes import ROOT, engrain, without_settings

pytestmark = pytest.mark.req("C16", "N12")


def command(location, *arguments):
    """A command as a process of its own."""
    ran = subprocess.run(
        engrain(*arguments, "--db", location, "--agent", "aide"),
        cwd=ROOT,
        env={**without_settings(), "ENGRAIN_EMBEDDING__MODEL": "none", "PYTHONPATH": os.environ.get("PYTHONPATH", "")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize(
    ("words", "content"),
    [
        (("erase", "{id}", "--yes"), None),
        (("forget", "{id}"), None),
        (("notes", "forget", "safe"), None),
        (("notes", "save", "safe", "emptied"), "emptied"),
        (("correct", "{id}", "emptied"), "emptied"),
    ],
    ids=["erase", "forget", "notes forget", "notes save", "correct"],
)
def test_a_note_that_another_process_took_away_is_not_served(location, words, content):
    with Memory.open(location, embedder="none") as memory:
        notes = memory.agent("aide").notes
        saved = notes.save("safe", "4711")
        assert [notes.recall("safe").content for _ in range(2)] == ["4711", "4711"]
        assert notes.cache_stats().hits == 1
        command(location, *(word.format(id=saved.id) for word in words))
        found = notes.recall("safe")
        assert (None if found is None else found.content) == content


@pytest.mark.parametrize("words", [("erase", "{id}", "--yes"), ("forget", "{id}")], ids=["erase", "forget"])
def test_a_reflection_that_another_process_took_away_is_in_no_block(location, words):
    with Memory.open(location, embedder="none") as memory:
        aide = memory.agent("aide")
        said = {"subject": "aide", "predicate": "reflects", "category": "reflection", "scope": "aide"}
        insight = aide.remember("The safe opens with 4711.", **said)
        assert aide.latest_reflection() == insight
        assert "4711" in aide.context("safe").text
        command(location, *(word.format(id=insight.id) for word in words))
        assert aide.latest_reflection() is None
        assert "4711" not in aide.context("safe").text
