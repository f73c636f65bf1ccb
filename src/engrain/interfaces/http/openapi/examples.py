"""Examples for the OpenAPI document: a typical value for each field, by its name or else by its type."""

from collections.abc import Mapping
from typing import Any

from engrain.interfaces.http.openapi.schemas import REF, Schema

_ID, _OTHER = "019aa4d2-7c11-7000-8000-0000000000a1", "019aa4d2-7c11-7000-8000-0000000000b2"
_AT = "2026-11-21T09:30:00Z"
# By the name of a field; other fields have a value by their type.
_EXAMPLES: Mapping[str, Any] = {
    "id": _ID,
    "ids": [_ID],
    "source_id": _ID,
    "target_id": _OTHER,
    "old_id": _ID,
    "new_id": _OTHER,
    "memory_id": _ID,
    "entity_id": _ID,
    "rule_id": _ID,
    "run_id": _ID,
    "tenant_id": "default",
    "agent": "assistant",
    "actor": "assistant",
    "scope": "global",
    "session": "2026-11-21",
    "content": "I moved to Lisbon in May.",
    "text": "Ana lives in Lisbon.",
    "query": "Where does Ana live?",
    "asked": "Book Ana's trip home",
    "subject": "Ana",
    "predicate": "lives in",
    "speaker": "Ana",
    "key": "project:alpha",
    "category": "person",
    "name": "Ana",
    "canonical_name": "Ana",
    "preset": "engrain",
    "channel": "vector",
    "event_type": "fact_created",
    "request_id": "0f8fad5b-d9cb-469f-a165-70867728950e",
    "pool": "docs",
    "members": ["assistant", "coder"],
    "importance": 5.0,
    "confidence": 1.0,
    "score": 0.91,
    "secret": "engrain_...",
    "worker": "host:4711",
    "format": "jsonl",
    "path": "engrain-export.jsonl",
    "state": "active",
    "evidence": "strong",
}


def example(schema: Schema, components: Mapping[str, Schema], *, name: str = "") -> Any:
    """Return a value that a schema allows: of an object its required fields, and those with an example of their own."""
    match schema:
        case {"$ref": str() as reference}:
            return example(components[reference.removeprefix(REF)], components, name=name)
        case {"examples": [first, *_]} | {"enum": [first, *_]} | {"const": first}:
            return first
        case {"oneOf": [*_, chosen]} | {"anyOf": [chosen, *_]}:
            return example(chosen, components, name=name)
        case {"type": "object", "properties": dict() as properties}:
            wanted = {*schema.get("required", ()), *(field for field in properties if "examples" in properties[field])}
            return {
                field: example(properties[field], components, name=field) for field in properties if field in wanted
            }
        case {"type": "array", "items": dict() as items} if not _has_example(name, ["array"]):
            return [example(items, components, name=name)] if "$ref" in items else []
        case _:
            return _plain(schema, name)


def _plain(schema: Schema, name: str) -> Any:
    """Return the value of a field without inner fields: by its name, else the least that its type allows."""
    types = schema.get("type", "object")
    types = [types] if isinstance(types, str) else types
    if _has_example(name, types):
        return _EXAMPLES[name]
    if schema.get("format") == "date-time":
        return _AT
    if "null" in types:
        return None
    return {"string": name, "integer": 1, "number": 0.5, "boolean": False, "object": {}, "array": []}[types[0]]


def _has_example(name: str, types: list[str]) -> bool:
    """Tell whether the name has an example, of one of these types."""
    of = {str: "string", float: "number", list: "array"}
    return name in _EXAMPLES and of[type(_EXAMPLES[name])] in types
