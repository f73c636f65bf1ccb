"""Claude's data export: `conversations.json`, each conversation a list of messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engrain.portability.formats import fields
from engrain.portability.formats.records import BrokenRecord, Entry, Format, ImportedTurn, Json, Role

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_NAME = "claude"
_SENDERS: Mapping[str, Role] = {"human": "user", "assistant": "assistant"}


def _turns(entry: Entry) -> Iterator[ImportedTurn | BrokenRecord]:
    conversation = entry.value
    if conversation.get("chat_messages") is None:
        raise fields.missing_key("chat_messages", conversation)
    messages = fields.as_list(conversation["chat_messages"], "chat_messages")
    session = fields.required_text(conversation, "uuid")
    title = fields.as_title(conversation.get("name"))
    for index, message in enumerate(messages):
        yield from fields.read_record(f"{entry.position}.chat_messages[{index}]", _turn, message, index, session, title)


def _turn(value: object, index: int, session: str, title: str | None) -> ImportedTurn | None:
    message = fields.as_object(value, "message")
    content = _content(message)
    if not content.strip():
        return None
    return ImportedTurn(
        session=session,
        role=fields.as_role(message.get("sender"), _SENDERS, name="sender"),
        speaker=None,
        content=content,
        event_time=fields.as_time(message.get("created_at"), "created_at"),
        source_id=fields.optional_text(message, "uuid") or f"{session}/{index}",
        title=title,
        metadata={"format": _NAME},
    )


def _content(message: Json) -> str:
    """The text blocks, and the names of what was attached with the text that was extracted from it.

    `text` is for older exports, which have no blocks: beside blocks it repeats them with a line for every tool call.
    """
    blocks = fields.as_block_text(fields.as_list(message.get("content") or [], "content"), "content")
    text = blocks or fields.optional_text(message, "text") or ""
    return fields.join_lines([text, *_attachments(message, "attachments"), *_attachments(message, "files")])


def _attachments(message: Json, key: str) -> Iterator[str]:
    for index, value in enumerate(fields.as_list(message.get(key) or [], key)):
        attachment = fields.as_object(value, f"{key}[{index}]")
        name = fields.optional_text(attachment, "file_name")
        yield f"[attachment: {name}]" if name else "[attachment]"
        yield fields.optional_text(attachment, "extracted_content") or ""


CLAUDE = Format(
    name=_NAME,
    summary="Claude's data export, conversations.json or the zip that holds it",
    item="conversations[{index}]",
    recognises={"list": lambda record: isinstance(record.get("chat_messages"), list)},
    read=_turns,
    containers=frozenset({"file", "zip"}),
)
