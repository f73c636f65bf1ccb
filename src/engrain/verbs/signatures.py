"""Signatures of verbs: the method behind each row of the table, its parameters by their words, and its answer.

Read from the facade's own annotations, whose types its module and that of the words may import for type checkers
alone: these imports are read from the source and done here.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache, reduce
from importlib import import_module
from operator import or_
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Union, get_args, get_origin, get_type_hints

from engrain.verbs import words
from engrain.verbs.table import VERBS, Verb, by_name

if TYPE_CHECKING:
    from engrain.verbs.words import Origin, Word

NO_DEFAULT: Any = inspect.Parameter.empty
# The class behind each group of verbs; the facades themselves have none.
_FACADES = {"agent": ("engrain.agent.agent", "Agent"), "memory": ("engrain.service", "Memory")}
_OF_PROGRESS = re.compile(r" ?`progress` gets [^.]*\.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """Describes one parameter of a verb.

    Attributes:
        name: its name in the library.
        word: what the vocabulary says of it.
        json_type: the type of the JSON value that a client sends, without None; None of what no client can send.
        default: its default; NO_DEFAULT where it is required.
        is_optional: whether None is allowed.
        takes_one: whether the library takes one text in the place of several.
    """

    NO_DEFAULT: ClassVar[Any] = NO_DEFAULT

    name: str
    word: Word
    json_type: Any
    default: Any
    is_optional: bool
    takes_one: bool = False

    @property
    def is_required(self) -> bool:
        return self.default is NO_DEFAULT

    @property
    def json_name(self) -> str:
        """Its name on the wire: `id` for `id_`."""
        return self.name.rstrip("_")


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """Describes the method of a verb.

    Attributes:
        parameters: those that are arguments on every surface, in their order.
        caller_parameters: those that the caller's identity gives, each with its origin.
        progress: the types of what its progress function is called with; empty where it takes none.
        answer: the type of its answer, without None.
        is_optional: whether it gives None where what it names is not there.
        summary: the first sentence of its docstring.
        description: the rest of its docstring up to the errors.
    """

    verb: Verb
    method: Callable[..., Any]
    parameters: tuple[Parameter, ...]
    caller_parameters: Mapping[str, Origin]
    progress: tuple[type, ...]
    answer: Any
    is_optional: bool
    summary: str
    description: str

    @property
    def by_name(self) -> Mapping[str, Parameter]:
        return {parameter.name: parameter for parameter in self.parameters}

    @property
    def usage(self) -> str:
        """Its description for whoever cannot pass a progress function."""
        return _OF_PROGRESS.sub("", self.description).strip()

    @property
    def placement(self) -> Mapping[str, str]:
        """The part of an HTTP request that carries each parameter: path, query, body or key (a header)."""
        method, path = self.verb.route.split()
        rest = "query" if method == "GET" or self.verb.takes else "body"
        where = {name: "path" if f"{{{name}}}" in path else rest for name in self.by_name if name != "path"}
        return where | ({"idempotency_key": "key"} if self.takes_key else {})

    @property
    def takes_key(self) -> bool:
        """True of a write that can be repeated safely under an idempotency key."""
        return "idempotency_key" in self.by_name

    @property
    def is_repeatable(self) -> bool:
        """True where a second request changes nothing more."""
        return self.verb.effect == "reads" or self.verb.is_idempotent or self.takes_key

    @property
    def is_slow(self) -> bool:
        """True where the answer may take minutes: of a language model, of all memories, or of a file."""
        return self.verb.effect == "learns" or self.verb.needs == "admin" or bool(self.verb.takes)

    @property
    def has_pages(self) -> bool:
        """True of an answer that goes on after a cursor."""
        return "after" in self.by_name

    @property
    def is_for_every_user(self) -> bool:
        """True of a verb of the whole memory that cannot be narrowed to one end user."""
        return self.verb.owner == "memory" and "user" not in {*self.by_name, *self.caller_parameters}

    @property
    def item(self) -> Any:
        """The type of the items of its answer; None where that is no list."""
        origin = get_origin(self.answer)
        if origin is not None and issubclass(origin if isinstance(origin, type) else type(None), Iterable):
            return get_args(self.answer)[0] if self.verb.field is None and origin is not dict else None
        return None

    def bind(self, memory: Any, agent: Any) -> Callable[..., Any]:
        """The method of a memory or of an agent's view of it."""
        owner = memory if self.verb.owner == "memory" else agent
        if self.verb.group is not None:
            owner = getattr(owner, self.verb.group)
        method: Callable[..., Any] = getattr(owner, self.verb.method_name)
        return method

    def to_json(self, value: Any) -> Any:
        """The answer as JSON: an object; None of a verb that gives nothing, or where nothing is there.

        A list is {"items", "next"}, a bare value stands under the `field` of its row.
        """
        if value is None:
            return None
        if self.verb.field is not None:
            return {self.verb.field: value}
        if isinstance(value, Sequence) and not hasattr(value, "to_dict"):
            return {"items": [item.to_dict() for item in value], "next": None}
        return value.to_dict()


@cache
def signature(name: str) -> Signature:
    """The signature of a verb by its name.

    Raises:
        KeyError: the table has no such verb.
    """
    verb = by_name()[name]
    method = inspect.unwrap(getattr(owner_of(verb), verb.method_name))
    hints = type_hints(method)
    parameters = [
        _parameter(parameter, hints[parameter.name])
        for parameter in list(inspect.signature(method).parameters.values())[1:]
        if get_origin(_without_none(hints[parameter.name])[0]) is Annotated
    ]
    summary, _, rest = inspect.cleandoc(method.__doc__ or "").partition("\n")
    answer, is_optional = _without_none(hints["return"])
    return Signature(
        verb=verb,
        method=method,
        parameters=tuple(parameter for parameter in parameters if parameter.word.origin == "argument"),
        caller_parameters={
            parameter.name: parameter.word.origin
            for parameter in parameters
            if parameter.word.origin in {"caller", "key"}
        },
        progress=_callback(hints.get("progress")),
        answer=answer,
        is_optional=is_optional,
        summary=summary,
        description=" ".join(rest.partition("\nRaises:")[0].split()),
    )


def signatures() -> tuple[Signature, ...]:
    """The signatures of all verbs, in the order of the table."""
    return tuple(signature(verb.name) for verb in VERBS)


def type_hints(of: Any) -> dict[str, Any]:
    """The annotations of a function or class, with the names that its module or `words` imports for type checkers."""
    homes, names = _homes_of_names(of.__module__)
    while True:
        try:
            return get_type_hints(of, localns=names, include_extras=True)
        except NameError as error:
            if error.name is None or error.name not in homes:
                raise
            names[error.name] = _imported(*homes[error.name])


@cache
def owner_of(verb: Verb) -> type:
    """The class that has the method."""
    module, name = _FACADES[verb.owner]
    facade = getattr(import_module(module), name)
    if verb.group is None:
        return facade  # type: ignore[no-any-return]  # a class by the names above
    made = type_hints(getattr(facade, verb.group).fget)["return"]
    assert isinstance(made, type)
    return made


@cache
def _homes_of_names(module: str) -> tuple[Mapping[str, tuple[str, str]], dict[str, Any]]:
    """The homes of the names of a module's annotations, and the names that mean something else in the module itself."""
    homes = {**_homes_for_types(words.__name__), **_homes_for_types(module)}
    return homes, {name: _imported(*homes[name]) for name in homes.keys() & vars(sys.modules[module]).keys()}


@cache
def _homes_for_types(module: str) -> Mapping[str, tuple[str, str]]:
    """The module and the name there of each name that a module imports under TYPE_CHECKING."""
    file = sys.modules[module].__file__
    assert file is not None
    tree = ast.parse(Path(file).read_text(encoding="utf-8"))
    guarded = [
        node
        for block in tree.body
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
        for node in block.body
    ]
    return {
        alias.asname or alias.name: (node.module, alias.name)
        for node in guarded
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }


def _imported(module: str, name: str) -> Any:
    """A name of a module: what it defines, or a module inside it."""
    try:
        return getattr(import_module(module), name)
    except AttributeError:
        return import_module(f"{module}.{name}")


def _parameter(declared: inspect.Parameter, hint: Any) -> Parameter:
    annotated, is_optional = _without_none(hint)
    assert get_origin(annotated) is Annotated, f"{declared.name} has no word of engrain.verbs.words"
    library_type, word = get_args(annotated)
    sent = None if word.origin == "library" else json_type(library_type)
    is_one = any(member is str or get_origin(member) is Literal for member in _members(library_type))
    return Parameter(
        name=declared.name,
        word=word,
        json_type=sent,
        default=declared.default,
        is_optional=is_optional,
        takes_one=is_one and get_origin(sent) is list,
    )


def _callback(hint: Any) -> tuple[type, ...]:
    """The types of the arguments of an optional function; none where there is no such parameter."""
    return () if hint is None else tuple(get_args(get_args(_without_none(hint)[0])[0])[0])


def json_type(library_type: Any) -> Any:
    """The type of the JSON value that stands for a value of the library.

    Times and paths are texts, functions are left out for their names, and one of several things is a list.
    """
    members = [_json_member(member) for member in _members(library_type)]
    lists = [member for member in members if get_origin(member) is list]
    items = {get_args(member)[0] for member in lists}
    return reduce(or_, [member for member in members if member is not None and member not in items])


def _json_member(member: Any) -> Any:
    origin = get_origin(member)
    if member in (datetime, Path):
        return str
    if origin is Callable or origin is types.FunctionType:
        return None
    if origin in (Mapping, dict):
        return dict[str, Any]
    if isinstance(origin, type) and issubclass(origin, Iterable):
        return list[json_type(get_args(member)[0])]  # type: ignore[misc]  # a type made here
    return member


def _members(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)


def _without_none(hint: Any) -> tuple[Any, bool]:
    """A type and whether None is another choice beside it."""
    members = [member for member in _members(hint) if member is not type(None)]
    if hint is type(None) or not members:
        return None, False
    return reduce(or_, members), len(members) < len(_members(hint))
