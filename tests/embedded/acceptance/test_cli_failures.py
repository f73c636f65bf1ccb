"""Every failure is one line that says what to do, with a code a script can branch on, and never a traceback."""

import errno
import json
import os
import sqlite3
import subprocess
import sys
from types import SimpleNamespace
from typing import Literal, get_args, get_origin

import pytest

from engrain import errors
from engrain.interfaces.cli.failures import ExitCode, exit_code, report
from engrain.interfaces.cli.verb_commands import options_of
from engrain.verbs.signatures import signature
from engrain.verbs.table import VERBS

CODES = {
    errors.EngrainError: 1,
    errors.InvalidInput: 2,
    errors.UnreadableImport: 3,
    errors.UntrustedSettings: 2,
    errors.UnusableBackup: 2,
    errors.NotFound: 1,
    errors.VersionConflict: 1,
    errors.MemoryClosed: 1,
    errors.CannotListen: 2,
    errors.Unauthenticated: 1,
    errors.Forbidden: 1,
    errors.RateLimited: 1,
    errors.EngineUnavailable: 5,
    errors.StorageError: 3,
    errors.NotAnEngrainFile: 3,
    errors.SchemaTooNew: 3,
    errors.DatabaseDamaged: 3,
    errors.DatabaseReadOnly: 3,
    errors.DatabaseFull: 3,
    errors.DatabaseBusy: 4,
    errors.DatabaseUnreachable: 3,
    errors.IntegrityViolated: 3,
    errors.OutcomeUnknown: 3,
}


def every_error(root=errors.EngrainError):
    return {root}.union(*(every_error(leaf) for leaf in root.__subclasses__()))


def only_line(ran):
    [line] = ran.err.splitlines()
    assert line.startswith("engrain: ")
    assert ran.out == ""
    return line


def test_every_error_of_the_library_has_its_exit_code():
    assert {each: int(exit_code(each("why"))) for each in every_error() if each.__module__ == errors.__name__} == CODES


@pytest.mark.parametrize(
    "arguments",
    [
        ["recal", "kettle"],
        ["recall"],
        ["recall", "kettle", "--unknown"],
        ["recall", "kettle", "--limit", "many"],
        ["recall", "where", "is", "it"],
        ["remember", "--subject", "Ana"],
        ["--unknown"],
    ],
)
def test_usage_errors_name_the_help_that_answers_them(cli, arguments):
    ran = cli(*arguments)
    assert ran.code == 2
    assert "--help shows what there is" in only_line(ran)


@pytest.mark.parametrize(
    ("arguments", "usage"),
    [
        (["recall", "where", "is", "it"], "engrain recall [OPTIONS] {QUERY}, with a text of several words in quotes ("),
        (["facts", "Ana"], "engrain facts [OPTIONS] ("),
    ],
)
def test_words_too_many_are_answered_with_the_usage(cli, arguments, usage):
    assert f"; the usage is {usage}" in only_line(cli(*arguments))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["recall", "kettle", "--limit", "many"], "'many' is not a whole number"),
        (["observe", "The kettle.", "--tokens", "1.5"], "'1.5' is not a whole number"),
        (["recall", "kettle", "--min-confidence", "high"], "'high' is not a number"),
    ],
)
def test_a_value_that_is_no_number_is_named(cli, arguments, message):
    assert message in only_line(cli(*arguments))


def test_nobody_is_told_to_change_the_mode_of_a_file_of_another_program(cli, tmp_path):
    other = tmp_path / "notes.txt"
    other.write_text("kettle, tea, milk\n" * 100, encoding="utf-8")
    other.chmod(0o644)
    ran = cli("--db", str(other), "recall", "kettle")
    assert ran.code == 3
    assert "this is not a SQLite file" in only_line(ran)


def test_an_option_without_its_value_leads_to_the_help_of_its_command(cli):
    assert "requires an argument. (engrain recall --help" in only_line(cli("recall", "kettle", "--limit"))
    assert "requires an argument. (engrain keys create --help" in only_line(cli("keys", "create", "--role"))


def test_a_mistyped_command_is_recognised(cli):
    assert "Did you mean 'recall'" in only_line(cli("recal", "kettle"))


def test_a_program_gets_usage_errors_as_json(cli):
    ran = cli("recall", "--json")
    assert (ran.code, ran.out) == (2, "")
    assert ran.error["code"] == "usage"


@pytest.mark.parametrize(
    "arguments",
    [
        ["recall", "kettle", "--preset", "best"],
        ["recall", "kettle", "--limit", "-1"],
        ["recall", "kettle", "--since", "once upon a time"],
        ["recall", "kettle", "--kind", "rumour"],
        ["observe", "   "],
        ["observe", "hello", "--role", "narrator"],
        ["remember", "x", "--subject", "a", "--predicate", "b", "--from", "2026-02-01", "--to", "2026-01-01"],
        ["remember", "x", "--subject", "a", "--predicate", "b", "--scope", "somebody"],
        ["context", "kettle", "--budget", "-5"],
        ["stats", "--agent", "global"],
        ["stats", "--db", "mysql://nowhere"],
    ],
)
def test_values_that_are_refused_are_exit_code_2(cli, arguments):
    cli("stats")
    ran = cli(*arguments)
    assert ran.code == 2
    only_line(ran)
    as_json = cli(*arguments, "--json")
    assert (as_json.code, as_json.out) == (2, "")
    assert as_json.error["code"] == "invalid_input"


def bad_values():
    """A command line for each command that takes a number in bounds, one of some words, JSON or a time."""
    for made in (signature(verb.name) for verb in VERBS if verb.command_name is not None):
        options = {option.name: option for option in options_of(made)}
        bad = {name: bad_value(made.by_name[name]) for name in options if name in made.by_name}
        wrong = next((name for name, value in bad.items() if value is not None), None)
        if wrong is None:
            continue
        line = made.verb.command_name.split()
        for name, option in options.items():
            if option.is_required or name == wrong:
                value = bad[name] if name == wrong else made.by_name[name].word.example or "x"
                text = value if isinstance(value, str) else json.dumps(value)
                line.append(f"{option.flags[0]}={text}" if option.flags else text)
        yield pytest.param(line, id=made.verb.name)


def bad_value(parameter):
    """A value that a parameter refuses; None where any text will do."""
    items = get_args(parameter.json_type) if get_origin(parameter.json_type) is list else (parameter.json_type,)
    if parameter.word.high is not None:
        return str(parameter.word.high + 1)
    if get_origin(items[0]) is Literal:
        return "nonsense"
    if get_origin(items[0]) is dict:
        return "[4]"
    return "soon" if parameter.word.metavar == "TIME" else None


@pytest.mark.parametrize("line", [*bad_values()])
def test_each_command_refuses_a_bad_value(cli, line):
    cli("pools", "create", "docs")
    ran = cli(*line, "--json")
    assert (ran.code, ran.out, ran.error["code"]) == (2, "", "invalid_input")


def test_an_unknown_setting_is_exit_code_2(cli, monkeypatch):
    monkeypatch.setenv("ENGRAIN_LIMT", "3")
    ran = cli("stats")
    assert ran.code == 2
    assert "given by ENGRAIN_LIMT, is unknown; did you mean retrieval.limit?" in only_line(ran)


def test_a_file_that_is_not_there_cannot_be_imported(cli):
    cli("stats")
    ran = cli("import", "nowhere.json")
    assert ran.code == 3
    assert "nowhere.json does not exist" in only_line(ran)


@pytest.mark.parametrize(
    "command", [["stats"], ["observe", "A turn"], ["migrate"], ["migrate", "--check"], ["copy", "TARGET", "b.db"]]
)
def test_a_server_that_is_named_as_libpq_names_it_is_no_file(cli, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    words = "host=127.0.0.1 password=s3cret dbname=memory"
    refused = cli("--db", words, *[words if word == "TARGET" else word for word in command])
    assert refused.code == 2
    assert "give postgresql://user@host:port/dbname" in only_line(refused)
    assert "s3cret" not in refused.err + cli("--db", words, "config", "db").out
    assert list(tmp_path.glob("*host*")) == []


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["keys", "revoke", "k1"], "tenant default has no key k1; list the keys to see those it has"),
        (["jobs", "retry", "j1"], "there is no job 'j1'; list the jobs to see their ids"),
        (["undo", "r1"], "agent assistant has no run r1; list the runs to see their ids"),
    ],
)
def test_what_is_not_there_is_said_in_words_that_hold_for_a_command(cli, command, said):
    cli("stats")
    assert said in only_line(cli(*command))


def test_a_file_of_something_else_is_left_as_it_is(cli, tmp_path):
    letter = tmp_path / "letter.txt"
    letter.write_text("Dear Ana, " * 1_000)
    with sqlite3.connect(tmp_path / "shop.db") as shop:
        shop.execute("CREATE TABLE orders (id INTEGER)")
    shop.close()
    before = letter.read_bytes()
    for file in ("letter.txt", "shop.db"):
        ran = cli("stats", "--db", file, "--json")
        assert (ran.code, ran.out, ran.error["code"]) == (3, "", "not_an_engrain_file")
    assert letter.read_bytes() == before
    with sqlite3.connect(tmp_path / "shop.db") as shop:
        assert shop.execute("SELECT name FROM sqlite_schema").fetchall() == [("orders",)]
    shop.close()


def test_a_newer_schema_is_exit_code_3(cli, database):
    cli("stats")
    from_the_future(database)
    ran = cli("stats")
    assert ran.code == 3
    assert "upgrade engrain" in only_line(ran)


def from_the_future(database):
    with sqlite3.connect(database) as file:
        file.execute("UPDATE alembic_version SET version_num = 'mem_999'")
    file.close()


def test_a_damaged_file_is_exit_code_3(chat, database):
    content = bytearray(database.read_bytes())
    content[4_096 : len(content) - 4_096] = b"\x5a" * (len(content) - 8_192)
    database.write_bytes(content)
    ran = chat("stats", "--json")
    assert (ran.code, ran.error["code"]) == (3, "database_damaged")


@pytest.mark.parametrize("place", ["folder", "letter.txt/memory.db"])
def test_a_place_where_no_file_can_be_is_exit_code_3(cli, tmp_path, place):
    (tmp_path / "folder").mkdir()
    (tmp_path / "letter.txt").write_text("Dear Ana")
    ran = cli("stats", "--db", place)
    assert ran.code == 3
    assert place.partition("/")[0] in only_line(ran)


def test_a_busy_file_is_exit_code_4_and_can_be_tried_again(process, database):
    process("stats")
    other = sqlite3.connect(database, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    # A process of its own: locks of POSIX do not hold between two libraries in one.
    ran = process("observe", "hello", "--json", ENGRAIN_STORAGE__BUSY_TIMEOUT_S="0")
    assert (ran.code, ran.out, ran.error["code"]) == (4, "", "database_busy")
    other.rollback()
    other.close()
    assert process("observe", "hello").code == 0


def test_windows_says_of_a_pipe_without_a_reader_that_its_argument_is_invalid(monkeypatch):
    closed = OSError(errno.EINVAL, "Invalid argument")
    assert exit_code(closed) is ExitCode.STORAGE
    monkeypatch.setattr("engrain.interfaces.cli.failures.sys", SimpleNamespace(platform="win32"))
    assert exit_code(closed) is ExitCode.OUTPUT_CLOSED
    assert exit_code(OSError(errno.EINVAL, "Invalid argument", "a.db")) is ExitCode.STORAGE


def test_a_reader_that_goes_away_ends_the_command_quietly(chat):
    assert chat("recall", "canoe").code == 0
    command = [sys.executable, "-m", "engrain", "recall", "canoe", "--limit", "200"]
    read, write = os.pipe()
    os.close(read)  # nobody reads, from the beginning
    with subprocess.Popen(command, stdout=write, stderr=subprocess.PIPE) as started:
        os.close(write)
        said = started.stderr.read().decode()
        assert started.wait(60) == ExitCode.OUTPUT_CLOSED
    assert said == ""


def test_an_error_is_one_json_document_in_any_language(cli):
    ran = cli("get", "Łódź", "--json")
    assert '"message": "no memory Łódź' in ran.err
    assert json.loads(ran.err) == {"error": {"code": "not_found", "message": ran.error["message"]}}


def test_an_interrupt_is_an_error_like_any_other(capsys):
    assert report(KeyboardInterrupt(), as_json=True) == 130
    assert json.loads(capsys.readouterr().err) == {"error": {"code": "interrupted", "message": "interrupted"}}
    assert report(KeyboardInterrupt("run it again"), as_json=False) == 130
    assert capsys.readouterr().err == "engrain: run it again\n"
