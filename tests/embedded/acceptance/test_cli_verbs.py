"""The commands that say what is true, take it back, tell its history and remove it for good."""

import io
import json
import os
import pty
import re
import subprocess
import sys
from datetime import datetime

import pytest

from engrain import Memory
from tests.support.commands import PATIENCE_S

ANA = ("--subject", "Ana", "--predicate", "lives in")


def library(database, question):
    """What the library answers on the same file."""
    with Memory.open(database) as memory:
        return question(memory.agent())


def as_json(found):
    return [each.to_dict() for each in found]


@pytest.fixture
def moved(cli):
    """Ids of Porto, and of Lisbon in its place."""
    porto = cli("remember", "Porto", *ANA, "--from", "2020-01-01", "--json").json
    lisbon = cli("correct", porto["id"], "Lisbon", "--from", "2026-05-01", "--source", "a letter", "--json").json
    return porto, lisbon


def test_observe_keeps_what_the_runtime_knows_of_a_turn(cli):
    call = {"name": "book", "flight": "TP1234"}
    ran = cli(
        *("observe", "Booked", "--role", "tool", "--tokens", 12, "--model", "maker:one"),
        *("--tool-call", json.dumps(call), "--tool-call", "7", "--json"),
    )
    assert (ran.json["tokens"], ran.json["model"], ran.json["tool_calls"]) == (12, "maker:one", [call, 7])


def test_a_tool_call_that_is_no_json_is_refused(cli):
    ran = cli("observe", "Booked", "--tool-call", "{broken")
    assert (ran.code, ran.out) == (2, "")
    assert "tool call '{broken' is not JSON" in ran.err


@pytest.mark.parametrize(
    "command",
    [
        ("observe", "Booked"),
        ("remember", "Lisbon", *ANA),
        ("rules", "add", "Book an aisle seat"),
        ("entities", "create", "Ana"),
        ("pools", "create", "crew"),
    ],
    ids=lambda each: " ".join(each[:2]),
)
def test_metadata_is_a_json_object_and_nothing_else(cli, database, command):
    given = {"gate": 4, "seen": {"by": ["Ana", None]}}
    assert cli(*command, "--metadata", json.dumps(given), "--json").json["metadata"] == given
    before = library(database, lambda agent: as_json(agent.events()))
    for wrong, said in (
        ("gate 4", "metadata 'gate 4' is not JSON"),
        ("[4]", """metadata '[4]' is no JSON object; write it as '{"name": "value"}'"""),
        ("null", "metadata 'null' is no JSON object"),
        ('{"gate": NaN}', "metadata {'gate': nan} is not JSON"),
    ):
        ran = cli(*command, "--metadata", wrong)
        assert (ran.code, ran.out) == (2, "")
        assert said in ran.err
    assert library(database, lambda agent: as_json(agent.events())) == before


def test_what_is_learned_says_how_much_it_matters_and_how_sure_it_is(cli):
    turn = cli("observe", "The taxi waits", "--importance", "2.5", "--ttl-days", 2, "--json").json
    lives = datetime.fromisoformat(turn["expires_at"]) - datetime.fromisoformat(turn["created_at"])
    assert (turn["importance"], lives.days) == (2.5, 2)
    porto = cli("remember", "Porto", *ANA, "--importance", 9, "--confidence", "0.5", "--json").json
    assert (porto["importance"], porto["confidence"]) == (9.0, 0.5)
    lisbon = cli("correct", porto["id"], "Lisbon", "--confidence", "0.75", "--metadata", '{"by": "Ana"}', "--json").json
    assert (lisbon["importance"], lisbon["confidence"], lisbon["metadata"]) == (9.0, 0.75, {"by": "Ana"})
    for command in (("observe", "Late", "--importance", 11), ("remember", "Faro", *ANA, "--confidence", 2)):
        ran = cli(*command)
        assert (ran.code, ran.out) == (2, "")
        assert "must lie in" in ran.err


def test_an_entity_is_told_more_of_key_by_key(cli):
    ana = cli("entities", "create", "Ana", "--metadata", '{"phone": "1", "floor": 2}', "--json").json
    changed = cli("entities", "update", ana["id"], "--metadata", '{"phone": "2"}', "--json").json
    assert (changed["canonical_name"], changed["metadata"]) == ("Ana", {"phone": "2", "floor": 2})


def test_the_times_a_rule_was_followed_are_listed(cli, database):
    rule = cli("rules", "add", "Call before eight", "--json").json["id"]
    assert "nothing found" in cli("rules", "applications", rule).err
    cli("rules", "helpful", rule)
    cli("rules", "harmful", rule, "--reason", "Nobody\nwas there")
    head, newest, oldest = cli("rules", "applications", rule).out.splitlines()
    assert head.split() == ["time", "outcome", "agent", "why"]
    assert re.search(r"\tharmful\tassistant\tNobody was there$", newest)
    assert re.search(r"\thelpful\tassistant\t-$", oldest)
    listed = cli("rules", "applications", rule, "--limit", 1, "--json").json
    assert listed == library(database, lambda agent: agent.rules.applications(rule, limit=1)).to_dict()


def test_route_says_where_something_belongs_and_stores_nothing(cli, database):
    told = cli("route", "I live in Lisbon", "--speaker", "Ana")
    assert (told.code, told.out.splitlines()[0]) == (0, "fact: Ana live in: Lisbon")
    assert cli("route", "Where is Ana?").out.startswith("recall: Where is Ana?\n")
    assert cli("route", "Booked.", "--role", "tool", "--json").json["route"] == "working"
    assert library(database, lambda agent: agent.stats().episodes.total + agent.stats().facts.active) == 0


def test_the_latest_reflection_is_shown_and_none_is_exit_code_1(cli, database):
    ran = cli("reflection")
    assert (ran.code, ran.out) == (1, "")
    assert "no reflection is there for agent assistant yet; reflect makes one" in ran.err
    library(
        database,
        lambda agent: agent.remember(
            "Ana moves often", subject="assistant", predicate="has learned", category="reflection"
        ),
    )
    assert cli("reflection").out.endswith("\n\nAna moves often\n")
    assert cli("reflection", "--json").json == library(database, lambda agent: agent.latest_reflection().to_dict())


def test_a_pool_is_asked_by_the_ranking_that_is_named(cli):
    cli("pools", "create", "crew")
    cli("remember", "4711", "--subject", "alarm", "--predicate", "has the code", "--scope", "pool:crew")
    [hit] = cli("pools", "query", "crew", "alarm code", "--preset", "keyword", "--limit", 1, "--json").json["hits"]
    assert {each["channel"] for each in hit["why"]["contributions"]} == {"keyword"}
    ran = cli("pools", "query", "crew", "alarm code", "--preset", "psychic")
    assert (ran.code, ran.out) == (2, "")
    assert "psychic" in ran.err


def test_remember_keeps_whom_it_is_about_and_where_it_comes_from(cli):
    entity = cli(
        "entities", "create", "Ana Sousa", "--type", "person", "--alias", "Ana", "--alias", "A.", "--json"
    ).json
    episode = cli("observe", "I moved to Lisbon", "--json").json
    stored = cli(
        *("remember", "Lisbon", *ANA, "--entity", entity["id"], "--category", "home", "--source", "her"),
        *("--source-episode", episode["id"], "--json"),
    ).json
    assert (stored["entity_id"], stored["category"], stored["source"]) == (entity["id"], "home", "her")
    assert stored["source_episode_id"] == episode["id"]
    assert (entity["entity_type"], entity["aliases"]) == ("person", ["Ana", "A."])
    assert cli("entities", "show", entity["id"], "--json").json == entity
    assert re.search(r"^canonical_name +Ana Sousa$", cli("entities", "show", entity["id"]).out, flags=re.MULTILINE)


@pytest.mark.req("Y06")
def test_a_night_without_a_name_finder_reads_nothing_and_says_what_to_set(cli):
    cli("observe", "Ana called.")
    ran = cli("entities", "enrich", "--limit", 5, "--max-entities", 1)
    assert (ran.code, ran.out[:41]) == (0, "skipped: no name finder is configured, so")
    assert "set entities.name_finder" in ran.out
    told = cli("entities", "enrich", "--publish", "--json")
    assert (told.code, told.json["enriched"], "name_finder" in told.json["skipped"]) == (0, 0, True)


def test_an_entity_says_its_id_and_one_that_is_unknown_is_exit_code_1(cli):
    created = cli("entities", "create", "TAP", "--type", "organization").out
    assert re.fullmatch(r"created organization [0-9a-f-]{36}: TAP\n", created)
    ran = cli("entities", "show", "0199-unknown")
    assert (ran.code, ran.out) == (1, "")
    assert "0199-unknown" in ran.err


@pytest.mark.parametrize(
    "command", [("observe", "Once"), ("remember", "Once", *ANA), ("rules", "add", "Once")], ids=lambda each: each[0]
)
def test_a_command_run_again_with_its_key_stores_nothing_more(cli, command):
    first = cli(*command, "--idempotency-key", "run 7", "--json").json
    assert cli(*command, "--idempotency-key", "run 7", "--json").json == first
    assert len(cli("events", "--json").json["items"]) == 1
    ran = cli("observe", "Something else", "--idempotency-key", "run 7")
    assert (ran.code, ran.out) == (2, "")
    assert "run 7" in ran.err


def test_a_rule_is_added_found_and_in_the_context(cli):
    ran = cli("rules", "add", "Offer no early flight", "--tag", "travel", "--scope", "global")
    id_ = re.fullmatch(r"added rule ([0-9a-f-]{36}) \(candidate\)\n", ran.out)[1]
    [line] = cli("recall", "early flight", "--kind", "rule").out.splitlines()[1:]
    assert line.split()[1] == "rule"
    assert line.endswith(f"{id_}\tOffer no early flight")
    assert cli("context", "early flight").out == "## Rules\n- Offer no early flight\n"
    assert cli("get", id_, "--json").json["tags"] == ["travel"]


def test_a_group_without_a_command_is_a_usage_error(cli):
    for group in ("rules", "entities"):
        ran = cli(group)
        assert (ran.code, ran.out) == (2, "")
        assert f"engrain {group} --help shows what there is" in ran.err


def test_correct_says_what_is_true_now_and_what_it_supersedes(cli):
    porto = cli("remember", "Porto", *ANA, "--json").json["id"]
    ran = cli("correct", porto, "Lisbon", "--from", "2026-05-01", "--to", "2027-05-01")
    first, second, third = ran.out.splitlines()
    id_ = first.removeprefix("remembered ")
    assert second == "Ana lives in: Lisbon since 2026-05-01 until 2027-05-01"
    assert third == f"supersedes {porto}"
    assert cli("history", id_, "--json").json["items"][1]["id"] == id_
    assert cli("correct", porto, "Faro").code == 2
    assert cli("correct", "0199-unknown", "Faro").code == 1


def test_facts_are_listed_with_their_state_and_their_end(cli, database, moved):
    porto, lisbon = moved
    cli("remember", "the post office", "--subject", "Bo", "--predicate", "works in")
    header, line = cli("facts", "--subject", "Ana").out.splitlines()
    assert header.split() == ["date", "state", "id", "text"]
    assert line == f"2026-05-01\tactive\t{lisbon['id']}\tAna lives in: Lisbon since 2026-05-01"
    told = cli("facts", "--subject", "Ana", "--predicate", "lives in", "--include-inactive").out.splitlines()
    ended = lisbon["created_at"][:10]
    assert told[2] == (
        f"2020-01-01\tsuperseded\t{porto['id']}"
        f"\tAna lives in: Porto since 2020-01-01 until 2026-05-01 (superseded {ended})"
    )
    ran = cli("facts", "--include-inactive", "--limit", 2, "--json")
    assert ran.json == library(database, lambda agent: agent.facts(include_inactive=True, limit=2)).to_dict()
    assert [fact["content"] for fact in cli("facts", "--as-of", porto["created_at"], "--json").json["items"]] == [
        "Porto"
    ]


def test_history_tells_the_oldest_first(cli, moved):
    _, lisbon = moved
    lines = cli("history", lisbon["id"]).out.splitlines()
    assert [line.split()[1] for line in lines] == ["state", "superseded", "active"]
    assert [fact["content"] for fact in cli("history", lisbon["id"], "--json").json["items"]] == ["Porto", "Lisbon"]


@pytest.mark.parametrize("command", [["facts"], ["history", "0199-unknown"], ["links", "0199-unknown"], ["events"]])
def test_nothing_to_list_is_no_error(cli, command):
    ran = cli(*command)
    assert (ran.code, ran.out) == (0, "")
    assert "nothing found" in ran.err
    assert cli(*command, "--json").json == {"items": [], "next": None}


def test_recall_asks_for_another_time_and_for_what_is_inactive(cli, moved):
    porto, lisbon = moved

    def found(*options):
        return {hit["memory"]["id"] for hit in cli("recall", "Ana lives", *options, "--json").json["hits"]}

    assert found() == {lisbon["id"]}
    assert found("--as-of", porto["created_at"]) == {porto["id"]}
    assert found("--include-inactive") == {porto["id"], lisbon["id"]}
    assert found("--subject", "Ana", "--include-inactive") == found(
        "--subject", "Bo", "--subject", "Ana", "--include-inactive"
    )
    assert found("--subject", "Bo") == set()
    assert "(superseded 20" in cli("recall", "Porto", "--include-inactive").out


def test_get_asks_for_another_time(cli, moved):
    porto, lisbon = moved
    assert cli("get", porto["id"], "--as-of", porto["created_at"], "--json").json["content"] == "Porto"
    ran = cli("get", porto["id"], "--as-of", lisbon["created_at"])
    assert (ran.code, ran.out) == (1, "")
    assert lisbon["created_at"] in ran.err


def test_confirm_says_what_holds(cli):
    fact = cli("remember", "Lisbon", *ANA, "--from", "2026-05-01", "--json").json
    assert (
        cli("confirm", fact["id"]).out == "confirmed (fact): 2026-05-01 fact: Ana lives in: Lisbon since 2026-05-01\n"
    )
    assert cli("confirm", fact["id"], "--json").json["last_confirmed_at"] > fact["last_confirmed_at"]
    assert cli("confirm", cli("observe", "A turn", "--json").json["id"]).code == 2
    assert cli("confirm", "0199-unknown").code == 1


def test_a_forgotten_rule_is_withdrawn(cli):
    rule = cli("rules", "add", "Offer no early flight", "--json").json
    assert cli("forget", rule["id"]).out == (
        f"forgotten (rule, withdrawn): {rule['created_at'][:10]} rule: Offer no early flight\n"
    )
    assert "(forgotten 20" in cli("recall", "early flight", "--include-inactive").out


def test_memories_are_linked_and_their_links_listed(cli):
    one, two = (cli("observe", text, "--json").json["id"] for text in ("one", "two"))
    assert cli("link", one, "supports", two, "--weight", "0.5").out == f"linked: {one} supports {two}\n"
    link = cli("link", one, "supports", two, "--json").json
    assert (link["source_id"], link["target_id"], link["relation"], link["weight"]) == (one, two, "supports", 0.5)
    header, line = cli("links", two, "--direction", "incoming", "--relation", "supports").out.splitlines()
    assert header.split() == ["date", "source", "relation", "target", "weight"]
    assert line.split()[1:] == [one, "supports", two, "0.5"]
    assert cli("links", one, "--json").json == {"items": [link], "next": None}
    assert cli("links", one, "--direction", "incoming", "--json").json == {"items": [], "next": None}
    assert cli("link", one, "supports", "0199-unknown").code == 1
    assert cli("link", one, "likes", two).code == 2


def test_events_tell_what_was_done_newest_first(cli, database, moved):
    porto, lisbon = moved
    header, *lines = cli("events").out.splitlines()
    assert header.split() == ["time", "event", "id", "agent", "request", "what"]
    assert [line.split()[2] for line in lines].count("fact_created") == 2
    ran = cli("events", porto["id"], "--json")
    assert ran.json == library(database, lambda agent: agent.events(porto["id"])).to_dict()
    assert [event["event_type"] for event in ran.json["items"]] == ["fact_superseded", "fact_created"]
    only = cli("events", "--type", "fact_created", "--limit", 1, "--json").json["items"]
    assert [event["memory_id"] for event in only] == [lisbon["id"]]


def test_erase_wants_a_yes_where_nobody_can_be_asked(cli, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))
    id_ = cli("observe", "A turn", "--json").json["id"]
    ran = cli("erase", id_)
    assert (ran.code, ran.out) == (2, "")
    assert "say --yes" in ran.err
    assert cli("get", id_).code == 0


def test_what_removes_much_wants_a_yes_where_nobody_can_be_asked(cli, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))
    cli("remember", "Lisbon", *ANA, "--user", "ana")
    cli("backup", "a.backup")
    for command in (["erase-user", "ana"], ["restore", "a.backup", "--replace"]):
        refused = cli(*command)
        assert (refused.code, refused.out) == (2, "")
        assert "say --yes" in refused.err
        assert cli(*command, "--dry-run").code == 0
    assert [fact["content"] for fact in cli("facts", "--user", "ana", "--json").json["items"]] == ["Lisbon"]
    assert cli("restore", "a.backup", "--replace", "--yes").code == 0
    assert cli("erase-user", "ana", "--yes").code == 0
    assert cli("facts", "--user", "ana", "--json").json["items"] == []


def test_erase_shows_what_it_erases(cli):
    id_ = cli("observe", "The door code is 4711", "--json").json["id"]
    ran = cli("erase", id_, "--yes")
    assert "The door code is 4711" in ran.err
    assert ran.out == f"erased {id_}\n"


@pytest.mark.parametrize("command", [["recall", "kettle"], ["facts"], ["stats"]])
def test_a_folder_that_is_not_there_is_an_error_to_whoever_reads(cli, tmp_path, command):
    missing = tmp_path / "nowhere" / "agent.db"
    ran = cli("--db", str(missing), *command)
    assert (ran.code, ran.out) == (3, "")
    assert f"there is no folder {missing.parent}" in ran.err
    assert not missing.parent.exists()
    assert cli("--db", str(missing), "observe", "A turn").code == 0  # whoever writes makes it


def test_a_folder_that_the_environment_names_has_to_be_there_too(cli, tmp_path, monkeypatch):
    monkeypatch.setenv("ENGRAIN_DB", str(tmp_path / "nowhere" / "agent.db"))
    ran = cli("recall", "kettle")
    assert (ran.code, ran.out) == (3, "")
    assert f"there is no folder {tmp_path / 'nowhere'}" in ran.err


def test_an_embedder_without_a_key_is_told_once_by_a_command_that_adds(cli, monkeypatch):
    monkeypatch.setenv("ENGRAIN_EMBEDDING__MODEL", "openai:text-embedding-3-small")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    ran = cli("observe", "The kettle is green.")
    assert ran.code == 0
    assert ran.err.count("has no key") == 1


def test_a_secret_that_was_masked_is_told(cli):
    token = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    ran = cli("observe", f"My token is {token}")
    assert "it holds a secret, which was masked" in ran.err
    assert token not in cli("recall", "token").out
    assert "secret" not in cli("observe", "My token is in the drawer").err


def test_the_age_of_what_waits_is_told_as_people_write_it(cli):
    cli("observe", "A turn")
    assert re.search(r"^episodes backlog age +\d+(\.\d)? (ms|s)$", cli("stats").out, flags=re.MULTILINE)
    assert isinstance(cli("stats", "--json").json["episodes"]["backlog_age_hours"], float)


def test_what_waits_after_a_failed_consolidation_is_told_and_tried_at_once(cli, monkeypatch):
    for name, value in {"MODEL": "openai:m", "URL": "http://127.0.0.1:9/v1", "KEY": "k", "ATTEMPTS": "1"}.items():
        monkeypatch.setenv(f"ENGRAIN_LLM__{name}", value)
    cli("observe", "The kettle is green.")
    failed = cli("consolidate")
    told = r"^waiting: \S+ of \S+: 1 episode until \S+ \d\d:\d\d:\d\dZ, as the last attempt failed: engine_una"
    assert failed.code == 1
    assert re.search(told, failed.out, flags=re.MULTILINE)
    assert "engrain consolidate --now" in failed.err
    later = cli("consolidate")
    assert (later.code, later.out.splitlines()[0]) == (0, "nothing is due")
    assert re.search(told, later.out, flags=re.MULTILINE)
    assert "1 episode of" in cli("consolidate", "--now").out


def test_an_embedder_without_a_key_is_told_once(cli, monkeypatch, caplog):
    monkeypatch.setenv("ENGRAIN_EMBEDDING__MODEL", "openai:text-embedding-3-small")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    ran = cli("recall", "kettle")
    assert ran.err.count("has no key, so searches go by keywords: set embedding.key or OPENAI_API_KEY") == 1
    [record] = [record for record in caplog.records if record.msg == "the embedder has no key"]
    assert "OPENAI_API_KEY" in record.reason
    assert record.embedder == "openai:text-embedding-3-small"


def test_erase_removes_and_says_what_was_not_there(cli):
    one, two = (cli("observe", text, "--json").json["id"] for text in ("one", "two"))
    ran = cli("erase", one, "0199-unknown", "--yes")
    assert (ran.code, ran.out) == (0, f"erased {one}\n")
    assert "0199-unknown" in ran.err
    assert cli("erase", two, "--yes", "--json").json["ids"] == [two]
    assert [cli("get", id_).code for id_ in (one, two)] == [1, 1]
    gone = cli("erase", one, two, "--yes")
    assert (gone.code, gone.out) == (1, "")


@pytest.fixture
def asked(database):
    """Runs a command on a terminal that is given an answer."""

    def run(answer, *command):
        ours, theirs = pty.openpty()
        os.write(ours, answer)
        ran = subprocess.run(
            [sys.executable, "-m", "engrain", *command],
            cwd=database.parent,
            stdin=theirs,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        os.close(ours)
        os.close(theirs)
        return ran

    return run


@pytest.mark.parametrize(("answer", "is_gone"), [(b"y\n", True), (b"YES\n", True), (b"n\n", False), (b"\n", False)])
def test_erase_asks_a_person(cli, asked, answer, is_gone):
    id_ = cli("observe", "A turn", "--json").json["id"]
    ran = asked(answer, "erase", id_)
    shown, _, asked_for = ran.stderr.partition("erase 1 memory for good? [y/N] ")
    assert "A turn" in shown
    assert ("nothing was erased" in asked_for) is not is_gone
    assert (ran.returncode, ran.stdout) == ((0, f"erased {id_}\n") if is_gone else (1, ""))
    assert cli("get", id_).code == (1 if is_gone else 0)


@pytest.mark.parametrize(("answer", "left"), [(b"y\n", []), (b"n\n", ["Lisbon"])])
def test_erase_user_asks_a_person(cli, asked, answer, left):
    cli("remember", "Lisbon", *ANA, "--user", "ana")
    ran = asked(answer, "erase-user", "ana")
    shown, _, asked_for = ran.stderr.partition("erase all that is there of user ana for good? [y/N] ")
    assert "facts: 1 row" in shown
    assert ("nothing was erased" in asked_for) is bool(left)
    assert ran.returncode == bool(left)
    assert [fact["content"] for fact in cli("facts", "--user", "ana", "--json").json["items"]] == left


@pytest.mark.parametrize("agent", [[], ["--agent", "assistant"]], ids=["tenant", "agent"])
@pytest.mark.parametrize(("answer", "left"), [(b"y\n", []), (b"n\n", ["Lisbon"])])
def test_tenants_erase_asks_a_person(cli, asked, answer, left, agent):
    cli("remember", "Lisbon", *ANA, "--agent", "assistant")
    cli("remember", "Porto", *ANA, "--agent", "other")
    ran = asked(answer, "tenants", "erase", "default", *agent)
    whose = "agent assistant of tenant default" if agent else "tenant default"
    shown, _, asked_for = ran.stderr.partition(f"erase all that is there of {whose} for good? [y/N] ")
    assert ("facts: 1 row" if agent else "facts: 2 rows") in shown
    assert ("nothing was erased" in asked_for) is bool(left)
    assert ran.returncode == bool(left)
    assert [fact["content"] for fact in cli("facts", "--agent", "assistant", "--json").json["items"]] == left
    others = cli("facts", "--agent", "other", "--json").json["items"]
    assert bool(others) is bool(agent or left)


def test_tenants_erase_needs_a_yes_and_the_right_name(cli):
    cli("remember", "Lisbon", *ANA)
    for command, code, said in (
        (["default"], 2, "say --yes"),
        (["defualt", "--yes"], 1, "there is no tenant 'defualt'"),
        (["default", "--tenant", "acme", "--yes"], 1, "erases itself alone"),
    ):
        refused = cli("tenants", "erase", *command)
        assert (refused.code, said in refused.err) == (code, True), refused.err
    planned = cli("tenants", "erase", "default", "--dry-run", "--json").json
    assert (planned["rows"], planned["dry_run"]) == ({"facts": 1}, True)
    assert cli("tenants", "erase", "default", "--yes", "--json").json["sha256"] == planned["sha256"]
    assert cli("facts", "--json").json["items"] == []


def test_other_peoples_words_cannot_command_the_terminal(cli):
    evil = "kettle \x1b]0;owned\x07 red"
    fact = cli("remember", evil, "--subject", evil, "--predicate", "is", "--json").json["id"]
    rule = cli("rules", "add", evil, "--json").json["id"]
    entity = cli("entities", "create", evil, "--json").json["id"]
    commands = [["facts"], ["history", fact], ["confirm", rule], ["entities", "show", entity], ["events"]]
    for command in [*commands, ["correct", fact, evil], ["forget", rule]]:
        shown = cli(*command).out
        assert shown
        assert not {"\x1b", "\x07"} & set(shown)
