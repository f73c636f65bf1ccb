"""What mem0's clients say and expect, in our words: ids, owners, filters, messages, memories. Pure."""

from __future__ import annotations

import base64
import binascii
import hashlib
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING, Any

from engrain.domain import checks
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
# What a client may say that changes nothing here: there is one project, and no model reads on the way in.
_IMMATERIAL = frozenset(
    "org_id project_id version output_format async_mode infer custom_categories custom_instructions "
    "agent_custom_instructions structured_data_schema includes excludes enable_graph keyword_search latest_only "
    "show_expired reference_date immutable source".split()
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """Whose a memory is: nobody asking for another owner ever sees it."""

    kind: str  # user, agent, app or run
    name: str

    @property
    def agent(self) -> str:
        """The agent of ours whose memory it is."""
        return f"{self.kind}:{self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """What a request is about: an owner, and what narrows it."""

    owner: Owner
    ids: Mapping[str, str] = field(default_factory=dict)  # every id that was given, the owner's among them
    sessions: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    since: datetime | None = None
    until: datetime | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def holds(self, memory: Episode) -> bool:
        """Whether a memory is the owner's, and as the metadata say, which no search of ours narrows by."""
        return memory.scope == self.owner.agent and all(
            memory.metadata.get(name) == value for name, value in self.metadata.items()
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One message, as `Agent.observe` takes it."""

    role: Role
    content: str
    speaker: str | None


def known(given: Mapping[str, Any], names: Iterable[str]) -> Json:
    """What a request says that matters here.

    Raises:
        InvalidInput: it says something that would have to be heeded and is not: silence would give more than was meant.
    """
    mine = frozenset(names)
    strange = sorted(name for name in given if name not in mine and name not in _IMMATERIAL)
    if strange:
        raise InvalidInput(f"{', '.join(strange):.200} is not supported here; supported are: {', '.join(sorted(mine))}")
    return {name: value for name, value in given.items() if name in mine and value is not None}


def owned(given: Mapping[str, Any]) -> Where:
    """Whom a request names by user_id, agent_id, app_id and run_id.

    Raises:
        InvalidInput: none of them, or a name that is none.
    """
    ids = {name: _exact(given[name], what=name) for name in _IDS if given.get(name) is not None}
    if not ids:
        raise InvalidInput(f"name whose memory it is: one of {', '.join(_IDS)}")
    first = next(iter(ids))
    session = ids.get("run_id")
    return Where(
        owner=Owner(kind=first.removesuffix("_id"), name=ids[first]),
        ids=ids,
        sessions=() if session is None else (session,),
        tags=tuple(f"{name}:{ids[name]}" for name in _TAGGED if name in ids),
    )


def narrowed(filters: object) -> Where:
    """What the filters of a search or a list mean.

    Raises:
        InvalidInput: they name no owner, or use what is not supported: a filter is never passed over.
    """
    conditions = list(_conditions(filters))
    base = owned(_named(conditions))
    sessions = base.sessions
    metadata: Json = {}
    bounds: dict[str, datetime] = {}
    for name, value in conditions:
        match name:
            case "run_id" if isinstance(value, dict):
                sessions = checks.names(_listed(name, value), name=name)
            case "metadata":
                metadata |= checks.metadata(value)
            case "created_at":
                bounds |= _interval(value)
            case _ if name not in _IDS or not isinstance(value, str):
                raise InvalidInput(f"filter {name!r:.80} with {value!r:.80} is not supported here")
    return Where(
        owner=base.owner,
        ids=base.ids,
        sessions=sessions,
        tags=base.tags,
        metadata=metadata,
        **bounds,
    )


def messages(given: object) -> list[Said]:
    """The messages of an add, all of them checked before the first is kept.

    Raises:
        InvalidInput: none, an unknown role, or one that says nothing.
    """
    if not isinstance(given, list) or not given:
        raise InvalidInput("messages must be a list of {role, content}, and not empty")
    return [_said(each) for each in given]


def metadata_of(given: object, ids: Mapping[str, str], *, ends: object, first: Episode | None = None) -> Json:
    """The metadata of a memory: the client's own, and what we keep beside it; `first` is the version it began as.

    Raises:
        InvalidInput: it is no JSON object, or has our key.
    """
    own = checks.metadata(given)
    if OURS in own:
        raise InvalidInput(f"metadata may not have the key {OURS!r}; choose another")
    root = {} if first is None else {"root": first.id, "created_at": first.created_at.isoformat()}
    end = {} if ends is None else {"expiration_date": str(ends)}
    return {**own, OURS: {"ids": dict(ids), **end, **root}}


def ids_of(memory: Episode) -> dict[str, str]:
    """The ids a memory was kept under; of one that came another way the owner alone."""
    kept = memory.metadata.get(OURS)
    if isinstance(kept, dict) and isinstance(kept.get("ids"), dict):
        return {name: str(value) for name, value in kept["ids"].items()}
    kind, _, name = memory.agent.partition(":")
    return {f"{kind}_id": name}


def end_of(memory: Episode) -> str | None:
    """The last day on which a memory is remembered; None where it has no end."""
    kept = memory.metadata.get(OURS)
    said = kept.get("expiration_date") if isinstance(kept, dict) else None
    if memory.expires_at is None or isinstance(said, str):
        return said if isinstance(said, str) else None
    return memory.expires_at.date().isoformat()


def outer_id(owner: Owner, id_: str) -> str:
    """The id a client knows a memory by: ours, and whose it is, for a client names an id alone."""
    return f"{id_}~{base64.urlsafe_b64encode(owner.agent.encode()).decode().rstrip('=')}"


def inner_id(id_: str) -> tuple[Owner, str]:
    """Whose memory a client means, and our id of it.

    Raises:
        NotFound: it is none that we have given out.
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
    """The error for an id that is none."""
    return NotFound(f"there is no memory {id_:.120}")


def shown(memory: Episode, *, score: float | None = None) -> Json:
    """A memory as mem0 says it; whichever version it is, its id and beginning are those of the first."""
    ids = ids_of(memory)
    kept = memory.metadata.get(OURS)
    first = {"root": memory.id, "created_at": memory.created_at.isoformat(), **(kept if isinstance(kept, dict) else {})}
    own = {name: value for name, value in memory.metadata.items() if name != OURS}
    kind, _, name = memory.agent.partition(":")
    document = {
        "id": outer_id(Owner(kind=kind, name=name), str(first["root"])),
        "memory": memory.content,
        **{each: ids.get(each) for each in _IDS},
        "hash": hashlib.md5(memory.content.encode(), usedforsecurity=False).hexdigest(),
        "metadata": own or None,
        "categories": [],
        "created_at": first["created_at"],
        "updated_at": memory.created_at.isoformat(),
        "expiration_date": end_of(memory),
    }
    return document if score is None else {**document, "score": score}


def history(versions: Sequence[Episode], now: datetime) -> list[Json]:
    """What happened to a memory, oldest first: added, updated, and its end if it has come."""
    events: list[Json] = []
    before: str | None = None
    for each in versions:
        events.append(_event(each, "UPDATE" if before else "ADD", old=before, new=each.content, at=each.created_at))
        before = each.content
    last = versions[-1]
    if last.expires_at is not None and not last.is_live(now):
        events.append(_event(last, "DELETE", old=before, new=None, at=last.expires_at))
    return events


def ttl_days(expires: object, now: datetime) -> float | None:
    """How long until the end of the day that an expiration_date names.

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


def moment(timestamp: object) -> datetime | str | None:
    """When a message was said: seconds since 1970, or a time as text.

    Raises:
        InvalidInput: a number that is no time.
    """
    if isinstance(timestamp, bool) or not isinstance(timestamp, int | float):
        return checks.moment(timestamp, name="timestamp")
    try:
        return datetime.fromtimestamp(timestamp, UTC)
    except (ValueError, OverflowError, OSError) as error:
        raise InvalidInput(f"timestamp {timestamp} is no time; say seconds since 1970") from error


def _exact(value: object, *, what: str) -> str:
    """A name as it is: two that clean to the same would share a memory."""
    name = checks.name(value, name=what)
    if name != value or name == _EVERY:
        raise InvalidInput(f"{what} {value!r:.80} is no name: it has blanks around it or is a wildcard")
    return name


def _conditions(filters: object) -> Iterable[tuple[str, Any]]:
    """Name and value of everything that must hold.

    Raises:
        InvalidInput: no object, or OR and NOT, which are not supported.
    """
    if not isinstance(filters, dict) or not filters:
        raise InvalidInput(f"filters must be an object that names one of {', '.join(_IDS)}")
    for name, value in filters.items():
        if name == "AND":
            if not isinstance(value, list):
                raise InvalidInput("AND takes a list of filters")
            for each in value:
                yield from _conditions(each)
        elif name in {"OR", "NOT"}:
            raise InvalidInput(f"{name} is not supported in filters; ask once for each")
        else:
            yield name, value


def _named(conditions: Iterable[tuple[str, Any]]) -> dict[str, str]:
    """The ids that a filter names; a wildcard narrows nothing."""
    ids: dict[str, str] = {}
    for name, value in conditions:
        if name in _IDS and isinstance(value, str) and value != _EVERY and ids.setdefault(name, value) != value:
            raise InvalidInput(f"a filter names two {name}; ask once for each")
    return ids


def _listed(name: str, value: object) -> list[str]:
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
    """Since when and until when, of {gte, gt, lte, lt}: an episode's end is counted out, so `lte` reaches past it."""
    if not isinstance(value, dict) or not value or not set(value) <= set(_BOUNDS):
        raise InvalidInput(f"created_at takes {', '.join(_BOUNDS)}, not {value!r:.80}")
    found = {}
    for name, said in value.items():
        at = checks.moment(said, name=f"created_at.{name}")
        if at is not None:
            found[_BOUNDS[name]] = at + timedelta(microseconds=1) if name in {"gt", "lte"} else at
    return found


def _said(message: object) -> Said:
    if not isinstance(message, dict):
        raise InvalidInput("a message must be an object with role and content")
    role = checks.choice(message.get("role", "user"), ROLES, name="role")
    return Said(
        role=role,
        content=checks.content(_text(message.get("content"))),
        speaker=checks.optional_name(message.get("name"), name="name"),
    )


def _text(content: object) -> object:
    """The text of a message that has parts; pictures and documents are not kept."""
    if not isinstance(content, list):
        return content
    parts = [each.get("text") for each in content if isinstance(each, dict) and each.get("type") == "text"]
    return "\n".join(each for each in parts if isinstance(each, str))


def _event(memory: Episode, event: str, *, old: str | None, new: str | None, at: datetime) -> Json:
    document = shown(memory)
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
