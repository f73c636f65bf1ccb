"""Conversion between mem0's requests and documents and our records: ids, events, messages. Pure."""

from __future__ import annotations

import hashlib
import uuid
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING, Any

from engrain.domain import checks
from engrain.domain.filters import is_hidden
from engrain.domain.records import ROLES, Episode, Role
from engrain.errors import InvalidInput, NotFound
from engrain.interfaces.compat.mem0.filters import IDS, OURS, OWNERS, Json, Owner, our_metadata

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from engrain.domain.runs.additions import LearningTime
    from engrain.verbs.chat_words import ChatMessage

# Fields that change nothing here: there is one project. `infer` and `async_mode` are read apart (`learning_time`).
_IMMATERIAL = frozenset(
    "org_id project_id version output_format async_mode infer custom_categories custom_instructions "
    "agent_custom_instructions structured_data_schema includes excludes enable_graph keyword_search latest_only "
    "show_expired reference_date immutable source explain memory_type prompt".split()
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message."""

    role: Role
    content: str
    speaker: str | None

    @property
    def arguments(self) -> ChatMessage:
        """The message as `Agent.add` takes it."""
        said: ChatMessage = {"role": self.role, "content": self.content}
        return said if self.speaker is None else {**said, "speaker": self.speaker}


def supported_fields(request: Mapping[str, Any], names: Iterable[str]) -> Json:
    """Return the fields of a request that matter here.

    Raises:
        InvalidInput: it has an unsupported field that would change the answer: ignored, too much would be returned.
    """
    mine = frozenset(names)
    strange = sorted(name for name in request if name not in mine and name not in _IMMATERIAL)
    if strange:
        raise InvalidInput(f"{', '.join(strange):.200} is not supported here; supported are: {', '.join(sorted(mine))}")
    return {name: value for name, value in request.items() if name in mine and value is not None}


def parse_messages(value: object) -> list[Message]:
    """Parse the messages of an add, all of them before the first is stored; a text alone is one of the user's.

    Raises:
        InvalidInput: none, an unknown role, or one without text.
    """
    if isinstance(value, str):
        value = [{"role": "user", "content": value}]
    if not isinstance(value, list) or not value:
        raise InvalidInput("messages must be a list of {role, content}, and not empty")
    return [_message(message) for message in value]


def learning_time(request: Mapping[str, Any]) -> LearningTime:
    """Return when to learn from messages: `infer` false says not by itself, `async_mode` false says now."""
    if request.get("infer") is False:
        return "later"
    return "now" if request.get("async_mode") is False else "background"


def make_metadata(
    own_metadata: object,
    ids: Mapping[str, str],
    *,
    ends: object,
    event: str | None = None,
    first: Episode | None = None,
) -> Json:
    """Make the metadata of a memory: the client's own, and ours under one key; `first` is its first version.

    `event` is the id of the call that added it.

    Raises:
        InvalidInput: it is no JSON object, or has our key.
    """
    own = checks.metadata(own_metadata)
    if OURS in own:
        raise InvalidInput(f"metadata may not have the key {OURS!r}; choose another")
    root = {} if first is None else {"root": first.id, "created_at": first.created_at.isoformat()}
    end = {} if ends is None else {"expiration_date": str(ends)}
    added = {} if event is None else {"event": event}
    return {**own, OURS: {"ids": dict(ids), **end, **added, **root}}


def ids_of(memory: Episode) -> dict[str, str]:
    """Return the ids a memory was stored under; of one that was not added here, the owner alone."""
    ids = our_metadata(memory).get("ids")
    if isinstance(ids, dict):
        return {name: str(value) for name, value in ids.items()}
    owner = owner_of(memory.agent, memory.user_id)
    return {} if owner is None else {f"{owner.kind}_id": owner.name}


def owner_of(agent: str, user: str | None) -> Owner | None:
    """Return the owner of a memory of an agent and a user: the user, or the one that the agent stands for, if any."""
    if user is not None:
        return Owner(kind="user", name=user)
    kind, _, name = agent.partition(":")
    return Owner(kind=kind, name=name) if name and kind in OWNERS else None


def event_of(memory: Episode) -> str | None:
    """Return the id of the call that added a memory; None of one that was not added here."""
    event = our_metadata(memory).get("event")
    return event if isinstance(event, str) else None


def end_of(memory: Episode) -> str | None:
    """Return the last day on which a memory is live; None where it has no end."""
    stored = our_metadata(memory).get("expiration_date")
    if memory.expires_at is None or isinstance(stored, str):
        return stored if isinstance(stored, str) else None
    return memory.expires_at.date().isoformat()


def parse_id(id_: str) -> str:
    """Return a client's id as ours.

    Raises:
        InvalidInput: it cannot be an id.
    """
    try:
        return str(uuid.UUID(id_))
    except ValueError as error:
        raise InvalidInput(f"{id_!r:.120} is no id of a memory") from error


def no_memory(id_: str) -> NotFound:
    """Make the error for an unknown id."""
    return NotFound(f"there is no memory {id_:.120}")


def unit_score(score: float) -> float:
    """Return a score of ours, which has no upper bound, between 0 and 1 and in the same order."""
    return max(score, 0.0) / (1 + max(score, 0.0))


def to_document(memory: Episode, *, score: float | None = None) -> Json:
    """Convert a memory to mem0's document; id and creation time of any version are those of the first."""
    ids = ids_of(memory)
    first = {"root": memory.id, "created_at": memory.created_at.isoformat(), **our_metadata(memory)}
    hidden_names = {OURS, "hidden"} if is_hidden(memory) else {OURS}
    own = {name: value for name, value in memory.metadata.items() if name not in hidden_names}
    document = {
        "id": str(first["root"]),
        "memory": memory.content,
        **{field: ids.get(field) for field in IDS},
        "hash": hashlib.md5(memory.content.encode(), usedforsecurity=False).hexdigest(),
        "metadata": own or None,
        "categories": [],
        "created_at": first["created_at"],
        "updated_at": memory.created_at.isoformat(),
        "expiration_date": end_of(memory),
    }
    return document if score is None else {**document, "score": unit_score(score)}


def list_events(versions: Sequence[Episode], now: datetime) -> list[Json]:
    """List the events of a memory, oldest first: added, updated, and its end if it has come."""
    events: list[Json] = []
    before: str | None = None
    for version in versions:
        kind = "UPDATE" if before else "ADD"
        events.append(_event(version, kind, old=before, new=version.content, at=version.created_at))
        before = version.content
    last = versions[-1]
    if last.expires_at is not None and not last.is_live(now):
        events.append(_event(last, "DELETE", old=before, new=None, at=last.expires_at))
    return events


def ttl_days(expires: object, now: datetime) -> float | None:
    """Return the days until the end of the day that an expiration_date names.

    Raises:
        InvalidInput: it is no date, or has passed.
    """
    if expires is None:
        return None
    try:
        day = date.fromisoformat(str(expires))
    except ValueError as error:
        raise InvalidInput(f"expiration_date {expires!r:.40} is no date; say it as YYYY-MM-DD") from error
    left = datetime.combine(day + timedelta(days=1), time(), UTC) - now
    if left <= timedelta(0):
        raise InvalidInput(f"expiration_date {day} has passed")
    return left / timedelta(days=1)


def parse_time(timestamp: object) -> datetime | str | None:
    """Parse the time of a message: seconds since 1970, or a time as text.

    Raises:
        InvalidInput: a number that is no time.
    """
    if isinstance(timestamp, bool) or not isinstance(timestamp, int | float):
        return checks.moment(timestamp, name="timestamp")
    try:
        return datetime.fromtimestamp(timestamp, UTC)
    except (ValueError, OverflowError, OSError) as error:
        raise InvalidInput(f"timestamp {timestamp} is no time; say seconds since 1970") from error


def _message(message: object) -> Message:
    if not isinstance(message, dict):
        raise InvalidInput("a message must be an object with role and content")
    role = checks.choice(message.get("role", "user"), ROLES, name="role")
    return Message(
        role=role,
        content=checks.content(_text(message.get("content"))),
        speaker=checks.optional_name(message.get("name"), name="name"),
    )


def _text(content: object) -> object:
    """Return the text of a message that has parts; pictures and documents are not stored."""
    if not isinstance(content, list):
        return content
    parts = [part.get("text") for part in content if isinstance(part, dict) and part.get("type") == "text"]
    return "\n".join(text for text in parts if isinstance(text, str))


def _event(memory: Episode, event: str, *, old: str | None, new: str | None, at: datetime) -> Json:
    document = to_document(memory)
    return {
        "id": memory.id,
        "memory_id": document["id"],
        "event": event,
        "old_memory": old,
        "new_memory": new,
        "input": [{"role": memory.role, "content": memory.content}],
        "user_id": document["user_id"],
        "metadata": document["metadata"],
        "created_at": at.isoformat(),
        "updated_at": at.isoformat(),
    }
