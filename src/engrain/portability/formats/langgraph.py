"""A LangGraph store dumped as JSON: `Item.dict()` of each item, in a list or one on every line."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from engrain.domain.memories.predicates import free_text_predicate
from engrain.portability.formats import fields
from engrain.portability.formats.records import BrokenRecord, Entry, Format, ImportedFact, Json

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_NAME = "langgraph"
# Where a value keeps what it says, by the conventions of LangMem and of the documentation.
_SAYS = ("content", "text", "memory", "data", "value")
_MOST_LEVELS = 4
# A key that says nothing, as LangMem draws them: the text stands for itself.
_DRAWN = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


def _read(entry: Entry) -> Iterator[ImportedFact | BrokenRecord]:
    record = entry.value
    for key in ("namespace", "key", "value"):
        if key not in record:
            raise fields.missing_key(key, record)
    parts = [
        fields.as_text(part, f"namespace[{index}]")
        for index, part in enumerate(fields.as_list(record["namespace"], "namespace"))
    ]
    named = fields.optional_text(record, "key")
    if named is None:
        raise fields.Malformed("key is blank")
    value = fields.as_object(record["value"], "value")
    created, updated = (fields.as_time(record.get(name), name) for name in ("created_at", "updated_at"))
    content = _text(value, _MOST_LEVELS)
    if fields.is_blank(content):
        return
    namespace = "/".join(parts) or "store"
    yield ImportedFact(
        subject=namespace,
        predicate=free_text_predicate(named) if _DRAWN.fullmatch(named) else named,
        content=content,
        stored_at=updated or created,
        confirmed_at=updated or created,
        valid_from=created,
        source_id=fields.fingerprint(parts, named, value),
        user=_user(parts),
        metadata={"format": _NAME, "namespace": parts, "value": value},
    )


def _user(namespace: Sequence[str]) -> str | None:
    """The end user in a namespace, as its documentation and LangMem lay them out.

    (user, "memories") or ("memories", user), or the part after "users":
    https://docs.langchain.com/oss/python/langgraph/persistence#memory-store
    """
    match [*namespace]:
        case ["memories", user] | [user, "memories"] | ["user" | "users", user, *_]:
            return user
        case _:
            return None


def _text(value: Json, levels: int) -> str:
    """Find the text of a value: under one of the usual keys, else all of it as JSON."""
    for key in _SAYS:
        match value.get(key):
            case str() as text if text.strip():
                return text
            case dict() as inner if inner and levels:
                return _text(inner, levels - 1)
    return json.dumps(value, ensure_ascii=False, sort_keys=True) if value else ""


def _recognises(record: Json) -> bool:
    is_ours = record.get("kind") == "item"  # of an export of engrain
    return isinstance(record.get("namespace"), list) and {"key", "value"} <= record.keys() and not is_ours


LANGGRAPH = Format(
    name=_NAME,
    summary="a LangGraph store's items (namespace, key, value) as a JSON list, or one on every line",
    item="items[{index}]",
    recognises={"list": _recognises, "lines": _recognises},
    read=_read,
)
