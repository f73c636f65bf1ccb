"""Installation of the MCP server into the configuration of a client, beside what is there.

Where the files are, and what their entries are called, is of the clients' own documentation:
https://docs.anthropic.com/en/docs/claude-code/mcp, https://modelcontextprotocol.io/quickstart/user,
https://docs.cursor.com/context/mcp, https://code.visualstudio.com/docs/copilot/chat/mcp-servers,
https://developers.openai.com/codex/mcp, https://geminicli.com/docs/tools/mcp-server.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engrain.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

NAME = "engrain"
KEY_VARIABLE = "ENGRAIN_KEY"


@dataclass(frozen=True, slots=True, kw_only=True)
class Remote:
    """Entry of a server over HTTP in JSON: the key of its address, the form of a variable, and further fields."""

    url: str = "url"
    variable: str = "${env:%s}"
    fields: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """Configuration file of a client: its place by platform under the home folder, and the key of its servers.

    `variable` names a folder that takes the place of the first part of the path. `remote` is None where the file takes
    no server by its address.
    """

    paths: Mapping[str, str]  # by platform; "" for every other
    key: str = "mcpServers"
    fields: Mapping[str, str] | None = None  # besides command and args
    variable: str | None = None
    remote: Remote | None = None

    @property
    def is_toml(self) -> bool:
        return self.paths[""].endswith(".toml")


CLIENTS: Mapping[str, Client] = {
    "claude-code": Client(
        paths={"": ".claude.json"},
        fields={"type": "stdio"},
        remote=Remote(variable="${%s}", fields={"type": "http"}),
    ),
    "claude-desktop": Client(
        paths={
            "": ".config/Claude/claude_desktop_config.json",
            "darwin": "Library/Application Support/Claude/claude_desktop_config.json",
            "win32": "AppData/Roaming/Claude/claude_desktop_config.json",
        }
    ),
    "cursor": Client(paths={"": ".cursor/mcp.json"}, remote=Remote()),
    "vscode": Client(
        paths={
            "": ".config/Code/User/mcp.json",
            "darwin": "Library/Application Support/Code/User/mcp.json",
            "win32": "AppData/Roaming/Code/User/mcp.json",
        },
        key="servers",
        fields={"type": "stdio"},
        remote=Remote(fields={"type": "http"}),
    ),
    "codex": Client(paths={"": ".codex/config.toml"}, key="mcp_servers", variable="CODEX_HOME", remote=Remote()),
    "gemini": Client(paths={"": ".gemini/settings.json"}, remote=Remote(url="httpUrl", variable="${%s}")),
}


def config_path(client: Client, *, home: Path, platform: str = sys.platform) -> Path:
    """The configuration file of a client, whether or not it is there."""
    return locate(client.paths.get(platform, client.paths[""]), client.variable, home)


def locate(path: str, variable: str | None, home: Path) -> Path:
    """The file at a path under the home folder, whose first part a variable of the environment may replace."""
    folder = os.environ.get(variable) if variable else None
    return Path(folder, path.partition("/")[2]) if folder else home / path


def find_command() -> list[str]:
    """The absolute command of this installation: clients start it without a shell or the user's PATH."""
    beside = Path(sys.executable).parent / ("engrain.exe" if sys.platform == "win32" else "engrain")
    if beside.is_file():
        return [str(beside)]
    found = shutil.which("engrain")
    return [str(Path(found).absolute())] if found else [sys.executable, "-m", "engrain"]


def build_entry(
    client: Client, command: Sequence[str], arguments: Sequence[str], *, variables: Sequence[str] = ()
) -> dict[str, Any]:
    """The entry of the server in a client's configuration; it needs these variables of the client's environment."""
    # Of all clients Codex alone gives a server none but those that its entry names.
    passed = {"env_vars": list(variables)} if client.is_toml and variables else {}
    return {**(client.fields or {}), "command": command[0], "args": [*command[1:], *arguments], **passed}


def build_remote_entry(client: Client, url: str, headers: Mapping[str, str]) -> dict[str, Any] | None:
    """The entry of a server at an address, whose key a variable has; None where the client takes none."""
    remote, address = client.remote, f"{url}/mcp"
    if remote is None:
        return None
    if client.is_toml:
        named = {"http_headers": dict(headers)} if headers else {}
        return {remote.url: address, "bearer_token_env_var": KEY_VARIABLE, **named}
    key = {"Authorization": f"Bearer {remote.variable % KEY_VARIABLE}"}
    return {**(remote.fields or {}), remote.url: address, "headers": {**key, **headers}}


def merge(client: Client, before: str, entry: Mapping[str, Any], *, where: str) -> str:
    """The text of a configuration with the entry; all else in it stays, and of TOML every character.

    Raises:
        InvalidInput: the text cannot be read, or has another server of this name; nothing is lost.
    """
    return _merge_toml(client, before, entry, where) if client.is_toml else _merge_json(client, before, entry, where)


def remove(client: Client, before: str, *, where: str) -> tuple[str, dict[str, Any] | None]:
    """The text of a configuration without the entry, and the entry; all else stays, and of TOML every character.

    Raises:
        InvalidInput: the text cannot be read, has another server of this name, or more under it than `merge` writes.
    """
    return _remove_toml(client, before, where) if client.is_toml else _remove_json(client, before, where)


def write(path: Path, text: str) -> None:
    """Write a file whole or not at all, through a link to where it leads, with the mode that it had."""
    target = path.resolve()
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, name)
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _merge_json(client: Client, before: str, entry: Mapping[str, Any], where: str) -> str:
    found, servers = _read_json(client, before, where)
    _check_ours(servers.get(NAME), where)
    return dump_json({**found, client.key: {**servers, NAME: dict(entry)}})


def _remove_json(client: Client, before: str, where: str) -> tuple[str, dict[str, Any] | None]:
    found, servers = _read_json(client, before, where)
    present = servers.get(NAME)
    if present is None:
        return before, None
    _check_ours(present, where)
    others = {name: server for name, server in servers.items() if name != NAME}
    return dump_json({**found, client.key: others}), present


def _read_json(client: Client, text: str, where: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Parse a configuration; itself and its servers."""
    found = parse_json(text, where) if text.strip() else {}
    servers = found.get(client.key, {}) if isinstance(found, dict) else None
    if not isinstance(servers, dict):
        raise InvalidInput(f"{where} has no object {client.key}; change by hand what --print shows")
    return found, servers


def parse_json(text: str, where: str) -> Any:
    """Parse a configuration file.

    Raises:
        InvalidInput: it is no plain JSON: comments, as some clients allow them, would be lost.
    """
    try:
        return json.loads(text)
    except ValueError as error:
        raise InvalidInput(f"{where} is no plain JSON ({error}); change by hand what --print shows") from error


def dump_json(document: Mapping[str, Any]) -> str:
    """The text of a configuration file."""
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _read_toml(client: Client, text: str, where: str) -> tuple[dict[str, Any], Any]:
    """Parse a configuration; itself and the server of our name, None where there is none."""
    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(f"{where} is no TOML ({error}); mend it first") from error
    servers = found.get(client.key, {})
    return found, servers.get(NAME) if isinstance(servers, dict) else None


def _remove_toml(client: Client, before: str, where: str) -> tuple[str, dict[str, Any] | None]:
    found, present = _read_toml(client, before, where)
    if present is None:
        return before, None
    _check_ours(present, where)
    table = re.compile(rf"(?:\A|\n?^)\[{re.escape(client.key)}\.{NAME}\]\n(?:(?![\[#\s]).+\n?)*", re.MULTILINE)
    text = table.sub("", before, count=1)
    del found[client.key][NAME]
    try:
        is_gone = {client.key: {}, **tomllib.loads(text)} == {client.key: {}, **found}
    except tomllib.TOMLDecodeError:
        is_gone = False
    if not is_gone:
        raise InvalidInput(f"{where} has more of [{client.key}.{NAME}] than install writes; remove it by hand")
    return text, present


def _merge_toml(client: Client, before: str, entry: Mapping[str, Any], where: str) -> str:
    if _read_toml(client, before, where)[1] == dict(entry):
        return before
    before, _ = _remove_toml(client, before, where)
    lines = [f"[{client.key}.{NAME}]", *(f"{name} = {_write_value(value)}" for name, value in entry.items())]
    gap = "" if not before else "\n" if before.endswith("\n") else "\n\n"
    merged = f"{before}{gap}{chr(10).join(lines)}\n"
    try:
        tomllib.loads(merged)
    except tomllib.TOMLDecodeError as error:  # such as servers in an inline table
        raise InvalidInput(f"{where} takes no further table {client.key}; add by hand what --print shows") from error
    return merged


def _write_value(value: Any) -> str:
    """Write a text, a list of texts or a table of texts as TOML."""
    if not isinstance(value, dict):
        return json.dumps(value)
    return f"{{ {', '.join(f'{json.dumps(name)} = {json.dumps(text)}' for name, text in value.items())} }}"


def _check_ours(present: object, where: str) -> None:
    """Check that a server of this name is one of ours, or none."""
    command = present.get("command") if isinstance(present, dict) else None
    arguments = present.get("args") if isinstance(present, dict) else None
    is_module = isinstance(arguments, list) and arguments[:2] == ["-m", "engrain"]
    is_ours = isinstance(command, str) and ("engrain" in Path(command).name or is_module)
    is_ours = is_ours or (isinstance(present, dict) and KEY_VARIABLE in json.dumps(present, default=str))
    if present is not None and not is_ours:
        raise InvalidInput(f"{where} has another server named {NAME}; rename it and run this again")
