"""Statistics of a caller's memories: one statement for each kind."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from engrain.domain.access.scopes import GLOBAL_SCOPE, audience_of
from engrain.domain.maintenance.stats import EpisodeStats, FactStats, RuleStats, Stats
from engrain.domain.memories.decay import days_between
from engrain.storage.filters import SEEN
from engrain.storage.search.namespaces import count_waiting

if TYPE_CHECKING:
    from datetime import datetime

    from engrain.storage.transaction import Transaction
    from engrain.storage.unit_of_work import Snapshot

_HOURS_A_DAY = 24


def count_memories(snapshot: Snapshot, now: datetime, *, scope: str | None = None) -> Stats:
    """Count what the caller can see; with a `scope`, facts and rules in `global` and that scope alone."""
    seen = snapshot.bindings()
    narrowed = seen
    if scope is not None:
        scopes = [name for name in snapshot.caller.scopes if {name, audience_of(name)} & {GLOBAL_SCOPE, scope}]
        narrowed = {**seen, "scopes": snapshot.dialect.listed(scopes)}
    return Stats(
        tenant_id=snapshot.tenant_id,
        agent=snapshot.agent,
        episodes=_count_episodes(snapshot, seen, now),
        facts=_count_facts(snapshot, narrowed),
        rules=_count_rules(snapshot, narrowed),
        pending_embeddings=count_waiting(snapshot),
    )


def _count_episodes(tx: Transaction, bound: dict[str, Any], now: datetime) -> EpisodeStats:
    [row] = tx.rows("episode_stats", **bound, now=tx.dialect.time(now))
    total, pending, given_up, oldest, sessions, speakers, first, last = row
    moment = tx.dialect.moment
    return EpisodeStats(
        total=total,
        unconsolidated=pending,
        given_up=given_up,
        backlog_age_hours=None if oldest is None else days_between(moment(oldest), now) * _HOURS_A_DAY,
        sessions=sessions,
        speakers=speakers,
        first_event_at=None if first is None else moment(first),
        last_event_at=None if last is None else moment(last),
    )


def _count_facts(tx: Transaction, bound: dict[str, Any]) -> FactStats:
    counts: dict[str, int] = {row[0]: row[1] for row in tx.rows("fact_stats", **bound)}
    return FactStats(**{state.name: counts.get(state.name, 0) for state in fields(FactStats)})


def _count_rules(tx: Transaction, bound: dict[str, Any]) -> RuleStats:
    is_forgotten = tx.dialect.is_true("metadata", "forgotten")
    state = f"CASE WHEN {is_forgotten} THEN 'forgotten' ELSE maturity END AS state"
    rows = tx.ask(f"SELECT {state}, count(*) FROM rules WHERE {SEEN} GROUP BY state", bound)  # noqa: S608  # no input in it
    counts: dict[str, int] = {row[0]: row[1] for row in rows}
    return RuleStats(**{state.name: counts.get(state.name, 0) for state in fields(RuleStats)})
