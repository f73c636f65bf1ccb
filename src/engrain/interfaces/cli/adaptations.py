"""Adaptations: the few commands that take or do something else than the table says."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from engrain.domain.text.categories import CATEGORIES
from engrain.errors import InvalidInput
from engrain.interfaces.cli import importing, output
from engrain.interfaces.cli.completion import complete_names, complete_sessions
from engrain.interfaces.cli.failures import ExitCode
from engrain.interfaces.cli.options import Option, option
from engrain.interfaces.cli.rendering import lists

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from engrain.interfaces.cli.invocation import Invocation
    from engrain.service import Memory

Arguments = dict[str, Any]
_PERIOD = re.compile(r"([1-9][0-9]{0,4})([hdw])")
_ANY_PERIOD = re.compile(r"[0-9]+ *[A-Za-z]+")
_HOURS = {"h": 1, "d": 24, "w": 168}


@dataclass(frozen=True, slots=True, kw_only=True)
class Adaptation:
    """Describes how a command differs from its row.

    Attributes:
        drops: parameters of the verb that are no options of the command.
        adds: options that the verb has not.
        defaults: values of what is left out, where they are not the library's.
        prepare: makes the arguments of the verb of what was typed.
        agree: shows what the call would do, and asks a person; raises where it should not be done.
        other: an argument, and the verb that is called where it is given.
        absent: the message where the answer is nothing: a template of the arguments, as_of, agent and tenant.
        fails: whether the exit code of an answer is 1.
        counts: the name of what the progress bar counts.
        adds_up: whether the progress function is called with what is new, not with the sum.
        run: does all of it in place of the call.
        more: a sentence for the help.
    """

    drops: frozenset[str] = frozenset()
    adds: tuple[Option, ...] = ()
    defaults: Mapping[str, Any] = field(default_factory=dict)
    prepare: Callable[[Arguments], Arguments] = dict
    agree: Callable[[Invocation, Memory, Arguments], Arguments] | None = None
    other: tuple[str, str] | None = None
    absent: str = ""
    fails: Callable[[Any], bool] = lambda _: False
    counts: str = ""
    adds_up: bool = False
    run: Callable[[Invocation, Arguments], None] | None = None
    more: str = ""


def adaptation_of(verb: str) -> Adaptation:
    """The adaptation of a verb's command; one that changes nothing for most."""
    return _ADAPTATIONS.get(verb, _NONE)


def until(text: str, now: datetime) -> datetime | str:
    """The time that a period from now ends at; what is no period is left to be read as a time.

    Raises:
        InvalidInput: the period ends past the year 9999, or is of a unit that nobody knows.
    """
    period = _PERIOD.fullmatch(text.strip())
    if period is None and _ANY_PERIOD.fullmatch(text.strip()):
        raise InvalidInput(f"--expires {text!r:.80} is no period such as 30d, 12h or 2w")
    if period is None:
        return text
    try:
        return now + timedelta(hours=int(period[1]) * _HOURS[period[2]])
    except OverflowError as error:
        raise InvalidInput(f"a key that expires in {text} outlasts the calendar; leave --expires out") from error


def _stdin(arguments: Arguments) -> Arguments:
    """The content from stdin where it is "-"."""
    if arguments["content"] != "-":
        return arguments
    try:
        return {**arguments, "content": sys.stdin.buffer.read().decode("utf-8-sig")}
    except UnicodeDecodeError as error:
        raise InvalidInput(f"stdin is not UTF-8 text ({error.reason} at byte {error.start:,})") from error


def _hints(arguments: Arguments) -> Arguments:
    """The hints of a name by their keys."""
    hints = {name: arguments.pop(name) for name in ("topic", "mentioned_with") if name in arguments}
    return {**arguments, "hints": hints}


def _mode(arguments: Arguments) -> Arguments:
    return {**arguments, "mode": "deep"} if arguments.pop("deep", False) else arguments


def _agree_to_erase(invocation: Invocation, memory: Memory, arguments: Arguments) -> Arguments:
    """The arguments of erase, where a person agrees or --yes was said; what would go is shown on stderr."""
    is_agreed = arguments.pop("yes", False)
    if is_agreed or sys.stdin.isatty():
        memories = filter(None, map(memory.agent().get, arguments["ids"]))
        for line in lists.lines(list(memories)).splitlines():
            invocation.note(line)
    if not is_agreed:
        memories_of = output.counted(len(arguments["ids"]), "memory", "memories")
        _ask("erase", f"erase {memories_of} for good?", otherwise="nothing was erased")
    return arguments


def _agree_to_erase_user(invocation: Invocation, memory: Memory, arguments: Arguments) -> Arguments:
    """The arguments of erase-user, likewise; a dry run asks nothing."""
    is_agreed, name = arguments.pop("yes", False), arguments["name"]
    if is_agreed or "dry_run" in arguments:
        return arguments
    if sys.stdin.isatty():
        for part in memory.erase_user(name, tenant=invocation.tenant, dry_run=True).tables:
            invocation.note(f"{part.table}: {output.counted(part.rows, 'row')}")
    _ask("erase-user", f"erase all that is there of user {name} for good?", otherwise="nothing was erased")
    return arguments


def _agree_to_erase_tenant(invocation: Invocation, memory: Memory, arguments: Arguments) -> Arguments:
    """The arguments of tenants erase, likewise."""
    is_agreed, name = arguments.pop("yes", False), arguments["name"]
    if is_agreed or "dry_run" in arguments:
        return arguments
    whose = f"tenant {name}" if invocation.agent is None else f"agent {invocation.agent} of tenant {name}"
    if sys.stdin.isatty():
        planned = memory.erase_tenant(name, agent=invocation.agent, tenant=invocation.tenant, dry_run=True)
        for table, rows in planned.rows.items():
            invocation.note(f"{table}: {output.counted(rows, 'row')}")
    _ask("tenants erase", f"erase all that is there of {whose} for good?", otherwise="nothing was erased")
    return arguments


def _agree_to_replace(_: Invocation, __: Memory, arguments: Arguments) -> Arguments:
    """The arguments of restore; it asks where memories are removed first."""
    is_agreed = arguments.pop("yes", False)
    if "replace" in arguments and not is_agreed and "dry_run" not in arguments:
        _ask("restore --replace", "remove the memories that are there first?", otherwise="nothing was restored")
    return arguments


def _ask(command: str, question: str, *, otherwise: str) -> None:
    """Ask a person on the terminal whether to go on.

    Raises:
        InvalidInput: nobody is there to be asked.
        typer.Exit: the answer is no.
    """
    if not sys.stdin.isatty():
        raise InvalidInput(f"{command} cannot be undone and nobody is here to be asked; say --yes")
    output.prompt(f"{question} [y/N] ")
    if sys.stdin.readline().strip().lower() not in {"y", "yes"}:
        output.note(otherwise)
        raise typer.Exit(ExitCode.PROBLEM)


def _text_of(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path} is no file of UTF-8 text: {error}; name one that is") from error


_SESSION = option("session", "--session NAME", "Conversation going on, which is left out.", complete=complete_sessions)
_SYSTEM = option("system", "--system FILE", "File of UTF-8 with the system prompt of the chat.", convert=_text_of)
_TOPIC = option("topic", "--topic TEXT", "Topic of the conversation.")
_WITH = option("mentioned_with", "--with NAME", "Name that was mentioned beside it. May be repeated.", is_repeated=True)
_CATEGORY = option(
    "category",
    "--category WORD",
    f"Only notes of this category. One of: {', '.join(CATEGORIES)}.",
    complete=complete_names(CATEGORIES),
)
_DEEP = option("deep", "--deep", "Let the re-ranker put the best in order (ENGRAIN_RERANKING__MODEL).")
_EXPIRES = option(
    "expires_at",
    "--expires WHEN",
    "Time until when it opens anything: 30d, 12h, 2w, or ISO 8601; for ever if left out.",
    convert=lambda text: until(text, datetime.now(UTC)),
)
_NO_EMBED = option("no_embed", "--no-embed", "Leave the vectors to the next command that adds something.")
_YES = option("yes", "--yes", "Do not ask.")
_NONE = Adaptation()
_ADAPTATIONS: Mapping[str, Adaptation] = {
    "observe": Adaptation(prepare=_stdin, more='The TEXT "-" is read from stdin.'),
    "get": Adaptation(absent="no memory {id_}{as_of} is visible to agent {agent}; recall shows ids"),
    "erase": Adaptation(
        adds=(_YES,),
        agree=_agree_to_erase,
        absent="no memory {ids} is visible to agent {agent}; recall shows ids",
    ),
    "latest_reflection": Adaptation(
        absent="no reflection is there for agent {agent} yet; reflect makes one where enough was learned"
    ),
    "context": Adaptation(adds=(_SESSION,)),
    "messages": Adaptation(drops=frozenset({"system"}), adds=(_SYSTEM, _SESSION)),
    "overview": Adaptation(defaults={"days": 14, "limit": 5}),
    "audit": Adaptation(counts="reading"),
    "entities.get": Adaptation(absent="no entity {id_} is known to tenant {tenant}; entities list shows ids"),
    "entities.resolve": Adaptation(drops=frozenset({"hints"}), adds=(_TOPIC, _WITH), prepare=_hints),
    "entities.enrich_waiting": Adaptation(counts="memories"),
    "notes.recall": Adaptation(absent="agent {agent} has no note {key!r}; notes list shows the keys"),
    "notes.list": Adaptation(adds=(_CATEGORY,), defaults={"limit": 100}, other=("category", "notes.list_by_category")),
    "notes.search": Adaptation(drops=frozenset({"mode"}), adds=(_DEEP,), prepare=_mode),
    "decay": Adaptation(counts="memories", adds_up=True),
    "cleanup": Adaptation(counts="memories", adds_up=True),
    "consolidate": Adaptation(counts="episodes", adds_up=True, fails=lambda report: bool(report.failures)),
    "reflect": Adaptation(
        counts="agents", adds_up=True, fails=lambda report: any(part.outcome == "failed" for part in report.agents)
    ),
    "verify_events": Adaptation(fails=lambda verified: not verified.is_whole),
    "erase_user": Adaptation(adds=(_YES,), agree=_agree_to_erase_user),
    "erase_tenant": Adaptation(adds=(_YES,), agree=_agree_to_erase_tenant),
    "restore": Adaptation(adds=(_YES,), agree=_agree_to_replace),
    "export": Adaptation(counts="writing memories"),
    "import_file": Adaptation(adds=(_NO_EMBED,), run=importing.run),
    "keys.create": Adaptation(drops=frozenset({"expires_at"}), adds=(_EXPIRES,)),
}
