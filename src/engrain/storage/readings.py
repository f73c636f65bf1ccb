"""What the ledger can be asked: the edges of a memory, its events, the history of a fact, entities, counts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from engrain.domain.records import Entity, Event, Fact, Link, Relation, Stats
from engrain.storage import lookups
from engrain.storage.filters import SEEN, same_place, seen_by

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from engrain.domain.records import Caller
    from engrain.domain.requests import Direction
    from engrain.storage.transaction import Transaction

_STATEMENTS: dict[Direction, tuple[str, ...]] = {
    "outgoing": ("links_out",),
    "incoming": ("links_in",),
    "both": ("links_out", "links_in"),
}


def links(
    tx: Transaction, caller: Caller, id_: str, *, direction: Direction = "both", relation: Relation | None = None
) -> list[Link]:
    """The edges of a memory whose both ends the caller sees, by creation, then source, target and relation."""
    seen = lookups.visible(tx, caller, [id_])
    if not seen:
        return []
    named = {"tenant_id": caller.tenant_id, "kind": seen[0][1].kind, "id": id_}
    rows = [row for statement in _STATEMENTS[direction] for row in tx.rows(statement, **named)]
    found = {
        Link(source_id=source, target_id=target, relation=kind, weight=weight, created_at=tx.dialect.moment(created_at))
        for source, target, kind, weight, created_at in rows
        if relation in (None, kind)
    }
    ends = {end for link in found for end in (link.source_id, link.target_id)}
    visible = {memory.id for _, memory in lookups.visible(tx, caller, sorted(ends))}
    return sorted(
        (link for link in found if {link.source_id, link.target_id} <= visible),
        key=lambda link: (link.created_at, link.source_id, link.target_id, link.relation),
    )


def events(
    tx: Transaction, caller: Caller, *, memory_id: str | None, event_type: str | None, limit: int
) -> list[Event]:
    """What was done in the caller's scopes, newest first (then the larger id)."""
    rows = tx.speech.rows.events
    conditions = [SEEN]
    bound: dict[str, Any] = {**seen_by(caller, tx.dialect), "limit": limit}
    for column, value in (("memory_id", memory_id), ("event_type", event_type)):
        if value is not None:
            conditions.append(f"{column} = :{column}")
            bound[column] = value
    where = " AND ".join(conditions)
    # A memory has few: SQLite would rather read all of a tenant than sort them.
    by = "" if memory_id is None else "INDEXED BY memory_events_memory"
    order = "ORDER BY created_at DESC, id DESC LIMIT :limit"
    found = tx.ask(f"SELECT {rows.columns} FROM memory_events {by} WHERE {where} {order}", bound)  # noqa: S608  # no input in it
    return [rows.record(row) for row in found]


def history(tx: Transaction, caller: Caller, id_: str) -> list[Fact]:
    """Every fact that ever held the place of this one, oldest first."""
    seen = [memory for _, memory in lookups.visible(tx, caller, [id_]) if isinstance(memory, Fact)]
    if not seen:
        return []
    same, bound = same_place(seen[0])
    rows = lookups.select(tx, "fact", same, bound, order="ORDER BY created_at, id")
    return [memory for _, memory in rows if isinstance(memory, Fact)]


def entities(tx: Transaction, caller: Caller, ids: Sequence[str]) -> list[Entity]:
    """Those of `ids` that the tenant knows, in the order asked; such mentions are counted as the caller sees."""
    rows = tx.speech.rows.entities
    bound = {"tenant_id": caller.tenant_id, "ids": tx.dialect.listed(ids)}
    statement = f"SELECT {rows.columns} FROM entities WHERE tenant_id = :tenant_id AND id IN :ids"  # noqa: S608  # no input in it
    found = {entity.id: entity for entity in map(rows.record, tx.ask(statement, bound))}
    if found:
        counted = tx.rows("count_mentions", **seen_by(caller, tx.dialect), ids=tx.dialect.listed(found))
        found |= {id_: replace(found[id_], mention_count=found[id_].mention_count + count) for id_, count in counted}
    return [found[id_] for id_ in dict.fromkeys(ids) if id_ in found]


def stats(tx: Transaction, caller: Caller, now: datetime, *, waiting: int) -> Stats:
    """Counts of what the caller can see."""
    bound = seen_by(caller, tx.dialect)
    [(episodes, sessions, speakers, first, last)] = tx.rows("episode_stats", **bound, now=tx.dialect.time(now))
    [(active, inactive)] = tx.rows("fact_stats", **bound)
    is_live = f"NOT ({tx.dialect.is_true('metadata', 'forgotten')})"
    [(rules,)] = tx.ask(f"SELECT count(*) FROM rules WHERE {SEEN} AND {is_live}", bound)  # noqa: S608  # no input in it
    return Stats(
        tenant_id=caller.tenant_id,
        agent=caller.agent,
        episodes=episodes,
        facts=active,
        inactive_facts=inactive,
        rules=rules,
        sessions=sessions,
        speakers=speakers,
        first_event_at=None if first is None else tx.dialect.moment(first),
        last_event_at=None if last is None else tx.dialect.moment(last),
        pending_embeddings=waiting,
    )
