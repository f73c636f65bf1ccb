"""Consolidation as one Memory is wired: by whom, with what, and what follows."""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from engrain import metrics
from engrain.domain.records import Caller
from engrain.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from engrain.agent.parts import Parts
    from engrain.domain.ports import LLM
    from engrain.domain.records import Episode, Kind, MemoryRecord
    from engrain.domain.requests import Act
    from engrain.domain.runs.runs import PendingSession, Shard
    from engrain.learning.consolidation.known_memories import HybridSearch
    from engrain.learning.consolidation.report import ConsolidationReport
    from engrain.learning.consolidation.runner import ConsolidationDependencies, ConsolidationOptions


_MARKED, _MARKING_S = 1_000, 60.0


def worker_name() -> str:
    """Who works here, for people who look at runs."""
    return f"{socket.gethostname()}:{os.getpid()}"


def caller_of(parts: Parts, shard: Shard) -> Caller:
    """The agent of a shard, in the pools it is in now: what lies in one that it left is not its own to learn from."""
    return parts.seeing(Caller(tenant_id=shard.tenant_id, agent=shard.agent))


def means(parts: Parts, llm: LLM) -> ConsolidationDependencies:
    """What a consolidation works with."""
    from engrain.learning.consolidation.runner import ConsolidationDependencies

    return ConsolidationDependencies(
        store=parts.store,
        llm=llm,
        clock=parts.clock,
        caller=lambda shard: caller_of(parts, shard),
        search=search_of(parts),
        follow_up=lambda act, ids: follow_up(parts, act, ids),
        worker=worker_name(),
    )


def search_of(parts: Parts) -> HybridSearch:
    """A hybrid search, by reciprocal ranks, that counts nothing as a reference."""
    from engrain.domain.filters import Filter
    from engrain.retrieval.search import SearchQuery

    def search(caller: Caller, text: str, kinds: Sequence[Kind], limit: int) -> Sequence[MemoryRecord]:
        question = SearchQuery(text=text, preset=parts.preset("hybrid"), limit=limit)
        return [hit.memory for hit in parts.search(caller, question, Filter(kinds=tuple(kinds)))]

    return search


def follow_up(parts: Parts, act: Act, ids: Sequence[str]) -> None:
    """What new memories set going, and the agent's notes read anew."""
    parts.note_cache.drop_agent(act.caller)
    for memory in parts.store.get(act.caller, ids):
        parts.follow_up(act, memory)


def mark(parts: Parts, caller: Caller, session: str) -> int:
    """Let all of a session that is due count as consolidated, in runs of their own; how many episodes it was.

    Raises:
        InvalidInput: another run of the agent is under way.
    """
    from engrain.domain.runs.plans import Plan
    from engrain.domain.runs.runs import Claim

    claim = Claim(
        kind="consolidation",
        worker=worker_name(),
        lease_s=_MARKING_S,
        limit=_MARKED,
        sessions=(session,),
        retry=manner_of(parts).retry,
    )
    marked = 0
    while True:
        before = parts.store.runs(caller, kind="consolidation", limit=1)
        batch = parts.store.claim(parts.act(caller), claim)
        if batch is not None:
            plan = Plan(episode_ids=tuple(each.id for each in batch.episodes))
            done = parts.store.carry_out(parts.act(caller), batch.run.id, plan, {"marked": len(batch.episodes)})
            marked += 0 if done is None else len(batch.episodes)
            continue
        if parts.store.is_session_consolidated(caller, session, parts.clock()):
            return marked
        if parts.store.runs(caller, kind="consolidation", limit=1) != before:
            continue  # whose run it was that left nothing to claim is not known
        if before and before[0].status == "running":
            raise InvalidInput(f"agent {caller.agent} is being consolidated just now; mark the session later")
        return marked


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Whose episodes are to be consolidated, None or () meaning everybody's, and how far."""

    tenant_id: str | None = None
    agent: str | None = None
    sessions: tuple[str, ...] = ()
    exclude_sessions: tuple[str, ...] = ()
    dry_run: bool = False
    max_batches: int | None = None


def consolidate(parts: Parts, asked: Asked, *, progress: Callable[[int], None] | None = None) -> ConsolidationReport:
    """Learn from all that is due and asked for; without a language model only count it."""
    from engrain.learning.consolidation import runner
    from engrain.learning.consolidation.report import ConsolidationReport

    shards = parts.store.shards(parts.clock(), tenant_id=asked.tenant_id)
    of_agent = [each for each in shards if asked.agent in (None, each.agent)]
    manner = replace(
        manner_of(parts),
        sessions=asked.sessions,
        exclude_sessions=asked.exclude_sessions,
        max_batches=asked.max_batches,
    )
    groups = runner.count_due(
        parts.store, of_agent, manner, caller=lambda shard: caller_of(parts, shard), now=parts.clock()
    )
    if parts.llm is None or asked.dry_run:
        return ConsolidationReport(dry_run=True, groups=groups)
    parts.references.settle()  # what was handed out so far is no evidence
    report = runner.consolidate(means(parts, parts.llm), of_agent, manner, progress=progress)
    return replace(report, groups=groups)


def manner_of(parts: Parts) -> ConsolidationOptions:
    """How the settings say it is done."""
    from engrain.domain.runs.runs import Retry
    from engrain.learning.consolidation.runner import ConsolidationOptions

    chosen = parts.settings.consolidation
    return ConsolidationOptions(
        batch=chosen.batch,
        scope=chosen.scope,
        timeout_s=parts.settings.llm.timeout_s,
        lease_s=chosen.lease_s,
        most_characters=chosen.prompt_characters,
        retry=Retry(max_attempts=chosen.max_attempts, first_pause_s=chosen.retry_pause_s),
    )


def after_switch(parts: Parts, caller: Caller, episode: Episode) -> None:
    """Where an episode is the first of its session, learn from the agent's earlier sessions, soon and unasked.

    Nothing of it is waited for, and nothing of it can fail whoever observes.
    """
    llm, session = parts.llm, episode.session
    if llm is None or session is None or episode.turn != 1 or not parts.settings.consolidation.on_session_switch:
        return
    learner = parts.learner
    learner.later((caller.tenant_id, caller.agent), lambda: _earlier(parts, llm, caller, episode))


def after_end(parts: Parts, caller: Caller, session: str) -> bool:
    """Learn from a session that is over, soon; whether there is a language model to do it."""
    llm = parts.llm
    if llm is None:
        return False
    learner = parts.learner
    learner.later((caller.tenant_id, caller.agent, session), lambda: _ended(parts, llm, caller, session))
    return True


def _ended(parts: Parts, llm: LLM, caller: Caller, session: str) -> None:
    waiting = parts.store.pending_sessions(caller, parts.clock())
    _learn(parts, llm, caller, [each for each in waiting if each.session == session])


def _earlier(parts: Parts, llm: LLM, caller: Caller, episode: Episode) -> None:
    """Learn from the sessions that were there before this episode; later ones have switches of their own."""
    waiting = parts.store.pending_sessions(caller, parts.clock(), exclude=[episode.session or ""])
    pending = [each for each in waiting if each.first_seen_at < episode.created_at]
    _learn(parts, llm, caller, pending)
    metrics.count("sessions_consolidated_on_switch", len(pending))


def _learn(parts: Parts, llm: LLM, caller: Caller, pending: Sequence[PendingSession]) -> None:
    """Learn from some sessions of an agent, in the pools it is in now."""
    from engrain.domain.runs.runs import Shard
    from engrain.learning.consolidation.runner import consolidate

    if not pending:
        return
    parts.references.settle()  # what was handed out so far is no evidence
    shard = Shard(
        tenant_id=caller.tenant_id,
        agent=caller.agent,
        pools=parts.seeing(caller).pools,
        episodes=sum(each.episodes for each in pending),
        sessions=len(pending),
    )
    manner = replace(manner_of(parts), sessions=tuple(each.session for each in pending))
    report = consolidate(means(parts, llm), [shard], manner, goes_on=parts.learner.goes_on)
    metrics.count("background_learning_failures", len(report.failures))
