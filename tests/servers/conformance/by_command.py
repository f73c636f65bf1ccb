"""The command line as a way to a memory: which command, with which options, is which verb."""

import io
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import Any

from engrain import Memory
from engrain.interfaces.cli import main
from engrain.interfaces.cli.commands import FUNCTIONS, parser
from engrain.verbs.signatures import Parameter, Signature, signature
from engrain.verbs.table import VERBS
from tests.servers.conformance import interfaces
from tests.servers.conformance.interfaces import Library, Table, Way, asked_for
from tests.servers.conformance.scenario import SETTINGS, Step
from tests.servers.conformance.transcripts import Said

# Every so many steps are a process of their own.
_OWN_PROCESS = 24
_PATIENCE_S = 180


@dataclass(frozen=True)
class Command:
    """One command: what stands by place, what by name, and under which name its JSON has the answer.

    Attributes:
        by_name: the option of an argument; of one that is a dict, the option of each of its keys. `--no-...` is said of
            what is false.
        globally: what the options say that every command has.
        is_echo: the verb gives nothing, and the command says what it was asked.
    """

    name: str
    by_place: tuple[str, ...] = ()
    by_name: Mapping[str, str | Mapping[str, str]] = field(default_factory=dict)
    under: str | None = None
    always: tuple[str, ...] = ()
    globally: tuple[str, ...] = ()
    is_echo: bool = False

    @property
    def takes(self) -> frozenset[str]:
        return frozenset({*self.by_place, *self.by_name, *self.globally})

    @property
    def options(self) -> frozenset[str]:
        """All that it may be called with by name."""
        named = [[each] if isinstance(each, str) else each.values() for each in self.by_name.values()]
        return frozenset({*self.always, *(option for each in named for option in each)})

    def line(self, given: Mapping[str, Any]) -> list[str]:
        """The command line of one call."""
        placed = [each for name in self.by_place if name in given for each in _listed(given[name])]
        named = [
            each for name, option in self.by_name.items() if name in given for each in _option(option, given[name])
        ]
        return [*self.name.split(), *map(str, placed), *self.always, *named]


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _option(option: str | Mapping[str, str], value: Any) -> list[str]:
    match value, option:
        case dict(), Mapping():
            return [each for name, said in value.items() for each in _option(option[name], said)]
        case bool(), str():
            return [option] if value is not option.startswith("--no-") else []
        case _:
            said = [json.dumps(each) if isinstance(each, dict) else each for each in _listed(value)]
            return [f"{option}={each}" for each in said]


# What a command takes in another way than its row says: an option of each key, or an option of another name.
ADAPTED: Mapping[str, Mapping[str, str | Mapping[str, str]]] = {
    "context": {"session": "--session"},
    "entities.resolve": {"hints": {"topic": "--topic", "mentioned_with": "--with"}},
    "messages": {"session": "--session"},
    "notes.search": {"mode": "--deep"},
}
SHARED_COMMANDS = {"notes.list_by_category": "notes list"}
CONFIRMED = {"erase": ("--yes",)}
GLOBAL = ("tenant", "agent")


def commands() -> Iterator[tuple[str, Command]]:
    """Each verb of the scenario that has a command, by its name there, with the command."""
    for verb in VERBS:
        name = f"memory.{verb.name}" if verb.owner == "memory" else verb.name
        command = SHARED_COMMANDS.get(verb.name, verb.command_name)
        if command is not None and not is_beside(name):
            yield name, command_of(signature(verb.name), command)


def command_of(verb: Signature, name: str) -> Command:
    """The command of a verb as its row and the words of its parameters say."""
    adapted = ADAPTED.get(verb.verb.name, {})
    known = {*verb.caller_parameters, *verb.by_name}
    named = [
        parameter
        for parameter in verb.parameters
        if parameter.name not in {*verb.verb.placed, *GLOBAL} and parameter.name not in adapted
    ]
    return Command(
        name,
        verb.verb.placed,
        {**{parameter.name: option_of(parameter) for parameter in named}, **adapted},
        under=verb.verb.field,
        always=CONFIRMED.get(verb.verb.name, ()),
        globally=tuple(name for name in GLOBAL if name in known),
        is_echo=verb.answer is None,
    )


def option_of(parameter: Parameter) -> str:
    """The option of a parameter: of its word or its name; of what is true where nothing is said, its opposite."""
    option = parameter.word.option or f"--{parameter.json_name.replace('_', '-')}"
    return f"--no-{option[2:]}" if parameter.default is True else option


def is_beside(name: str) -> bool:
    """Whether a verb is none of the scenario."""
    return any(name == each or name.startswith(f"{each}.") for each in interfaces.BESIDES)


COMMANDS: Mapping[str, Command] = dict(commands())
TABLE: Table = {verb: (command,) for verb, command in COMMANDS.items()}
# Commands that are no verb, or of verbs that are not in the scenario.
BESIDES = {
    **dict.fromkeys(FUNCTIONS, "is no verb"),
    **{
        verb.command_name: "is of no verb of the scenario"
        for verb in VERBS
        if verb.command_name is not None and is_beside(f"memory.{verb.name}" if verb.owner == "memory" else verb.name)
    },
}
OF_EVERY_COMMAND = frozenset({"--db", "--agent", "--user", "--tenant", "--config", "--key", "--json", "--help", "-h"})


def offered() -> Iterator[tuple[str, tuple[str, ...], frozenset[str]]]:
    """Each command with the arguments it takes by place, and its own options."""
    waiting = list(parser().commands.items())
    while waiting:
        name, command = waiting.pop()
        if hasattr(command, "commands"):
            waiting += [(f"{name} {each}", inner) for each, inner in command.commands.items()]
            continue
        params = command.command.params
        options = [each.opts for each in params if each.opts[0].startswith("-")]
        placed = tuple(each.name for each in params if not each.opts[0].startswith("-"))
        yield name, placed, frozenset(opts[0] for opts in options) - OF_EVERY_COMMAND


def of_no_request(answer: Any) -> Any:
    """An answer of the library as it is where nobody named the request."""
    match answer:
        case dict():
            return {name: None if name == "request_id" else of_no_request(each) for name, each in answer.items()}
        case list():
            return [of_no_request(each) for each in answer]
        case _:
            return answer


class CommandLine:
    """One command for each step, in this process or in one of its own; what no command does the library does."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._config = folder / "engrain.toml"
        self._config.write_text(_toml(SETTINGS), encoding="utf-8")
        self._numbers = count(1)
        self.used: set[str] = set()

    def take(self, step: Step) -> Said:
        command = COMMANDS.get(step.verb)
        given = asked_for(step)
        if command is None or not command.takes >= given.keys():
            return replace(self._library(replace(step, request_id=None)), tells=of_no_request)
        self.used.add(command.name)
        code, out, err = self._run([*command.line(given), *self._whose(step)])
        if code:
            return Said(step, refused=json.loads(err)["error"]["code"])
        answer = json.loads(out)
        if command.is_echo:
            return Said(step)
        return Said(step, answer if command.under is None else answer[command.under], tells=of_no_request)

    @property
    def _db(self) -> Path:
        return self._folder / "memory.db"

    def _library(self, step: Step) -> Said:
        with Memory.open(self._db, settings=SETTINGS) as memory:
            return Library(memory).take(step)

    def _whose(self, step: Step) -> list[str]:
        return ["--json", "--db", str(self._db), "--config", str(self._config), "--agent", step.agent]

    def _run(self, line: list[str]) -> tuple[int, str, str]:
        if next(self._numbers) % _OWN_PROCESS == 0:
            ran = subprocess.run(
                [sys.executable, "-m", "engrain", *line],
                cwd=self._folder,
                capture_output=True,
                text=True,
                encoding="utf-8",
                timeout=_PATIENCE_S,
                check=False,
            )
            return ran.returncode, ran.stdout, ran.stderr
        out, err = io.TextIOWrapper(io.BytesIO(), encoding="utf-8"), io.StringIO()
        with redirect_stdout(out), redirect_stderr(err):
            code = main(line)
        return code, out.buffer.getvalue().decode(), err.getvalue()


def _toml(settings: Mapping[str, Any]) -> str:
    """Settings as a file has them; of strings and numbers JSON is TOML."""
    plain = {name: value for name, value in settings.items() if not isinstance(value, dict)}
    lines = [f"{name} = {json.dumps(value)}" for name, value in plain.items()]
    for name, section in settings.items():
        if isinstance(section, dict):
            lines += [f"[{name}]", *(f"{each} = {json.dumps(value)}" for each, value in section.items())]
    return "\n".join(lines)


@contextmanager
def command_line(folder: Path) -> Iterator[Way]:
    yield CommandLine(folder)
