"""Invocation: one run of the command line with the options that every command has, and commands made of functions."""

import functools
import inspect
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from engrain.errors import EngrainError, InvalidInput, StorageError
from engrain.interfaces.cli import failures, output, progress

if TYPE_CHECKING:
    from engrain.client.memory import RemoteMemory
    from engrain.config.tree import Settings
    from engrain.domain.ports import Embedder
    from engrain.domain.records import Degraded
    from engrain.service import Memory

# A search makes this many vectors by itself while it waits; more is worth a word before the command ends late.
_WORTH_A_WORD = 64
# Commands that somebody may try for what one user has said.
_HANDING_OUT = frozenset({"engrain export", "engrain export-events", "engrain copy"})
_PATHS = frozenset({"FILE", "PATH", "LOCATION"})
# A command ends when its work is done: what a new session would set going in the background is `engrain consolidate`.
_AT_ONCE = {"consolidation": {"on_session_switch": False}}


def flag(written: str, text: str, **more: Any) -> Any:
    """An option as it is written: `--port N`, or without a value `--once`."""
    name, _, metavar = written.partition(" ")
    return typer.Option(name, metavar=metavar or None, help=text, **more)


_DB = "File or postgresql:// URL of the memory (ENGRAIN_DB), created where there is none; https:// of a server."
_CONFIG = "TOML file of settings instead of engrain.toml, or a host's with [modules.memory] (ENGRAIN_CONFIG)."
_KEY = "Access key of the server that --db names; better ENGRAIN_KEY."


@dataclass(frozen=True, slots=True, kw_only=True)
class Invocation:
    """Holds the options of every command, before or after its name; None is the settings' choice."""

    db: Annotated[str | None, flag("--db PATH", _DB)] = None
    agent: Annotated[str | None, flag("--agent NAME", "Agent to speak for (ENGRAIN_AGENT).")] = None
    user: Annotated[str | None, flag("--user NAME", "End user that the agent acts for (ENGRAIN_USER).")] = None
    tenant: Annotated[str | None, flag("--tenant NAME", "Tenant of the agent (ENGRAIN_TENANT).")] = None
    config: Annotated[str | None, flag("--config FILE", _CONFIG)] = None
    server_key: Annotated[str | None, flag("--key KEY", _KEY)] = None
    as_json: Annotated[bool, flag("--json", "One JSON document instead of text.")] = False

    def inside(self, outer: "Invocation") -> "Invocation":
        """The same options before and after the command's name: the later one wins."""
        later = {name: value for name, value in asdict(self).items() if value not in (None, False)}
        return replace(outer, **later)

    @property
    def replaced_settings(self) -> dict[str, Any]:
        """The settings that the options replace."""
        values = {"db": self.db, "key": self.server_key, "agent": self.agent, "user": self.user, "tenant": self.tenant}
        return {name: value for name, value in values.items() if value is not None}

    def settings(self, **sections: Mapping[str, Any]) -> "Settings":
        """The settings in force; of `sections` what is not None replaces others."""
        from engrain.config import load

        more = {
            name: {key: value for key, value in section.items() if value is not None}
            for name, section in sections.items()
        }
        return load(self.replaced_settings | more, file=self.config)

    @contextmanager
    def memory(
        self,
        *,
        embedder: "Embedder | str | None" = None,
        stays: bool = False,
        settings: "Settings | None" = None,
        reads: bool = False,
    ) -> Iterator["Memory"]:
        """The memory, for a command that leaves at once, whatever waits for a vector; or for one that `stays`.

        Of a server's address the memory there, unless the command stays or has an embedder of its own.

        Raises:
            StorageError: the command only `reads`, and its database is in a folder that is not there.
            InvalidInput: the command needs a database, and `db` is the address of a server.
        """
        from engrain.config import describe_missing_key, load
        from engrain.config.tree import default_location
        from engrain.domain.checks import is_address
        from engrain.interfaces.numpy_threads import load_numpy_with_one_thread
        from engrain.service import Memory

        replaced = self.replaced_settings if stays else self.replaced_settings | _AT_ONCE
        chosen = load(replaced, file=self.config) if settings is None else settings
        if is_address(chosen.db) and embedder is None and not stays:
            with self._open_served(chosen) as served:
                yield served
            return
        path = path_of(chosen.db)
        is_new = path is not None and not path.exists()
        is_named = chosen.db != str(default_location()) and "://" not in chosen.db
        if reads and is_named and path is not None and not path.parent.is_dir():
            raise StorageError(f"the database is {chosen.db}, but there is no folder {path.parent}: check the path")
        if embedder is None and (reason := describe_missing_key(chosen)) is not None:
            self.note(f"warning: {reason}")
        if not stays:
            load_numpy_with_one_thread()
        with Memory.open(settings=chosen, embedder=embedder) as memory:
            self._warn_of_exposure(path)
            if is_new:
                self.note(f"memory: {path} (new)")
            yield memory
            memory.close(flush=False)

    def find_caller(self) -> dict[str, str]:
        """Find the agent, the user and the tenant that an option, a variable or a file names."""
        from engrain.config import DEFAULT, effective

        return {
            setting.name: setting.value
            for setting in effective(self.replaced_settings, file=self.config)
            if setting.name in {"agent", "user", "tenant"} and setting.origin != DEFAULT
        }

    def _open_served(self, settings: "Settings") -> "RemoteMemory":
        """Open the memory of the server that `db` names, as the agent and the user that are named anywhere."""
        from engrain.client.memory import open_remote
        from engrain.interfaces.local_token import find_key

        memory = open_remote(settings.db, key=find_key(settings), timeout_s=None)
        given: dict[str, Any] = self.find_caller()
        try:
            memory.default_caller = memory.agent(given.pop("agent", None), **given).caller
        except BaseException:
            memory.close()
            raise
        return memory

    def _warn_of_exposure(self, path: Path | None) -> None:
        from engrain.storage.file_modes import describe_exposure

        exposure = describe_exposure(path) if path is not None and path.is_file() else None
        if exposure is not None:
            self.note(f"warning: {exposure}")

    @contextmanager
    def adding(self) -> Iterator["Memory"]:
        """The memory, for a command that adds: everything that waits for a vector has one when the command ends.

        Where vectors cannot be made the command has still done its work: they stay queued, and a note says so.
        """
        with self.memory() as memory:
            yield memory
            if not is_served(memory):
                self._make_vectors(memory)

    def _make_vectors(self, memory: "Memory") -> None:
        from engrain.config import describe_missing_key

        waiting = 0 if memory.embedder is None else memory.agent().stats().pending_embeddings
        if memory.without_vectors:
            self.degraded([memory.without_vectors])
        if waiting > _WORTH_A_WORD:
            self.note(f"making the vectors of {waiting:,} memories or more; Ctrl-C leaves them for later")
        try:
            with progress.explain_interrupt("it is stored; the next command that adds makes its vector"):
                memory.flush()
        except EngrainError as error:
            if describe_missing_key(memory.settings) is None:  # which the command began with
                self.note(f"note: stored, and found by keywords until its vector can be made: {error}")

    def note(self, text: str) -> None:
        """One line on stderr; none where a program reads."""
        if not self.as_json:
            output.note(text)

    def degraded(self, reasons: "Iterable[Degraded]") -> None:
        """A line on stderr for each thing that had to be done without."""
        for reason in reasons:
            self.note(f"note: {reason}")

    def answer(self, document: Mapping[str, Any], text: str) -> None:
        """The answer of the command, as JSON or as text."""
        if self.as_json:
            output.document(document)
        else:
            output.say(text)

    def announce(self, document: Mapping[str, Any], text: str) -> None:
        """The answer of a command that goes on: one line, as JSON or as text."""
        output.say(json.dumps(dict(document)) if self.as_json else text)


def is_served(memory: "Memory") -> bool:
    """Tell whether a server does the work of a memory; its vectors and settings are its own."""
    from engrain.service import Memory

    return type(memory) is not Memory


def path_of(db: str) -> Path | None:
    """The file that a `db` setting names, as `engrain.storage.open_store` reads it; None where it is no file."""
    from engrain.domain.checks import is_address
    from engrain.storage import IN_MEMORY, is_server

    if db == IN_MEMORY or is_server(db) or is_address(db):
        return None
    return Path(db.removeprefix("sqlite:///")).expanduser()


def declare_options(callback: Callable[..., None], parameters: Iterable[inspect.Parameter] = ()) -> None:
    """Declare what a callback takes by name: its own parameters, these, and the options of every command."""
    own = [parameter for parameter in _parameters(callback).values() if parameter.kind is not parameter.VAR_KEYWORD]
    everything = [*own, *parameters, *_parameters(Invocation).values()]
    callback.__signature__ = inspect.Signature(everything)  # type: ignore[attr-defined]  # typer asks inspect
    callback.__annotations__ = {parameter.name: parameter.annotation for parameter in everything}


def make_command(
    name: str,
    run: Callable[..., None],
    parameters: Iterable[inspect.Parameter],
    text: str,
    *,
    is_for_every_user: bool = False,
) -> TyperCommand:
    """A command of an Invocation and its own options.

    It takes the global options too, without --user if it `is_for_every_user`. Whatever `run` raises on purpose becomes
    an exit code.
    """

    def callback(context: typer.Context, **values: Any) -> None:
        shared = {name: values.pop(name) for name in _parameters(Invocation)}
        invocation = Invocation(**shared).inside(context.obj)
        try:
            if is_for_every_user:
                _check_no_user(invocation, context.command_path)
            run(invocation, **values)
        except (EngrainError, OSError, KeyboardInterrupt) as error:
            raise typer.Exit(failures.report(error, as_json=invocation.as_json)) from error

    declare_options(callback, parameters)
    app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False, add_completion=False)
    app.command(name, help=text)(callback)
    made = get_command(app)
    assert isinstance(made, TyperCommand)
    pass_plain_values(made)
    return made


def _check_no_user(invocation: Invocation, command: str) -> None:
    if invocation.user is not None:
        other = "; engrain export-user NAME FILE exports all of a user" if command in _HANDING_OUT else ""
        raise InvalidInput(f"{command} is not for one user: leave out --user {invocation.user!r:.80}{other}")


def pass_plain_values(command: TyperCommand | TyperGroup) -> None:
    """Let a command take what needs no conversion as it is typed: texts, whole numbers, and what is left out.

    Typer builds a pydantic validator for each parameter, given or not: 120 ms and 12 MB of a command's start.
    """
    vars(command)["get_params"] = functools.partial(_params, command)


def _params(command: TyperCommand | TyperGroup, context: typer.Context) -> list[Any]:
    parameters = type(command).get_params(command, context)
    for parameter in parameters:  # with --help, which is made here
        vars(parameter)["process_value"] = functools.partial(_process_value, parameter)
    return list(parameters)


def _process_value(parameter: Any, context: typer.Context, value: Any) -> Any:
    kind = parameter.type_descriptor.annotation
    if parameter.metavar not in _PATHS:  # a path may be any bytes
        value = [_read_text(text) for text in value] if isinstance(value, list | tuple) else _read_text(value)
    if value in (None, (), []) and not parameter.required:
        plain: Any = () if parameter.multiple or parameter.nargs == -1 else None
    elif kind is str and isinstance(value, str) and _is_text(value):
        plain = value
    elif kind is int and isinstance(value, str) and value.isascii() and value.isdigit():
        plain = int(value)
    else:
        return _convert(parameter, context, value)
    return plain if parameter.callback is None else parameter.callback(context, parameter, plain)


def _convert(parameter: Any, context: typer.Context, value: Any) -> Any:
    """Let typer convert a value; its refusal of a number does not say which value it was."""
    try:
        return type(parameter).process_value(parameter, context, value)
    except typer.BadParameter as error:
        wanted = {int: "a whole number", float: "a number"}.get(parameter.type_descriptor.annotation)
        if wanted is not None and isinstance(value, str):
            error.message = f"{value!r:.80} is not {wanted}"
        raise


def _read_text(value: Any) -> Any:
    """Read an argument as UTF-8 where the locale could not, as that of LANG=C cannot.

    Raises:
        typer.BadParameter: its bytes are no UTF-8; what they say would be lost.
    """
    if not isinstance(value, str) or _is_text(value):
        return value
    try:
        return os.fsencode(value).decode()
    except UnicodeEncodeError:  # given by a program, not by a shell
        return value
    except UnicodeDecodeError as error:
        wrong = f"byte {error.start:,} of {error.object!r:.60} is 0x{error.object[error.start]:02x}"
        raise typer.BadParameter(f"it is not UTF-8 text: {wrong}; convert it (iconv -t UTF-8)") from error


def _is_text(value: str) -> bool:
    """False for bytes of an argument that are no text of the terminal's encoding."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def command_of_function(name: str, function: Callable[..., None], *, is_for_every_user: bool) -> TyperCommand:
    """The command of a function of an Invocation and options that typer reads from its annotations."""
    parameters, text = list(_parameters(function).values())[1:], inspect.cleandoc(function.__doc__ or "")
    return make_command(name, function, parameters, text, is_for_every_user=is_for_every_user)


def _parameters(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    return dict(inspect.signature(function, eval_str=True).parameters)
