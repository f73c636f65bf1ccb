"""History of memories: their links, audit events, applications and superseded versions."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from engrain.domain import events
from engrain.domain.filters import is_hidden
from engrain.domain.records import Event, Fact, Link, Relation
from engrain.storage import selection
from engrain.storage.entities.subjects import find_slot
from engrain.storage.filters import SEEN, position_bindings

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from engrain.domain.filters import TimePosition
    from engrain.domain.records import MemoryRecord
    from engrain.domain.requests import Direction
    from engrain.domain.rules.maturity import Application
    from engrain.storage.transaction import Transaction
    from engrain.storage.unit_of_work import Snapshot

_STATEMENTS: dict[Direction, tuple[str, ...]] = {
    "outgoing": ("links_out",),
    "incoming": ("links_in",),
    "both": ("links_out", "links_in"),
}


def load_links(
    snapshot: Snapshot, id_: str, *, direction: Direction = "both", relation: Relation | None = None
) -> list[Link]:
    """Load the links of a memory whose both ends the caller sees, by creation, then source, target and relation."""
    seen = selection.load_visible(snapshot, [id_])
    if not seen:
        return []
    named = {"tenant_id": snapshot.tenant_id, "kind": seen[0][1].kind, "id": id_}
    rows = [row for statement in _STATEMENTS[direction] for row in snapshot.rows(statement, **named)]
    found = {link for link in (_read_link(snapshot, row) for row in rows) if relation in (None, link.relation)}
    visible = _filter_visible(snapshot, found)
    return sorted(visible, key=lambda link: (link.created_at, link.source_id, link.target_id, link.relation))


def load_links_from(snapshot: Snapshot, ids: Collection[str], relations: Collection[Relation]) -> list[Link]:
    """Load links of some relations from some memories, both ends visible, by source, target and relation."""
    bound = {
        "tenant_id": snapshot.tenant_id,
        "ids": snapshot.dialect.listed(ids),
        "relations": snapshot.dialect.listed(relations),
    }
    rows = snapshot.rows("links_from", **bound) if ids and relations else []
    visible = _filter_visible(snapshot, [_read_link(snapshot, row) for row in rows])
    return sorted(visible, key=lambda link: (link.source_id, link.target_id, link.relation))


def load_forgotten(snapshot: Snapshot, said_at: datetime, *, limit: int) -> list[MemoryRecord]:
    """Load the facts and rules that the caller sees and that somebody forgot since a time, the newest first."""
    bound = {**snapshot.bindings(), "said_at": snapshot.dialect.time(said_at), "limit": limit}
    ids = [id_ for (id_,) in snapshot.rows("forgotten_since", **bound)]
    return [memory for memory in selection.load_memories(snapshot, ids) if is_hidden(memory)]


def _filter_visible(snapshot: Snapshot, links: Collection[Link]) -> list[Link]:
    """Links whose both ends the caller sees."""
    ends = sorted({end for link in links for end in (link.source_id, link.target_id)})
    visible = {memory.id for _, memory in selection.load_visible(snapshot, ends)} if ends else set()
    return [link for link in links if {link.source_id, link.target_id} <= visible]


def _read_link(tx: Transaction, row: Sequence[Any]) -> Link:
    """Read the link of a row: source, target, relation, weight, time."""
    source, target, relation, weight, created_at = row
    moment = tx.dialect.moment(created_at)
    return Link(source_id=source, target_id=target, relation=relation, weight=weight, created_at=moment)


def count_confirmations(snapshot: Snapshot, facts: Collection[Fact]) -> dict[str, int]:
    """Count by id how often facts were confirmed, as far as their events are kept; absent where they never were."""
    if not facts:
        return {}
    ids = snapshot.dialect.listed([fact.id for fact in facts])
    counted: list[tuple[str, int]] = [
        (id_, count) for id_, count in snapshot.rows("count_confirmations", tenant_id=snapshot.tenant_id, ids=ids)
    ]
    return dict(counted)


def load_applications(
    snapshot: Snapshot, rule_id: str, limit: int, *, after: TimePosition | None = None
) -> list[Application]:
    """Load the applications of a rule, newest first (then the larger id); none where the caller does not see it."""
    if not selection.load_visible(snapshot, [rule_id]):
        return []
    bound = {"tenant_id": snapshot.tenant_id, "rule_id": rule_id, "limit": max(limit, 0)}
    if after is None:
        found = snapshot.rows("applications", **bound)
    else:
        found = snapshot.rows("more_applications", **bound, **position_bindings(after, snapshot.dialect))
    return [snapshot.statements.records.applications.record(row) for row in found]


def load_events(
    snapshot: Snapshot,
    *,
    memory_id: str | None = None,
    event_type: str | None = None,
    run_id: str | None = None,
    limit: int = 1_000,
    after: TimePosition | None = None,
) -> list[Event]:
    """Load events in the caller's scopes, newest first (then the larger id); those of one act in any order.

    With `after`, events after a position (created_at, id) in that order.
    """
    conditions = [SEEN]
    bound: dict[str, Any] = {**snapshot.bindings(), "limit": limit}
    for column, value in (("memory_id", memory_id), ("event_type", event_type), ("run_id", run_id)):
        if value is not None:
            conditions.append(f"{column} = :{column}")
            bound[column] = value
    if event_type not in (None, events.EPISODE_CREATED):
        conditions.append(f"event_type <> '{events.EPISODE_CREATED}'")  # as the index of types says
    if after is not None:
        conditions.append("(created_at, id) < (:after_at, :after_id)")
        bound |= position_bindings(after, snapshot.dialect)
    where = " AND ".join(conditions)
    # A memory or a run has few: SQLite would rather read all of a tenant than sort them.
    index = "memory_events_memory" if memory_id is not None else "memory_events_run" if run_id is not None else None
    by = "" if index is None else f"INDEXED BY {index}"
    rest = f"FROM memory_events {by} WHERE {where} ORDER BY created_at DESC, id DESC LIMIT :limit"
    return snapshot.load(snapshot.statements.records.events, rest, bound)


def load_page(snapshot: Snapshot, /, *, limit: int, **narrowed: Any) -> tuple[list[Event], datetime | None]:
    """Load events as `load_events`; where these are the last of the list, with the time of `find_removal`."""
    found = load_events(snapshot, limit=limit, **narrowed)
    return found, find_removal(snapshot) if len(found) < limit else None


def find_removal(snapshot: Snapshot) -> datetime | None:
    """Find the time before which events were removed by their age; None where none were."""
    found = load_events(snapshot, event_type=events.EVENTS_REMOVED, limit=1)
    return datetime.fromisoformat(found[0].payload["before"]) if found else None


def load_history(snapshot: Snapshot, id_: str) -> list[Fact]:
    """Load every fact that was ever in the slot of this one, or superseded one that was, oldest first."""
    seen = [memory for _, memory in selection.load_visible(snapshot, [id_]) if isinstance(memory, Fact)]
    if not seen:
        return []
    fact = seen[0]
    where, bound = find_slot(snapshot, fact, is_any_value=True)
    facts = [other for _, other in selection.select_facts(snapshot, where, bound, order="ORDER BY created_at, id")]
    return [other for other in facts if other.id in _find_versions(fact, facts)]


def _find_versions(fact: Fact, facts: Sequence[Fact]) -> set[str]:
    """Find the ids of the facts with the value of one, and of all that superseded them or were superseded by them."""
    found: set[str] = set()
    new = {other.id for other in facts if other.key.value == fact.key.value}
    while new:
        found |= new
        linked = [(one.id, one.supersedes_id) for one in facts if one.supersedes_id is not None]
        new = {end for ends in linked if found.intersection(ends) for end in ends} - found
    return found
