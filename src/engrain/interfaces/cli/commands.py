"""The command line as a whole: the options of every command, and the commands, each made when it is called."""

import functools
import re
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from engrain import __version__
from engrain.interfaces.cli import output
from engrain.interfaces.cli.failures import ExitCode, UsageError
from engrain.interfaces.cli.invocation import (
    Invocation,
    command_of_function,
    declare_options,
    flag,
    pass_plain_values,
)
from engrain.verbs import docstrings
from engrain.verbs.rows import Owner
from engrain.verbs.table import VERBS

# Commands that are no verb: the module and the function of each.
FUNCTIONS: Mapping[str, tuple[str, str]] = {
    "doctor": ("engrain.interfaces.cli.administration.diagnosis", "doctor"),
    "config": ("engrain.interfaces.cli.administration.configuration", "show_settings"),
    "trust": ("engrain.interfaces.cli.administration.configuration", "trust"),
    "bench": ("engrain.interfaces.cli.administration.measurement", "bench"),
    "reembed": ("engrain.interfaces.cli.administration.relocation", "reembed"),
    "copy": ("engrain.interfaces.cli.administration.relocation", "copy"),
    "tenants list": ("engrain.interfaces.cli.administration.tenants", "list_tenants"),
    "tenants move": ("engrain.interfaces.cli.administration.tenants", "move"),
    "migrate": ("engrain.interfaces.cli.administration.relocation", "migrate"),
    "hook": ("engrain.interfaces.assistants.command", "hook"),
    "mcp": ("engrain.interfaces.cli.administration.serving", "mcp"),
    "token": ("engrain.interfaces.cli.administration.serving", "token"),
    "serve": ("engrain.interfaces.cli.administration.serving", "serve"),
    "ui": ("engrain.interfaces.cli.administration.serving", "ui"),
    "worker": ("engrain.interfaces.cli.administration.worker", "worker"),
}
_FOR_EVERY_USER = frozenset({"reembed", "copy", "tenants list", "tenants move", "migrate", "worker"})
_GROUPS = {"tenants": "Tenants of a memory: erase one, or move it between servers."}
# After \b the lines stay as they are.
_HELP = """Long-term memory for AI agents: remembers what happened and what is true, finds it again, and says why.

\b
engrain observe "I moved to Lisbon in May." --speaker Ana
engrain recall "Where does Ana live?"
"""
# The commands by what they are for, as the help lists them.
SECTIONS: Mapping[str, Sequence[str]] = {
    "Store memories": ("observe", "remember", "add", "rules", "notes", "pools", "import"),
    "Find memories": (
        "recall",
        "context",
        "messages",
        "summarize",
        "list",
        "episodes",
        "facts",
        "get",
        "history",
        "links",
    ),
    "Correct and forget": ("correct", "confirm", "forget", "erase", "erase-user", "link", "audit", "events", "undo"),
    "Learn": ("consolidate", "reflect", "reflection", "runs", "entities", "graph", "route", "consolidation"),
    "Maintain": ("doctor", "stats", "overview", "agents", "users", "worker", "jobs", "decay", "cleanup", "reembed"),
    "Back up and move": ("backup", "restore", "export", "export-user", "copy", "migrate", "tenants"),
    "Serve": ("serve", "ui", "mcp", "hook", "token", "keys"),
    "Set up": ("config", "trust", "bench"),
    "Keep exact data and proofs": ("log", "store", "seal-events", "verify-events", "export-events"),
}


class Root(TyperGroup):
    """All commands; the help lists them by what they are for."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002  # as the group above takes it
        for title, names in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(name, self.commands[name].get_short_help_str()) for name in names])


app = typer.Typer(
    cls=Root,
    rich_markup_mode=None,  # plain help takes half the time and is the same in a pipe
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
)


def engrain(
    context: typer.Context,
    *,
    version: Annotated[bool, flag("--version", "Show the version and exit.")] = False,
    **shared: Any,
) -> None:
    """Take the options of every command, and show the help where no command is named."""
    context.obj = Invocation(**shared)
    if version:
        output.say(f"engrain {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        output.note(context.get_help())
        raise typer.Exit(ExitCode.INVALID)


declare_options(engrain)
app.callback(invoke_without_command=True, help=_HELP)(engrain)


class LazyCommand(TyperCommand):
    """Stands for a command in lists, and makes it when it is called: making all takes 0.2 s, with the facade 0.5."""

    def __init__(self, name: str, *, summary: Callable[[], str], make: Callable[[], TyperCommand]) -> None:
        super().__init__(name)
        self._summary = summary
        self._make = make

    @functools.cached_property
    def command(self) -> TyperCommand:
        return self._make()

    def get_short_help_str(self, limit: int = 45) -> str:  # noqa: ARG002  # help wraps long lines
        return re.split("[.;:] ", self._summary())[0].removesuffix(".")

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        try:
            return self.command.make_context(info_name, args, parent, **extra)
        except UsageError as error:
            if getattr(error, "ctx", None) is None:  # the parser of options names no command
                vars(error)["ctx"] = self.command.context_class(self.command, info_name=info_name, parent=parent)
            raise


class Group(TyperGroup):
    """A group of commands, whose help is the docstring of the group of verbs, or a sentence of its own."""

    def __init__(self, name: str, *, summary: Callable[[], str]) -> None:
        super().__init__(name=name, rich_markup_mode=None)
        self._summary = summary

    def get_short_help_str(self, limit: int = 45) -> str:  # noqa: ARG002  # help wraps long lines
        return re.split("[.;] ", self._summary())[0].removesuffix(".")

    def format_help_text(self, ctx: Any, formatter: Any) -> None:
        self.help = self._summary()
        super().format_help_text(ctx, formatter)


@functools.cache
def parser() -> TyperGroup:
    """The command that reads a command line and runs it."""
    root = get_command(app)
    assert isinstance(root, TyperGroup)
    pass_plain_values(root)
    for verb in VERBS:
        if verb.command_name is not None:
            summary = functools.partial(docstrings.first_line, verb)
            make = functools.partial(_verb_command, verb.name)
            _add(
                root,
                verb.command_name.split(),
                LazyCommand(verb.command_name.split()[-1], summary=summary, make=make),
                functools.partial(_group_summary, verb.owner, verb.command_name.split()[0]),
            )
    for name, function in FUNCTIONS.items():
        summary = functools.partial(docstrings.first_line_of_function, *function)
        command = LazyCommand(name.split()[-1], summary=summary, make=functools.partial(_function_command, name))
        _add(root, name.split(), command, functools.partial(_GROUPS.__getitem__, name.split()[0]))
    return root


def _add(root: TyperGroup, path: Sequence[str], command: LazyCommand, summary: Callable[[], str]) -> None:
    """Put a command into its group, which is made with the first of its commands."""
    if len(path) == 1:
        root.add_command(command)
        return
    group = root.commands.get(path[0])
    if group is None:
        group = Group(path[0], summary=summary)
        root.add_command(group)
    assert isinstance(group, Group)
    group.add_command(command)


def _group_summary(owner: Owner, group: str) -> str:
    return _GROUPS.get(group) or docstrings.first_line_of_group(owner, group)


def _verb_command(name: str) -> TyperCommand:
    from engrain.interfaces.cli.verb_commands import command_of

    return command_of(name)


def _function_command(name: str) -> TyperCommand:
    module, function = FUNCTIONS[name]
    return command_of_function(
        name.rsplit(maxsplit=1)[-1],
        getattr(import_module(module), function),
        is_for_every_user=name in _FOR_EVERY_USER,
    )
