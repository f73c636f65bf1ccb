"""Conversion between mem0's requests and documents and our records: ids, owners, filters, messages. Pure."""

from __future__ import annotations

import base64
import binascii
import hashlib
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING, Any

from engrain.domain import checks
from engrain.domain.access.scopes import user_scope
from engrain.domain.records import ROLES, Role
from engrain.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from engrain.domain.records import Episode

Json = dict[str, Any]

# The first of these that a request names owns the memory; the others say more of it.
OWNERS = ("user", "agent", "app", "run")
_IDS = tuple(f"{kind}_id" for kind in OWNERS)
_TAGGED = ("agent_id", "app_id")
OURS = "mem0"  # the key of a memory's metadata that is ours
_EVERY = "*"
_BOUNDS = {"gte": "since", "gt": "since", "lt": "until", "lte": "until"}
# Fields that change nothing here: there is one project, and no model reads on the way in.
_IMMATERIAL = frozenset(
    "org_id project_id version output_format async_mode infer custom_categories custom_instructions "
    "agent_custom_instructions structured_data_schema includes excludes enable_graph keyword_search latest_only "
    "show_expired reference_date immutable source".split()
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """The owner of a memory: requests for another owner never see it."""

    kind: str  # user, agent, app or run
    name: str

    @property
    def key(self) -> str:
        """The owner in one text, as the register of owners has it."""
        return f"{self.kind}:{self.name}"

    @property
    def agent(self) -> str:
        """The agent of ours that stands for the owner, or acts for it where it is a user."""
        return OURS if self.kind == "user" else self.key

    @property
    def user(self) -> str | None:
        """The end user that the owner is, if it is one."""
        return self.name if self.kind == "user" else None

    @property
    def scope(self) -> str:
        """The scope of its memories."""
        return user_scope(self.user, self.agent)


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The memories that a request selects: an owner's, narrowed by filters."""

    owner: Owner
    ids: Mapping[str, str] = field(default_factory=dict)  # every id in the request, the owner's among them
    sessions: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    since: datetime | None = None
    until: datetime | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def matches(self, memory: Episode) -> bool:
        """Tell whether a memory is the owner's and has the metadata, which no search of ours filters by."""
        return memory.scope == self.owner.scope and all(
            memory.metadata.get(name) == value for name, value in self.metadata.items()
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message, as `Agent.observe` takes it."""

    role: Role
    content: str
    speaker: str | None


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


def select_owner(ids_by_name: Mapping[str, Any]) -> Selection:
    """Select the owner that a request names by user_id, agent_id, app_id and run_id.

    Raises:
        InvalidInput: none of them, or an invalid name.
    """
    ids = {name: _exact_name(ids_by_name[name], name=name) for name in _IDS if ids_by_name.get(name) is not None}
    if not ids:
        raise InvalidInput(f"name whose memory it is: one of {', '.join(_IDS)}")
    first = next(iter(ids))
    session = ids.get("run_id")
    return Selection(
        owner=Owner(kind=first.removesuffix("_id"), name=ids[first]),
        ids=ids,
        sessions=() if session is None else (session,),
        tags=tuple(f"{name}:{ids[name]}" for name in _TAGGED if name in ids),
    )


def parse_filters(filters: object) -> Selection:
    """Parse the filters of a search or a list.

    Raises:
        InvalidInput: they name no owner, or are not supported: a filter is never ignored.
    """
    conditions = list(_conditions(filters))
    base = select_owner(_ids_of_filter(conditions))
    sessions = base.sessions
    metadata: Json = {}
    bounds: dict[str, datetime] = {}
    for name, value in conditions:
        match name:
            case "run_id" if isinstance(value, dict):
                sessions = checks.names(_run_ids(name, value), name=name)
            case "metadata":
                metadata |= checks.metadata(value)
            case "created_at":
                bounds |= _interval(value)
            case _ if name not in _IDS or not isinstance(value, str):
                raise InvalidInput(f"filter {name!r:.80} with {value!r:.80} is not supported here")
    return Selection(
        owner=base.owner,
        ids=base.ids,
        sessions=sessions,
        tags=base.tags,
        metadata=metadata,
        **bounds,
    )


def parse_messages(value: object) -> list[Message]:
    """Parse the messages of an add, all of them before the first is stored.

    Raises:
        InvalidInput: none, an unknown role, or one without text.
    """
    if not isinstance(value, list) or not value:
        raise InvalidInput("messages must be a list of {role, content}, and not empty")
    return [_message(message) for message in value]


def make_metadata(own_metadata: object, ids: Mapping[str, str], *, ends: object, first: Episode | None = None) -> Json:
    """Make the metadata of a memory: the client's own, and ours under one key; `first` is its first version.

    Raises:
        InvalidInput: it is no JSON object, or has our key.
    """
    own = checks.metadata(own_metadata)
    if OURS in own:
        raise InvalidInput(f"metadata may not have the key {OURS!r}; choose another")
    root = {} if first is None else {"root": first.id, "created_at": first.created_at.isoformat()}
    end = {} if ends is None else {"expiration_date": str(ends)}
    return {**own, OURS: {"ids": dict(ids), **end, **root}}


def ids_of(memory: Episode) -> dict[str, str]:
    """Return the ids a memory was stored under; of one that was not added here, the owner alone."""
    ours = memory.metadata.get(OURS)
    if isinstance(ours, dict) and isinstance(ours.get("ids"), dict):
        return {name: str(value) for name, value in ours["ids"].items()}
    owner = owner_of(memory)
    return {f"{owner.kind}_id": owner.name}


def owner_of(memory: Episode) -> Owner:
    """Return the owner of a memory: its user, or the one that its agent stands for."""
    if memory.user_id is not None:
        return Owner(kind="user", name=memory.user_id)
    kind, _, name = memory.agent.partition(":")
    return Owner(kind=kind, name=name)


def end_of(memory: Episode) -> str | None:
    """Return the last day on which a memory is live; None where it has no end."""
    ours = memory.metadata.get(OURS)
    stored = ours.get("expiration_date") if isinstance(ours, dict) else None
    if memory.expires_at is None or isinstance(stored, str):
        return stored if isinstance(stored, str) else None
    return memory.expires_at.date().isoformat()


def outer_id(owner: Owner, id_: str) -> str:
    """Make the id of a memory for clients, who name an id alone: ours, with its owner."""
    return f"{id_}~{base64.urlsafe_b64encode(owner.key.encode()).decode().rstrip('=')}"


def inner_id(id_: str) -> tuple[Owner, str]:
    """Split a client's id into the owner and our id.

    Raises:
        NotFound: it is none of ours.
    """
    inner, _, encoded = id_.partition("~")
    try:
        agent = base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)).decode()
    except (binascii.Error, ValueError) as error:
        raise no_memory(id_) from error
    kind, separator, name = agent.partition(":")
    if not inner or not name or not separator or kind not in OWNERS:
        raise no_memory(id_)
    return Owner(kind=kind, name=name), inner


def no_memory(id_: str) -> NotFound:
    """Make the error for an unknown id."""
    return NotFound(f"there is no memory {id_:.120}")


def to_document(memory: Episode, *, score: float | None = None) -> Json:
    """Convert a memory to mem0's document; id and creation time of any version are those of the first."""
    ids = ids_of(memory)
    ours = memory.metadata.get(OURS)
    first = {"root": memory.id, "created_at": memory.created_at.isoformat(), **(ours if isinstance(ours, dict) else {})}
    own = {name: value for name, value in memory.metadata.items() if name != OURS}
    document = {
        "id": outer_id(owner_of(memory), str(first["root"])),
        "memory": memory.content,
        **{field: ids.get(field) for field in _IDS},
        "hash": hashlib.md5(memory.content.encode(), usedforsecurity=False).hexdigest(),
        "metadata": own or None,
        "categories": [],
        "created_at": first["created_at"],
        "updated_at": memory.created_at.isoformat(),
        "expiration_date": end_of(memory),
    }
    return document if score is None else {**document, "score": score}


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


def _exact_name(value: object, *, name: str) -> str:
    """Check a name without cleaning it: two that clean to the same would share a memory."""
    exact = checks.name(value, name=name)
    if exact != value or exact == _EVERY:
        raise InvalidInput(f"{name} {value!r:.80} is no name: it has blanks around it or is a wildcard")
    return exact


def _conditions(filters: object) -> Iterable[tuple[str, Any]]:
    """Yield name and value of every condition.

    Raises:
        InvalidInput: no object, or OR and NOT, which are not supported.
    """
    if not isinstance(filters, dict) or not filters:
        raise InvalidInput(f"filters must be an object that names one of {', '.join(_IDS)}")
    for name, value in filters.items():
        if name == "AND":
            if not isinstance(value, list):
                raise InvalidInput("AND takes a list of filters")
            for condition in value:
                yield from _conditions(condition)
        elif name in {"OR", "NOT"}:
            raise InvalidInput(f"{name} is not supported in filters; ask once for each")
        else:
            yield name, value


def _ids_of_filter(conditions: Iterable[tuple[str, Any]]) -> dict[str, str]:
    """Return the ids that a filter names; a wildcard selects all."""
    ids: dict[str, str] = {}
    for name, value in conditions:
        if name in _IDS and isinstance(value, str) and value != _EVERY and ids.setdefault(name, value) != value:
            raise InvalidInput(f"a filter names two {name}; ask once for each")
    return ids


def _run_ids(name: str, value: object) -> list[str]:
    match value:
        case str():
            return [value]
        case list():
            return value
        case {"in": list(several), **others} if not others:
            return several
        case _:
            raise InvalidInput(
                f"filter {name!r} with {value!r:.80} is not supported here; give one, or {{'in': [...]}}"
            )


def _interval(value: object) -> dict[str, datetime]:
    """Parse {gte, gt, lte, lt} to `since` and `until`: our end is exclusive, so `lte` reaches just past it."""
    if not isinstance(value, dict) or not value or not set(value) <= set(_BOUNDS):
        raise InvalidInput(f"created_at takes {', '.join(_BOUNDS)}, not {value!r:.80}")
    interval = {}
    for name, time_ in value.items():
        at = checks.moment(time_, name=f"created_at.{name}")
        if at is not None:
            interval[_BOUNDS[name]] = at + timedelta(microseconds=1) if name in {"gt", "lte"} else at
    return interval


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
