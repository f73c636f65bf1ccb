"""Memories as mem0's `get_all` returns them: `{"results": [...]}`, or the list alone; each becomes a fact.

https://docs.mem0.ai/api-reference, and `MemoryItem` of mem0ai 2.2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engrain.domain.memories.predicates import free_text_predicate
from engrain.portability.formats import fields
from engrain.portability.formats.records import BrokenRecord, Entry, Format, ImportedFact, Json

if TYPE_CHECKING:
    from collections.abc import Iterator

_NAME = "mem0"
_WHOSE = ("user_id", "actor_id", "agent_id", "run_id")
_SOMEBODY = "user"


def _read(entry: Entry) -> Iterator[ImportedFact | BrokenRecord]:
    if "results" not in entry.value:
        yield from fields.read_record(entry.position, _memory, entry.value, entry.position)
        return
    for index, value in enumerate(fields.as_list(entry.value["results"], "results")):
        position = entry.position_of(f"results[{index}]")
        yield from fields.read_record(position, _memory, value, position)


def _memory(value: object, position: str) -> ImportedFact | None:
    record = fields.as_object(value, "memory")
    if "memory" not in record:
        raise fields.missing_key("memory", record)
    content = fields.optional_text(record, "memory")
    if content is None:
        return None
    whose = {key: text for key in _WHOSE if (text := fields.optional_text(record, key))}
    id_ = fields.optional_text(record, "id") or fields.fingerprint(content, whose)
    created, updated = (fields.as_time(record.get(key), key) for key in ("created_at", "updated_at"))
    return ImportedFact(
        subject=next(iter(whose.values()), _SOMEBODY),
        predicate=free_text_predicate(id_),  # a text that stands for itself; a later one of the same id replaces it
        content=content,
        stored_at=updated or created,
        confirmed_at=updated or created,
        valid_from=created,
        valid_to=fields.as_time(record.get("expiration_date"), "expiration_date"),
        source_id=fields.fingerprint(id_, content),
        user=whose.get("user_id"),
        tags=fields.as_tags(record.get("categories"), "categories"),
        metadata={**fields.optional_object(record, "metadata"), **whose, "format": _NAME, "mem0_id": id_},
        position=position,
    )


def _is_memory(record: Json) -> bool:
    return isinstance(record.get("memory"), str) and "id" in record


def _is_answer(record: Json) -> bool:
    results = record.get("results")
    return isinstance(results, list) and any(isinstance(item, dict) and _is_memory(item) for item in results)


MEM0 = Format(
    name=_NAME,
    summary="what mem0's get_all gives, its list or the object with results",
    item="memories[{index}]",
    recognises={
        "object": _is_answer,
        "list": _is_memory,
        "lines": lambda record: _is_memory(record) or _is_answer(record),
    },
    read=_read,
)
