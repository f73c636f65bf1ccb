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
from engrain.interfaces.cli.commands import parser
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


TIMES = {"valid_from": "--from", "valid_to": "--to"}
SOURCES = {"source": "--source", "source_episode_id": "--source-episode"}
FILED = {"tags": "--tag", "metadata": "--metadata", "idempotency_key": "--idempotency-key"}
PROMPT = {
    "session": "--session",
    "recipe": "--recipe",
    "recent_episodes": "--recent",
    "count_tokens": "--count",
}
OF_THE_TENANT = ("tenant", "agent")

COMMANDS: Mapping[str, Command] = {
    "observe": Command(
        "observe",
        ("content",),
        {
            "role": "--role",
            "speaker": "--speaker",
            "session": "--session",
            "event_time": "--time",
            "importance": "--importance",
            "ttl_days": "--ttl-days",
            "tokens": "--tokens",
            "model": "--model",
            "tool_calls": "--tool-call",
            **FILED,
        },
    ),
    "remember": Command(
        "remember",
        ("content",),
        {
            "subject": "--subject",
            "predicate": "--predicate",
            "entity_id": "--entity",
            "category": "--category",
            "permanence": "--permanence",
            "importance": "--importance",
            "confidence": "--confidence",
            "scope": "--scope",
            **TIMES,
            **SOURCES,
            **FILED,
        },
    ),
    "correct": Command(
        "correct",
        ("id_", "content"),
        {"confidence": "--confidence", "metadata": "--metadata", **TIMES, **SOURCES},
    ),
    "confirm": Command("confirm", ("id_",)),
    "forget": Command("forget", ("id_",)),
    "erase": Command("erase", ("ids",), always=("--yes",), under="erased"),
    "link": Command("link", ("source_id", "relation", "target_id"), {"weight": "--weight"}),
    "recall": Command(
        "recall",
        ("query",),
        {
            "limit": "--limit",
            "preset": "--preset",
            "kinds": "--kind",
            "scope": "--scope",
            "sessions": "--session",
            "exclude_sessions": "--exclude-session",
            "roles": "--role",
            "speakers": "--speaker",
            "subjects": "--subject",
            "tags": "--tag",
            "since": "--since",
            "until": "--until",
            "as_of": "--as-of",
            "include_inactive": "--include-inactive",
            "min_confidence": "--min-confidence",
            "deep": "--deep",
            "neighbours": "--neighbours",
            "explain": "--explain",
        },
    ),
    "get": Command("get", ("id_",), {"as_of": "--as-of"}),
    "facts": Command(
        "facts",
        (),
        {
            "subject": "--subject",
            "predicate": "--predicate",
            "as_of": "--as-of",
            "include_inactive": "--include-inactive",
            "limit": "--limit",
            "after": "--after",
        },
    ),
    "history": Command("history", ("id_",)),
    "links": Command("links", ("id_",), {"direction": "--direction", "relation": "--relation"}),
    "events": Command("events", ("id_",), {"event_type": "--type", "limit": "--limit", "after": "--after"}),
    "context": Command(
        "context",
        ("query",),
        {
            "budget_tokens": "--budget",
            "include_superseded": "--superseded",
            "with_dates": "--no-dates",
            "with_sources": "--sources",
            **PROMPT,
        },
    ),
    "messages": Command(
        "messages", ("asked",), {"system": "--system", "tools": "--tools", "window_tokens": "--window", **PROMPT}
    ),
    "summarize": Command(
        "summarize",
        ("query",),
        {
            "session": "--session",
            "ids": "--id",
            "strategy": "--strategy",
            "target_tokens": "--tokens",
            "store": "--store",
        },
    ),
    "route": Command("route", ("content",), {"role": "--role", "speaker": "--speaker"}),
    "latest_reflection": Command("reflection"),
    "overview": Command("overview", (), {"days": "--days", "limit": "--limit"}),
    "stats": Command("stats", (), {"scope": "--scope"}),
    "audit": Command(
        "audit", (), {"kinds": "--kind", "limit": "--limit", "skip": "--skip", "unused_days": "--unused-days"}
    ),
    "rules.add": Command(
        "rules add", ("content",), {"scope": "--scope", "source_episode_id": "--source-episode", **FILED}
    ),
    "rules.applications": Command("rules applications", ("id_",), {"limit": "--limit", "after": "--after"}),
    "rules.mark_helpful": Command("rules helpful", ("id_",)),
    "rules.mark_harmful": Command("rules harmful", ("id_",), {"reason": "--reason"}),
    "entities.create": Command(
        "entities create", ("name",), {"entity_type": "--type", "aliases": "--alias", "metadata": "--metadata"}
    ),
    "entities.update": Command(
        "entities update", ("id_",), {"name": "--name", "aliases": "--alias", "metadata": "--metadata"}
    ),
    "entities.get": Command("entities show", ("id_",)),
    "entities.find": Command("entities list", (), {"entity_type": "--type", "limit": "--limit", "after": "--after"}),
    "entities.resolve": Command(
        "entities resolve",
        ("name",),
        {
            "entity_type": "--type",
            "hints": {"topic": "--topic", "mentioned_with": "--with"},
            "fuzzy": "--fuzzy",
            "limit": "--limit",
        },
    ),
    "entities.merge": Command("entities merge", ("source_id", "target_id")),
    "entities.unmerge": Command("entities unmerge", ("source_id",)),
    "entities.profile": Command("entities profile", ("id_or_name",)),
    "notes.save": Command("notes save", ("key", "content")),
    "notes.recall": Command("notes get", ("key",)),
    "notes.list": Command("notes list", (), {"limit": "--limit", "after": "--after"}),
    "notes.list_by_category": Command(
        "notes list", (), {"category": "--category", "limit": "--limit", "after": "--after"}
    ),
    "notes.search": Command(
        "notes search",
        ("query",),
        {"mode": "--deep", "limit": "--limit", "category": "--category", "min_similarity": "--min-similarity"},
    ),
    "notes.related": Command("notes related", ("note",), {"limit": "--limit"}),
    "notes.forget": Command("notes forget", ("key",)),
    "notes.summarize_old": Command("notes summarize", (), {"older_than_days": "--older-than-days"}, under="archived"),
    "pools.create": Command("pools create", ("name", "members"), {"metadata": "--metadata"}),
    "pools.list": Command("pools list"),
    "pools.add": Command("pools add", ("name", "member")),
    "pools.remove": Command("pools remove", ("name", "member")),
    "pools.delete": Command("pools delete", ("name",), is_echo=True),
    "pools.contribute": Command("pools contribute", ("name", "id_")),
    "pools.query": Command("pools query", ("name", "query"), {"limit": "--limit", "preset": "--preset"}),
    "pools.sync_to_agent": Command("pools sync", ("name",)),
    "memory.consolidate": Command(
        "consolidate",
        (),
        {
            "session": "--session",
            "exclude_session": "--exclude-session",
            "max_batches": "--max-batches",
            "dry_run": "--dry-run",
        },
        globally=OF_THE_TENANT,
    ),
    "memory.cleanup": Command(
        "cleanup", (), {"max_entries": "--max-entries", "dry_run": "--dry-run"}, globally=("tenant",)
    ),
    "memory.decay": Command("decay", (), {"dry_run": "--dry-run"}, globally=("tenant",)),
    "memory.runs": Command(
        "runs", (), {"kind": "--kind", "limit": "--limit", "after": "--after"}, globally=OF_THE_TENANT
    ),
    "memory.undo": Command("undo", ("run_id",), globally=OF_THE_TENANT),
}
TABLE: Table = {verb: (command,) for verb, command in COMMANDS.items()}
# Commands, and groups of them, that are no verb of the scenario, and why.
BESIDES = {
    "import": "reads files",
    "backup": "writes files",
    "restore": "reads files",
    "export": "writes files",
    "copy": "is about two databases",
    "migrate": "is about the database",
    "reembed": "is about the database",
    "doctor": "is about this machine",
    "config": "is about this machine",
    "bench": "is about this machine",
    **dict.fromkeys(("mcp", "serve"), "are other ways"),
    "keys": "is about who may come by other ways",
    **dict.fromkeys(("worker", "jobs"), "is what a worker does when its time has come"),
    "reflect": "needs a language model",
    "entities enrich": "needs a name finder",
}
OF_EVERY_COMMAND = frozenset({"--db", "--agent", "--tenant", "--config", "--json", "--help", "-h"})


def offered() -> Iterator[tuple[str, tuple[str, ...], frozenset[str]]]:
    """Each command with the arguments it takes by place, and its own options."""
    waiting = list(parser().commands.items())
    while waiting:
        name, command = waiting.pop()
        if hasattr(command, "commands"):
            waiting += [(f"{name} {each}", inner) for each, inner in command.commands.items()]
            continue
        options = [each.opts for each in command.params if each.opts[0].startswith("-")]
        placed = tuple(each.name for each in command.params if not each.opts[0].startswith("-"))
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
