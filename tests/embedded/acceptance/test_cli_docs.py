"""docs/cli.md has a section for each command, with all its options, and the exit codes of the program."""

import re
from pathlib import Path

from engrain.interfaces.cli import failures
from engrain.interfaces.cli.commands import SECTIONS as HELP
from engrain.interfaces.cli.commands import parser

REPOSITORY = Path(__file__).parents[3]
PAGE = (REPOSITORY / "docs" / "cli.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", PAGE, flags=re.MULTILINE | re.DOTALL))

ROOT = parser()
SHARED = {"--db", "--agent", "--user", "--tenant", "--config", "--key", "--json", "--help"}


def commands(group, prefix=""):
    """Every command by what is typed to run it: `entity create`."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, f"{prefix}{name} ")
        else:
            yield prefix + name, command.command


COMMANDS = dict(commands(ROOT))


def test_each_command_has_its_section_with_all_its_options():
    assert [name for name in COMMANDS if f"<!-- command {name} -->\n" not in SECTIONS[name]] == []


def test_no_command_is_documented_that_does_not_exist():
    assert set(SECTIONS) == {"Every command", *COMMANDS, "Exit codes"}
    assert "<!-- command engrain -->\n" in SECTIONS["Every command"]


def test_the_help_lists_each_command_once():
    listed = [name for names in HELP.values() for name in names]
    assert sorted(listed) == sorted(ROOT.commands)


def test_the_help_of_a_command_names_no_progress_function():
    assert [name for name, command in COMMANDS.items() if "`progress`" in command.help] == []


def test_every_command_takes_the_shared_options():
    for command in COMMANDS.values():
        taken = {name for parameter in command.params for name in parameter.opts}
        assert taken >= SHARED - {"--help"}


def test_the_exit_codes_are_those_of_the_program():
    rows = re.findall(r"^\| (\d+) \| .+ \|$", SECTIONS["Exit codes"], flags=re.MULTILINE)
    assert [int(row) for row in rows] == [int(code) for code in failures.ExitCode]
    assert all(line in failures.__doc__ for line in SECTIONS["Exit codes"].splitlines() if line.startswith("| "))
