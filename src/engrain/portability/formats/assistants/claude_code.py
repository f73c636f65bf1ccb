"""Claude Code's transcripts: a JSON object on every line, a file for every session; a folder of them is read too.

What a turn is, and under which key it is stored, is what its hooks say: a session that they have stored adds nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from engrain.portability.assistants.projects import read_tag
from engrain.portability.assistants.transcripts import join_reply, parse_entry
from engrain.portability.formats import fields
from engrain.portability.formats.records import ROLES, BrokenRecord, Entry, Format, ImportedTurn, Json

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from engrain.portability.assistants.turns import Turn

_NAME = "claude-code"
_SPOKEN = ("user", "assistant")
# Notices to the model, what sub-agents said, the digest that a compacted session opens with, failed requests.
_UNSPOKEN = ("isMeta", "isSidechain", "isCompactSummary", "isApiErrorMessage")
_METADATA: Mapping[str, object] = {"format": _NAME}


def _recognises(record: Json) -> bool:
    kind = record.get("type")
    if kind in _SPOKEN:
        return isinstance(record.get("message"), dict)
    return isinstance(kind, str) and ("sessionId" in record or "leafUuid" in record)


class _Message(NamedTuple):
    """Part of a message, with its id and the line that it stands on."""

    id: str
    turn: Turn
    entry: Entry


def _turns(entries: Iterable[Entry | BrokenRecord]) -> Iterator[ImportedTurn | BrokenRecord]:
    """Read the turns of a session: of what is said before the next prompt, the last message."""
    reply: list[_Message] = []
    tag: str | None = None  # of the folder that the session began in
    for entry in entries:
        if isinstance(entry, BrokenRecord):
            yield entry
            continue
        tag = tag or read_tag(entry.value.get("cwd"))
        for message in fields.read_record(entry.position, _read, entry):
            if isinstance(message, BrokenRecord):
                yield message
            elif message.turn.role == "assistant":
                reply = [*reply, message] if reply and reply[0].id == message.id else [message]
            else:
                yield from _build(reply, tag)
                yield from _build([message], tag)
                reply = []
    yield from _build(reply, tag)


def _read(entry: Entry) -> _Message | None:
    """Read the message of a line; None where it is none of the conversation.

    Raises:
        Malformed: it has the type of a message, and is none.
    """
    record = entry.value
    if "type" not in record:
        raise fields.missing_key("type", record)
    kind = fields.as_text(record["type"], "type")
    if kind in _SPOKEN and not any(record.get(flag) is True for flag in _UNSPOKEN):
        message = fields.as_object(record.get("message"), "message")
        fields.as_role(message.get("role", kind), ROLES, name="message.role")
        _check_content(message)
        fields.as_time(record.get("timestamp"), "timestamp")
    found = parse_entry(record)
    return None if found is None else _Message(*found, entry)


def _check_content(message: Json) -> None:
    if "content" not in message:
        raise fields.missing_key("message.content", message)
    if not isinstance(message["content"], str):
        fields.as_block_text(fields.as_list(message["content"], "message.content"), "message.content")


def _build(messages: list[_Message], tag: str | None) -> Iterator[ImportedTurn]:
    """Build the turn of a prompt, or of the parts of one reply; none of no parts."""
    parts = [(message.id, message.turn) for message in messages]
    for turn in [messages[0].turn] if messages and messages[0].turn.role == "user" else join_reply(parts):
        entry = messages[0].entry
        record = entry.value
        session = fields.optional_text(record, "sessionId") or entry.stem
        uuid = fields.optional_text(record, "uuid")
        yield ImportedTurn(
            session=session,
            role=turn.role,
            speaker=None,
            content=turn.text,
            event_time=fields.as_time(turn.at, "timestamp"),
            source_id=uuid or f"{entry.number}:{fields.fingerprint(session, turn.role, turn.text)}",
            metadata=_METADATA,
            tags=() if tag is None else (tag,),
            key=None if uuid is None else turn.key,
        )


CLAUDE_CODE = Format(
    name=_NAME,
    summary="a Claude Code transcript (JSONL), or a folder of them",
    recognises={"lines": _recognises},
    read_file=_turns,
    containers=frozenset({"file", "folder"}),
)
