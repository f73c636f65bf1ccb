"""Consolidation triggers: the switch to another session and the end of one start background learning."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from engrain import metrics
from engrain.agent.learning.consolidation_runs import dependencies_of, options_of
from engrain.storage.runs.claims import count_pending, list_pending_sessions

if TYPE_CHECKING:
    from engrain.agent.wiring.parts import Parts
    from engrain.domain.ports import LLM
    from engrain.domain.records import Caller, Episode
    from engrain.learning.consolidation.report import ConsolidationReport


def consolidate_after_switch(parts: Parts, caller: Caller, episode: Episode) -> None:
    """Learn soon from the agent's earlier sessions where an episode is the first of its own.

    The caller waits for none of it, and fails by none of it.
    """
    llm, session = parts.llm, episode.session
    if llm is None or session is None or episode.turn != 1 or not parts.settings.consolidation.on_session_switch:
        return
    parts.learner.submit((caller.tenant_id, caller.own_scope), lambda: _learn_earlier(parts, llm, caller, episode))


def consolidate_after_end(parts: Parts, caller: Caller, session: str) -> bool:
    """Learn soon from a session that is over; return whether there is a language model to do it."""
    llm = parts.llm
    if llm is None:
        return False
    name = caller.tenant_id, caller.own_scope, session
    parts.learner.submit(name, lambda: _learn_session(parts, llm, caller, session))
    return True


def consolidate_in_background(parts: Parts, caller: Caller, session: str | None) -> None:
    """Learn soon from what waits in a session, or without one in all of the agent's."""
    llm = parts.llm
    if llm is not None:
        name = caller.tenant_id, caller.own_scope, session or "", "added"
        parts.learner.submit(name, lambda: _learn(parts, llm, caller, () if session is None else (session,)))


def consolidate_now(parts: Parts, llm: LLM, caller: Caller, sessions: tuple[str, ...]) -> ConsolidationReport:
    """Learn from what waits in some sessions of an agent, () meaning all, in the pools it is in now."""
    from engrain.domain.runs.runs import AgentBacklog
    from engrain.learning.consolidation.runner import consolidate

    parts.references.flush()  # what was handed out so far is no evidence
    backlog = AgentBacklog(
        tenant_id=caller.tenant_id, agent=caller.agent, user=caller.user, episodes=0, sessions=len(sessions)
    )
    options = replace(options_of(parts), sessions=sessions)
    return consolidate(dependencies_of(parts, llm), [backlog], options, goes_on=parts.learner.is_open)


def _learn_session(parts: Parts, llm: LLM, caller: Caller, session: str) -> None:
    if parts.store.read(caller, count_pending, session, parts.clock()):
        _learn(parts, llm, caller, (session,))


def _learn_earlier(parts: Parts, llm: LLM, caller: Caller, episode: Episode) -> None:
    """Learn from the sessions that were there before this episode; later ones have switches of their own."""
    others = parts.store.read(caller, list_pending_sessions, parts.clock(), exclude=[episode.session or ""])
    earlier = [pending for pending in others if pending.first_seen_at < episode.created_at]
    if earlier:
        _learn(parts, llm, caller, tuple(pending.session for pending in earlier))
    metrics.count("sessions_consolidated_on_switch", len(earlier))


def _learn(parts: Parts, llm: LLM, caller: Caller, sessions: tuple[str, ...]) -> None:
    report = consolidate_now(parts, llm, caller, sessions)
    metrics.count("background_learning_failures", len(report.failures))
