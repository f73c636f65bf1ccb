"""Filters of mem0's requests: whose memories they select, and by what. Pure."""

from __future__ import annotations

import operator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeAlias

from engrain.domain import checks
from engrain.domain.access.scopes import user_scope
from engrain.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from engrain.domain.records import Episode

Json = dict[str, Any]
Condition: TypeAlias = "Callable[[Episode], bool]"

# The first of these that a request names owns the memory; the others say more of it.
OWNERS = ("user", "agent", "app", "run")
IDS = tuple(f"{kind}_id" for kind in OWNERS)
_TAGGED = ("agent_id", "app_id")
OURS = "mem0"  # the key of a memory's metadata that is ours, and the agent that acts for users
_EVERY = "*"
_BOUNDS = {"gte": "since", "gt": "since", "lt": "until", "lte": "until"}


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
    conditions: tuple[Condition, ...] = ()  # on metadata, OR and NOT, which no search of ours has

    def matches(self, memory: Episode) -> bool:
        """Tell whether a memory is the owner's and meets all conditions."""
        return memory.scope == self.owner.scope and all(meets(memory) for meets in self.conditions)


def select_owner(ids_by_name: Mapping[str, Any]) -> Selection:
    """Select the owner that a request names by user_id, agent_id, app_id and run_id.

    Raises:
        InvalidInput: none of them, or an invalid name.
    """
    ids = {name: _exact_name(ids_by_name[name], name=name) for name in IDS if ids_by_name.get(name) is not None}
    if not ids:
        raise InvalidInput(f"name whose memory it is: one of {', '.join(IDS)}")
    first = next(iter(ids))
    session = ids.get("run_id")
    return Selection(
        owner=Owner(kind=first.removesuffix("_id"), name=ids[first]),
        ids=ids,
        sessions=() if session is None else (session,),
        tags=tuple(f"{name}:{ids[name]}" for name in _TAGGED if name in ids),
    )


def join(filters: object, *more: Json) -> Json:
    """Join the filters of a request, if it has any, with more that all memories must meet."""
    parts = [*([] if filters is None else [filters]), *more]
    return {"AND": parts} if parts else {}


def parse_filters(filters: object, *, takes_metadata: bool = False) -> Selection:
    """Parse the filters of a search or a list; with `takes_metadata` other names are keys of the metadata.

    Raises:
        InvalidInput: they name no owner, or are not supported: a filter is never ignored.
    """
    conditions = list(_conditions(filters))
    base = select_owner(_ids_of_filter(conditions))
    sessions = base.sessions
    more: list[Condition] = []
    bounds: dict[str, datetime] = {}
    for name, value in conditions:
        match name:
            case "run_id" if isinstance(value, dict):
                sessions = checks.names(_run_ids(name, value), name=name)
            case "created_at":
                bounds |= _interval(value)
            case _ if name in {"OR", "NOT", "metadata"} or (takes_metadata and name not in IDS):
                more.append(_condition(name, value, takes_metadata=takes_metadata))
            case _ if name not in IDS or not isinstance(value, str):
                raise InvalidInput(f"filter {name!r:.80} with {value!r:.80} is not supported here")
    return Selection(
        owner=base.owner,
        ids=base.ids,
        sessions=sessions,
        tags=base.tags,
        conditions=tuple(more),
        **bounds,
    )


def _exact_name(value: object, *, name: str) -> str:
    """Check a name without cleaning it: two that clean to the same would share a memory."""
    exact = checks.name(value, name=name)
    if exact != value or exact == _EVERY:
        raise InvalidInput(f"{name} {value!r:.80} is no name: it has blanks around it or is a wildcard")
    return exact


def _conditions(filters: object) -> Iterable[tuple[str, Any]]:
    """Yield name and value of every condition that all memories must meet, OR and NOT among them.

    Raises:
        InvalidInput: no object, or AND or OR without a list.
    """
    if not isinstance(filters, dict) or not filters:
        raise InvalidInput(f"name an owner: filters must be an object with one of {', '.join(IDS)}")
    for name, value in filters.items():
        if name == "AND" or (name == "OR" and isinstance(value, list) and len(value) == 1):
            for condition in _branches(name, value):
                yield from _conditions(condition)
        else:
            yield name, _single(value) if name in IDS else value


def _branches(name: str, value: object) -> list[Any]:
    """Return the filters that AND, OR or NOT is said of; NOT may be said of one alone."""
    if name == "NOT" and isinstance(value, dict):
        return [value]
    if not isinstance(value, list) or not value:
        raise InvalidInput(f"{name} takes a list of filters")
    return value


def _condition(name: str, value: object, *, takes_metadata: bool) -> Condition:
    """Make a condition of its name and value; NOT holds where none of its filters does.

    Raises:
        InvalidInput: it is not supported: a filter is never ignored.
    """
    if name in {"AND", "OR", "NOT"}:
        branches = [_all_of(branch, takes_metadata=takes_metadata) for branch in _branches(name, value)]
        several = all if name == "AND" else any
        return lambda memory: several(meets(memory) for meets in branches) != (name == "NOT")
    if name in IDS:
        wanted = _metadata_conditions({name: value})[name]
        return lambda memory: _meets(_ids_of(memory).get(name), wanted)
    if name == "created_at":
        bounds = _interval(value)
        since, until = bounds.get("since"), bounds.get("until")
        return lambda memory: (
            (since is None or memory.event_time >= since) and (until is None or memory.event_time < until)
        )
    if name != "metadata" and not takes_metadata:
        raise InvalidInput(f"filter {name!r:.80} with {value!r:.80} is not supported here")
    by_key = _metadata_conditions(value if name == "metadata" else {name: value})
    return lambda memory: all(_meets(memory.metadata.get(key), wanted) for key, wanted in by_key.items())


def _all_of(filters: object, *, takes_metadata: bool) -> Condition:
    if not isinstance(filters, dict) or not filters:
        raise InvalidInput("AND, OR and NOT take lists of filters, each an object that is not empty")
    conditions = [_condition(name, value, takes_metadata=takes_metadata) for name, value in filters.items()]
    return lambda memory: all(meets(memory) for meets in conditions)


def our_metadata(memory: Episode) -> Mapping[str, Any]:
    """Return the part of a memory's metadata that is ours; it is empty where the memory was not added here."""
    ours = memory.metadata.get(OURS)
    return ours if isinstance(ours, dict) else {}


def _ids_of(memory: Episode) -> Mapping[str, Any]:
    """Return the ids that a memory was added with, its user among them."""
    ids = our_metadata(memory).get("ids")
    return {"user_id": memory.user_id, **(ids if isinstance(ids, dict) else {})}


def _single(value: Any) -> Any:
    """Return the one value that an operator of equality allows; else the condition itself."""
    match value:
        case {"eq": only, **others} | {"in": [only], **others} if not others:
            return only
        case _:
            return value


def _metadata_conditions(value: object) -> Json:
    """Return the conditions of metadata: by key a value, `*` for any, or operators with their operands.

    Raises:
        InvalidInput: no JSON object, or an operator beside what is none, or with an operand that it cannot have.
    """
    conditions = checks.metadata(value)
    for name, wanted in conditions.items():
        operators = wanted.keys() & _OPERATORS.keys() if isinstance(wanted, dict) else set()
        if operators and len(operators) < len(wanted):
            raise InvalidInput(f"metadata {name!r:.80} takes {', '.join(_OPERATORS)}, not {wanted!r:.80}")
        for applied in operators:
            if not isinstance(wanted[applied], _OPERANDS.get(applied, object)):
                raise InvalidInput(
                    f"{applied!r} in the filter of metadata {name!r:.80} cannot be {wanted[applied]!r:.80}"
                )
    return conditions


def _meets(value: Any, wanted: Any) -> bool:
    """Tell whether a value of metadata meets a condition; None stands for a key that is not there."""
    if isinstance(wanted, dict) and wanted and wanted.keys() <= _OPERATORS.keys():
        return all(_OPERATORS[name](value, operand) for name, operand in wanted.items())
    return value is not None if wanted == _EVERY else bool(value == wanted)


def _ordered(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    """Return a comparison that is false between values that have no order, such as a number and a text."""

    def compared(value: Any, operand: Any) -> bool:
        try:
            return compare(value, operand)
        except TypeError:
            return False

    return compared


def _contains(value: Any, part: Any) -> bool:
    return part in value if isinstance(value, list) or (isinstance(value, str) and isinstance(part, str)) else False


def _contains_in_any_case(value: Any, part: str) -> bool:
    texts = value if isinstance(value, list) else [value]
    return any(isinstance(text, str) and part.casefold() in text.casefold() for text in texts)


def _ids_of_filter(conditions: Iterable[tuple[str, Any]]) -> dict[str, str]:
    """Return the ids that a filter names; a wildcard selects all."""
    ids: dict[str, str] = {}
    for name, value in conditions:
        if name in IDS and isinstance(value, str) and value != _EVERY and ids.setdefault(name, value) != value:
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


_OPERATORS: Mapping[str, Callable[[Any, Any], bool]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "gt": _ordered(operator.gt),
    "gte": _ordered(operator.ge),
    "lt": _ordered(operator.lt),
    "lte": _ordered(operator.le),
    "in": lambda value, several: value in several,
    "nin": lambda value, several: value not in several,
    "contains": _contains,
    "icontains": _contains_in_any_case,
}
_OPERANDS: Mapping[str, type] = {"in": list, "nin": list, "icontains": str}
