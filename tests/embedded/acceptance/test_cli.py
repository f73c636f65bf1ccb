"""Each command as a person and as a program reads it: the library's answer, and nothing else on stdout."""

import io
import os
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from engrain import Memory, __version__
from tests.support.uncounted import uncounted

ESCAPE = "\x1b"
QUESTION = "How much did the cedar for the canoe cost?"


def library(database, question):
    """What the library answers on the same file."""
    with Memory.open(database) as memory:
        answer = question(memory.agent())
        memory.close(flush=False)
    return answer.to_dict()


def test_the_version_is_the_packages(cli):
    assert cli("--version").out == f"engrain {__version__}\n"


def test_no_command_shows_what_there_is_and_is_a_usage_error(cli):
    ran = cli()
    assert ran.code == 2
    assert ran.out == ""
    assert "Find memories:" in ran.err


def test_the_module_is_the_command(process):
    assert process("--version").out == f"engrain {__version__}\n"


def test_help_is_quick_because_it_loads_nothing_heavy():
    program = (
        "import sys; from engrain.interfaces.cli import main; code = main(['recall', '--help']) + main(['--help']);"
        " sys.stderr.write(' '.join(sys.modules)); sys.exit(code)"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = {name.partition(".")[0] for name in ran.stderr.split()}
    assert "Find memories:" in ran.stdout
    assert "typer" in loaded
    assert not loaded & {
        "numpy",
        "onnxruntime",
        "apsw",
        "tokenizers",
        "Stemmer",
        "pydantic_settings",
        "rich",
        "sqlite3",
    }


def test_the_first_use_of_a_file_says_where_it_is_and_the_second_does_not(cli, database):
    first, second = cli("stats").err, cli("stats").err
    assert first == f"memory: {database} (new)\n{second}"
    assert str(database) not in second


def test_a_program_is_not_told_about_a_new_file(cli):
    ran = cli("stats", "--json")
    assert ran.err == ""
    assert ran.json["episodes"]["total"] == 0


def test_observe_stores_what_it_is_told(cli, database):
    ran = cli(
        *("observe", "I moved to Lisbon.", "--role", "user", "--speaker", "Ana", "--session", "s1"),
        *("--time", "2026-05-01T09:00:00+02:00", "--tag", "home", "--tag", "move", "--json"),
    )
    stored = ran.json
    assert (stored["content"], stored["role"], stored["speaker"]) == ("I moved to Lisbon.", "user", "Ana")
    assert (stored["session"], stored["turn"], stored["event_time"]) == ("s1", 1, "2026-05-01T07:00:00Z")
    assert stored["tags"] == ["home", "move"]
    assert stored == library(database, lambda agent: agent.get(stored["id"], as_of="9999-01-01"))


def test_observe_tells_a_person_the_id_and_the_place(cli):
    ran = cli("observe", "I moved to Lisbon.", "--session", "s1")
    assert re.fullmatch(r"observed [0-9a-f-]{36} in session s1, turn 1\n", ran.out)


def test_observe_reads_stdin_as_utf_8_whatever_the_locale(process):
    text = "Grüße aus Łódź\nand a second line"
    ran = process("observe", "-", "--json", stdin=text.encode(), LC_ALL="C", PYTHONIOENCODING="ascii")
    assert ran.json["content"] == text


def test_stdin_that_is_no_text_is_refused(process):
    ran = process("observe", "-", stdin=b"\xff\xfe\x00")
    assert ran.code == 2
    assert ran.err.splitlines()[-1].startswith("engrain: stdin is not UTF-8")


def test_remember_supersedes_what_was_true_before(cli, database):
    where = ("--subject", "Ana", "--predicate", "lives in")
    before = cli("remember", "Porto", *where, "--permanence", "stable", "--tag", "home", "--json").json
    ran = cli(
        "remember", "Lisbon", *where, "--from", "2026-05-01", "--to", "2027-05-01", "--scope", "assistant", "--json"
    )
    after = ran.json
    assert (after["valid_from"], after["valid_to"]) == ("2026-05-01T00:00:00Z", "2027-05-01T00:00:00Z")
    assert (before["permanence"], before["tags"]) == ("stable", ["home"])
    assert after["supersedes_id"] == before["id"]
    assert after == library(database, lambda agent: agent.get(after["id"], as_of="9999-01-01"))


def test_remember_tells_a_person_what_is_now_true(cli):
    cli("remember", "Porto", "--subject", "Ana", "--predicate", "lives in")
    ran = cli("remember", "Lisbon", "--subject", "Ana", "--predicate", "lives in", "--from", "2026-05-01")
    first, second, third = ran.out.splitlines()
    assert first.startswith("remembered ")
    assert second == "Ana lives in: Lisbon since 2026-05-01"
    assert third.startswith("supersedes ")


def test_recall_answers_a_program_as_the_library_does(chat, database):
    ran = chat("recall", QUESTION, "--limit", 4, "--json")
    assert len(ran.json["hits"]) == 4
    expected = library(database, lambda agent: agent.recall(QUESTION, limit=4))
    assert uncounted(ran.json) == uncounted(expected)


def test_recall_in_a_pipe_gives_a_line_to_each_hit_uncut_and_plain(chat, database):
    ran = chat("recall", QUESTION, "--limit", 5)
    header, *lines = ran.out.splitlines()
    hits = library(database, lambda agent: agent.recall(QUESTION, limit=5))["hits"]
    assert header.split() == ["date", "who", "score", "why", "id", "text"]
    assert len(lines) == len(hits) == 5
    assert ESCAPE not in ran.out
    for line, hit in zip(lines, hits, strict=True):
        memory = hit["memory"]
        cells = line.split("\t")
        assert len(cells) == len(header.split("\t"))
        assert cells[-1] == " ".join(memory["content"].split())
        assert cells[:2] == [memory["event_time"][:10], memory["speaker"]]
        assert memory["id"] in line
        assert f"{hit['score']:.3f}" in line
        for contribution in hit["why"]["contributions"]:
            assert f"{contribution['channel']} {contribution['value']:.2f}" in line


def test_a_long_text_is_whole_in_a_pipe(cli):
    text = " ".join(f"kettle{number}" for number in range(2_000))
    cli("observe", text)
    assert text in cli("recall", "kettle77").out


def test_what_a_search_did_without_is_beside_the_answer(chat):
    assert chat("recall", "canoe").err.startswith("note: keywords alone")
    ran = chat("recall", "canoe", "--json")
    assert ran.err == ""
    assert len(ran.json["degraded"]) == 1


def test_nothing_found_is_no_error(cli):
    ran = cli("recall", "kettle")
    assert (ran.code, ran.out) == (0, "")
    assert "nothing found" in ran.err


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--speaker", "Ana"], {"red kettle", "green kettle"}),
        (["--speaker", "Ana", "--speaker", "Bo"], {"red kettle", "green kettle", "blue kettle"}),
        (["--role", "assistant"], {"white kettle"}),
        (["--session", "s1"], {"red kettle", "white kettle"}),
        (["--exclude-session", "s1", "--kind", "episode"], {"green kettle", "blue kettle"}),
        (["--tag", "a", "--tag", "b"], {"green kettle"}),
        (["--since", "2026-02-01", "--until", "2026-03-01"], {"white kettle"}),
        (["--kind", "fact"], {"a kettle of copper"}),
        (["--kind", "fact", "--kind", "episode", "--limit", "9", "--preset", "keyword"], None),
    ],
)
def test_recall_narrows(cli, options, expected):
    said = [
        ("red kettle", "s1", "user", "Ana", "2026-01-05", ["a"]),
        ("white kettle", "s1", "assistant", "Helper", "2026-02-05", []),
        ("green kettle", "s2", "user", "Ana", "2026-03-05", ["a", "b"]),
        ("blue kettle", "s2", "user", "Bo", "2026-04-05", ["b"]),
    ]
    for content, session, role, speaker, time, tags in said:
        filed = [word for tag in tags for word in ("--tag", tag)]
        cli(
            *("observe", content, "--session", session, "--role", role, "--speaker", speaker, "--time", time),
            *filed,
        )
    cli("remember", "a kettle of copper", "--subject", "Ana", "--predicate", "owns", "--from", "2025-01-01")
    everything = {content for content, *_ in said} | {"a kettle of copper"}
    ran = cli("recall", "kettle", *options, "--json")
    assert {hit["memory"]["content"] for hit in ran.json["hits"]} == (expected or everything)


def test_context_prints_the_block_and_nothing_else(chat, database):
    block = library(database, lambda agent: agent.context(QUESTION, budget_tokens=200))
    ran = chat("context", QUESTION, "--budget", 200)
    assert ran.out == block["text"] + "\n"
    assert uncounted(chat("context", QUESTION, "--budget", 200, "--json").json) == uncounted(block)
    assert 0 < block["tokens"] <= 200


def test_context_leaves_the_current_session_out(chat):
    held = {memory["session"] for memory in chat("context", QUESTION, "--json").json["memories"]}
    assert "2025-04-27-morning" in held
    ran = chat("context", QUESTION, "--session", "2025-04-27-morning", "--json")
    assert "2025-04-27-morning" not in {memory["session"] for memory in ran.json["memories"]}


def test_get_shows_every_field_and_the_content_as_it_was(cli, database):
    text = "two\n  lines"
    id_ = cli("observe", text, "--speaker", "Ana", "--json").json["id"]
    ran = cli("get", id_)
    fields, _, content = ran.out.partition("\n\n")
    assert content == text + "\n"
    assert dict(line.split(maxsplit=1) for line in fields.splitlines()).items() >= {"id": id_, "speaker": "Ana"}.items()
    shown = cli("get", id_, "--as-of", "9999-01-01", "--json").json
    assert shown == library(database, lambda agent: agent.get(id_, as_of="9999-01-01"))


def test_a_memory_that_is_not_there_is_exit_code_1(cli):
    ran = cli("get", "0199-unknown")
    assert (ran.code, ran.out) == (1, "")
    assert "0199-unknown" in ran.err
    assert cli("forget", "0199-unknown").code == 1


def test_another_agents_memory_is_not_there(cli):
    id_ = cli("observe", "mine", "--agent", "one", "--json").json["id"]
    assert cli("get", id_, "--agent", "one").code == 0
    assert cli("get", id_, "--agent", "two").code == 1
    assert cli("get", id_, "--agent", "one", "--tenant", "elsewhere").code == 1


def test_forget_says_what_is_gone_and_it_is(cli):
    id_ = cli("observe", "a green kettle", "--speaker", "Ana", "--time", "2026-01-05", "--json").json["id"]
    assert cli("forget", id_).out == "forgotten (episode, expired): 2026-01-05 Ana: a green kettle\n"
    assert cli("recall", "kettle", "--json").json["hits"] == []
    assert cli("get", id_).code == 0


def test_forget_gives_a_program_the_memory_as_it_is_now(cli):
    id_ = cli("remember", "Lisbon", "--subject", "Ana", "--predicate", "lives in", "--json").json["id"]
    gone = cli("forget", id_, "--json").json
    assert (gone["id"], gone["validity"]) == (id_, "retracted")


def test_stats_counts(chat, database):
    counted = chat("stats", "--json").json
    episodes = counted["episodes"]
    assert (episodes["total"], episodes["sessions"], episodes["speakers"]) == (308, 11, 2)
    with Memory.open(database) as memory:
        now = memory.agent().stats().to_dict()
    assert 0 <= episodes.pop("backlog_age_hours") <= now["episodes"].pop("backlog_age_hours")
    assert counted == now
    assert re.search(r"^episodes total +308$", chat("stats").out, flags=re.MULTILINE)


def test_the_shared_options_stand_before_or_after_the_command(cli, tmp_path):
    cli("--agent", "one", "observe", "kettle")
    assert cli("--agent", "one", "stats", "--json").json["episodes"]["total"] == 1
    assert cli("--json", "stats", "--agent", "one").json["episodes"]["total"] == 1
    other = tmp_path / "other.db"
    assert cli("--db", other, "--json", "stats").json["episodes"]["total"] == 0
    assert other.exists()


def test_of_two_shared_options_the_later_one_wins(cli):
    ran = cli("--agent", "one", "--tenant", "first", "stats", "--agent", "two", "--tenant", "second", "--json")
    assert (ran.json["agent"], ran.json["tenant_id"]) == ("two", "second")


def test_json_is_utf_8_and_readable_in_every_locale(process):
    ran = process("observe", "Łódź ☕ café", "--json", LC_ALL="C", PYTHONIOENCODING="ascii")
    assert '"content": "Łódź ☕ café"' in ran.out


def test_an_argument_of_utf_8_is_read_so_where_the_locale_knows_ascii_alone(process):
    said = ("remember", "Łódź ☕", "--subject", "Żaneta", "--tag", "café", "--json")
    fact = process(*said, LC_ALL="C", PYTHONUTF8="0").json
    assert (fact["content"], fact["subject"], fact["tags"]) == ("Łódź ☕", "Żaneta", ["café"])


@pytest.mark.parametrize("said", [("observe", b"caf\xe9"), ("remember", "cafe", "--tag", b"caf\xe9")])
def test_an_argument_that_is_not_utf_8_is_refused_and_not_stored_without_its_letters(process, database, said):
    ran = process(*map(os.fsdecode, said))
    assert ran.code == 2
    assert "it is not UTF-8 text: byte 3 of b'caf\\xe9' is 0xe9; convert it" in ran.err
    assert not database.exists()


def test_text_never_fails_for_the_encoding_of_a_pipe(process):
    process("observe", "a ☕ kettle")
    ran = process("recall", "kettle", PYTHONIOENCODING="ascii")
    assert ran.code == 0
    assert "a \\u2615 kettle" in ran.out


def test_other_peoples_words_cannot_command_the_terminal(cli):
    id_ = cli("observe", "kettle \x1b]0;owned\x07 and \x9b31m red", "--speaker", "A\x1b[2Jna", "--json").json["id"]
    for command in (["recall", "kettle"], ["get", id_], ["context", "kettle"], ["forget", id_]):
        shown = cli(*command).out
        assert not {ESCAPE, "\x07", "\x9b"} & set(shown)
        assert "\\x1b" in shown


def test_times_are_iso_8601_in_utc(cli):
    stored = cli("observe", "now", "--json").json
    assert stored["event_time"].endswith("Z")
    assert abs(datetime.now(UTC) - datetime.fromisoformat(stored["event_time"])).total_seconds() < 3_600


def test_stdin_may_be_replaced_in_process(cli, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("\ufeffwith a mark".encode())))
    assert cli("observe", "-", "--json").json["content"] == "with a mark"


def test_settings_come_from_the_file_that_is_named_before_or_after_the_command(cli, database, monkeypatch):
    own, host = database.with_name("own.toml"), database.with_name("butler.toml")
    own.write_text('agent = "ana"\n', encoding="utf-8")
    host.write_text('[butler]\nname = "b"\n[modules.memory]\nagent = "bo"\n', encoding="utf-8")
    assert (
        cli("--config", own, "remember", "tea", "--subject", "Ana", "--predicate", "likes", "--scope", "ana").code == 0
    )

    def seen(*options):
        return len(cli("recall", "tea", "--json", *options).json["hits"])

    assert (seen(), seen("--config", own), seen("--config", host)) == (0, 1, 0)
    monkeypatch.setenv("ENGRAIN_CONFIG", str(own))
    assert (seen(), seen("--config", host)) == (1, 0)
    missing = cli("stats", "--config", "nowhere.toml")
    assert missing.code == 2
    assert "nowhere.toml cannot be read" in missing.err


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["recall", "tea", "--limit=-3"], "limit is -3; it must lie in [0, 1,000]"),
        (["observe", "Tea.", "--importance", "11"], "importance is 11.0; it must lie in [0, 10]"),
    ],
)
def test_a_number_out_of_its_bounds_is_refused_before_a_memory_is_made(cli, database, command, said):
    refused = cli(*command)
    assert (refused.code, said in refused.err) == (2, True)
    assert not Path(database).exists()


def test_an_erasure_of_a_tenant_tells_a_person_the_rows_of_each_table(cli):
    cli("observe", "Tea.")
    assert re.search(r"^rows of episodes +1$", cli("tenants", "erase", "default", "--yes").out, re.MULTILINE)
