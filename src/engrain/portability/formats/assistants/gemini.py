"""Gemini CLI's sessions: one JSON object with all messages, or a line for each, and one more for each change of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engrain.portability.assistants.turns import make_key, shorten
from engrain.portability.formats import fields
from engrain.portability.formats.records import BrokenRecord, Entry, Format, ImportedTurn, Json, Role, last_replies

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping


_NAME = "gemini"
_SPOKEN: Mapping[str, Role] = {"user": "user", "gemini": "assistant"}
_REWIND = "$rewindTo"
_METADATA: Mapping[str, object] = {"format": _NAME}


def _recognises(record: Json) -> bool:
    return isinstance(record.get("sessionId"), str) and "projectHash" in record


def _turns(entries: Iterable[Entry | BrokenRecord]) -> Iterator[ImportedTurn | BrokenRecord]:
    session: str | None = None
    is_subagent = False
    messages: dict[str, ImportedTurn | None] = {}  # as they stand in the end
    for entry in entries:
        if isinstance(entry, BrokenRecord):
            yield entry
            continue
        record = entry.value
        session = fields.as_title(record.get("sessionId")) or session or entry.stem
        is_subagent = is_subagent or record.get("kind") == "subagent"
        if _REWIND in record:
            _rewind(messages, record[_REWIND])
        for position, value in _list_messages(entry):
            for read in fields.read_record(position, _read, value, session, len(messages)):
                if isinstance(read, BrokenRecord):
                    yield read
                else:
                    messages[read[0]] = read[1]
    yield from () if is_subagent else filter(None, messages.values())


def _list_messages(entry: Entry) -> Iterator[tuple[str, object]]:
    """List the messages of an entry with their positions: those of a document, or the one that a line is."""
    values = entry.value.get("messages")
    if isinstance(values, list):
        for index, value in enumerate(values):
            yield entry.position_of(f"messages[{index}]"), value
    elif "type" in entry.value:
        yield entry.position, entry.value


def _read(value: object, session: str, number: int) -> tuple[str, ImportedTurn | None]:
    """Read a message: its id, and the turn that it is, if it is one.

    Raises:
        Malformed: it is no message.
    """
    message = fields.as_object(value, "message")
    role = _SPOKEN.get(fields.required_text(message, "type"))
    id_ = fields.optional_text(message, "id") or str(number)
    text = "" if role is None else shorten(_text(message.get("content")))
    if role is None or not text:
        return id_, None
    turn = ImportedTurn(
        session=session,
        role=role,
        speaker=None,
        content=text,
        event_time=fields.as_time(message.get("timestamp"), "timestamp"),
        source_id=id_,
        metadata=_METADATA,
        key=make_key(_NAME, session, id_),
    )
    return id_, turn


def _text(content: object) -> str:
    """Return the text of a message: as it is, or in parts."""
    if isinstance(content, str):
        return content
    parts = [content] if isinstance(content, dict) else fields.as_list([] if content is None else content, "content")
    texts = [part if isinstance(part, str) else fields.as_object(part, "content[]").get("text") for part in parts]
    return fields.join_lines([text for text in texts if isinstance(text, str)])


def _rewind(messages: dict[str, ImportedTurn | None], id_: object) -> None:
    """Drop a message and all after it."""
    for known in list(messages)[list(messages).index(id_) :] if id_ in messages else []:
        del messages[known]


GEMINI = Format(
    name=_NAME,
    summary="a session of Gemini CLI (chats/session-*.json or .jsonl), or a folder of the latter",
    recognises={"object": _recognises, "lines": _recognises},
    read_file=lambda entries: last_replies(_turns(entries)),
    containers=frozenset({"file", "folder"}),
)
