"""Values that stand where others did in the order of a list: what the next page comes `after`."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

from engrain.domain import checks
from engrain.domain.memories.maturity import Application
from engrain.domain.memories.notes import Note
from engrain.domain.records import ENTITY_TYPES, Entity, Event, Fact
from engrain.domain.runs.runs import Run
from engrain.interfaces.http import cursors

_Each = TypeVar("_Each", Fact, Event, Run, Application, Note, Entity)
_ONCE = datetime.min.replace(tzinfo=UTC)


def of(verb: str, cursor: str | None, kind: type[_Each]) -> _Each | None:
    """What stands where the page before ended; None for the first page.

    Raises:
        InvalidInput: the cursor is none of this list.
    """
    ended = cursors.place(verb, cursor)
    return None if ended is None else kind(**_standing(kind, *ended))


def more(verb: str, found: Sequence[Any], limit: int) -> str | None:
    """The cursor of the page after these; None where there is none."""
    return cursors.following(verb, found, limit, _place)


def _place(value: Any) -> tuple[str, str]:
    match value:
        case Entity():
            return value.canonical_name, value.entity_type
        case Fact():
            return value.happened_at.isoformat(), value.id
        case Run():
            return value.started_at.isoformat(), value.id
        case Note():
            return "", value.id
        case _:
            return value.created_at.isoformat(), value.id


def _standing(kind: type[Any], first: str, second: str) -> dict[str, Any]:
    """The fields of a value that stands at a place; those that say nothing of it are empty."""
    if kind is Entity:
        type_ = checks.choice(second, ENTITY_TYPES, name="entity type of the cursor")
        return {"id": "", "canonical_name": first, "entity_type": type_, "created_at": _ONCE, "updated_at": _ONCE}
    if kind is Note:
        empty = dict.fromkeys(("key", "content", "category"), "")
        return {"id": second, **empty, "created_at": _ONCE, "updated_at": _ONCE}
    at, who = checks.moment(first, name="time of the cursor"), {"id": second, "agent": ""}
    if kind is Fact:
        return {**who, "subject": "", "predicate": "", "content": "", "created_at": at}
    if kind is Run:
        return {**who, "kind": "consolidation", "worker": "", "lease_until": at, "started_at": at}
    if kind is Event:
        return {"id": second, "tenant_id": "", "event_type": "", "scope": "", "actor": "", "created_at": at}
    return {**who, "tenant_id": "", "rule_id": "", "outcome": "helpful", "created_at": at}
