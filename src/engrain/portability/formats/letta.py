"""Letta's archival memory as JSON: the passages that its client lists for an agent or an archive."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engrain.domain.memories.predicates import free_text_predicate
from engrain.portability.formats import fields
from engrain.portability.formats.records import BrokenRecord, Entry, Format, ImportedFact, Json

if TYPE_CHECKING:
    from collections.abc import Iterator

_NAME = "letta"
_SUBJECT = "archival memory"


def _read(entry: Entry) -> Iterator[ImportedFact | BrokenRecord]:
    """A passage; one that was deleted there is nothing."""
    record = entry.value
    if "text" not in record:
        raise fields.missing_key("text", record)
    content = fields.as_text(record["text"], "text")
    if fields.is_blank(content) or record.get("is_deleted") is True:
        return
    id_ = fields.optional_text(record, "id") or fields.fingerprint(content)
    created, updated = (fields.as_time(record.get(key), key) for key in ("created_at", "updated_at"))
    yield ImportedFact(
        subject=fields.optional_text(record, "file_name") or _SUBJECT,
        predicate=free_text_predicate(id_),  # a text that stands for itself; a later one of the same id replaces it
        content=content,
        stored_at=updated or created,
        confirmed_at=updated or created,
        valid_from=created,
        source_id=fields.fingerprint(id_, content),
        tags=fields.as_tags(record.get("tags"), "tags"),
        metadata={**fields.optional_object(record, "metadata"), "format": _NAME, "passage_id": id_},
    )


def _recognises(record: Json) -> bool:
    return isinstance(record.get("text"), str) and (
        str(record.get("id")).startswith("passage-") or bool({"archive_id", "embedding_config"} & record.keys())
    )


LETTA = Format(
    name=_NAME,
    summary="the archival passages of a Letta agent as a JSON list, or one on every line",
    item="passages[{index}]",
    recognises={"list": _recognises, "lines": _recognises},
    read=_read,
)
