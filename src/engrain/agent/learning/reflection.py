"""Reflections with the parts of one Memory: one run for each agent, and the cached latest reflection."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from engrain.agent.learning.consolidation_runs import announce, worker_name
from engrain.agent.learning.summaries import new_writer
from engrain.agent.wiring.arguments import parse_agent
from engrain.agent.writes import linking
from engrain.domain import checks
from engrain.learning.reflection import runner
from engrain.learning.reflection.reflections import ReflectionOutcome, ReflectionPolicy, ReflectionReport
from engrain.storage.reports.tenants import list_learners

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from engrain.agent.wiring.parts import Parts
    from engrain.domain.records import Caller
    from engrain.domain.requests import Act


def reflect(
    parts: Parts,
    acts: Iterable[Act],
    *,
    agent: str | None,
    dry_run: bool,
    force: bool,
    progress: Callable[[int], None] | None,
) -> ReflectionReport:
    """Let one agent of each tenant reflect, or all that learned something in the window."""
    is_dry, is_forced = checks.flag(dry_run, name="dry_run"), checks.flag(force, name="force")
    settings = parts.settings.reflection
    dependencies = runner.ReflectionDependencies(
        store=parts.store,
        clock=parts.clock,
        ids=parts.ids,
        writer=new_writer(parts),
        policy=ReflectionPolicy(
            min_facts=settings.min_facts,
            window_days=settings.window_days,
            min_days_between=settings.min_days_between,
            most_memories=settings.most_memories,
        ),
        worker=worker_name(),
        link=lambda work, memory: linking.link(work, parts, memory),
    )
    outcomes: list[ReflectionOutcome] = []
    named = None if agent is None else parse_agent(agent)
    for caller in _callers(parts, acts, named, settings.window_days):
        outcomes.append(_reflect_one(parts, dependencies, caller, dry_run=is_dry, force=is_forced))
        if progress is not None:
            progress(len(outcomes))
    return ReflectionReport(dry_run=is_dry, agents=tuple(outcomes))


def _callers(parts: Parts, acts: Iterable[Act], agent: str | None, window_days: float) -> Iterator[Caller]:
    for act in acts:
        since = act.at - timedelta(days=window_days)
        tenant_id = act.caller.tenant_id
        learners = parts.store.inspect(tenant_id, list_learners, tenant_id, since=since)
        if agent is not None:
            learners = list(dict.fromkeys([(agent, None), *(one for one in learners if one[0] == agent)]))
        yield from (replace(act.caller, agent=name, user=user) for name, user in learners)


def _reflect_one(
    parts: Parts, dependencies: runner.ReflectionDependencies, caller: Caller, *, dry_run: bool, force: bool
) -> ReflectionOutcome:
    parts.references.flush()
    try:
        return runner.reflect(dependencies, caller, dry_run=dry_run, force=force)
    finally:
        announce(parts, caller)
