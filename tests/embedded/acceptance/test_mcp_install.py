"""`engrain mcp install`: the configuration of a client, beside what is there, with a command that starts."""

import json
import subprocess
import tomllib
from pathlib import Path

import pytest

from engrain.interfaces.mcp import installation

JSON_CLIENTS = sorted(name for name, client in installation.CLIENTS.items() if not client.is_toml)
OPENING = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


@pytest.fixture
def home(tmp_path, monkeypatch):
    folder = tmp_path / "home"
    folder.mkdir()
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(folder))
    monkeypatch.delenv("CODEX_HOME", raising=False)
    return folder


def place(name, home):
    return installation.config_path(installation.CLIENTS[name], home=home)


def refusal(cli, command, path, name, before):
    """The words with which a command refuses a configuration, which stays as it is."""
    path.parent.mkdir(parents=True)
    path.write_text(before, encoding="utf-8")
    ran = cli("mcp", command, name)
    assert ran.code == 2
    assert path.read_text(encoding="utf-8") == before
    return ran.err


def entries(name, home):
    client, path = installation.CLIENTS[name], place(name, home)
    read = tomllib.loads if client.is_toml else json.loads
    return read(path.read_text(encoding="utf-8"))[client.key]


@pytest.mark.parametrize("name", sorted(installation.CLIENTS))
def test_the_command_that_is_installed_is_absolute_and_names_the_memory(cli, home, database, name):
    ran = cli("mcp", "install", name)
    assert ran.code == 0, ran.err
    assert str(place(name, home)) in ran.out
    entry = entries(name, home)["engrain"]
    assert Path(entry["command"]).is_absolute()
    assert entry["args"][entry["args"].index("--profile") + 1] == "assistant"
    assert entry["args"][entry["args"].index("--db") + 1] == str(database)


@pytest.mark.parametrize("way", ["variables", "a file"])
def test_the_command_that_is_installed_names_whom_the_settings_name(cli, home, monkeypatch, tmp_path, way):
    caller = {"agent": "ada", "tenant": "acme", "user": "ana"}
    options = []
    if way == "variables":
        for name, value in caller.items():
            monkeypatch.setenv(f"ENGRAIN_{name.upper()}", value)
    else:
        file = tmp_path / "engrain.toml"
        file.write_text("".join(f'{name} = "{value}"\n' for name, value in caller.items()), encoding="utf-8")
        options = ["--config", str(file)]
    assert cli(*options, "mcp", "install", "cursor").code == 0
    arguments = entries("cursor", home)["engrain"]["args"]
    assert {name: arguments[arguments.index(f"--{name}") + 1] for name in caller} == caller


def test_the_command_that_is_installed_is_the_same_for_every_client_and_starts_the_server(cli, home):
    commands = set()
    for name in installation.CLIENTS:
        assert cli("mcp", "install", name).code == 0
        entry = entries(name, home)["engrain"]
        commands.add((entry["command"], *entry["args"]))
    [command] = commands
    served = subprocess.run(
        command, input=json.dumps(OPENING) + "\n", capture_output=True, text=True, timeout=120, check=False, cwd=home
    )
    assert json.loads(served.stdout.splitlines()[0])["result"]["serverInfo"]["name"] == "engrain"


@pytest.mark.parametrize("name", JSON_CLIENTS)
def test_nothing_that_is_there_is_lost_and_twice_is_once(cli, home, name):
    client, path = installation.CLIENTS[name], place(name, home)
    there = {"theme": "d\u00e4mmrig", client.key: {"other": {"command": "x", "args": ["1"]}}, "last": [1, {"a": None}]}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(there), encoding="utf-8")
    path.chmod(0o640)
    assert cli("mcp", "install", name).code == 0
    found = json.loads(path.read_text(encoding="utf-8"))
    assert list(found) == list(there)
    assert {key: value for key, value in found[client.key].items() if key != "engrain"} == there[client.key]
    assert (found["theme"], found["last"]) == (there["theme"], there["last"])
    assert path.stat().st_mode & 0o777 == 0o640
    first = path.read_bytes()
    assert cli("mcp", "install", name).code == 0
    assert path.read_bytes() == first
    assert [one.name for one in path.parent.iterdir() if one.name.startswith(f".{path.name}.")] == []


def test_of_toml_every_character_stays(cli, home):
    path = place("codex", home)
    path.parent.mkdir(parents=True)
    before = '# mine\nmodel = "gpt-5"\n\n[mcp_servers.other]\ncommand = "x" # stays\n'
    path.write_text(before, encoding="utf-8")
    assert cli("mcp", "install", "codex").code == 0
    assert path.read_text(encoding="utf-8").startswith(before)
    assert set(entries("codex", home)) == {"other", "engrain"}
    first = path.read_bytes()
    assert cli("mcp", "install", "codex").code == 0
    assert path.read_bytes() == first
    path.write_text(f"{first.decode()}\n# of mine\n[tui]\nx = 1\n", encoding="utf-8")
    assert cli("--agent", "another", "mcp", "install", "codex").code == 0
    assert "another" in entries("codex", home)["engrain"]["args"]
    assert path.read_text(encoding="utf-8").startswith(before)
    assert tomllib.loads(path.read_text(encoding="utf-8"))["tui"] == {"x": 1}
    assert cli("mcp", "uninstall", "codex").code == 0
    assert path.read_text(encoding="utf-8") == f"{before}\n# of mine\n[tui]\nx = 1\n"


@pytest.mark.parametrize(
    ("name", "before", "said"),
    [
        ("vscode", '{"servers": {} /* mine */}', "no plain JSON"),
        ("cursor", '{"mcpServers": []}', "no object mcpServers"),
        ("cursor", "[]", "no object mcpServers"),
        ("gemini", '{"mcpServers": {"engrain": {"command": "/bin/other"}}}', "another server named engrain"),
        ("codex", "model = ", "no TOML"),
        ("codex", 'mcp_servers = {other = {command = "x"}}\n', "takes no further table"),
    ],
)
def test_what_cannot_be_merged_stays_as_it_is(cli, home, name, before, said):
    assert said in refusal(cli, "install", place(name, home), name, before)


@pytest.mark.parametrize("name", sorted(installation.CLIENTS))
def test_print_shows_what_would_be_written_and_where(cli, home, name):
    ran = cli("mcp", "install", name, "--print", "--profile", "notes")
    assert ran.code == 0
    assert str(place(name, home)) in ran.out
    assert '"notes"' in ran.out
    assert list(home.iterdir()) == []


def test_a_link_stays_a_link(cli, home, tmp_path):
    kept = tmp_path / "dotfiles.json"
    kept.write_text("{}", encoding="utf-8")
    path = place("claude-code", home)
    path.symlink_to(kept)
    assert cli("mcp", "install", "claude-code").code == 0
    assert path.is_symlink()
    assert "engrain" in kept.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("instal", "cursor"), "action 'instal'"),
        (("install", "emacs"), "client 'emacs'"),
        (("install",), "no client is named; add one of: claude"),
    ],
)
def test_an_unknown_action_or_client_is_refused_with_the_known_ones(cli, home, arguments, said):
    ran = cli("mcp", *arguments)
    assert ran.code == 2
    assert said in ran.err
    assert list(home.iterdir()) == []


@pytest.mark.parametrize("name", sorted(installation.CLIENTS))
@pytest.mark.parametrize("way", ["an option", "a variable"])
def test_the_location_of_a_database_server_is_not_written_and_its_variable_is_named(cli, home, monkeypatch, name, way):
    location = "postgresql://ana:secret@db/memory"
    options = ["--db", location] if way == "an option" else []
    if not options:
        monkeypatch.setenv("ENGRAIN_DB", location)
    hooks = ["--hooks"] if name in {"claude-code", "codex", "cursor", "gemini"} else []
    ran = cli(*options, "--agent", "coder", "mcp", "install", name, *hooks)
    assert ran.code == 0, ran.err
    assert f"{name} must be started with ENGRAIN_DB set" in ran.err
    written = "".join(file.read_text() for file in home.rglob("*") if file.is_file())
    assert "secret" not in written + ran.out + ran.err
    assert "--db" not in written
    entry = entries(name, home)["engrain"]
    assert "coder" in entry["args"]
    assert entry.get("env_vars", []) == (["ENGRAIN_DB"] if name == "codex" else [])


ADDRESS = "https://memory.example.com"
OVER_HTTP = {
    "claude-code": {
        "type": "http",
        "url": f"{ADDRESS}/mcp",
        "headers": {"Authorization": "Bearer ${ENGRAIN_KEY}", "Engrain-Agent": "coder"},
    },
    "codex": {
        "url": f"{ADDRESS}/mcp",
        "bearer_token_env_var": "ENGRAIN_KEY",
        "http_headers": {"Engrain-Agent": "coder"},
    },
    "cursor": {
        "url": f"{ADDRESS}/mcp",
        "headers": {"Authorization": "Bearer ${env:ENGRAIN_KEY}", "Engrain-Agent": "coder"},
    },
    "gemini": {
        "httpUrl": f"{ADDRESS}/mcp",
        "headers": {"Authorization": "Bearer ${ENGRAIN_KEY}", "Engrain-Agent": "coder"},
    },
    "vscode": {
        "type": "http",
        "url": f"{ADDRESS}/mcp",
        "headers": {"Authorization": "Bearer ${env:ENGRAIN_KEY}", "Engrain-Agent": "coder"},
    },
}


@pytest.mark.parametrize("name", OVER_HTTP)
def test_a_server_is_installed_by_its_address_and_the_key_stays_in_the_environment(cli, home, monkeypatch, name):
    monkeypatch.setenv("ENGRAIN_DB", ADDRESS)
    monkeypatch.setenv("ENGRAIN_KEY", "ek_secret")
    hooks = ["--hooks"] if name != "vscode" else []
    assert cli("--db", str(home / "old.db"), "mcp", "install", name).code == 0
    for _ in range(2):
        ran = cli("--agent", "coder", "mcp", "install", name, *hooks)
        assert ran.code == 0, ran.err
        assert f"{name} must be started with ENGRAIN_KEY set" in ran.err
    assert entries(name, home) == {"engrain": OVER_HTTP[name]}
    written = "".join(file.read_text() for file in home.rglob("*") if file.is_file())
    assert "ek_secret" not in written
    assert (f"--db {ADDRESS} --agent coder" in written) == bool(hooks)
    assert cli("mcp", "uninstall", name).code == 0
    assert "ENGRAIN_KEY" not in place(name, home).read_text()


def test_what_cannot_be_had_of_a_server_is_refused(cli, home):
    served = cli("--db", ADDRESS, "mcp", "install", "claude-desktop")
    assert (served.code, f"add {ADDRESS}/mcp as a connector" in served.err) == (2, True)
    served = cli("--db", ADDRESS, "mcp", "install", "cursor", "--profile", "notes")
    assert (served.code, "leave out --profile" in served.err) == (2, True)
    assert list(home.iterdir()) == []


def test_places_differ_by_platform(home):
    desktop = installation.CLIENTS["claude-desktop"]
    assert installation.config_path(desktop, home=home, platform="darwin").parts[-4:-1] == (
        "Library",
        "Application Support",
        "Claude",
    )
    assert "AppData" in installation.config_path(desktop, home=home, platform="win32").parts


def test_codex_keeps_its_folder_where_it_is_told(home, tmp_path, monkeypatch):
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "elsewhere"))
    assert place("codex", home) == tmp_path / "elsewhere" / "config.toml"


@pytest.mark.parametrize("name", sorted(installation.CLIENTS))
def test_what_was_installed_is_removed_and_nothing_else(cli, home, name):
    client, path = installation.CLIENTS[name], place(name, home)
    path.parent.mkdir(parents=True, exist_ok=True)
    before = '# mine\n[mcp_servers.other]\ncommand = "x" # stays\n'
    if not client.is_toml:
        before = json.dumps({"theme": "d\u00e4mmrig", client.key: {"other": {"command": "x"}}}, indent=2) + "\n"
        before = before.replace("\\u00e4", "\u00e4")
    path.write_text(before, encoding="utf-8")
    assert f"nothing of engrain is in {path}" in cli("mcp", "uninstall", name).out
    hooks = ["--hooks"] if name in {"claude-code", "codex", "cursor", "gemini"} else []
    assert cli("mcp", "install", name, *hooks).code == 0
    installed = {file: file.read_bytes() for file in home.rglob("*") if file.is_file()}
    shown = cli("mcp", "uninstall", name, "--print", "--json").json["removed"]
    assert shown[0]["removed"]["args"][:1] == ["mcp"]
    assert len(shown) == 1 + len(hooks)
    assert {file: file.read_bytes() for file in installed} == installed
    ran = cli("mcp", "uninstall", name)
    assert (ran.code, "removed from" in ran.out) == (0, True)
    left = path.read_text(encoding="utf-8")
    if name == "gemini":  # whose hooks are in the same file
        assert json.loads(left) == {**json.loads(before), "hooks": {}}
    else:
        assert left == before
    assert not any("engrain" in file.read_text() for file in installed)
    assert cli("mcp", "uninstall", name, "--json").json == {"removed": []}


@pytest.mark.parametrize(
    ("name", "before", "said"),
    [
        ("cursor", '{"mcpServers": {"engrain": {"command": "/bin/other"}}}', "another server named engrain"),
        ("codex", '[mcp_servers]\nengrain = {command = "engrain", args = []}\n', "remove it by hand"),
        (
            "codex",
            '[mcp_servers.engrain]\ncommand = "engrain"\n[mcp_servers.engrain.env]\nA = "b"\n',
            "remove it by hand",
        ),
        ("vscode", "{ /* mine */ }", "no plain JSON"),
    ],
)
def test_what_install_did_not_write_is_not_removed(cli, home, name, before, said):
    assert said in refusal(cli, "uninstall", place(name, home), name, before)
