"""Installation of the hooks into the settings of a coding assistant, beside what is there.

Where the files are, and what their entries hold, is of the assistants' own documentation; `protocols` names it.
"""

from __future__ import annotations

import re
import shlex
import sys
from dataclasses import dataclass, field
from pathlib import Path, PureWindowsPath
from typing import TYPE_CHECKING, Any

from engrain.errors import InvalidInput
from engrain.interfaces.assistants.protocols import PROTOCOLS
from engrain.interfaces.mcp.installation import dump_json, locate, parse_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_TIMEOUT_S = 10
_PLAIN_WORD = re.compile(r"[\w@%+=:,./-]+")  # which no shell needs quoted


@dataclass(frozen=True, slots=True, kw_only=True)
class HookFile:
    """File of an assistant's hooks.

    Attributes:
        path: the file, under the home folder.
        variable: an environment variable that names a folder in place of the first part of the path.
        has_groups: whether the commands of an event stand in groups, which may have matchers.
        timeout: how long the assistant waits for a command, in its own unit.
        skips: events that the assistant does not have.
        fields: what a new file must hold besides.
    """

    path: str
    variable: str | None = None
    has_groups: bool = True
    timeout: int = _TIMEOUT_S
    skips: frozenset[str] = frozenset()
    fields: Mapping[str, Any] = field(default_factory=dict)


FILES: Mapping[str, HookFile] = {
    "claude-code": HookFile(path=".claude/settings.json", variable="CLAUDE_CONFIG_DIR"),
    "codex": HookFile(path=".codex/hooks.json", variable="CODEX_HOME", skips=frozenset({"SessionEnd"})),
    "cursor": HookFile(path=".cursor/hooks.json", has_groups=False, fields={"version": 1}),
    "gemini": HookFile(path=".gemini/settings.json", timeout=_TIMEOUT_S * 1_000),
}


def hooks_path(client: str, *, home: Path) -> Path:
    """The file of an assistant's hooks, whether or not it is there."""
    return locate(FILES[client].path, FILES[client].variable, home)


def build_hooks(client: str, command: Sequence[str], options: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The entry of each event in an assistant's settings."""
    file, named = FILES[client], [] if client == "claude-code" else ["--client", client]
    entries = {}
    for event in PROTOCOLS[client].events:
        if event not in file.skips:
            line = _join([*command, "hook", event, *named, *options])
            entry = {"type": "command", "command": line, "timeout": file.timeout}
            entries[event] = {"hooks": [entry]} if file.has_groups else {"command": line, "timeout": file.timeout}
    return entries


def merge_hooks(client: str, before: str, entries: Mapping[str, Mapping[str, Any]], *, where: str) -> str:
    """The text of the settings with the hooks in place of earlier ones of ours; all else in them stays.

    Raises:
        InvalidInput: the text is no JSON of hooks; nothing is lost.
    """
    found, hooks = _read_hooks(FILES[client].fields, before, where)
    merged = {event: kept for event, groups in hooks.items() if (kept := _choose(groups, ours=False)) or not groups}
    for event, entry in entries.items():
        merged[event] = [*merged.get(event, ()), dict(entry)]
    return dump_json({**found, "hooks": merged})


def remove_hooks(before: str, *, where: str) -> tuple[str, dict[str, Any]]:
    """The text of the settings without hooks of ours, and those of each event; all else stays.

    Raises:
        InvalidInput: the text is no JSON of hooks; nothing is lost.
    """
    found, hooks = _read_hooks({}, before, where)
    kept = {event: _choose(groups, ours=False) for event, groups in hooks.items()}
    removed = {event: _choose(groups, ours=True) for event, groups in hooks.items() if kept[event] != groups}
    if not removed:
        return before, {}
    left = {event: groups for event, groups in kept.items() if groups or event not in removed}
    return dump_json({**found, "hooks": left}), removed


def _read_hooks(empty: Mapping[str, Any], text: str, where: str) -> tuple[dict[str, Any], dict[str, list[Any]]]:
    """Parse the settings, which are `empty` where there are none; themselves and their hooks by event."""
    found = parse_json(text, where) if text.strip() else dict(empty)
    hooks = found.get("hooks", {}) if isinstance(found, dict) else None
    if not isinstance(hooks, dict) or not all(isinstance(groups, list) for groups in hooks.values()):
        raise InvalidInput(f"{where} has no lists of hooks by event; change by hand what --print shows")
    return found, hooks


def _choose(groups: Sequence[Any], *, ours: bool) -> list[Any]:
    """Return the commands of an event that are ours, or all others, in their groups; one without any is not ours."""
    chosen = []
    for group in groups:
        commands = group.get("hooks") if isinstance(group, dict) else None
        if isinstance(commands, list):
            found = [command for command in commands if _is_ours(command) is ours]
            if found or not (commands or ours):
                chosen.append({**group, "hooks": found} if len(found) < len(commands) else group)
        elif _is_ours(group) is ours:
            chosen.append(group)
    return chosen


def _is_ours(entry: Any) -> bool:
    line = entry.get("command") if isinstance(entry, dict) else None
    try:
        words = shlex.split(line) if isinstance(line, str) else []
    except ValueError:
        return False
    program = next((place for place, word in enumerate(words) if Path(word).stem == "engrain"), None)
    return program is not None and words[program + 1 : program + 2] == ["hook"]


def _join(words: Sequence[str]) -> str:
    """A command for the shell that runs hooks: on Windows bash, which drops backslashes, PowerShell or cmd."""
    if sys.platform == "win32":
        paths = [PureWindowsPath(word).as_posix() if PureWindowsPath(word).is_absolute() else word for word in words]
        return " ".join(word if _PLAIN_WORD.fullmatch(word) else f'"{word}"' for word in paths)
    return shlex.join(words)
