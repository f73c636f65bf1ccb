"""`engrain import`: what it reports, and that it can be stopped anywhere and run again."""

import json
import os
import re
import signal

import pytest

from engrain import Memory
from engrain.interfaces.cli.failures import ExitCode

TURNS = 6_000


def write(path, turns, *, broken=0):
    with path.open("w", encoding="utf-8") as file:
        for number in range(turns):
            turn = {"session": f"s{number // 40}", "speaker": "Ana", "content": f"kettle number {number}"}
            file.write(json.dumps(turn) + "\n")
        for number in range(broken):
            file.write(f"{{broken {number}\n")
    return path


def episodes(database):
    with Memory.open(database, embedder="none") as memory:
        return memory.agent().stats().episodes.total


def test_it_reports_to_a_person(cli, tmp_path):
    file = write(tmp_path / "chat.jsonl", 100)
    assert cli("import", file).out == (f"imported {file} (jsonl): 100 turns added, 0 already there, 3 sessions\n")
    assert cli("import", file).out == (f"imported {file} (jsonl): 0 turns added, 100 already there, 3 sessions\n")


def test_the_export_of_nothing_imports_nothing(cli, tmp_path):
    file = tmp_path / "nothing.jsonl"
    cli("export", file)
    assert cli("import", file).out == f"imported {file} (jsonl): nothing added, 0 already there\n"


def test_it_reports_to_a_program_as_the_library_does(cli, tmp_path, database):
    file = write(tmp_path / "chat.jsonl", 10, broken=1)
    ran = cli("import", file, "--json")
    assert ran.err == ""
    with Memory.open(":memory:") as memory:
        assert ran.json == memory.agent().import_file(file).to_dict()
    assert episodes(database) == 10


def test_broken_records_are_named_and_passed_over(cli, tmp_path):
    ran = cli("import", write(tmp_path / "chat.jsonl", 3, broken=2))
    _, first, second = ran.err.splitlines()
    assert first.startswith("broken: line 4: ")
    assert second.startswith("broken: line 5: ")
    assert "3 turns added" in ran.out
    assert "2 broken records passed over" in ran.out
    assert ran.code == 3


def test_of_many_broken_records_twenty_are_shown_and_all_are_in_json(cli, tmp_path):
    file = write(tmp_path / "chat.jsonl", 3, broken=27)
    lines = cli("import", file).err.splitlines()
    assert sum(line.startswith("broken: ") for line in lines) == 20
    assert lines[-1] == "and 7 more (--json lists all)"
    assert len(cli("import", file, "--json").json["broken"]) == 27


def test_a_turn_that_the_command_line_printed_keeps_its_time_tags_metadata_and_importance(cli, tmp_path):
    options = ["--time", "2019-05-01T00:00:00Z", "--tag", "home", "--importance", "8"]
    first = cli("observe", "The boiler was serviced.", *options, "--metadata", '{"channel": "sms"}', "--json").json
    second = {name: first[name] for name in ("content", "event_time", "tags", "metadata", "importance")}
    for name, line in {"printed": first, "plain": second}.items():
        file, elsewhere = tmp_path / f"{name}.jsonl", ("--db", tmp_path / f"{name}.db")
        file.write_text(json.dumps(line))
        ran = cli(*elsewhere, "import", file)
        assert "not read" not in ran.err
        assert "1 turn added" in ran.out
        [turn] = cli(*elsewhere, "list", "episode", "--json").json["items"]
        for key in ("event_time", "tags", "importance"):
            assert turn[key] == first[key]
        assert turn["metadata"]["channel"] == "sms"


def test_memories_of_users_are_counted_by_user_and_broken_ones_named_by_their_place(cli, tmp_path):
    known = [("1", "ana"), ("2", "ben"), ("3", "ana"), ("4", None)]
    results = [{"id": id_, "memory": f"fact {id_}", "user_id": user} for id_, user in known]
    odd = {"id": "5", "memory": "x", "user_id": "ana", "categories": [" "]}
    file = tmp_path / "mem0.json"
    file.write_text(json.dumps({"results": [*results, odd, {"id": "6"}]}, indent=1))
    report = cli("import", file, "--json").json
    assert report["users"] == {"ana": 2, "ben": 1}
    assert [broken["position"] for broken in report["broken"]] == ["results[4]", "results[5]"]
    ran = cli("--db", tmp_path / "other.db", "import", file)
    assert "4 facts added (2 for user ana, 1 for user ben), 0 already there" in ran.out
    ran = cli("--db", tmp_path / "anas.db", "import", file, "--user", "ana")
    assert "3 facts added, 0 already there" in ran.out  # hers, and nobody's
    assert "broken: results[1]: the record is of user 'ben'" in ran.err


def test_the_records_of_other_agents_are_left_out_and_counted(cli, tmp_path):
    for agent in ("cook", "assistant"):
        cli("observe", f"Hello {agent}.", "--agent", agent, "--user", "ana")
    cli("export-user", "ana", tmp_path / "ana.jsonl")
    elsewhere = ("--db", tmp_path / "other.db")
    ran = cli(*elsewhere, "import", tmp_path / "ana.jsonl", "--agent", "cook", "--user", "ana")
    assert "1 turn added" in ran.out
    assert ran.err.splitlines()[-1] == "1 record of agent assistant left out; import the file with this agent, too"
    assert ran.code == 0


def test_keys_that_were_not_read_are_named_once(cli, tmp_path):
    file = tmp_path / "chat.jsonl"
    file.write_text('{"content": "a", "thread": 1, "mood": "good"}\n{"content": "b", "thread": 2}\n')
    ran = cli("import", file)
    assert (ran.code, ran.err.splitlines()[-1]) == (0, "keys that were not read: mood, thread")
    assert cli("import", file, "--json").json["ignored_keys"] == ["mood", "thread"]


def test_strict_stops_at_the_first_broken_record(cli, tmp_path, database):
    file = write(tmp_path / "chat.jsonl", 450, broken=1)
    ran = cli("import", file, "--strict", "--json")
    assert (ran.code, ran.out, ran.error["code"]) == (3, "", "unreadable_import")
    assert "line 451" in ran.error["message"]
    assert episodes(database) == 450  # all that came before it


def test_the_format_can_be_said(cli, tmp_path):
    file = write(tmp_path / "chat.jsonl", 1)
    assert cli("import", file, "--format", "jsonl", "--json").json["format"] == "jsonl"
    ran = cli("import", file, "--format", "telegram")
    assert ran.code == 2
    assert "choose one of: auto, chatgpt" in ran.err


def test_vectors_are_made_unless_they_are_left_for_later(cli, tmp_path, monkeypatch):
    monkeypatch.setenv("ENGRAIN_EMBEDDING__MODEL", "minilm")
    file = write(tmp_path / "chat.jsonl", 80)
    cli("import", file)
    assert cli("stats", "--json").json["pending_embeddings"] == 0
    other = ["--agent", "other"]
    cli("import", file, "--no-embed", *other)
    assert cli("stats", "--json", *other).json["pending_embeddings"] > 0
    assert cli("recall", "kettle 7", "--json", *other).code == 0  # a search does not stay to make them
    assert cli("stats", "--json", *other).json["pending_embeddings"] > 0
    cli("import", file, *other)
    assert cli("stats", "--json", *other).json["pending_embeddings"] == 0


@pytest.fixture
def broken_installation(tmp_path):
    """The environment of a machine where the default embedder cannot be loaded."""
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "onnxruntime.py").write_text("raise ImportError('its library is missing')")
    path = os.pathsep.join([str(tmp_path / "broken"), os.environ.get("PYTHONPATH", "")])
    return {"PYTHONPATH": path, "ENGRAIN_EMBEDDING__MODEL": "minilm"}


def test_without_an_embedder_the_turns_are_kept_and_the_exit_code_is_5(
    process, tmp_path, database, broken_installation
):
    file = write(tmp_path / "chat.jsonl", 5)
    ran = process("import", file, "--json", **broken_installation)
    assert (ran.code, ran.out, ran.error["code"]) == (5, "", "engine_unavailable")
    assert "run the same command again" in ran.error["message"]
    assert episodes(database) == 5
    ran = process("import", file, **broken_installation)
    assert ran.code == 5
    assert "0 turns added, 5 already there" in ran.err


def test_without_an_embedder_one_turn_is_stored_all_the_same(process, broken_installation):
    ran = process("observe", "a kettle", **broken_installation)
    assert ran.code == 0
    assert "stored, and found by keywords" in ran.err
    found = process("recall", "kettle", "--json", **broken_installation)
    assert [hit["memory"]["content"] for hit in found.json["hits"]] == ["a kettle"]
    assert process("doctor", **broken_installation).code == 1


def test_a_command_that_adds_makes_the_vectors_that_wait(cli, tmp_path, monkeypatch):
    monkeypatch.setenv("ENGRAIN_EMBEDDING__MODEL", "minilm")
    cli("import", write(tmp_path / "chat.jsonl", 130), "--no-embed")
    ran = cli("observe", "one more")
    assert "making the vectors of" in ran.err
    assert cli("stats", "--json").json["pending_embeddings"] == 0


def test_interrupted_while_reading_it_leaves_whole_turns_and_a_second_run_completes_it(
    terminal, cli, tmp_path, database
):
    file = write(tmp_path / "chat.jsonl", TURNS)
    started = terminal("import", file)
    started.read_until(r"reading turns\D+[1-9]")
    os.kill(started.process.pid, signal.SIGINT)
    assert started.finish() == ExitCode.INTERRUPTED
    assert "run the same command again to complete it" in " ".join(started.shown.split())
    assert "Traceback" not in started.shown
    stored = episodes(database)
    assert 0 < stored < TURNS
    assert stored % 500 == 0
    report = cli("import", file, "--json").json
    assert (report["added"], report["present"]) == (TURNS - stored, stored)
    assert episodes(database) == TURNS
    assert cli("doctor", "--thorough", "--json").json["problems"] == []


def test_interrupted_while_making_vectors_it_keeps_every_turn(terminal, cli, tmp_path, database, monkeypatch):
    monkeypatch.setenv("ENGRAIN_EMBEDDING__MODEL", "minilm")
    file = write(tmp_path / "chat.jsonl", 1_500)
    started = terminal("import", file)
    started.read_until(r"making vectors")
    os.kill(started.process.pid, signal.SIGINT)
    assert started.finish() == ExitCode.INTERRUPTED
    assert episodes(database) == 1_500
    waiting = cli("stats", "--json").json["pending_embeddings"]
    assert 0 < waiting <= 1_500
    report = cli("import", file, "--json").json
    assert (report["added"], report["present"]) == (0, 1_500)
    assert cli("stats", "--json").json["pending_embeddings"] == 0


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_nothing_is_drawn_where_nobody_watches(cli, tmp_path, options):
    ran = cli("import", write(tmp_path / "chat.jsonl", 50), *options)
    assert not re.search(r"reading|making|\x1b", ran.out + ran.err)


def test_a_terminal_shows_how_far_it_is_and_ends_with_the_counts(terminal, tmp_path):
    started = terminal("import", write(tmp_path / "chat.jsonl", 1_000))
    assert started.finish() == 0
    assert "reading turns" in started.shown
    assert "1,000 turns added" in started.shown
