"""One batch of a cleanup on either database: the episodes that ran out, then the oldest consolidated of too many."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engrain.domain import events
from engrain.domain.maintenance import retention
from engrain.domain.records import Episode
from engrain.storage import selection

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from engrain.domain.maintenance.retention import CleanupBatch, Removal, Retention
    from engrain.domain.requests import Act
    from engrain.storage.transaction import Transaction
    from engrain.storage.write.memories import MemoryWrites

_OF_THESE = "tenant_id = :tenant_id AND id IN :ids"


@dataclass(frozen=True, slots=True)
class Plan:
    """The episodes of a tenant that may go next, in that order, and whether these are all."""

    removals: Mapping[str, Removal]
    is_last: bool


def preview_cleanup(tx: Transaction, act: Act, kept: Retention) -> CleanupBatch:
    """What a whole cleanup would do now."""
    return _count_removals(tx, act, kept, _load_needed(tx, act, kept))


def _count_removals(tx: Transaction, act: Act, kept: Retention, needed: Collection[str]) -> CleanupBatch:
    every, expired, consolidated = _count_episodes(tx, act, kept)
    over = 0 if kept.max_entries is None else max(every - expired - kept.max_entries, 0)
    capacity = min(over, consolidated - len(needed))
    return retention.CleanupBatch(expired=expired, capacity=capacity, remaining=every - expired - capacity)


def plan_cleanup(tx: Transaction, act: Act, kept: Retention, limit: int) -> Plan:
    """At most `limit` of the episodes that may go."""
    named = {"tenant_id": act.caller.tenant_id, "before": tx.dialect.time(retention.expiry_cutoff(kept, act.at))}
    expired = [id_ for (id_,) in tx.rows("run_out_episodes", **named, limit=limit)]
    removals: dict[str, Removal] = dict.fromkeys(expired, "expired")
    room = limit - len(expired)
    if room > 0:  # all that ran out are known
        needed = _load_needed(tx, act, kept)
        most = min(room, _count_removals(tx, act, kept, needed).capacity)
        oldest = tx.rows("oldest_consolidated", **named, needed=tx.dialect.listed(needed), limit=most) if most else []
        removals |= dict.fromkeys((id_ for (id_,) in oldest), "capacity")
    return Plan(removals=removals, is_last=len(removals) < limit)


def clean_up(unit: MemoryWrites, kept: Retention, planned: Plan) -> CleanupBatch:
    """Remove those that may still go, now that nobody else changes them; an event for each, and no tombstone."""
    tx, act = unit.tx, unit.act
    bound = {"tenant_id": act.caller.tenant_id, "ids": tx.dialect.listed(list(planned.removals))}
    found = selection.select(tx, "episode", _OF_THESE, bound, order=f"ORDER BY id {tx.dialect.lock_whole}")
    needed: Collection[str] = ()
    over = 0
    if "capacity" in planned.removals.values():
        needed = _load_needed(tx, act, kept)
        over = _count_removals(tx, act, kept, needed).capacity
    gone: Counter[Removal] = Counter()
    told = []
    for doc, memory in sorted(found, key=lambda each: (each[1].created_at, each[1].id)):
        assert isinstance(memory, Episode)
        why = _removal_reason(memory, planned.removals[memory.id], kept, act)
        if why is None or (why == "capacity" and (gone[why] >= over or memory.id in needed)):
            continue
        unit.remove(doc, memory)
        told.append(events.episode_cleaned(act, memory, why, unit.ids))
        gone[why] += 1
    tx.add_each(tx.statements.records.events, "memory_events", told)
    remaining = _count_episodes(tx, act, kept)[0] if planned.is_last else None
    return retention.CleanupBatch(expired=gone["expired"], capacity=gone["capacity"], remaining=remaining)


def _removal_reason(episode: Episode, why: Removal, kept: Retention, act: Act) -> Removal | None:
    """Why it goes, if it still may."""
    if retention.has_run_out(episode, kept, now=act.at):
        return "expired"
    return "capacity" if why == "capacity" and episode.consolidated else None


def _load_needed(tx: Transaction, act: Act, kept: Retention) -> frozenset[str]:
    """Episodes that are found by their meaning, which what was learned of them is not yet."""
    if kept.max_entries is None:
        return frozenset()
    before = tx.dialect.time(retention.expiry_cutoff(kept, act.at))
    return frozenset(id_ for (id_,) in tx.rows("needed_sources", tenant_id=act.caller.tenant_id, before=before))


def _count_episodes(tx: Transaction, act: Act, kept: Retention) -> tuple[int, int, int]:
    """Episodes of the tenant, those that ran out, and those that did not and are consolidated."""
    before = tx.dialect.time(retention.expiry_cutoff(kept, act.at))
    found: Any = tx.one("episode_counts", tenant_id=act.caller.tenant_id, before=before)
    return int(found[0]), int(found[1]), int(found[2])
