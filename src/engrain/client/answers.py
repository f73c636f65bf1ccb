"""Answers of a server: the library's records, made from the JSON that their `to_dict()` gives."""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime
from functools import cache
from typing import Annotated, Any, Union, get_args, get_origin

from engrain.domain.pagination import Page
from engrain.domain.records import Episode, Fact, Rule
from engrain.verbs.signatures import Signature, type_hints

_MEMORIES: Mapping[str, type] = {"episode": Episode, "fact": Fact, "rule": Rule}


def parse_answer(signature: Signature, document: Any) -> Any:
    """Return what the verb gives in the library, of its answer as JSON; None of a verb that gives nothing."""
    if document is None or signature.answer is None:
        return None
    if signature.verb.field is not None:
        return decode(signature.answer, document[signature.verb.field])
    is_list = signature.item is not None and get_origin(signature.answer) is not Page
    return decode(signature.answer, document["items"] if is_list else document)


def decode(hint: Any, value: Any) -> Any:
    """Convert a JSON value to the type of an annotation; what has no type of its own stays as it is."""
    origin, arguments = get_origin(hint), get_args(hint)
    match value:
        case _ if origin is Annotated:
            return decode(arguments[0], value)
        case _ if origin in (Union, types.UnionType):
            return decode(_choose(arguments, value), value)
        case str() if hint is datetime:
            return datetime.fromisoformat(value)
        case list() if origin in (tuple, list, Sequence):
            items = [decode(arguments[0], item) for item in value]
            return tuple(items) if origin is tuple else items
        case dict():
            return _decode_object(hint, value)
        case _:
            return value


def _decode_object(hint: Any, value: Mapping[str, Any]) -> Any:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Page:
        items = tuple(decode(arguments[0], item) for item in value["items"])
        times = decode(dict[str, datetime], value.get("times", {}))
        removed_before = decode(datetime | None, value.get("removed_before"))
        return Page(items=items, next=value["next"], times=times, removed_before=removed_before)
    if isinstance(hint, type) and is_dataclass(hint):
        # What a newer server adds to the fields of a record is left out.
        return hint(**{name: decode(of, value[name]) for name, of in _hints(hint).items() if name in value})
    return {name: decode(arguments[1] if arguments else Any, item) for name, item in value.items()}


def _choose(choices: Sequence[Any], value: Any) -> Any:
    """Return the type of a union that a value has: of memories the one of its kind."""
    kinds = [choice for choice in choices if choice is not type(None)]
    if len(kinds) > 1 and isinstance(value, dict):
        return _MEMORIES.get(value.get("kind", ""), Any)
    return kinds[0] if len(kinds) == 1 else Any


@cache
def _hints(record: type) -> Mapping[str, Any]:
    hints = type_hints(record)
    return {field.name: hints[field.name] for field in fields(record) if field.init}
