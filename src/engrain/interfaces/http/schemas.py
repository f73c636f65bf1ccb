"""JSON schemas of what the library answers, read off its values: as `to_dict()` says them, and never written twice."""

import types
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from datetime import datetime
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from engrain.context.recipes import SectionName
from engrain.domain import records
from engrain.domain.maintenance.backups import VectorSpace
from engrain.domain.maintenance.findings import Finding
from engrain.domain.maintenance.stats import Stats
from engrain.domain.memories.aging import AgingKind
from engrain.domain.memories.notes import Note
from engrain.domain.memories.working import WorkingStats
from engrain.domain.pagination import Page
from engrain.domain.records import Entity, MemoryRecord, Record
from engrain.domain.runs.completions import Usage
from engrain.domain.runs.plans import ActionKind, Rejection
from engrain.domain.runs.runs import PendingSession, Run

Schema = dict[str, Any]
REF = "#/components/schemas/"
# What modules import for their annotations alone.
_NAMES: Mapping[str, Any] = {
    **{name: getattr(records, name) for name in ("Answer", "Caller", "Episode", "Fact", "Kind", "Maturity", "Rule")},
    **{each.__name__: each for each in (datetime, Mapping, Sequence, Entity, Note, WorkingStats, Usage)},
    **{each.__name__: each for each in (VectorSpace, Finding, Rejection, Run, PendingSession, Stats)},
    "MemoryRecord": MemoryRecord,
    "Wording": str,
    "SectionName": SectionName,
    "ActionKind": ActionKind,
    "AgingKind": AgingKind,
}
_MEMORY = frozenset(get_args(MemoryRecord))
_PLAIN: Mapping[Any, Schema] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    type(None): {"type": "null"},
    datetime: {"type": "string", "format": "date-time"},
}
# Said by `to_dict()` besides the fields.
_BESIDES: Mapping[type, Mapping[str, Any]] = {
    records.Episode: {"kind": Literal["episode"]},
    records.Fact: {"kind": Literal["fact"], "state": records.FactState},
    records.Rule: {"kind": Literal["rule"]},
}


@dataclass(frozen=True, slots=True)
class File:
    """A body that is bytes, of one of some media types."""

    media_types: tuple[str, ...]

    def __init__(self, *media_types: str) -> None:
        object.__setattr__(self, "media_types", media_types)

    @property
    def content(self) -> Schema:
        """As OpenAPI describes it."""
        return {each: {"schema": {"type": "string", "format": "binary"}} for each in self.media_types}


Answers = Any  # a Record, a union of Records, or Page[Record]


def reference(answers: Answers) -> Schema:
    """Where the schema of an answer stands."""
    return {"$ref": f"{REF}{_name(answers)}"}


def said_of(answers: Answers) -> str:
    """The first sentence about an answer."""
    match answers:
        case _ if _is_page(answers):
            return f"A page: {said_of(*get_args(answers))}"
        case type():
            return (answers.__doc__ or "").strip().partition("\n")[0]
        case _:
            return "An episode, a fact or a rule; `kind` says which."


def components(answers: Iterable[Answers]) -> dict[str, Schema]:
    """The schemas of answers and of all that they hold, by name."""
    waiting = list(answers)
    known: dict[str, Answers] = {}
    while waiting:
        each = waiting.pop()
        name = _name(each)
        assert known.setdefault(name, each) == each, f"two values are called {name}"
        if known[name] is each:
            waiting += [inner for inner in _inside(each) if known.get(_name(inner)) != inner]
    return {name: _schema(known[name]) for name in sorted(known)}


def _name(answers: Answers) -> str:
    match answers:
        case _ if _is_page(answers):
            return f"{_name(*get_args(answers))}Page"
        case type():
            return answers.__name__
        case _:
            return "Memory"


def _schema(answers: Answers) -> Schema:
    match answers:
        case _ if _is_page(answers):
            listed = {"type": "array", "items": reference(*get_args(answers))}
            cursor = {"type": ["string", "null"], "description": "`after` of the next page; null: this is the last."}
            return _object({"items": listed, "next": cursor}, said_of(answers))
        case type():
            return _object({name: _of(hint) for name, hint in _hints(answers).items()}, said_of(answers))
        case _:
            by_kind = {get_args(_BESIDES[each]["kind"])[0]: f"{REF}{each.__name__}" for each in get_args(answers)}
            return {
                "oneOf": [{"$ref": each} for each in by_kind.values()],
                "discriminator": {"propertyName": "kind", "mapping": by_kind},
                "description": said_of(answers),
            }


def _object(properties: Mapping[str, Schema], description: str) -> Schema:
    return {
        "type": "object",
        "description": description,
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


@cache
def _hints(record: type) -> Mapping[str, Any]:
    hints = get_type_hints(record, localns=dict(_NAMES))
    return {**_BESIDES.get(record, {}), **{each.name: hints[each.name] for each in fields(record)}}


def _of(hint: Any) -> Schema:
    """The schema of one annotation; that of any JSON where it says no more."""
    origin, arguments = get_origin(hint), get_args(hint)
    schema: Schema = {}
    if _is_memory(hint) or (isinstance(hint, type) and is_dataclass(hint)):
        schema = reference(hint)
    elif hint in _PLAIN:
        schema = dict(_PLAIN[hint])
    elif origin is Literal:
        schema = {"type": "string", "enum": list(arguments)}
    elif origin in (Union, types.UnionType):
        schema = _either([_of(each) for each in arguments])
    elif origin is tuple:
        schema = {"type": "array", "items": _of(arguments[0])}
    elif origin in (Mapping, dict):
        schema = {"type": "object", "additionalProperties": _of(arguments[1])}
    return schema


def _either(choices: list[Schema]) -> Schema:
    """One of several; of what differs by its type alone a list of types, as a reader expects."""
    if all(set(each) <= {"type", "format"} for each in choices):
        names = [each["type"] for each in choices]
        merged = {key: value for each in choices for key, value in each.items()}
        return {**merged, "type": names}
    return {"anyOf": choices}


def _inside(answers: Answers) -> Iterator[Any]:
    """The records that an answer holds."""
    match answers:
        case _ if _is_page(answers):
            yield from get_args(answers)
        case type():
            for hint in _hints(answers).values():
                yield from _records(hint)
        case _:
            yield from get_args(answers)


def _records(hint: Any) -> Iterator[Any]:
    if _is_memory(hint) or (isinstance(hint, type) and issubclass(hint, Record)):
        yield hint
    else:
        for each in get_args(hint):
            yield from _records(each)


def _is_page(answers: Any) -> bool:
    origin: Any = get_origin(answers)
    return origin is Page


def _is_memory(hint: Any) -> bool:
    return get_origin(hint) in (Union, types.UnionType) and frozenset(get_args(hint)) == _MEMORY
