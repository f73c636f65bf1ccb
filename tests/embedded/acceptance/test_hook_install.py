"""`engrain mcp install CLIENT --hooks`: hooks in the settings of a coding assistant, beside what is there."""

import json
import os
import subprocess
from types import SimpleNamespace

import pytest

from engrain import Memory
from engrain.interfaces.assistants import installation
from engrain.interfaces.assistants.protocols import PROTOCOLS
from tests.support import assistant_events as events

CLIENTS = sorted(installation.FILES)
STORING = {"codex": "UserPromptSubmit", "cursor": "beforeSubmitPrompt", "gemini": "AfterAgent", "claude-code": "Stop"}


@pytest.fixture
def home(tmp_path, monkeypatch):
    folder = tmp_path / "home"
    folder.mkdir()
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(folder))
    for name in ("CODEX_HOME", "CLAUDE_CONFIG_DIR", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    return folder


def hooks_of(client, home):
    return json.loads(installation.hooks_path(client, home=home).read_text(encoding="utf-8"))["hooks"]


def commands_of(entries):
    return [command["command"] for entry in entries for command in entry.get("hooks", [entry])]


def payload_of(client, home):
    if client != "claude-code":
        return {"codex": events.codex, "cursor": events.cursor, "gemini": events.gemini}[client](home)[STORING[client]]
    transcript = events.Transcript(home / "a.jsonl")
    transcript.user("The shop listens on port 8443")
    return events.claude_code(home, transcript.path)["Stop"]


@pytest.mark.parametrize("client", CLIENTS)
def test_a_command_that_was_installed_stores_a_turn_in_the_memory_that_was_named(cli, home, database, client):
    ran = cli("mcp", "install", client, "--hooks")
    assert ran.code == 0, ran.err
    assert str(installation.hooks_path(client, home=home)) in ran.out
    found = hooks_of(client, home)
    assert set(found) == set(PROTOCOLS[client].events) - installation.FILES[client].skips
    [command] = commands_of(found[STORING[client]])
    hooked = subprocess.run(
        command,
        shell=True,
        input=json.dumps(payload_of(client, home)).encode(),
        cwd=home,
        env={**os.environ, "ENGRAIN_DB": str(home / "another.db")},
        capture_output=True,
        check=False,
    )
    assert (hooked.returncode, hooked.stderr) == (0, b"")
    with Memory.open(database, settings={"embedding": {"model": "none"}}) as memory:
        stored = [episode.content for episode in memory.agent().list("episode")]
        assert "The shop listens on port 8443" in stored
    assert not (home / "another.db").exists()


@pytest.mark.parametrize("client", CLIENTS)
def test_what_is_there_stays_and_an_earlier_installation_goes(cli, home, client):
    path = installation.hooks_path(client, home=home)
    path.parent.mkdir(parents=True)
    other = {"type": "command", "command": "notify 'engrain hook Stop'"}
    ours = {"type": "command", "command": "/old/bin/engrain hook Stop --db /old.db"}
    stop = next(event for event, moment in PROTOCOLS[client].events.items() if moment == "turn")
    has_groups = installation.FILES[client].has_groups
    there = [{"matcher": "x", "hooks": [other, ours]}, {"hooks": [ours]}] if has_groups else [other, ours]
    path.write_text(json.dumps({"theme": "d\u00e4mmrig", "hooks": {"Odd": [other], stop: there}}), encoding="utf-8")
    assert cli("--agent", "coder", "mcp", "install", client, "--hooks").code == 0
    document = json.loads(path.read_text(encoding="utf-8"))
    assert document["theme"] == "d\u00e4mmrig"
    assert document["hooks"]["Odd"] == [other]
    kept, new = commands_of(document["hooks"][stop])
    assert kept == other["command"]
    assert "/old" not in new
    assert "--agent coder" in new
    first = path.read_bytes()
    assert cli("--agent", "coder", "mcp", "install", client, "--hooks").code == 0
    assert path.read_bytes() == first


@pytest.mark.parametrize("client", CLIENTS)
def test_print_writes_nothing_and_shows_both(cli, home, client):
    ran = cli("mcp", "install", client, "--hooks", "--print")
    assert ran.code == 0, ran.err
    assert str(installation.hooks_path(client, home=home)) in ran.out
    assert "hook " in ran.out
    assert "mcp" in ran.out
    assert list(home.iterdir()) == []


@pytest.mark.parametrize("before", ["{/* mine */}", "[]", '{"hooks": []}', '{"hooks": {"Stop": {}}}'])
def test_what_cannot_be_merged_stays_as_it_is_and_the_server_is_not_installed_either(cli, home, before):
    path = installation.hooks_path("claude-code", home=home)
    path.parent.mkdir(parents=True)
    path.write_text(before, encoding="utf-8")
    ran = cli("mcp", "install", "claude-code", "--hooks")
    assert ran.code == 2
    assert "--print" in ran.err
    assert path.read_text(encoding="utf-8") == before
    assert not (home / ".claude.json").exists()


def test_a_client_without_hooks_is_named(cli, home):
    ran = cli("mcp", "install", "vscode", "--hooks")
    assert ran.code == 2
    assert "vscode has no hooks" in ran.err
    assert "cursor" in ran.err
    assert list(home.iterdir()) == []


@pytest.mark.parametrize("client", ["claude-code", "cursor"])
def test_what_is_removed_is_shown_without_hooks_of_others(cli, home, client):
    assert cli("mcp", "install", client, "--hooks").code == 0
    path = installation.hooks_path(client, home=home)
    settings = json.loads(path.read_text(encoding="utf-8"))
    alone = json.loads(path.read_text(encoding="utf-8"))["hooks"]
    for groups in settings["hooks"].values():
        groups[0].get("hooks", groups).insert(0, {"command": "notify-send mine"})
    path.write_text(json.dumps(settings), encoding="utf-8")
    shown = cli("mcp", "uninstall", client, "--print", "--json").json["removed"]
    assert [part["removed"] for part in shown if part["path"] == str(path)] == [alone]


WINDOWS = r"C:\Users\Ana (home)\engrain.exe"


@pytest.mark.parametrize("program", [r"C:\tools\engrain.exe", WINDOWS])
def test_on_windows_bash_gives_the_command_its_words(monkeypatch, program):
    """Claude Code's hooks run in Git's bash there: https://github.com/anthropics/claude-code/issues/21878."""
    monkeypatch.setattr(installation, "sys", SimpleNamespace(platform="win32"))
    options = ["--db", r"C:\Users\Ana (home)\memory.db", "--user", "O'Brien"]
    entries = installation.build_hooks("claude-code", [program], options)
    [line] = commands_of([entries["Stop"]])
    asked = subprocess.run(["bash", "-c", f"printf '%s\\n' {line}"], capture_output=True, text=True, check=True)
    forward = [word.replace("\\", "/") for word in [program, "hook", "Stop", *options]]
    assert asked.stdout.splitlines() == forward
    merged = installation.merge_hooks("claude-code", "", entries, where="settings")
    assert json.loads(installation.remove_hooks(merged, where="settings")[0])["hooks"] == {}
