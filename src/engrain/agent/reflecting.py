"""Reflecting, agent after agent, with the rooms as wired; and the latest reflection, asked for all the time."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from engrain.agent.consolidating import worker_name
from engrain.agent.parts import agent_name
from engrain.domain import checks
from engrain.learning.reflection import runner
from engrain.learning.reflection.reflections import Cadence, ReflectionOutcome, ReflectionReport

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from engrain.agent.parts import Parts
    from engrain.domain.records import Caller, Fact
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
    """What came of the reflections of one agent of each tenant, or of all who learned something in the window."""
    is_dry, is_forced = checks.flag(dry_run, name="dry_run"), checks.flag(force, name="force")
    settings = parts.settings.reflection
    study = runner.ReflectionDependencies(
        store=parts.store,
        clock=parts.clock,
        ids=parts.ids,
        writer=parts.writer(),
        cadence=Cadence(
            min_facts=settings.min_facts,
            window_days=settings.window_days,
            min_days_between=settings.min_days_between,
            most_memories=settings.most_memories,
        ),
        worker=worker_name(),
    )
    found: list[ReflectionOutcome] = []
    named = None if agent is None else agent_name(agent)
    for caller in _reflecting(parts, acts, named, settings.window_days):
        found.append(_reflected(parts, study, caller, dry_run=is_dry, force=is_forced))
        if progress is not None:
            progress(len(found))
    return ReflectionReport(dry_run=is_dry, agents=tuple(found))


def latest(parts: Parts, caller: Caller) -> Fact | None:
    """The newest reflection of the agent, or for everybody, from the cache where it was asked for lately."""

    def ask() -> Fact | None:
        return runner.load_latest(parts.store, caller, parts.clock(), own=False)

    return parts.note_cache.latest_reflection(caller, ask)


def _reflecting(parts: Parts, acts: Iterable[Act], agent: str | None, window_days: float) -> Iterator[Caller]:
    for act in acts:
        since = act.at - timedelta(days=window_days)
        names = parts.store.learners(act.caller.tenant_id, since=since) if agent is None else [agent]
        yield from (parts.seeing(replace(act.caller, agent=name)) for name in names)


def _reflected(
    parts: Parts, study: runner.ReflectionDependencies, caller: Caller, *, dry_run: bool, force: bool
) -> ReflectionOutcome:
    act = parts.act(caller)
    try:
        found = runner.reflect(study, caller, dry_run=dry_run, force=force)
    finally:
        parts.note_cache.drop_agent(caller)
    if found.reflection is not None:
        parts.follow_up(act, found.reflection)
    return found
