"""The reference MCP memory server's `memory.jsonl`: entities with what was observed of them, and how they relate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engrain.domain.checks import clean
from engrain.portability.formats import fields
from engrain.portability.formats.records import BrokenRecord, Entry, Format, ImportedEntity, ImportedFact, Json

if TYPE_CHECKING:
    from collections.abc import Iterator

_NAME = "mcp-memory"


def _read(entry: Entry) -> Iterator[ImportedEntity | ImportedFact | BrokenRecord]:
    record = entry.value
    match record.get("type"):
        case "entity":
            yield from _entity(entry)
        case "relation":
            yield _relation(record)
        case None:
            raise fields.missing_key("type", record)
        case other:
            raise fields.Malformed(f"type is {fields.describe(other)}, known are entity, relation")


def _entity(entry: Entry) -> Iterator[ImportedEntity | ImportedFact | BrokenRecord]:
    from engrain.domain.entities.graph import TYPE_AS_GIVEN, observation_predicate  # this format alone needs it

    record = entry.value
    name = fields.required_text(record, "name")
    kind = fields.optional_text(record, "entityType") or ("" if record.get("entityType") == "" else "other")
    yield ImportedEntity(name=name, type=kind, source_id=name, metadata={"format": _NAME, TYPE_AS_GIVEN: kind})
    for index, value in enumerate(fields.as_list(record.get("observations") or [], "observations")):
        try:
            observation = fields.as_text(value, f"observations[{index}]")
            if not fields.is_blank(observation):
                yield _statement(name, observation_predicate(observation), observation)
        except fields.Malformed as fault:
            yield BrokenRecord(f"{entry.position}.observations[{index}]", str(fault))


def _relation(record: Json) -> ImportedFact:
    """`Ana works at Acme`: about Ana, and with its object in the predicate, as she may work at two places."""
    from engrain.domain.entities.graph import GraphRelation, relation_content, relation_predicate

    source, relation_type, target = (clean(fields.required_text(record, key)) for key in ("from", "relationType", "to"))
    relation = GraphRelation(source=source, relation_type=relation_type, target=target)
    return _statement(source, relation_predicate(relation), relation_content(relation))


def _statement(subject: str, predicate: str, content: str) -> ImportedFact:
    return ImportedFact(
        subject=subject,
        predicate=predicate,
        content=content,
        stored_at=None,
        source_id=fields.fingerprint(subject, predicate, content),
        about=subject,
        metadata={"format": _NAME},
    )


def _recognises(record: Json) -> bool:
    return (record.get("type") == "entity" and "observations" in record) or (
        record.get("type") == "relation" and "relationType" in record
    )


MCP_MEMORY = Format(
    name=_NAME,
    summary="the memory.jsonl of the reference MCP memory server, an entity or a relation on every line",
    recognises={"lines": _recognises},
    read=_read,
)
