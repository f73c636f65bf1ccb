"""Claude Code's transcripts: a JSON object on every line, a file for every session; a folder of them is read too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engrain.portability.formats import fields
from engrain.portability.formats.records import ROLES, BrokenRecord, Entry, Format, ImportedTurn, Json

if TYPE_CHECKING:
    from collections.abc import Iterator

_NAME = "claude-code"
_SPOKEN = ("user", "assistant")
# Notices to the model, what sub-agents said, the digest that a compacted session opens with, failed requests.
_UNSPOKEN = ("isMeta", "isSidechain", "isCompactSummary", "isApiErrorMessage")


def _recognises(record: Json) -> bool:
    kind = record.get("type")
    if kind in _SPOKEN:
        return isinstance(record.get("message"), dict)
    return isinstance(kind, str) and ("sessionId" in record or "leafUuid" in record)


def _turns(entry: Entry) -> Iterator[ImportedTurn | BrokenRecord]:
    yield from fields.read_record(entry.position, _turn, entry)


def _turn(entry: Entry) -> ImportedTurn | None:
    record = entry.value
    if "type" not in record:
        raise fields.missing_key("type", record)
    kind = fields.as_text(record["type"], "type")
    if kind not in _SPOKEN or any(record.get(flag) is True for flag in _UNSPOKEN):
        return None
    message = fields.as_object(record.get("message"), "message")
    content = _content(message)
    if not content.strip():
        return None
    session = fields.optional_text(record, "sessionId") or entry.stem
    return ImportedTurn(
        session=session,
        role=fields.as_role(message.get("role", kind), ROLES, name="message.role"),
        speaker=None,
        content=content,
        event_time=fields.as_time(record.get("timestamp"), "timestamp"),
        source_id=fields.optional_text(record, "uuid")
        or f"{entry.number}:{fields.fingerprint(session, kind, content)}",
        metadata={"format": _NAME},
    )


def _content(message: Json) -> str:
    value = message.get("content")
    if isinstance(value, str):
        return value
    if "content" not in message:
        raise fields.missing_key("message.content", message)
    return fields.as_block_text(fields.as_list(value, "message.content"), "message.content")


CLAUDE_CODE = Format(
    name=_NAME,
    summary="a Claude Code transcript (JSONL), or a folder of them",
    recognises={"lines": _recognises},
    read=_turns,
    containers=frozenset({"file", "folder"}),
)
