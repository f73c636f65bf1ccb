"""Plain JSONL, for anything that can write lines: {session, role, speaker, content, time, id}, content required."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engrain.portability.formats.fields import (
    Malformed,
    as_role,
    as_text,
    as_time,
    attempted,
    fingerprint,
    is_blank,
    missing,
    optional_text,
)
from engrain.portability.formats.records import ROLES, BrokenRecord, Entry, Format, Turn

if TYPE_CHECKING:
    from collections.abc import Iterator

_NAME = "jsonl"


def _turns(entry: Entry) -> Iterator[Turn | BrokenRecord]:
    yield from attempted(entry.position, _turn, entry)


def _turn(entry: Entry) -> Turn:
    record = entry.value
    if "content" not in record:
        raise missing("content", record)
    content = as_text(record["content"], "content")
    if is_blank(content):
        raise Malformed("content is blank")
    session = optional_text(record, "session") or entry.stem
    role = as_role("user" if is_blank(record.get("role")) else record["role"], ROLES)
    speaker = optional_text(record, "speaker")
    time = as_time(record.get("time"), "time")
    return Turn(
        session=session,
        role=role,
        speaker=speaker,
        content=content,
        event_time=time,
        source_id=optional_text(record, "id") or f"{entry.number}:{fingerprint(session, role, speaker, content, time)}",
        metadata={"format": _NAME},
    )


JSONL = Format(
    name=_NAME,
    summary="JSONL with content on every line and session, role, speaker, time and id where known",
    item="",
    recognises={"lines": lambda record: isinstance(record.get("content"), str)},
    turns=_turns,
)
