"""OpenAI-style messages: a JSON list of them, `{"messages": [...]}`, or one such object on every line (fine-tuning)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engrain.portability.formats import fields
from engrain.portability.formats.records import ROLES, BrokenRecord, Entry, Format, ImportedTurn, Json, Role

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_NAME = "openai"
_ROLES: Mapping[str, Role] = {**ROLES, "developer": "system", "function": "tool"}
_TEXT_TYPES = ("text", "input_text", "output_text")
_MARKS = {"image_url": "[image]", "input_image": "[image]"}
_INSTEAD_OF_CONTENT = ("tool_calls", "function_call", "refusal", "audio")


def _is_conversation(record: Json) -> bool:
    return isinstance(record.get("messages"), list)


def _is_message(record: Json) -> bool:
    return isinstance(record.get("role"), str) and ("content" in record or "tool_calls" in record)


def _turns(entry: Entry) -> Iterator[ImportedTurn | BrokenRecord]:
    if "messages" not in entry.value:
        yield from fields.read_record(entry.position, _turn, entry.value, entry.stem, str(entry.number))
        return
    session = f"{entry.stem}/{entry.number}"
    for index, message in enumerate(fields.as_list(entry.value["messages"], "messages")):
        place = f"{entry.number}.{index + 1}"
        yield from fields.read_record(f"{entry.position}.messages[{index}]", _turn, message, session, place)


def _turn(value: object, session: str, place: str) -> ImportedTurn | None:
    message = fields.as_object(value, "message")
    content = _content(message)
    if not content.strip():
        return None
    role = fields.as_role(message.get("role"), _ROLES)
    speaker = fields.optional_text(message, "name")
    return ImportedTurn(
        session=session,
        role=role,
        speaker=speaker,
        content=content,
        event_time=None,
        source_id=fields.optional_text(message, "id")
        or f"{place}:{fields.fingerprint(session, role, speaker, content)}",
        metadata={"format": _NAME},
    )


def _content(message: Json) -> str:
    value = message.get("content")
    if isinstance(value, str):
        return value
    if value is None:
        if any(message.get(key) for key in _INSTEAD_OF_CONTENT):
            return ""
        raise fields.missing_key("content", message)
    return fields.as_block_text(fields.as_list(value, "content"), "content", text_types=_TEXT_TYPES, marks=_MARKS)


OPENAI = Format(
    name=_NAME,
    summary='messages as OpenAI has them: a JSON list, {"messages": [...]}, or JSONL of the latter',
    item="messages[{index}]",
    recognises={
        "list": lambda record: _is_message(record) or _is_conversation(record),
        "object": _is_conversation,
        "lines": _is_conversation,
    },
    read=_turns,
)
