"""Codex's rollouts: a JSON object on every line, a file for every session; a folder of them is read too.

Turns are the events that a person sees; what is sent to the model says the same again, with instructions and tools.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from engrain.portability.assistants.projects import read_tag
from engrain.portability.assistants.turns import make_key, shorten
from engrain.portability.formats import fields
from engrain.portability.formats.records import BrokenRecord, Entry, Format, ImportedTurn, Json, Role, last_replies

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping


_NAME = "codex"
_SPOKEN: Mapping[str, Role] = {"user_message": "user", "agent_message": "assistant"}
_METADATA: Mapping[str, object] = {"format": _NAME}


def _recognises(record: Json) -> bool:
    return record.get("type") == "session_meta" and isinstance(record.get("payload"), dict)


@dataclass(slots=True)
class _Session:
    """What the lines so far say of a session."""

    id: str
    tag: str | None = None  # of the folder that it began in
    turn: str | None = None  # id that hooks have of it, too
    is_subagent: bool = False


def _turns(entries: Iterable[Entry | BrokenRecord]) -> Iterator[ImportedTurn | BrokenRecord]:
    session: _Session | None = None
    for entry in entries:
        if isinstance(entry, BrokenRecord):
            yield entry
            continue
        session = session or _Session(id=entry.stem)
        yield from fields.read_record(entry.position, _read, entry, session)


def _read(entry: Entry, session: _Session) -> ImportedTurn | None:
    """Read a line: the turn that it is, else what it says of the session.

    Raises:
        Malformed: it is no line of a rollout.
    """
    record = entry.value
    kind, payload = fields.required_text(record, "type"), fields.optional_object(record, "payload")
    if kind == "session_meta":
        source = payload.get("source")
        session.id = fields.optional_text(payload, "id") or session.id
        session.is_subagent = payload.get("thread_source") == "subagent" or (
            isinstance(source, dict) and "subagent" in source
        )
    if kind in {"session_meta", "turn_context"}:
        session.tag = session.tag or read_tag(payload.get("cwd"))
    turn_id = payload.get("turn_id")
    session.turn = turn_id if isinstance(turn_id, str) else session.turn
    role = _SPOKEN.get(str(payload.get("type"))) if kind == "event_msg" else None
    if role is None or session.is_subagent or payload.get("kind") not in {None, "plain"}:
        return None
    text = shorten(fields.as_text(payload.get("message"), "payload.message"))
    return _build(entry, session, role, text) if text else None


def _build(entry: Entry, session: _Session, role: Role, text: str) -> ImportedTurn:
    at = fields.optional_text(entry.value, "timestamp")
    return ImportedTurn(
        session=session.id,
        role=role,
        speaker=None,
        content=text,
        event_time=fields.as_time(at, "timestamp"),
        source_id=f"{session.id}:{entry.number}",
        metadata=_METADATA,
        tags=() if session.tag is None else (session.tag,),
        key=make_key(_NAME, session.id, session.turn or at or str(entry.number), role, text),
    )


CODEX = Format(
    name=_NAME,
    summary="a Codex rollout (sessions/.../rollout-*.jsonl), or a folder of them",
    recognises={"lines": _recognises},
    read_file=lambda entries: last_replies(_turns(entries)),
    containers=frozenset({"file", "folder"}),
)
