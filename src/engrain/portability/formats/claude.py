"""Claude's data export: `conversations.json`, each conversation a list of messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engrain.portability.formats.fields import (
    as_block_text,
    as_list,
    as_object,
    as_role,
    as_time,
    as_title,
    join_lines,
    missing_key,
    optional_text,
    read_record,
)
from engrain.portability.formats.records import BrokenRecord, Entry, Format, ImportedTurn, Json, Role

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_NAME = "claude"
_SENDERS: Mapping[str, Role] = {"human": "user", "assistant": "assistant"}


def _turns(entry: Entry) -> Iterator[ImportedTurn | BrokenRecord]:
    conversation = entry.value
    if conversation.get("chat_messages") is None:
        raise missing_key("chat_messages", conversation)
    messages = as_list(conversation["chat_messages"], "chat_messages")
    session = optional_text(conversation, "uuid")
    if session is None:
        raise missing_key("uuid", conversation)
    title = as_title(conversation.get("name"))
    for index, message in enumerate(messages):
        yield from read_record(f"{entry.position}.chat_messages[{index}]", _turn, message, index, session, title)


def _turn(value: object, index: int, session: str, title: str | None) -> ImportedTurn | None:
    message = as_object(value, "message")
    content = _content(message)
    if not content.strip():
        return None
    return ImportedTurn(
        session=session,
        role=as_role(message.get("sender"), _SENDERS, name="sender"),
        speaker=None,
        content=content,
        event_time=as_time(message.get("created_at"), "created_at"),
        source_id=optional_text(message, "uuid") or f"{session}/{index}",
        title=title,
        metadata={"format": _NAME},
    )


def _content(message: Json) -> str:
    """The text blocks and the names of what was attached.

    `text` is for older exports, which have no blocks: beside blocks it repeats them with a line for every tool call.
    """
    blocks = as_block_text(as_list(message.get("content") or [], "content"), "content")
    said = blocks or optional_text(message, "text") or ""
    return join_lines([said, *_attached(message, "attachments"), *_attached(message, "files")])


def _attached(message: Json, key: str) -> Iterator[str]:
    for index, value in enumerate(as_list(message.get(key) or [], key)):
        name = optional_text(as_object(value, f"{key}[{index}]"), "file_name")
        yield f"[attachment: {name}]" if name else "[attachment]"


CLAUDE = Format(
    name=_NAME,
    summary="Claude's data export, conversations.json or the zip that holds it",
    item="conversations[{index}]",
    recognises={"list": lambda record: isinstance(record.get("chat_messages"), list)},
    read=_turns,
    containers=frozenset({"file", "zip"}),
)
