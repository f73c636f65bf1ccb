"""Secrets in the fields of memories and entities: in which of them they are masked, and where an audit looks for them.

Fields in which a person or a model writes freely. Names that a host gives (agent, session, speaker, tags, scope) stay
as they are: it looks its memories up by them.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from engrain.domain.records import Entity, Episode, Fact, MemoryRecord, Rule
from engrain.domain.text.secrets import Secret, SecretPolicy, apply_policy, apply_policy_to_value, find_secrets

if TYPE_CHECKING:
    from collections.abc import Mapping


_Record = TypeVar("_Record", Episode, Fact, Rule, Entity)

_FIELDS = (
    "subject",
    "predicate",
    "content",
    "source",
    "model",
    "tool_calls",
    "metadata",
    "canonical_name",
    "aliases",
)


def apply_policy_to_fields(
    fields: Mapping[str, Any], policy: SecretPolicy, *, predicate: str | None = None
) -> dict[str, Any]:
    """The fields of a memory or an entity as they may be stored; those without free text stay as they are.

    A fact says what its content is by its predicate, which `predicate` is where it is not among the fields: the value
    of an API key is masked, and a password is one that somebody tells.

    Raises:
        InvalidInput: as `apply_policy`.
    """
    stored = dict(fields)
    for name in _FIELDS:
        if name in stored and name != "content" and stored[name] is not None:
            stored[name] = apply_policy_to_value(stored[name], policy)
    about = stored.get("predicate", predicate)
    if "content" in stored:
        context = f"{about} is " if about else ""
        stored["content"] = apply_policy(stored["content"], policy, context=context)
    return stored


def apply_policy_to_record(record: _Record, policy: SecretPolicy) -> _Record:
    """A memory or an entity as it may be stored.

    Raises:
        InvalidInput: as `apply_policy`.
    """
    fields = {name: getattr(record, name) for name in _FIELDS if hasattr(record, name)}
    stored = apply_policy_to_fields(fields, policy)
    return record if stored == fields else replace(record, **stored)


def find_in_memory(memory: MemoryRecord) -> list[Secret]:
    """The secrets of a memory; of a fact those that its predicate gives away, too, passwords included."""
    says = memory.content
    values: list[object] = [memory.metadata]
    if isinstance(memory, Fact):
        says, values = f"{memory.subject} {memory.predicate}: {says}", [memory.source, *values]
    if isinstance(memory, Episode):
        values += (memory.model, *memory.tool_calls)
    labels = "\n".join(json.dumps(value, ensure_ascii=False) for value in values if value)
    return find_secrets(says) + find_secrets(labels, is_label=True)
