"""Claims of learning runs as rows: what is due, leases, and how a run ended."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from engrain.domain import events
from engrain.domain.access.scopes import GLOBAL_SCOPE, audience_of, pool_scope, user_of
from engrain.domain.records import Caller, Degraded, Episode, Fact, MemoryRecord
from engrain.domain.runs import batches
from engrain.domain.runs.plans import Action, ActionResult, Plan
from engrain.domain.runs.runs import (
    WORKER_GONE,
    AgentBacklog,
    Batch,
    Claim,
    PendingSession,
    Run,
    RunKind,
    Setback,
    WaitingBacklog,
    after_failure,
    after_loss,
)
from engrain.errors import InvalidInput
from engrain.storage import selection
from engrain.storage.entities import registry
from engrain.storage.filters import position_bindings
from engrain.storage.runs import actions

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from engrain.domain.filters import TimePosition
    from engrain.domain.runs.retries import Retry
    from engrain.storage.transaction import Transaction
    from engrain.storage.unit_of_work import Snapshot, UnitOfWork

# Literal, as the index of those that wait is partial.
_WAITS = "consolidation_status = 'pending' AND (expires_at IS NULL OR expires_at > :now)"
_IS_DUE = f"{_WAITS} AND (next_consolidation_retry_at IS NULL OR next_consolidation_retry_at <= :now)"
_BY_PENDING, _BY_SESSION = "INDEXED BY episodes_pending", "INDEXED BY episodes_session"
_BY_AGE = "ORDER BY created_at, event_time, turn, id"  # as `batches.age_order`
_ANY_NUMBER = 2**62  # within what both databases take as a limit
_POOL = pool_scope("")
_OF_CALLER = "tenant_id = :tenant_id AND agent = :agent AND user_id = :user_id"


def list_backlogs(tx: Transaction, now: datetime, *, tenant_id: str | None = None) -> list[AgentBacklog]:
    """List agents with due episodes, by tenant, agent, then user: of one tenant, or of all (maintenance)."""
    bound: dict[str, Any] = {"now": tx.dialect.time(now)}
    whose = "TRUE"
    if tenant_id is not None:
        whose, bound["tenant_id"] = "tenant_id = :tenant_id", tenant_id
    rows = tx.ask(
        "SELECT tenant_id, agent, scope, count(*), count(DISTINCT session), ("  # noqa: S608  # the schema's own words
        "SELECT lease_until FROM runs WHERE runs.tenant_id = episodes.tenant_id AND runs.agent = episodes.agent "
        "AND runs.user_id = episodes.user_id AND kind = 'consolidation' AND status = 'running' AND lease_until > :now"
        f") FROM episodes {_BY_PENDING} WHERE {whose} AND {_IS_DUE} "
        "GROUP BY tenant_id, agent, user_id, scope ORDER BY tenant_id, agent, user_id, scope",
        bound,
    )
    found: dict[tuple[str, str, str | None], AgentBacklog] = {}
    for tenant, agent, scope, episodes, sessions, leased_until in rows:
        audience, user = audience_of(scope), user_of(scope)
        is_pool = audience.startswith(_POOL)
        if not is_pool and audience not in {GLOBAL_SCOPE, agent}:
            continue  # somebody wrote it for another, who has no claim on it either
        none = AgentBacklog(tenant_id=tenant, agent=agent, user=user, episodes=0, sessions=0)
        so_far = found.get((tenant, agent, user), none)
        found[tenant, agent, user] = replace(
            so_far,
            pools=(*so_far.pools, audience.removeprefix(_POOL)) if is_pool else so_far.pools,
            episodes=so_far.episodes + episodes,
            sessions=so_far.sessions + sessions,
            leased_until=None if leased_until is None else tx.dialect.moment(leased_until),
        )
    return list(found.values())


def list_waiting(
    tx: Transaction,
    now: datetime,
    *,
    tenant_id: str | None = None,
    sessions: Collection[str] = (),
    exclude_sessions: Collection[str] = (),
) -> list[WaitingBacklog]:
    """List agents with episodes that wait for another attempt, by tenant, agent, then user; of named sessions alone."""
    bound: dict[str, Any] = {"now": tx.dialect.time(now)}
    where = f"{_WAITS} AND next_consolidation_retry_at > :now"
    if tenant_id is not None:
        where, bound["tenant_id"] = f"tenant_id = :tenant_id AND {where}", tenant_id
    where += _of_sessions(tx, bound, sessions, exclude_sessions)
    rows = tx.ask(
        "SELECT tenant_id, agent, scope, last_consolidation_error, count(*), min(next_consolidation_retry_at) "  # noqa: S608  # the schema's own words
        f"FROM episodes {_BY_PENDING} WHERE {where} "
        "GROUP BY tenant_id, agent, user_id, scope, last_consolidation_error "
        "ORDER BY tenant_id, agent, user_id, count(*) DESC, last_consolidation_error",
        bound,
    )
    found: dict[tuple[str, str, str | None], WaitingBacklog] = {}
    for tenant, agent, scope, error, episodes, retry_at in rows:
        whose, moment = (tenant, agent, user_of(scope)), tx.dialect.moment(retry_at)
        so_far = found.get(whose)
        found[whose] = WaitingBacklog(
            tenant_id=tenant,
            agent=agent,
            user=user_of(scope),
            episodes=episodes + (0 if so_far is None else so_far.episodes),
            retry_at=moment if so_far is None else min(moment, so_far.retry_at),
            reason=error or "" if so_far is None else so_far.reason,
        )
    return list(found.values())


def end_waiting(work: UnitOfWork, sessions: Collection[str] = (), exclude_sessions: Collection[str] = ()) -> None:
    """Let the caller's episodes that wait for another attempt be claimed at once; of named sessions alone."""
    bound: dict[str, Any] = {**work.written_bindings(), "agent": work.agent, "now": work.dialect.time(work.act.at)}
    named = _of_sessions(work, bound, sessions, exclude_sessions)
    work.ask(
        f"UPDATE episodes {_BY_PENDING} SET next_consolidation_retry_at = :now "  # noqa: S608  # as above
        f"WHERE tenant_id = :tenant_id AND agent = :agent AND {_WAITS} "
        f"AND next_consolidation_retry_at > :now AND +scope IN :scopes{named} RETURNING 1",
        bound,
    )


def _of_sessions(
    tx: Transaction, bound: dict[str, Any], sessions: Collection[str], exclude_sessions: Collection[str]
) -> str:
    """Return the condition that a session is one of some and none of others, and bind their names."""
    where = ""
    if sessions:
        where += " AND session IN :sessions"
        bound["sessions"] = tx.dialect.listed(sorted(sessions))
    if exclude_sessions:
        where += " AND (session IS NULL OR NOT session IN :exclude_sessions)"
        bound["exclude_sessions"] = tx.dialect.listed(sorted(exclude_sessions))
    return where


def list_pending_sessions(
    snapshot: Snapshot, now: datetime, *, exclude: Collection[str] = (), most: int = _ANY_NUMBER
) -> list[PendingSession]:
    """List the caller's sessions with a waiting episode, if only for a retry, by first time seen, then name.

    Of the `most` episodes that have waited longest.
    """
    bound = {**snapshot.written_bindings(), "agent": snapshot.agent, "now": snapshot.dialect.time(now)}
    found: dict[str, tuple[Any, int]] = {}  # the first time, as the database has it, and the episodes
    for session, count, *times in snapshot.rows("pending_sessions", **bound, limit=most):
        if session not in exclude:
            first, episodes = found.get(session, (times[0], 0))
            found[session] = min(first, *(moment for moment in times if moment is not None)), episodes + count
    moment = snapshot.dialect.moment
    sessions = (
        PendingSession(session=session, first_seen_at=moment(first), episodes=episodes)
        for session, (first, episodes) in found.items()
    )
    return sorted(sessions, key=lambda session: (session.first_seen_at, session.session))


def is_session_consolidated(snapshot: Snapshot, session: str, now: datetime) -> bool:
    """Tell whether the session is known and no episode of the caller in it waits."""
    every, waiting = _count_session(snapshot, session, now)
    return bool(every) and not waiting


def count_pending(snapshot: Snapshot, session: str, now: datetime) -> int:
    """Count the caller's episodes in a session that wait, if only for a retry."""
    return _count_session(snapshot, session, now)[1]


def _count_session(snapshot: Snapshot, session: str, now: datetime) -> tuple[int, int]:
    bound = {
        **snapshot.written_bindings(),
        "agent": snapshot.agent,
        "session": session,
        "now": snapshot.dialect.time(now),
    }
    [(every, waiting)] = snapshot.rows("session_counts", **bound)
    return every, waiting


def list_runs(
    snapshot: Snapshot, *, kind: RunKind | None = None, limit: int = 50, after: TimePosition | None = None
) -> list[Run]:
    """List runs of the caller's agent for its user, newest first (then the larger id), after the position of one."""
    bound = {**snapshot.identity_bindings(), "kind": kind, "limit": max(limit, 0)}
    of_kind = "" if kind is None else "AND kind = :kind"
    if after is not None:
        of_kind += " AND (started_at, id) < (:after_at, :after_id)"
        bound |= position_bindings(after, snapshot.dialect)
    rest = f"FROM runs WHERE {_OF_CALLER} {of_kind} ORDER BY started_at DESC, id DESC LIMIT :limit"
    return snapshot.load(snapshot.statements.records.runs, rest, bound)


def claim_run(work: UnitOfWork, claim: Claim) -> Batch | None:
    """Begin a run; None if one of this kind is running for the agent, or nothing is due.

    A run whose lease is over is `abandoned`: nothing of it was written. Every waiting episode that it had claimed gets
    one attempt more, WORKER_GONE in `last_consolidation_error`, and the status of `runs.after_loss` by the claim's
    `retry` (`episode_consolidation_failed`). Waiting ones may be claimed again at once.

    A consolidation claims waiting episodes whose `next_consolidation_retry_at` is past, session by session, as
    `batches.choose_batch` says: at most `limit_after` their attempts, all with as many as the one that waits longest,
    so that an episode that fails again and again takes no fresh ones with it. Other kinds claim no episodes and are
    always due.

    Raises:
        InvalidInput: the limit or the lease is not positive.
    """
    if claim.limit < 1 or claim.lease_s <= 0:
        raise InvalidInput(f"limit {claim.limit} and lease_s {claim.lease_s} have to be positive")
    act = work.act
    for before in _lock_runs(work, "kind = :kind AND status = 'running'", kind=claim.kind):
        if before.lease_until > act.at:
            return None
        _abandon(work, before, claim.retry)
    episodes = _lock_due(work, claim) if claim.kind == "consolidation" else []
    if claim.kind == "consolidation" and not episodes:
        return None
    run = Run(
        id=work.ids(),
        tenant_id=act.caller.tenant_id,
        kind=claim.kind,
        agent=act.caller.agent,
        user_id=act.caller.user_id,
        worker=claim.worker,
        lease_until=act.at + timedelta(seconds=claim.lease_s),
        started_at=act.at,
        model=claim.model,
        prompt_version=claim.prompt_version,
        episode_ids=tuple(episode.id for episode in episodes),
    )
    work.add(work.statements.records.runs, "runs", run)
    payload = {"kind": run.kind, "worker": run.worker, "episodes": len(episodes)}
    work.record(events.run_changed(act, run, work.ids, payload=payload))
    return Batch(run=run, episodes=tuple(episodes))


def renew_run(work: UnitOfWork, run_id: str, lease_s: float) -> bool:
    """Extend the lease to `lease_s` from now; False if the run is no longer running."""
    if lease_s <= 0:
        raise InvalidInput(f"lease_s {lease_s} has to be positive")
    until = work.dialect.time(work.act.at + timedelta(seconds=lease_s))
    return work.one("renew_run", **work.identity_bindings(), id=run_id, lease_until=until) is not None


def carry_out(work: UnitOfWork, run_id: str, plan: Plan, report: Mapping[str, Any]) -> list[ActionResult] | None:
    """Execute a plan; returns the result of every action, in order.

    None, and nothing was written, if the run is no longer running. An action that fails writes nothing, has its error
    in its result, and stops no other. In the order of the plan:

    A new fact or rule is stored as by `put`, and linked `derived_from` its sources with weight 1 (`link_created`);
    sources are any memories the caller sees. An id that is there already adds nothing and is no error, unless an undo
    took that memory back: then it is stored under a new id, which its result names. An update also closes its target, a
    live fact the caller sees, in whatever slot. A confirmation is that of `confirm`. Doubted facts that are still live
    have DOUBTED_CONFIDENCE at most from now on (`fact_doubted`), and the new fact is linked `supersedes` to them.

    Then the episodes of the plan that this run has claimed and that still wait are `consolidated`
    (`episode_consolidated`; other ids are ignored), a session without waiting episodes has its `consolidated_at`, and
    the run is `done` with its report. Claimed episodes that the plan does not name wait on.
    """
    run = lock_run(work, run_id)
    if run is None or run.status != "running":
        return None
    targets = [action.target_id for action in plan.actions if action.target_id is not None]
    there = [memory for _, memory in selection.load_visible(work, targets)] if targets else []
    changed = [*there, *(action.memory for action in plan.actions)]
    work.backend.lock(work, plan.episode_ids, [memory for memory in changed if isinstance(memory, Fact)])
    of_run = work.within_run(run.id)
    entities = {about for action in plan.actions if (about := getattr(action.memory, "entity_id", None)) is not None}
    registry.lock_entities(of_run, run.tenant_id, entities)  # before any fact is, as whoever merges them does
    done = actions.carry_out_actions(of_run, plan.actions)
    waiting = _lock_waiting(of_run, set(run.episode_ids).intersection(plan.episode_ids))
    if waiting:
        ids = of_run.dialect.listed([episode.id for episode in waiting])
        of_run.run("consolidate_episodes", tenant_id=run.tenant_id, ids=ids)
        for episode in waiting:
            of_run.record(events.episode_consolidated(of_run.act, episode, of_run.ids))
        _close_sessions(of_run, waiting)
    end_run(of_run, replace(run, status="done", finished_at=of_run.act.at, report=report))
    return done


def carry_out_one(
    work: UnitOfWork, run_id: str, action: Action, report: Mapping[str, Any]
) -> MemoryRecord | Degraded | None:
    """Execute a plan of one action and no episodes; returns its memory as it is then, or its error.

    None, and nothing was written, if the run is no longer running.
    """
    results = carry_out(work, run_id, Plan(episode_ids=(), actions=(action,)), report)
    if results is None:
        return None
    [result] = results
    if result.memory_id is None:
        return result.error
    [memory] = selection.load_memories(work, [result.memory_id])
    return memory


def give_up(work: UnitOfWork, run_id: str, error: str, retry: Retry) -> Run | None:
    """End a run as `failed`; None if it is no longer running.

    Every waiting episode that it has claimed gets one attempt more, the error in `last_consolidation_error`, and the
    status of `runs.after_failure` (`episode_consolidation_failed`).
    """
    run = lock_run(work, run_id)
    if run is None or run.status != "running":
        return None
    work.backend.lock(work, run.episode_ids, ())
    of_run = work.within_run(run.id)
    _count_attempt(of_run, run, lambda episode: after_failure(episode, retry, of_run.act.at), error=error)
    failed = replace(run, status="failed", finished_at=of_run.act.at, error=error)
    end_run(of_run, failed)
    return failed


def lock_run(work: UnitOfWork, run_id: str) -> Run | None:
    """Load and lock a run of the caller's agent: nobody else ends it until the end of the transaction."""
    return next(iter(_lock_runs(work, "id = :id", id=run_id)), None)


def find_user_of_run(tx: Transaction, caller: Caller, run_id: str) -> str | None:
    """Find the user from whom a run of the caller's agent learned; None for one of no user, or none at all."""
    found = tx.one("user_of_run", tenant_id=caller.tenant_id, agent=caller.agent, id=run_id)
    return None if found is None else found[0] or None


def end_run(work: UnitOfWork, run: Run, *, payload: Mapping[str, Any] | None = None) -> None:
    """Write down how a run ended."""
    finished_at = None if run.finished_at is None else work.dialect.time(run.finished_at)
    how = {
        "status": run.status,
        "finished_at": finished_at,
        "report": work.dialect.json(run.report),
        "error": run.error,
    }
    work.run("end_run", tenant_id=run.tenant_id, id=run.id, **how)
    work.record(events.run_changed(work.act, run, work.ids, payload=payload or {"kind": run.kind}))


def _abandon(work: UnitOfWork, run: Run, retry: Retry) -> None:
    """Mark a run with an expired lease as abandoned.

    It counts an attempt, so that an episode that crashes its worker is not retried for ever.
    """
    of_run = work.within_run(run.id)
    _count_attempt(of_run, run, lambda episode: after_loss(episode, retry, of_run.act.at), error=WORKER_GONE)
    end_run(work, replace(run, status="abandoned", finished_at=work.act.at, error=WORKER_GONE))


def _count_attempt(of_run: UnitOfWork, run: Run, after: Callable[[Episode], Setback], *, error: str) -> None:
    """Count a failed attempt on each claimed episode that still waits."""
    waiting = _lock_waiting(of_run, run.episode_ids) if run.episode_ids else []
    for episode in waiting:
        stands = after(episode)
        retry_at = None if stands.retry_at is None else of_run.dialect.time(stands.retry_at)
        payload = {"status": stands.status, "attempts": stands.attempts, "error": error, "retry_at": retry_at}
        of_run.run("set_consolidation", tenant_id=run.tenant_id, id=episode.id, **payload)
        of_run.record(events.consolidation_failed(of_run.act, episode, stands, of_run.ids, error=error))
    if waiting:
        _close_sessions(of_run, waiting)


def _lock_runs(work: UnitOfWork, condition: str, **bound: Any) -> Sequence[Run]:
    rest = f"FROM runs WHERE {_OF_CALLER} AND {condition} {work.dialect.lock}"
    return work.load(work.statements.records.runs, rest, {**work.identity_bindings(), **bound})


def _lock_due(work: UnitOfWork, claim: Claim) -> list[Episode]:
    """The episodes that may be claimed, without those that another run has learned from since they were found."""
    due = _find_due(work, claim)
    waiting = {episode.id for episode in _lock_waiting(work, [episode.id for episode in due])} if due else ()
    return [episode for episode in due if episode.id in waiting]


def _find_due(work: UnitOfWork, claim: Claim) -> list[Episode]:
    """The episodes that may be claimed together, with as many attempts behind them as the one that waits longest."""
    act = work.act
    bound: dict[str, Any] = {**work.written_bindings(), "agent": work.agent, "now": work.dialect.time(act.at)}
    where = f"tenant_id = :tenant_id AND agent = :agent AND {_IS_DUE} AND +scope IN :scopes"
    where += _of_sessions(work, bound, claim.sessions, claim.exclude_sessions)
    first = _select_episodes(work, where, bound, order=f"{_BY_AGE} LIMIT 1", by=_BY_PENDING)
    if not first:
        return []
    attempts = first[0].consolidation_attempts
    most = claim.limit_after(attempts)
    where += " AND consolidation_attempts = :attempts"
    bound |= {"attempts": attempts, "limit": most}
    oldest = _select_episodes(work, where, bound, order=f"{_BY_AGE} LIMIT :limit", by=_BY_PENDING)
    # Their sessions are read until the batch is full, and the last of them as far as it takes to cut it.
    due: list[Episode] = []
    for scope, session in dict.fromkeys((episode.scope, episode.session) for episode in oldest):
        if len(due) >= most:
            break
        named, by = ("session = :session", _BY_SESSION) if session is not None else ("session IS NULL", _BY_PENDING)
        of_session = {**bound, "scope": scope, "session": session, "limit": most + batches.LOOKAHEAD}
        order = f"ORDER BY turn, {_BY_AGE.removeprefix('ORDER BY ')} LIMIT :limit"
        due += _select_episodes(work, f"{where} AND scope = :scope AND {named}", of_session, order=order, by=by)
    return batches.choose_batch(due, most)


def _select_episodes(work: UnitOfWork, where: str, bound: dict[str, Any], *, order: str, by: str) -> list[Episode]:
    found = selection.select(work, "episode", where, bound, order=order, by=by)
    return [episode for _, episode in found if isinstance(episode, Episode)]


def _lock_waiting(work: UnitOfWork, ids: Collection[str]) -> list[Episode]:
    """Lock those of some episodes that wait to be consolidated, until the end of the transaction."""
    bound = {"tenant_id": work.tenant_id, "ids": work.dialect.listed(sorted(ids))}
    condition = "tenant_id = :tenant_id AND id IN :ids AND consolidation_status = 'pending'"
    order = f"ORDER BY id {work.dialect.lock}"
    return _select_episodes(work, condition, bound, order=order, by="INDEXED BY episodes_id")


def _close_sessions(work: UnitOfWork, episodes: Sequence[Episode]) -> None:
    ids = work.dialect.listed([episode.id for episode in episodes if episode.session is not None])
    work.run("close_sessions", tenant_id=work.tenant_id, ids=ids, at=work.dialect.time(work.act.at))
