"""Arguments and options of commands: their types, help and completion, from the words of a verb's parameters."""

from __future__ import annotations

import inspect
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_origin

import typer

from engrain.domain.records import Record
from engrain.errors import InvalidInput
from engrain.interfaces.cli import completion

if TYPE_CHECKING:
    from engrain.verbs.signatures import Parameter

Convert = Callable[[Any], Any]
# Names of parameters whose type is any text, as settings may add to them.
_NAMES = {"preset": "engrain.retrieval.presets:PRESETS", "format": "engrain.portability.formats:FORMATS"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """Describes one argument or option of a command.

    Attributes:
        flags: how it is written, such as --limit and -n; empty for an argument, which is given by place.
        type: int, float, str, or bool for a flag.
        convert: turns what is typed into what the verb takes.
        complete: the values that a shell may complete, of the context and the text so far.
    """

    name: str
    help: str
    flags: tuple[str, ...] = ()
    type: type = str
    metavar: str | None = None
    is_required: bool = False
    is_repeated: bool = False
    convert: Convert | None = None
    complete: completion.Complete | None = None

    def parameter(self) -> inspect.Parameter:
        """The parameter of a function from which typer makes this option."""
        hint: Any = list[self.type] if self.is_repeated else self.type  # type: ignore[name-defined]  # a type made here
        shared: dict[str, Any] = {"metavar": self.metavar, "help": self.help, "autocompletion": self.complete}
        info = typer.Option(*self.flags, **shared) if self.flags else typer.Argument(**shared)
        default: Any = inspect.Parameter.empty if self.is_required else None
        if self.type is bool:
            default = False
        elif not self.is_required:
            hint = hint | None
        return inspect.Parameter(
            self.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[hint, info]
        )


def values_of(options: tuple[Option, ...], typed: Mapping[str, Any]) -> dict[str, Any]:
    """Values as a verb takes them, of what was typed; what was left out is not in it.

    Raises:
        InvalidInput: a value is no JSON where it has to be.
    """
    given = {
        option: typed[option.name]
        for option in options
        if typed[option.name] is not None and typed[option.name] is not False and typed[option.name] != []
    }
    return {option.name: value if option.convert is None else option.convert(value) for option, value in given.items()}


def option(name: str, written: str, text: str, **more: Any) -> Option:
    """An option as it is written: `--topic TEXT`, or without a value `--deep`."""
    flags, _, metavar = written.partition(" ")
    return Option(name=name, flags=(flags,), type=str if metavar else bool, metavar=metavar or None, help=text, **more)


def option_of(parameter: Parameter, *, is_placed: bool, default: Any = None) -> Option:
    """The argument or option of a verb's parameter; `default` stands in the help where it is not the library's."""
    word, kind = parameter.word, _plain(parameter.json_type)
    written = word.option or "--" + parameter.json_name.replace("_", "-")
    items = get_args(kind)[0] if get_origin(kind) is list else None
    value = items or kind
    choices = get_args(value) if get_origin(value) is Literal else _names(parameter)
    convert: Convert | None = None
    if kind is bool and parameter.default is True:
        written, convert = f"--no-{written[2:]}", lambda _: False
    elif get_origin(value) is dict or value is Any or _is_record(value):
        convert = _json(written[2:].replace("-", " "), value, is_list=items is not None)
    elif value in (int, float) and word.low is not None and items is None:
        convert = _bounded(parameter.json_name, word.low, math.inf if word.high is None else word.high)
    text = " ".join(_help(parameter, choices, is_repeated=items is not None, default=default))
    return Option(
        name=parameter.name,
        flags=() if is_placed else (written, "-n") if parameter.name == "limit" else (written,),
        type=value if value in (bool, int, float) else str,
        help=f"Do not {text[0].lower()}{text[1:]}" if kind is bool and parameter.default is True else text,
        metavar=word.metavar or written[2:].upper() if kind is not bool else None,
        is_required=parameter.is_required,
        is_repeated=items is not None,
        convert=convert,
        complete=completion.complete_parameter(parameter, choices),
    )


def _help(parameter: Parameter, choices: tuple[str, ...], *, is_repeated: bool, default: Any) -> list[str]:
    word = parameter.word
    shown = parameter.default if default is None else default
    parts = [word.sentence]
    if choices:
        parts.append(f"One of: {', '.join(choices)}.")
    if word.low is not None and f"{word.low:g} to " not in word.sentence:
        parts.append(f"At least {word.low:g}." if word.high is None else f"{word.low:g}-{word.high:,.0f}.")
    if is_repeated:
        parts.append("May be repeated.")
    if isinstance(shown, (str, int, float)) and not isinstance(shown, bool) and shown != "":
        parts.append(f"Default: {shown:g}." if isinstance(shown, float) else f"Default: {shown}.")
    return parts


def _names(parameter: Parameter) -> tuple[str, ...]:
    where = _NAMES.get(parameter.name)
    if where is None:
        return ()
    module, _, name = where.partition(":")
    return tuple(getattr(import_module(module), name))


def _plain(kind: Any) -> Any:
    """The type that one word of a command line can have: of several types the number."""
    return int if get_origin(kind) is not Literal and int in get_args(kind) else kind


def _is_record(kind: Any) -> bool:
    return isinstance(kind, type) and (issubclass(kind, Record) or hasattr(kind, "__required_keys__"))


def _bounded(name: str, low: float, high: float) -> Convert:
    """Reads a number within bounds: out of them, no memory is opened, and none made where there is none."""

    def read(value: float) -> float:
        if not low <= value <= high:
            bounds = f"in [{low:,g}, {high:,.0f}]" if high < math.inf else f"at {low:,g} or above"
            raise InvalidInput(f"{name} is {value:,}; it must lie {bounds}")
        return value

    return read


def _json(label: str, kind: Any, *, is_list: bool) -> Convert:
    """Reads JSON: any value, an object, or a record."""

    def read(text: str) -> Any:
        value = _value(text, label)
        if kind is Any:
            return value
        if not isinstance(value, dict):
            raise InvalidInput(f"""{label} {text[:80]!r} is no JSON object; write it as '{{"name": "value"}}'""")
        if not (isinstance(kind, type) and issubclass(kind, Record)):
            return value
        try:
            return kind(**{name: tuple(part) if isinstance(part, list) else part for name, part in value.items()})
        except TypeError as error:
            names = ", ".join(inspect.signature(kind).parameters)
            raise InvalidInput(f"{label} {text[:80]!r} has to have these names: {names}") from error

    return (lambda texts: [read(text) for text in texts]) if is_list else read


def _value(text: str, label: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{label} {text[:80]!r} is not JSON: {error}") from error
