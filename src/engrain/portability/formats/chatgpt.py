"""ChatGPT's data export: `conversations.json`, each conversation a tree of messages.

Editing a question or regenerating an answer leaves the old branch in the tree. Read is the branch that the person last
saw, from `current_node` up through the parents. Without a usable `current_node` it is the branch of the newest leaf.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from engrain.portability.formats import fields
from engrain.portability.formats.records import ROLES, BrokenRecord, Entry, Format, ImportedTurn, Json

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_NAME = "chatgpt"
# The rest is what tools returned and what the model thought: execution_output, tether_quote, thoughts and the like.
_SAID = ("text", "multimodal_text", "code")
_LONG_AGO = datetime.min.replace(tzinfo=UTC)


def _turns(entry: Entry) -> Iterator[ImportedTurn | BrokenRecord]:
    conversation = entry.value
    mapping = conversation.get("mapping")
    if mapping is None:
        raise fields.missing_key("mapping", conversation)
    nodes = fields.as_object(mapping, "mapping")
    branch, loops = _branch(nodes, conversation.get("current_node"))
    if not branch:
        return
    session = (
        fields.optional_text(conversation, "conversation_id") or fields.optional_text(conversation, "id") or branch[0]
    )
    title = fields.as_title(conversation.get("title"))
    if loops:
        yield BrokenRecord(_position(entry, branch[0]), "its parent is a message that follows it: the tree goes round")
    for node_id in branch:
        yield from fields.read_record(_position(entry, node_id), _turn, nodes[node_id], node_id, session, title)


def _position(entry: Entry, node_id: str) -> str:
    return f"{entry.position}.mapping[{fields.shorten(node_id)}]"


def _branch(nodes: Json, current: object) -> tuple[list[str], bool]:
    """Ids from the root to the end of the branch, and whether the way up came back to where it had been."""
    node_id: object = current if isinstance(current, str) and current in nodes else _newest_leaf(nodes)
    upward: dict[str, None] = {}
    while isinstance(node_id, str) and node_id in nodes and node_id not in upward:
        upward[node_id] = None
        node = nodes[node_id]
        node_id = node.get("parent") if isinstance(node, dict) else None
    return list(reversed(upward)), isinstance(node_id, str) and node_id in upward


def _newest_leaf(nodes: Json) -> str | None:
    parents = {
        parent for node in nodes.values() if isinstance(node, dict) and isinstance(parent := node.get("parent"), str)
    }
    leaves = [node_id for node_id in nodes if node_id not in parents] or list(nodes)  # all are parents in a ring
    # max() keeps the first of equals; the export appends, so the last is the newer.
    return max(reversed(leaves), key=lambda node_id: _creation_time(nodes[node_id]), default=None)


def _creation_time(node: object) -> datetime:
    message = node.get("message") if isinstance(node, dict) else None
    try:
        return (
            fields.as_time(message.get("create_time"), "create_time") if isinstance(message, dict) else None
        ) or _LONG_AGO
    except fields.Malformed:
        return _LONG_AGO


def _turn(node: object, node_id: str, session: str, title: str | None) -> ImportedTurn | None:
    value = fields.as_object(node, "node").get("message")
    if value is None:
        return None
    message = fields.as_object(value, "message")
    if _is_hidden(message):
        return None
    content = _content(message.get("content"))
    if not content.strip():
        return None
    author = fields.as_object(message.get("author"), "author")
    return ImportedTurn(
        session=session,
        role=fields.as_role(author.get("role"), ROLES, name="author.role"),
        speaker=fields.optional_text(author, "name"),
        content=content,
        event_time=fields.as_time(message.get("create_time"), "create_time"),
        source_id=fields.optional_text(message, "id") or f"{session}/{node_id}",
        title=title,
        metadata={"format": _NAME},
        fields=_model(message),
    )


def _model(message: Json) -> Mapping[str, object]:
    """The model that wrote an answer, where the export names one."""
    metadata = message.get("metadata")
    slug = metadata.get("model_slug") if isinstance(metadata, dict) else None
    return {"model": slug} if isinstance(slug, str) and slug.strip() else {}


def _is_hidden(message: Json) -> bool:
    metadata = message.get("metadata")
    return isinstance(metadata, dict) and metadata.get("is_visually_hidden_from_conversation") is True


def _content(value: object) -> str:
    if value is None:
        return ""
    content = fields.as_object(value, "content")
    kind = fields.as_text(content.get("content_type", "text"), "content_type")
    if kind not in _SAID:
        return ""
    if content.get("parts") is None:  # code has its text here
        return fields.optional_text(content, "text") or ""
    parts = fields.as_list(content["parts"], "parts")
    return fields.join_lines([_part(part, f"parts[{index}]") for index, part in enumerate(parts)])


def _part(part: object, name: str) -> str:
    match part:
        case None:
            return ""
        case str():
            return part
        case {"content_type": "image_asset_pointer"}:
            return "[image]"
        case {"text": spoken} if spoken is not None:  # audio_transcription
            return fields.as_text(spoken, f"{name}.text")
        case dict():
            return ""
        case _:
            raise fields.Malformed(f"{name} is {fields.describe(part)}, expected text or an object")


CHATGPT = Format(
    name=_NAME,
    summary="ChatGPT's data export, conversations.json or the zip that holds it",
    item="conversations[{index}]",
    recognises={"list": lambda record: isinstance(record.get("mapping"), dict)},
    read=_turns,
    containers=frozenset({"file", "zip"}),
)
