"""History of memories: their links, audit events, applications and superseded versions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engrain.domain.records import Event, Fact, Link, Relation
from engrain.storage import selection
from engrain.storage.filters import SEEN, caller_bindings, position_bindings, same_slot

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from engrain.domain.filters import TimePosition
    from engrain.domain.memories.maturity import Application
    from engrain.domain.records import Caller
    from engrain.domain.requests import Direction
    from engrain.storage.transaction import Transaction

_STATEMENTS: dict[Direction, tuple[str, ...]] = {
    "outgoing": ("links_out",),
    "incoming": ("links_in",),
    "both": ("links_out", "links_in"),
}


def load_links(
    tx: Transaction, caller: Caller, id_: str, *, direction: Direction = "both", relation: Relation | None = None
) -> list[Link]:
    """Load the links of a memory whose both ends the caller sees, by creation, then source, target and relation."""
    seen = selection.load_visible(tx, caller, [id_])
    if not seen:
        return []
    named = {"tenant_id": caller.tenant_id, "kind": seen[0][1].kind, "id": id_}
    rows = [row for statement in _STATEMENTS[direction] for row in tx.rows(statement, **named)]
    found = {link for link in (_read_link(tx, row) for row in rows) if relation in (None, link.relation)}
    visible = _filter_visible(tx, caller, found)
    return sorted(visible, key=lambda link: (link.created_at, link.source_id, link.target_id, link.relation))


def load_links_from(
    tx: Transaction, caller: Caller, ids: Collection[str], relations: Collection[Relation]
) -> list[Link]:
    """Load links of some relations from some memories, both ends visible, by source, target and relation."""
    bound = {"tenant_id": caller.tenant_id, "ids": tx.dialect.listed(ids), "relations": tx.dialect.listed(relations)}
    rows = tx.rows("links_from", **bound) if ids and relations else []
    visible = _filter_visible(tx, caller, [_read_link(tx, row) for row in rows])
    return sorted(visible, key=lambda link: (link.source_id, link.target_id, link.relation))


def _filter_visible(tx: Transaction, caller: Caller, links: Collection[Link]) -> list[Link]:
    """Links whose both ends the caller sees."""
    ends = sorted({end for link in links for end in (link.source_id, link.target_id)})
    visible = {memory.id for _, memory in selection.load_visible(tx, caller, ends)} if ends else set()
    return [link for link in links if {link.source_id, link.target_id} <= visible]


def _read_link(tx: Transaction, row: Sequence[Any]) -> Link:
    """Read the link of a row: source, target, relation, weight, time."""
    source, target, relation, weight, created_at = row
    moment = tx.dialect.moment(created_at)
    return Link(source_id=source, target_id=target, relation=relation, weight=weight, created_at=moment)


def load_applications(
    tx: Transaction, caller: Caller, rule_id: str, limit: int, *, after: TimePosition | None
) -> list[Application]:
    """Load the applications of a rule, newest first (then the larger id); none where the caller does not see it."""
    if not selection.load_visible(tx, caller, [rule_id]):
        return []
    bound = {"tenant_id": caller.tenant_id, "rule_id": rule_id, "limit": max(limit, 0)}
    if after is None:
        found = tx.rows("applications", **bound)
    else:
        found = tx.rows("more_applications", **bound, **position_bindings(after, tx.dialect))
    return [tx.statements.records.applications.record(row) for row in found]


@dataclass(frozen=True, slots=True, kw_only=True)
class EventQuery:
    """Query for events: of one memory, of one type, after the position of one of them."""

    memory_id: str | None = None
    event_type: str | None = None
    limit: int
    after: TimePosition | None = None


def load_events(tx: Transaction, caller: Caller, query: EventQuery) -> list[Event]:
    """Load the events in the caller's scopes, newest first (then the larger id)."""
    rows = tx.statements.records.events
    conditions = [SEEN]
    bound: dict[str, Any] = {**caller_bindings(caller, tx.dialect), "limit": query.limit}
    for column, value in (("memory_id", query.memory_id), ("event_type", query.event_type)):
        if value is not None:
            conditions.append(f"{column} = :{column}")
            bound[column] = value
    if query.after is not None:
        conditions.append("(created_at, id) < (:after_at, :after_id)")
        bound |= position_bindings(query.after, tx.dialect)
    where = " AND ".join(conditions)
    # A memory has few: SQLite would rather read all of a tenant than sort them.
    by = "" if query.memory_id is None else "INDEXED BY memory_events_memory"
    order = "ORDER BY created_at DESC, id DESC LIMIT :limit"
    found = tx.ask(f"SELECT {rows.columns} FROM memory_events {by} WHERE {where} {order}", bound)  # noqa: S608  # no input in it
    return [rows.record(row) for row in found]


def load_history(tx: Transaction, caller: Caller, id_: str) -> list[Fact]:
    """Load every fact that was ever in the slot of this one, oldest first."""
    seen = [memory for _, memory in selection.load_visible(tx, caller, [id_]) if isinstance(memory, Fact)]
    if not seen:
        return []
    same, bound = same_slot(seen[0])
    rows = selection.select(tx, "fact", same, bound, order="ORDER BY created_at, id")
    return [memory for _, memory in rows if isinstance(memory, Fact)]
