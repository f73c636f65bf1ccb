"""JSON schemas of answers, read from the library's records as `to_dict()` gives them."""

import types
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from datetime import datetime
from functools import cache
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from engrain.domain import records
from engrain.domain.memories.erasure import ErasureReport
from engrain.domain.memories.trust import TrustLevel
from engrain.domain.records import MemoryRecord, Record
from engrain.interfaces.http.openapi.fields import describe_field
from engrain.interfaces.json_arguments import ANY_JSON
from engrain.verbs.signatures import Signature, type_hints
from engrain.verbs.table import Verb

Schema = dict[str, Any]
REF = "#/components/schemas/"
_CURSOR = "`after` of the next page; null: this is the last, or the route takes no `after`."
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
    records.Episode: {"kind": Literal["episode"], "trust": TrustLevel},
    records.Fact: {
        "kind": Literal["fact"],
        "state": records.FactState,
        "subject_key": str,
        "predicate_key": str,
        "trust": TrustLevel,
        "pending": bool,
    },
    records.Rule: {"kind": Literal["rule"], "trust": TrustLevel},
    ErasureReport: {"ids": list[str]},
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


def answer_type(signature: Signature) -> AnswerType:
    """Return the type of a verb's answer in JSON."""
    if signature.verb.field is not None:
        return BareValue(signature.verb, signature.answer)
    return signature.answer if signature.item is None else PageOf(signature.item)


def reference(answer: AnswerType) -> Schema:
    """Return a reference to the schema of an answer."""
    return {"$ref": f"{REF}{_schema_name(answer)}"}


def summary_of(answer: AnswerType) -> str:
    """Return the description of an answer: the first sentence of its record."""
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
    """Return the schemas of answers and of all records in them, by name."""
    waiting = list(answers)
    known: dict[str, AnswerType] = {}
    while waiting:
        answer = waiting.pop()
        name = _schema_name(answer)
        assert known.setdefault(name, answer) == answer, f"two values are called {name}"
        if known[name] is answer:
            waiting += [inner for inner in _inner_records(answer) if known.get(_schema_name(inner)) != inner]
    return {name: _schema(known[name]) for name in sorted(known)}


def _schema_name(answer: AnswerType) -> str:
    match answer:
        case PageOf(item=item):
            return f"{_schema_name(item)}Page"
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
            cursor = {"type": ["string", "null"], "description": _CURSOR}
            page = _object_schema({"items": items, "next": cursor}, summary_of(answer))
            if item is records.Event:
                page["properties"]["removed_before"] = {
                    "type": "string",
                    "format": "date-time",
                    "description": "On the last page, where older events were removed (events.keep_days).",
                }
            return page
        case BareValue(verb=verb, type=of):
            assert verb.field is not None
            return _object_schema({verb.field: _hint_schema(of)}, summary_of(answer))
        case type():
            hints = _field_hints(answer)
            described = {name: {**_hint_schema(hint), **describe_field(answer, name)} for name, hint in hints.items()}
            return _object_schema(described, summary_of(answer))
        case _:
            by_kind = {get_args(_ADDED[record]["kind"])[0]: f"{REF}{record.__name__}" for record in get_args(answer)}
            return {
                "oneOf": [{"$ref": schema} for schema in by_kind.values()],
                "discriminator": {"propertyName": "kind", "mapping": by_kind},
                "description": summary_of(answer),
            }


def _object_schema(properties: Mapping[str, Schema], description: str) -> Schema:
    return {
        "type": "object",
        "description": description,
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


@cache
def _field_hints(record: type) -> Mapping[str, Any]:
    hints = type_hints(record)
    return {**_ADDED.get(record, {}), **{field.name: hints[field.name] for field in fields(record)}}


def _hint_schema(hint: Any) -> Schema:
    """Return the schema of an annotation; one that allows any JSON where there is no other."""
    if get_origin(hint) is Annotated:
        return _hint_schema(get_args(hint)[0])
    origin, arguments = get_origin(hint), get_args(hint)
    schema: Schema = {}
    if _is_memory(hint) or (isinstance(hint, type) and is_dataclass(hint)):
        schema = reference(hint)
    elif hint in _PLAIN:
        schema = dict(_PLAIN[hint])
    elif origin is Literal:
        schema = {"type": "string", "enum": list(arguments)}
    elif origin in (Union, types.UnionType):
        schema = _union_schema([_hint_schema(choice) for choice in arguments])
    elif origin in (tuple, list):
        schema = {"type": "array", "items": _hint_schema(arguments[0]) or dict(ANY_JSON)}
    elif origin in (Mapping, dict):
        schema = {"type": "object", "additionalProperties": _hint_schema(arguments[1])}
    return schema


def _union_schema(choices: list[Schema]) -> Schema:
    """Return the schema of a union; of plain types, a list of types, as readers expect."""
    if all(set(choice) <= {"type", "format"} for choice in choices):
        names = [choice["type"] for choice in choices]
        merged = {key: value for choice in choices for key, value in choice.items()}
        return {**merged, "type": names}
    return {"anyOf": choices}


def _inner_records(answer: AnswerType) -> Iterator[Any]:
    """Yield the records in an answer."""
    match answer:
        case PageOf(item=item):
            yield item
        case BareValue(type=of):
            yield from _records(of)
        case type():
            for hint in _field_hints(answer).values():
                yield from _records(hint)
        case _:
            yield from get_args(answer)


def _records(hint: Any) -> Iterator[Any]:
    if _is_memory(hint) or (isinstance(hint, type) and issubclass(hint, Record)):
        yield hint
    else:
        for argument in get_args(hint):
            yield from _records(argument)


def _is_memory(hint: Any) -> bool:
    return get_origin(hint) in (Union, types.UnionType) and frozenset(get_args(hint)) == _MEMORY
