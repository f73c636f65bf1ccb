"""Cleanup: expired episodes, then the oldest consolidated of too many; facts and rules that ended long ago."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engrain.domain import events
from engrain.domain.filters import is_hidden
from engrain.domain.maintenance import retention
from engrain.domain.records import Episode
from engrain.storage import selection
from engrain.storage.rows import KIND_TABLES
from engrain.storage.transaction import Transaction, for_every_user, repeatable
from engrain.storage.write import removal

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from engrain.domain.maintenance.retention import CleanupBatch, Removal, Retention
    from engrain.domain.memories.decay import AgingKind
    from engrain.domain.requests import Act
    from engrain.storage.unit_of_work import UnitOfWork


@dataclass(frozen=True, slots=True)
class Plan:
    """Episodes of a tenant that may go next, in that order, and whether these are all."""

    removals: Mapping[str, Removal]
    is_last: bool


@for_every_user
def preview_cleanup(tx: Transaction, act: Act, policy: Retention) -> CleanupBatch:
    """Count what a whole cleanup would remove now."""
    return _count_removals(tx, act, policy, _load_needed(tx, act, policy))


def _count_removals(tx: Transaction, act: Act, policy: Retention, needed: Collection[str]) -> CleanupBatch:
    every, expired = _count_episodes(tx, act, policy)
    over = 0 if policy.max_entries is None else max(every - expired - policy.max_entries, 0)
    capacity = 0
    if over:
        named = {"tenant_id": act.caller.tenant_id, "before": tx.dialect.time(retention.expiry_cutoff(policy, act.at))}
        [(consolidated,)] = tx.rows("count_consolidated", **named, limit=over + len(needed))
        capacity = consolidated - len(needed)
    return retention.CleanupBatch(expired=expired, capacity=capacity, remaining=every - expired - capacity)


@for_every_user
def plan_cleanup(tx: Transaction, act: Act, policy: Retention, limit: int) -> Plan:
    """Plan the removal of at most `limit` episodes that may go."""
    named = {"tenant_id": act.caller.tenant_id, "before": tx.dialect.time(retention.expiry_cutoff(policy, act.at))}
    expired = [id_ for (id_,) in tx.rows("run_out_episodes", **named, limit=limit)]
    removals: dict[str, Removal] = dict.fromkeys(expired, "expired")
    room = limit - len(expired)
    if room > 0:  # all that ran out are known
        needed = _load_needed(tx, act, policy)
        most = min(room, _count_removals(tx, act, policy, needed).capacity)
        oldest = tx.rows("oldest_consolidated", **named, needed=tx.dialect.listed(needed), limit=most) if most else []
        removals |= dict.fromkeys((id_ for (id_,) in oldest), "capacity")
    return Plan(removals=removals, is_last=len(removals) < limit)


@for_every_user
@repeatable
def clean_up(work: UnitOfWork, policy: Retention, planned: Plan) -> CleanupBatch:
    """Remove those of a plan that may still go, under lock; an event for each, a tombstone for forgotten ones alone."""
    work.backend.lock_removal(work, list(planned.removals), everywhere=True)
    act = work.act
    lock = work.dialect.lock_whole
    found = selection.load_by_ids(work, "episode", act.caller.tenant_id, planned.removals, lock=lock)
    needed: Collection[str] = ()
    over = 0
    if "capacity" in planned.removals.values():
        needed = _load_needed(work, act, policy)
        over = _count_removals(work, act, policy, needed).capacity
    gone: Counter[Removal] = Counter()
    going, cleaned = [], []
    for doc, memory in sorted(found, key=lambda row: (row[1].created_at, row[1].id)):
        assert isinstance(memory, Episode)
        why = _removal_reason(memory, planned.removals[memory.id], policy, act)
        if why is None or (why == "capacity" and (gone[why] >= over or memory.id in needed)):
            continue
        going.append((doc, memory))
        cleaned.append(events.episode_cleaned(act, memory, why, work.ids))
        gone[why] += 1
    # Totals follow at the end of the transaction.
    remaining = _count_episodes(work, act, policy)[0] - len(going) if planned.is_last else None
    removal.remove(work, going)
    forgotten = [memory for _, memory in going if is_hidden(memory)]
    removal.leave_tombstones(work, forgotten, {memory.id: events.digest_memory(memory) for memory in forgotten})
    work.add_each(work.statements.records.events, "memory_events", cleaned)
    return retention.CleanupBatch(expired=gone["expired"], capacity=gone["capacity"], remaining=remaining)


@for_every_user
def list_ended(
    tx: Transaction, act: Act, kind: AgingKind, policy: Retention, *, after: str, limit: int
) -> Sequence[str]:
    """List the next `limit` facts or rules of the act's tenant that `retention.has_ended` names, by id."""
    is_over, period = {
        "fact": ("validity <> 'active'", "WHEN valid_to < created_at THEN created_at ELSE valid_to"),
        "rule": (tx.dialect.is_true("metadata", "forgotten"), ""),
    }[kind]
    statement = (
        f"SELECT id FROM {KIND_TABLES[kind]} INDEXED BY {KIND_TABLES[kind]}_id "  # noqa: S608  # the schema's own words
        f"WHERE tenant_id = :tenant_id AND id > :after AND "
        f"CASE WHEN {is_over} THEN coalesce(invalidated_at, created_at) {period} END < :before "
        f"ORDER BY id LIMIT :limit"
    )
    before = tx.dialect.time(retention.end_cutoff(policy, act.at))
    named = {"tenant_id": act.caller.tenant_id, "after": after, "before": before, "limit": limit}
    return [id_ for (id_,) in tx.ask(statement, named)]


@for_every_user
@repeatable
def erase_ended(work: UnitOfWork, policy: Retention, ids: Sequence[str]) -> int:
    """Erase those of some facts and rules whose end still lies before the cutoff, as `removal.erase` does; count them.

    Locked whole before: one that became active again by then stays.
    """
    locked = removal.lock_going(work, ids, everywhere=True)
    ended = [(doc, memory) for doc, memory in locked if retention.has_ended(memory, policy, now=work.act.at)]
    removal.erase_locked(work, ended, {})
    return len(ended)


def _removal_reason(episode: Episode, why: Removal, policy: Retention, act: Act) -> Removal | None:
    """The reason for which it goes; None if it may no longer."""
    if retention.has_run_out(episode, policy, now=act.at):
        return "expired"
    return "capacity" if why == "capacity" and episode.consolidated else None


def _load_needed(tx: Transaction, act: Act, policy: Retention) -> frozenset[str]:
    """Episodes that are found by their meaning, which what was learned of them is not yet."""
    if policy.max_entries is None:
        return frozenset()
    before = tx.dialect.time(retention.expiry_cutoff(policy, act.at))
    return frozenset(id_ for (id_,) in tx.rows("needed_sources", tenant_id=act.caller.tenant_id, before=before))


def _count_episodes(tx: Transaction, act: Act, policy: Retention) -> tuple[int, int]:
    """Episodes of the tenant, and those that ran out."""
    before = tx.dialect.time(retention.expiry_cutoff(policy, act.at))
    found: Any = tx.one("episode_counts", tenant_id=act.caller.tenant_id, before=before)
    return int(found[0]), int(found[1])
