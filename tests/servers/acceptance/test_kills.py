"""Every operation that writes, killed at its write calls: it is done or not done, or doing it again does the rest.

A few of the write calls of each; with `ENGRAIN_TEST_KILLS=45` as many as that, and with `all` every one of them, before
it, in the middle and after it, which takes an hour.
"""

import json
import os
from subprocess import PIPE

import pytest

from tests.support.forked import MEMORY, asked_for
from tests.support.kill_cases import CASES, VERB_CASES, WRITING_VERBS
from tests.support.processes import ROOT, Forked, without_settings

MOST = os.environ.get("ENGRAIN_TEST_KILLS", "6").replace("all", "1000000")


@pytest.fixture(scope="module")
def worlds(tmp_path_factory):
    """The databases that the operations begin with."""
    folder = tmp_path_factory.mktemp("worlds")
    walked(folder)
    return folder


def walked(*arguments):
    """What the walk says, in a process that has loaded what the operations load, and runs no thread when it forks."""
    asked = asked_for(
        "tests.support.kill_walk:main",
        arguments,
        modules=["tests.support.kill_walk", *MEMORY],
        folder=ROOT,
        environment=without_settings(),
    )
    process = Forked(asked, stdout=PIPE)
    with process.stdout as answers:
        text = answers.read()
    assert process.wait() == 0
    return json.loads(text or "null")


def test_every_writing_verb_has_a_case():
    assert [f"no kill case for verb {name}" for name in WRITING_VERBS if name not in VERB_CASES] == []
    assert set(VERB_CASES) <= set(WRITING_VERBS)


@pytest.mark.parametrize("name", CASES)
def test_a_kill_at_any_write_leaves_it_done_or_not_done(name, worlds, tmp_path):
    found = walked(name, worlds, tmp_path, MOST)
    assert found["failures"] == []
    assert found["deaths"] > 0
