"""Claims of learning runs as rows: what is due, leases, and how a run ended."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from engrain.domain import events
from engrain.domain.records import GLOBAL_SCOPE, Episode
from engrain.domain.runs.runs import WORKER_GONE, AgentBacklog, Batch, PendingSession, Run, after_failure, after_loss
from engrain.errors import InvalidInput
from engrain.storage import selection
from engrain.storage.entities import registry
from engrain.storage.filters import caller_bindings, position_bindings
from engrain.storage.runs import actions

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from datetime import datetime

    from engrain.domain.filters import TimePosition
    from engrain.domain.records import Caller
    from engrain.domain.requests import Act
    from engrain.domain.runs.plans import ActionResult, Plan
    from engrain.domain.runs.retries import Retry
    from engrain.domain.runs.runs import Claim, RunKind, Setback
    from engrain.storage.transaction import Transaction
    from engrain.storage.write.memories import MemoryWrites

# Literal, as the index of those that wait is partial.
_WAITS = "consolidation_status = 'pending' AND (expires_at IS NULL OR expires_at > :now)"
_IS_DUE = f"{_WAITS} AND (next_consolidation_retry_at IS NULL OR next_consolidation_retry_at <= :now)"
_BY_PENDING = "INDEXED BY episodes_pending"
_POOL = "pool:"


def list_backlogs(tx: Transaction, now: datetime, tenant_id: str | None) -> list[AgentBacklog]:
    """List agents with due episodes, by tenant, then agent."""
    bound: dict[str, Any] = {"now": tx.dialect.time(now)}
    whose = "TRUE"
    if tenant_id is not None:
        whose, bound["tenant_id"] = "tenant_id = :tenant_id", tenant_id
    rows = tx.ask(
        "SELECT tenant_id, agent, scope, count(*), count(DISTINCT session) "  # noqa: S608  # the schema's own words
        f"FROM episodes {_BY_PENDING} WHERE {whose} AND {_IS_DUE} AND NOT EXISTS ("
        "SELECT 1 FROM runs WHERE runs.tenant_id = episodes.tenant_id AND runs.agent = episodes.agent "
        "AND kind = 'consolidation' AND status = 'running' AND lease_until > :now"
        ") GROUP BY tenant_id, agent, scope ORDER BY tenant_id, agent, scope",
        bound,
    )
    found: dict[tuple[str, str], AgentBacklog] = {}
    for tenant, agent, scope, episodes, sessions in rows:
        is_pool = scope.startswith(_POOL)
        if not is_pool and scope not in {GLOBAL_SCOPE, agent}:
            continue  # somebody wrote it for another, who has no claim on it either
        so_far = found.get((tenant, agent), AgentBacklog(tenant_id=tenant, agent=agent, episodes=0, sessions=0))
        found[tenant, agent] = replace(
            so_far,
            pools=(*so_far.pools, scope.removeprefix(_POOL)) if is_pool else so_far.pools,
            episodes=so_far.episodes + episodes,
            sessions=so_far.sessions + sessions,
        )
    return list(found.values())


def list_pending_sessions(
    tx: Transaction, caller: Caller, now: datetime, *, exclude: Collection[str]
) -> list[PendingSession]:
    """List the caller's sessions in which an episode waits, by when they were first seen, then name."""
    bound = {**caller_bindings(caller, tx.dialect), "agent": caller.agent, "now": tx.dialect.time(now)}
    found: dict[str, PendingSession] = {}
    for session, count, oldest, first_seen_at in tx.rows("pending_sessions", **bound):
        if session not in exclude:
            known = min(tx.dialect.moment(moment) for moment in (oldest, first_seen_at) if moment is not None)
            before = found.get(session, PendingSession(session=session, first_seen_at=known, episodes=0))
            found[session] = replace(
                before, first_seen_at=min(before.first_seen_at, known), episodes=before.episodes + count
            )
    return sorted(found.values(), key=lambda session: (session.first_seen_at, session.session))


def is_session_consolidated(tx: Transaction, caller: Caller, session: str, now: datetime) -> bool:
    """Tell whether the caller has episodes in the session, and none waits."""
    bound = {
        **caller_bindings(caller, tx.dialect),
        "agent": caller.agent,
        "session": session,
        "now": tx.dialect.time(now),
    }
    [(every, waiting)] = tx.rows("session_counts", **bound)
    return bool(every) and not waiting


def list_runs(
    tx: Transaction, caller: Caller, *, kind: RunKind | None, limit: int, after: TimePosition | None
) -> list[Run]:
    """List the runs of an agent, newest first (then the larger id)."""
    rows = tx.statements.records.runs
    bound = {"tenant_id": caller.tenant_id, "agent": caller.agent, "kind": kind, "limit": max(limit, 0)}
    of_kind = "" if kind is None else "AND kind = :kind"
    if after is not None:
        of_kind += " AND (started_at, id) < (:after_at, :after_id)"
        bound |= position_bindings(after, tx.dialect)
    found = tx.ask(
        f"SELECT {rows.columns} FROM runs WHERE tenant_id = :tenant_id AND agent = :agent {of_kind} "  # noqa: S608  # no input in it
        "ORDER BY started_at DESC, id DESC LIMIT :limit",
        bound,
    )
    return [rows.record(row) for row in found]


def claim_run(unit: MemoryWrites, claim: Claim) -> Batch | None:
    """Begin a run, taking over from one whose lease is over; None where there is nothing to claim."""
    if claim.limit < 1 or claim.lease_s <= 0:
        raise InvalidInput(f"limit {claim.limit} and lease_s {claim.lease_s} have to be positive")
    act = unit.act
    for before in _lock_runs(unit, "kind = :kind AND status = 'running'", kind=claim.kind):
        if before.lease_until > act.at:
            return None
        _abandon(unit, before, claim.retry)
    episodes = _find_due(unit, claim) if claim.kind == "consolidation" else []
    if claim.kind == "consolidation" and not episodes:
        return None
    run = Run(
        id=unit.ids(),
        tenant_id=act.caller.tenant_id,
        kind=claim.kind,
        agent=act.caller.agent,
        worker=claim.worker,
        lease_until=act.at + timedelta(seconds=claim.lease_s),
        started_at=act.at,
        model=claim.model,
        prompt_version=claim.prompt_version,
        episode_ids=tuple(episode.id for episode in episodes),
    )
    unit.tx.add(unit.tx.statements.records.runs, "runs", run)
    payload = {"kind": run.kind, "worker": run.worker, "episodes": len(episodes)}
    unit.record(events.run_changed(act, run, unit.ids, payload=payload))
    return Batch(run=run, episodes=tuple(episodes))


def renew_run(unit: MemoryWrites, run_id: str, lease_s: float) -> bool:
    """Extend a lease to so long from now; False where the run is not running any more."""
    if lease_s <= 0:
        raise InvalidInput(f"lease_s {lease_s} has to be positive")
    until = unit.tx.dialect.time(unit.act.at + timedelta(seconds=lease_s))
    caller = unit.act.caller
    named = {"tenant_id": caller.tenant_id, "agent": caller.agent, "id": run_id}
    return unit.tx.one("renew_run", **named, lease_until=until) is not None


def carry_out(unit: MemoryWrites, run_id: str, plan: Plan, report: Mapping[str, Any]) -> list[ActionResult] | None:
    """Carry out a plan; None, and nothing is written, where the run is not running any more."""
    run = lock_run(unit, run_id)
    if run is None or run.status != "running":
        return None
    of_run = join_run(unit, run)
    entities = {about for action in plan.actions if (about := getattr(action.memory, "entity_id", None)) is not None}
    registry.lock_entities(of_run.tx, run.tenant_id, entities)  # before any fact is, as whoever merges them does
    done = actions.carry_out_actions(of_run, plan.actions)
    waiting = _lock_waiting(of_run, set(run.episode_ids).intersection(plan.episode_ids))
    if waiting:
        ids = of_run.tx.dialect.listed([episode.id for episode in waiting])
        of_run.tx.run("consolidate_episodes", tenant_id=run.tenant_id, ids=ids)
        for episode in waiting:
            of_run.record(events.episode_consolidated(of_run.act, episode, of_run.ids))
        _close_sessions(of_run, waiting)
    end_run(of_run, replace(run, status="done", finished_at=of_run.act.at, report=report))
    return done


def give_up(unit: MemoryWrites, run_id: str, error: str, retry: Retry) -> Run | None:
    """End a run as failed; what it claimed waits for its next attempt, or is done with."""
    run = lock_run(unit, run_id)
    if run is None or run.status != "running":
        return None
    of_run = join_run(unit, run)
    _set_back(of_run, run, lambda episode: after_failure(episode, retry, of_run.act.at), error=error)
    failed = replace(run, status="failed", finished_at=of_run.act.at, error=error)
    end_run(of_run, failed)
    return failed


def lock_run(unit: MemoryWrites, run_id: str) -> Run | None:
    """Load and lock a run of the caller's agent: nobody else ends it until the end of the transaction."""
    return next(iter(_lock_runs(unit, "id = :id", id=run_id)), None)


def join_run(unit: MemoryWrites, run: Run) -> MemoryWrites:
    """Return the same unit of work, as part of a run."""
    return replace(unit, act=replace(unit.act, run_id=run.id))


def end_run(unit: MemoryWrites, run: Run, *, payload: Mapping[str, Any] | None = None) -> None:
    """Write down how a run ended."""
    tx = unit.tx
    finished_at = None if run.finished_at is None else tx.dialect.time(run.finished_at)
    how = {"status": run.status, "finished_at": finished_at, "report": tx.dialect.json(run.report), "error": run.error}
    tx.run("end_run", tenant_id=run.tenant_id, id=run.id, **how)
    unit.record(events.run_changed(unit.act, run, unit.ids, payload=payload or {"kind": run.kind}))


def _abandon(unit: MemoryWrites, run: Run, retry: Retry) -> None:
    """End a run whose lease is over; an attempt of what it claimed, or one that kills is tried forever."""
    of_run = join_run(unit, run)
    _set_back(of_run, run, lambda episode: after_loss(episode, retry, of_run.act.at), error=WORKER_GONE)
    end_run(unit, replace(run, status="abandoned", finished_at=unit.act.at, error=WORKER_GONE))


def _set_back(of_run: MemoryWrites, run: Run, after: Callable[[Episode], Setback], *, error: str) -> None:
    """One attempt more for what a run has claimed and that still waits."""
    waiting = _lock_waiting(of_run, run.episode_ids) if run.episode_ids else []
    for episode in waiting:
        stands = after(episode)
        retry_at = None if stands.retry_at is None else of_run.tx.dialect.time(stands.retry_at)
        payload = {"status": stands.status, "attempts": stands.attempts, "error": error, "retry_at": retry_at}
        of_run.tx.run("set_consolidation", tenant_id=run.tenant_id, id=episode.id, **payload)
        of_run.record(events.consolidation_failed(of_run.act, episode, stands, of_run.ids, error=error))
    if waiting:
        _close_sessions(of_run, waiting)


def _lock_runs(unit: MemoryWrites, condition: str, **bound: Any) -> Sequence[Run]:
    tx, caller = unit.tx, unit.act.caller
    rows = tx.statements.records.runs
    found = tx.ask(
        f"SELECT {rows.columns} FROM runs "  # noqa: S608  # this room's own words
        f"WHERE tenant_id = :tenant_id AND agent = :agent AND {condition} {tx.dialect.lock}",
        {"tenant_id": caller.tenant_id, "agent": caller.agent, **bound},
    )
    return [rows.record(row) for row in found]


def _find_due(unit: MemoryWrites, claim: Claim) -> list[Episode]:
    """The oldest episodes that may be claimed, with as many attempts behind them as the first."""
    tx, act = unit.tx, unit.act
    bound: dict[str, Any] = {**caller_bindings(act.caller, tx.dialect), "agent": act.caller.agent}
    bound["now"] = tx.dialect.time(act.at)
    conditions = [f"tenant_id = :tenant_id AND agent = :agent AND {_IS_DUE} AND +scope IN :scopes"]
    if claim.sessions:
        conditions.append("session IN :sessions")
        bound["sessions"] = tx.dialect.listed(claim.sessions)
    if claim.exclude_sessions:
        conditions.append("(session IS NULL OR NOT session IN :exclude_sessions)")
        bound["exclude_sessions"] = tx.dialect.listed(claim.exclude_sessions)
    where = " AND ".join(conditions)
    first = tx.ask(
        f"SELECT consolidation_attempts FROM episodes {_BY_PENDING} WHERE {where} ORDER BY created_at, id LIMIT 1",  # noqa: S608  # this room's own words
        bound,
    )
    if not first:
        return []
    bound |= {"attempts": first[0][0], "limit": claim.limit}
    where += " AND consolidation_attempts = :attempts"
    found = selection.select(tx, "episode", where, bound, order="ORDER BY created_at, id LIMIT :limit", by=_BY_PENDING)
    return [episode for _, episode in found if isinstance(episode, Episode)]


def _lock_waiting(unit: MemoryWrites, ids: Collection[str]) -> list[Episode]:
    """Those of some episodes that wait to be consolidated, which nobody changes until the end of the transaction."""
    tx = unit.tx
    bound = {"tenant_id": unit.act.caller.tenant_id, "ids": tx.dialect.listed(sorted(ids))}
    condition = "tenant_id = :tenant_id AND id IN :ids AND consolidation_status = 'pending'"
    found = selection.select(
        tx, "episode", condition, bound, order=f"ORDER BY id {tx.dialect.lock}", by="INDEXED BY episodes_id"
    )
    return [episode for _, episode in found if isinstance(episode, Episode)]


def _close_sessions(unit: MemoryWrites, episodes: Sequence[Episode]) -> None:
    ids = unit.tx.dialect.listed([episode.id for episode in episodes if episode.session is not None])
    unit.tx.run("close_sessions", **_tenant(unit.act), ids=ids, at=unit.tx.dialect.time(unit.act.at))


def _tenant(act: Act) -> dict[str, str]:
    return {"tenant_id": act.caller.tenant_id}
