"""JSON schema of a reply, which a provider may hold its model to and `reply_parser` reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engrain.domain.records import DECAY_RATES

if TYPE_CHECKING:
    from collections.abc import Mapping

SECTIONS = ("new_facts", "updated_facts", "new_rules", "confirmations")
RECAP = "recap"

_TEXT = {"type": "string", "minLength": 1}
_EVIDENCE = {
    "type": "array",
    "minItems": 1,
    "items": {
        "type": "object",
        "properties": {"episode": {"type": "string", "description": "id of the episode, such as e1"}, "quote": _TEXT},
        "required": ["episode", "quote"],
        "additionalProperties": False,
    },
}
_TAGS = {"type": "array", "items": {"type": "string"}}
_STATEMENT = {
    "subject": _TEXT,
    "predicate": _TEXT,
    "content": _TEXT,
    "permanence": {"type": "string", "enum": list(DECAY_RATES)},
    "importance": {"type": "number", "minimum": 1, "maximum": 10},
    "confidence": {"type": "number", "minimum": 0, "maximum": 1},
    "valid_from": {
        "type": ["string", "null"],
        "description": "ISO 8601 date since when it is true, if said",
    },
    "tags": _TAGS,
}
_TARGET = {"target_id": {"type": "string", "description": "id of what is known already, such as k1"}}


def _listed(properties: Mapping[str, Any], required: list[str]) -> dict[str, Any]:
    item = {
        "type": "object",
        "properties": {**properties, "evidence": _EVIDENCE},
        "required": [*required, "evidence"],
        "additionalProperties": False,
    }
    return {"type": "array", "items": item}


REPLY: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "new_facts": _listed(_STATEMENT, ["subject", "predicate", "content"]),
        "updated_facts": _listed({**_TARGET, **_STATEMENT}, ["target_id", "subject", "predicate", "content"]),
        "new_rules": _listed({"content": _TEXT, "tags": _TAGS}, ["content"]),
        "confirmations": _listed(_TARGET, ["target_id"]),
        RECAP: {"type": "string", "description": "two sentences, where the episodes are cut"},
    },
    "required": list(SECTIONS),
    "additionalProperties": False,
}
