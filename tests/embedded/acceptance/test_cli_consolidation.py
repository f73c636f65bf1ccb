"""`engrain consolidate`, `runs` and `undo`, with a program as the language model."""

import json
import sys
from contextlib import closing
from datetime import UTC, datetime

import pytest

from engrain.domain.records import Caller
from engrain.domain.requests import Act
from engrain.domain.runs.runs import Claim
from engrain.interfaces.cli import main
from tests.support.learning_memories import NOTHING, fact, reply
from tests.support.stores import open_verbs

SAID = "I moved to Porto last month."
PORTO = reply(
    fact("Ana", "lives in", "Porto", "I moved to Porto"), fact("Ana", "is", "invented", "nobody ever said so")
)


@pytest.fixture
def model(monkeypatch):
    """Makes a program that reads the prompt and gives one answer, and the settings that name it."""

    def answering(answer, code=0):
        program = f"import sys; sys.stdin.read(); sys.stdout.write({answer!r}); sys.exit({code})"
        monkeypatch.setenv("ENGRAIN_LLM__MODEL", "command")
        monkeypatch.setenv("ENGRAIN_LLM__COMMAND", json.dumps([sys.executable, "-c", program]))

    return answering


@pytest.mark.req("B12.2")
def test_a_program_is_asked_and_what_it_proves_is_learned_shown_and_taken_back(cli, model):
    model(f"```json\n{PORTO}\n```")
    cli("observe", SAID, "--speaker", "Ana", "--session", "s1")
    ran = cli("consolidate")
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert lines[:3] == [
        "assistant of default: 1 episode of 1 session due",
        "learned 1 new, 0 updated, 0 confirmed, from 1 episode in 1 batch",
        "rejected 1: 1 quote_not_found",
    ]
    run_id = lines[-1].removeprefix("undo with: engrain undo ")
    [run] = cli("runs", "--json").json["items"]
    assert (run["id"], run["status"], len(run["episode_ids"])) == (run_id, "done", 1)
    assert cli("runs", "--kind", "consolidation").out.startswith(f"{run_id}  ")
    assert "Porto" in cli("facts", "--subject", "Ana").out
    assert cli("undo", run_id).out.startswith("undone: ")
    assert "Porto" not in cli("facts", "--subject", "Ana").out
    assert cli("undo", run_id).code == 2
    assert cli("undo", "nobody").code == 1


@pytest.mark.req("B12.3")
def test_without_a_model_and_in_a_dry_run_it_says_what_is_due(cli, model):
    for number in range(3):
        cli("observe", f"Turn {number}", "--session", f"s{number % 2}")
    due = "assistant of default: 3 episodes of 2 sessions due\ndry run: nothing was asked, and nothing written\n"
    ran = cli("consolidate")
    assert (ran.code, ran.out) == (0, due)
    assert "no language model is configured" in ran.err
    model("never asked", code=1)
    ran = cli("consolidate", "--dry-run")
    assert (ran.code, ran.out, ran.err) == (0, due, "")
    assert cli("consolidate", "--dry-run", "--agent", "nobody").out.startswith("nothing is due\n")
    assert cli("consolidate", "--dry-run", "--session", "s1", "--json").json["groups"][0]["episodes"] == 1
    assert cli("consolidate", "--dry-run", "--exclude-session", "s1", "--json").json["groups"][0]["episodes"] == 2


def test_whoever_asks_again_after_a_kill_is_told_until_when_another_run_has_the_agent(cli, model, database):
    cli("observe", SAID)
    model("never asked", code=1)
    claim = Claim(kind="consolidation", worker="killed", lease_s=600)
    with closing(open_verbs(database)) as store:
        batch = store.claim(Act(caller=Caller(agent="assistant"), at=datetime.now(UTC)), claim)
    ran = cli("consolidate")
    until = f"left to another run until {batch.run.lease_until:%H:%M:%SZ}"
    assert ran.out.splitlines()[0] == f"assistant of default: 1 episode of 0 sessions due, {until}"
    assert ran.code == 0


@pytest.mark.parametrize(("answer", "code", "why"), [("Sorry.", 0, "unusable_reply"), ("", 3, "engine_unavailable")])
def test_a_batch_that_failed_is_told_and_the_exit_code_says_so(cli, model, answer, code, why):
    model(answer, code)
    cli("observe", SAID)
    ran = cli("consolidate", "--json")
    assert ran.code == 1
    assert [failure["code"] for failure in ran.json["failures"]] == [why]
    shown = cli("runs").out
    assert "  failed  1 episode  " in shown
    assert why in shown


def test_the_number_of_batches_is_bounded_and_a_command_waits_for_no_session_switch(cli, model, monkeypatch):
    model(NOTHING)
    monkeypatch.setenv("ENGRAIN_CONSOLIDATION__BATCH", "1")
    for number in range(3):
        cli("observe", f"Turn {number}", "--session", f"s{number}")
    assert cli("runs", "--json").json["items"] == []
    assert cli("consolidate", "--max-batches", "2", "--json").json["episodes"] == 2
    assert main(["consolidate", "--max-batches", "-1"]) == 2


def test_a_person_sees_how_far_it_is(terminal, cli, model):
    model(NOTHING)
    cli("observe", SAID)
    shown = terminal("consolidate")
    assert shown.finish() == 0
    assert "episodes" in shown.shown
    assert "learned 0 new" in shown.shown
