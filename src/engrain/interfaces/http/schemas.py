"""JSON schemas of answers, read from the library's records as `to_dict()` gives them."""

import types
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from datetime import datetime
from functools import cache
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from engrain.domain import records
from engrain.domain.records import MemoryRecord, Record
from engrain.verbs.signatures import Signature, type_hints
from engrain.verbs.table import Verb

Schema = dict[str, Any]
REF = "#/components/schemas/"
_MEMORY = frozenset(get_args(MemoryRecord))
_PLAIN: Mapping[Any, Schema] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    type(None): {"type": "null"},
    datetime: {"type": "string", "format": "date-time"},
}
# What `to_dict()` adds to the fields.
_ADDED: Mapping[type, Mapping[str, Any]] = {
    records.Episode: {"kind": Literal["episode"]},
    records.Fact: {"kind": Literal["fact"], "state": records.FactState},
    records.Rule: {"kind": Literal["rule"]},
}


@dataclass(frozen=True, slots=True)
class PageOf:
    """A page of a list: `items`, and `next`, the cursor of the page after it, null where there is none."""

    item: Any


@dataclass(frozen=True, slots=True)
class BareValue:
    """A value that is no record, under the name of its field."""

    verb: Verb
    type: Any


AnswerType = Any  # a Record, a union of memories, a PageOf one or a BareValue


def answer_type(found: Signature) -> AnswerType:
    """The type of a verb's answer in JSON."""
    if found.verb.field is not None:
        return BareValue(found.verb, found.answer)
    return found.answer if found.item is None else PageOf(found.item)


def reference(answer: AnswerType) -> Schema:
    """A reference to the schema of an answer."""
    return {"$ref": f"{REF}{_name(answer)}"}


def summary_of(answer: AnswerType) -> str:
    """The first sentence about an answer."""
    match answer:
        case PageOf(item=item):
            return f"A page: {summary_of(item)}"
        case BareValue(verb=verb):
            return f"The answer of {verb.name}."
        case type():
            return (answer.__doc__ or "").strip().partition("\n")[0]
        case _ if frozenset(get_args(answer)) <= _MEMORY:
            return "An episode, a fact or a rule; `kind` says which."
        case _:
            return "One of several records."


def components(answers: Iterable[AnswerType]) -> dict[str, Schema]:
    """The schemas of answers and of all that they hold, by name."""
    waiting = list(answers)
    known: dict[str, AnswerType] = {}
    while waiting:
        each = waiting.pop()
        name = _name(each)
        assert known.setdefault(name, each) == each, f"two values are called {name}"
        if known[name] is each:
            waiting += [inner for inner in _inside(each) if known.get(_name(inner)) != inner]
    return {name: _schema(known[name]) for name in sorted(known)}


def _name(answer: AnswerType) -> str:
    match answer:
        case PageOf(item=item):
            return f"{_name(item)}Page"
        case BareValue(verb=verb):
            return f"{''.join(part.title() for part in verb.identifier.split('_'))}Answer"
        case type():
            return answer.__name__
        case _ if frozenset(get_args(answer)) == _MEMORY:
            return "Memory"
        case _:
            return "Or".join(record.__name__ for record in get_args(answer))


def _schema(answer: AnswerType) -> Schema:
    match answer:
        case PageOf(item=item):
            items = {"type": "array", "items": reference(item)}
            cursor = {"type": ["string", "null"], "description": "`after` of the next page; null: this is the last."}
            return _object({"items": items, "next": cursor}, summary_of(answer))
        case BareValue(verb=verb, type=of):
            assert verb.field is not None
            return _object({verb.field: _of(of)}, summary_of(answer))
        case type():
            return _object({name: _of(hint) for name, hint in _hints(answer).items()}, summary_of(answer))
        case _:
            by_kind = {get_args(_ADDED[each]["kind"])[0]: f"{REF}{each.__name__}" for each in get_args(answer)}
            return {
                "oneOf": [{"$ref": each} for each in by_kind.values()],
                "discriminator": {"propertyName": "kind", "mapping": by_kind},
                "description": summary_of(answer),
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
    hints = type_hints(record)
    return {**_ADDED.get(record, {}), **{each.name: hints[each.name] for each in fields(record)}}


def _of(hint: Any) -> Schema:
    """The schema of one annotation; that of any JSON where it says no more."""
    if get_origin(hint) is Annotated:
        return _of(get_args(hint)[0])
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
    elif origin in (tuple, list):
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


def _inside(answer: AnswerType) -> Iterator[Any]:
    """The records that an answer holds."""
    match answer:
        case PageOf(item=item):
            yield item
        case BareValue(type=of):
            yield from _records(of)
        case type():
            for hint in _hints(answer).values():
                yield from _records(hint)
        case _:
            yield from get_args(answer)


def _records(hint: Any) -> Iterator[Any]:
    if _is_memory(hint) or (isinstance(hint, type) and issubclass(hint, Record)):
        yield hint
    else:
        for each in get_args(hint):
            yield from _records(each)


def _is_memory(hint: Any) -> bool:
    return get_origin(hint) in (Union, types.UnionType) and frozenset(get_args(hint)) == _MEMORY
