"""Consolidation runs with the parts of one Memory: their model, search, limits and follow-up."""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from engrain.agent.reads.search import embed_questions
from engrain.agent.wiring.acts import new_act
from engrain.agent.wiring.arguments import find_preset
from engrain.agent.writes import linking
from engrain.domain.records import Caller, Kind, MemoryRecord
from engrain.errors import InvalidInput
from engrain.storage.runs import claims

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from engrain.agent.wiring.parts import Parts
    from engrain.domain.ports import LLM
    from engrain.domain.runs.runs import Claim, WaitingBacklog
    from engrain.learning.consolidation.known_memories import HybridSearch, NearSearch
    from engrain.learning.consolidation.report import ConsolidationReport
    from engrain.learning.consolidation.runner import ConsolidationDependencies, ConsolidationOptions
    from engrain.storage.unit_of_work import Snapshot, UnitOfWork


_MARKED, _MARKING_S = 1_000, 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The episodes to consolidate, None or () meaning everybody's, and how many batches of them."""

    tenant_id: str | None = None
    agent: str | None = None
    sessions: tuple[str, ...] = ()
    exclude_sessions: tuple[str, ...] = ()
    dry_run: bool = False
    now: bool = False
    max_batches: int | None = None


def consolidate(
    parts: Parts, selection: Selection, *, progress: Callable[[int], None] | None = None
) -> ConsolidationReport:
    """Learn from all that is due and selected; without a language model only count it.

    An agent that another run has under a lease is left to that one, and counted with the end of the lease. What waits
    for another attempt is told with the time and the reason; `now` in the selection tries it at once.
    """
    from engrain.learning.consolidation import runner
    from engrain.learning.consolidation.report import ConsolidationReport

    if selection.now and parts.llm is not None and not selection.dry_run:
        _end_waiting(parts, selection)
    backlogs = parts.store.inspect(
        selection.tenant_id, claims.list_backlogs, parts.clock(), tenant_id=selection.tenant_id
    )
    of_agent = [backlog for backlog in backlogs if selection.agent in (None, backlog.agent)]
    options = replace(
        options_of(parts),
        sessions=selection.sessions,
        exclude_sessions=selection.exclude_sessions,
        max_batches=selection.max_batches,
    )
    groups = runner.count_due(parts.store, of_agent, options, now=parts.clock())
    if parts.llm is None or selection.dry_run:
        return ConsolidationReport(dry_run=True, groups=groups, waiting=_list_waiting(parts, selection))
    parts.references.flush()  # what was handed out so far is no evidence
    free = [backlog for backlog in of_agent if backlog.leased_until is None]
    report = runner.consolidate(dependencies_of(parts, parts.llm), free, options, progress=progress)
    return replace(report, groups=groups, waiting=_list_waiting(parts, selection))


def _list_waiting(parts: Parts, selection: Selection) -> tuple[WaitingBacklog, ...]:
    """List the selected episodes that wait for another attempt, by agent and user."""
    backlogs = parts.store.inspect(
        selection.tenant_id,
        claims.list_waiting,
        parts.clock(),
        tenant_id=selection.tenant_id,
        sessions=selection.sessions,
        exclude_sessions=selection.exclude_sessions,
    )
    return tuple(backlog for backlog in backlogs if selection.agent in (None, backlog.agent))


def _end_waiting(parts: Parts, selection: Selection) -> None:
    """Let the selected episodes that wait for another attempt be tried at once."""
    for backlog in _list_waiting(parts, selection):
        caller = Caller(tenant_id=backlog.tenant_id, agent=backlog.agent, user=backlog.user)
        parts.store.write(new_act(parts, caller), claims.end_waiting, selection.sessions, selection.exclude_sessions)


def mark_consolidated(parts: Parts, caller: Caller, session: str) -> int:
    """Mark all of a session that is due as consolidated, in runs of their own; return how many episodes it was.

    Raises:
        InvalidInput: another run of the agent is under way.
    """
    from engrain.domain.runs.runs import Claim

    claim = Claim(
        kind="consolidation",
        worker=worker_name(),
        lease_s=_MARKING_S,
        limit=_MARKED,
        sessions=(session,),
        retry=options_of(parts).retry,
    )
    marked = 0
    while count := parts.store.write(new_act(parts, caller), _mark_batch, claim, session):
        marked += count
    return marked


def worker_name() -> str:
    """Return the name of this process in the list of runs: host and process id."""
    return f"{socket.gethostname()}:{os.getpid()}"


def dependencies_of(parts: Parts, llm: LLM) -> ConsolidationDependencies:
    """Return the store, model and search that a consolidation works with."""
    from engrain.learning.consolidation.runner import ConsolidationDependencies

    return ConsolidationDependencies(
        store=parts.store,
        llm=llm,
        clock=parts.clock,
        search=search_of(parts),
        link=lambda work, memory: linking.link(work, parts, memory),
        announce=lambda caller: announce(parts, caller),
        worker=worker_name(),
    )


def options_of(parts: Parts) -> ConsolidationOptions:
    """Return the options of a consolidation that the settings say."""
    from engrain.domain.runs.retries import Retry
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


def search_of(parts: Parts) -> HybridSearch:
    """Return a hybrid search, by reciprocal ranks, that counts no references."""
    from engrain.domain.filters import Filter
    from engrain.domain.requests import Request
    from engrain.retrieval.search import search_within
    from engrain.retrieval.search_query import SearchQuery

    def prepare(caller: Caller, texts: Sequence[str]) -> NearSearch:
        vectors, preset, now = embed_questions(parts, caller, texts), find_preset(parts, "hybrid"), parts.clock()

        def search_near(snapshot: Snapshot, text: str, kinds: Sequence[Kind], limit: int) -> Sequence[MemoryRecord]:
            narrowed = Filter(kinds=tuple(kinds), scopes=snapshot.caller.learned_scopes)
            request = Request(caller=caller, filter=narrowed, now=now)
            question = SearchQuery(text=text, preset=preset, limit=limit)
            return [hit.memory for hit in search_within(snapshot, request, question, vectors)]

        return search_near

    return prepare


def announce(parts: Parts, caller: Caller) -> None:
    """Drop the agent's cached notes, and have vectors made of what it has learned."""
    parts.note_cache.drop_agent(caller)
    parts.queue.announce()


def _mark_batch(work: UnitOfWork, claim: Claim, session: str) -> int:
    """Mark the next episodes of a session as consolidated, in a run of their own; return how many it was."""
    from engrain.domain.runs.plans import Plan

    batch = claims.claim_run(work, claim)
    if batch is not None:
        plan = Plan(episode_ids=batch.run.episode_ids)
        claims.carry_out(work, batch.run.id, plan, {"marked": len(batch.episodes)})
        return len(batch.episodes)
    newest = claims.list_runs(work, kind="consolidation", limit=1)
    is_running = bool(newest) and newest[0].status == "running"
    if is_running and not claims.is_session_consolidated(work, session, work.act.at):
        raise InvalidInput(f"agent {work.agent} is being consolidated just now; mark the session later")
    return 0
