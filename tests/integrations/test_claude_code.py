"""Claude Code as it is released: the plugin and its marketplace are valid, and give what they are said to give."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from engrain.interfaces.assistants.protocols import CLAUDE_CODE
from engrain.interfaces.mcp.profiles import profile_of

VERSION = "2.1.332"
MARKETPLACE = Path(__file__).parents[2] / "integrations" / "claude-code"


@pytest.fixture(scope="session")
def claude(tmp_path_factory):
    """Runs a command of Claude Code in a home folder of its own; returns its exit code and output."""
    folder = tmp_path_factory.mktemp("claude-code")
    install = ["npm", "install", "--no-audit", "--no-fund", "--no-package-lock", "--prefix", folder]
    installed = subprocess.run(
        [*install, f"@anthropic-ai/claude-code@{VERSION}"], cwd=folder, capture_output=True, text=True, check=False
    )
    assert installed.returncode == 0, installed.stderr
    home = folder / "home"
    home.mkdir()
    environment = {**os.environ, "HOME": str(home), "CLAUDE_CONFIG_DIR": str(home), "DISABLE_AUTOUPDATER": "1"}

    def run(*arguments):
        program = folder / "node_modules" / ".bin" / "claude"
        ran = subprocess.run(
            [program, *arguments], cwd=home, env=environment, capture_output=True, text=True, check=False
        )
        return ran.returncode, ran.stdout + ran.stderr

    return run


@pytest.mark.parametrize(
    ("folder", "options"), [(MARKETPLACE, []), (MARKETPLACE / "engrain", ["--profile", "directory"])]
)
def test_the_plugin_is_valid_without_a_warning(claude, folder, options):
    code, text = claude("plugin", "validate", str(folder), "--strict", *options)
    assert (code, "warning" in text.lower()) == (0, False), text


def test_the_plugin_is_installed_from_its_marketplace(claude):
    assert claude("plugin", "marketplace", "add", str(MARKETPLACE))[0] == 0
    code, text = claude("plugin", "install", "engrain@engrain")
    assert code == 0, text
    code, text = claude("plugin", "details", "engrain@engrain")
    assert code == 0, text
    for event in CLAUDE_CODE:
        assert event in text


def test_its_hooks_are_those_of_the_command_and_its_skill_names_tools_that_are_there():
    hooks = json.loads((MARKETPLACE / "engrain" / "hooks" / "hooks.json").read_text())["hooks"]
    commands = {
        event: [hook["command"] for group in groups for hook in group["hooks"]] for event, groups in hooks.items()
    }
    assert commands == {event: [f"engrain hook {event}"] for event in CLAUDE_CODE}
    tools = {tool.name for tool in profile_of("assistant").tools}
    skill = (MARKETPLACE / "engrain" / "skills" / "remember" / "SKILL.md").read_text()
    assert {name for name in ("search", "correct") if f"`{name}`" in skill} == {"search", "correct"} & tools
