"""Reflecting: from what an agent learned in a week to a fact that it keeps, a run for each agent. Effectful."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from engrain import metrics
from engrain.domain.filters import Filter
from engrain.domain.records import GLOBAL_SCOPE, REFLECTION, Fact
from engrain.domain.requests import Act, Request
from engrain.domain.runs.plans import Action, Plan
from engrain.domain.runs.runs import Claim, Retry
from engrain.errors import EngineUnavailable
from engrain.learning.reflection.reflections import (
    PROMPT_VERSION,
    Cadence,
    ReflectionOutcome,
    build_fact,
    check_due,
    select_window,
    write_draft,
)

if TYPE_CHECKING:
    from datetime import datetime

    from engrain.domain.ports import Clock, Ids, Store
    from engrain.domain.records import Caller
    from engrain.learning.reflection.reflections import ReflectionDraft, ReflectionWindow
    from engrain.learning.summaries.summarization import SummaryWriter

# More than the one call to a model that a run makes.
_LEASE_MARGIN_S = 60.0
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReflectionDependencies:
    """What a reflection is made with. `worker` says who makes it, to whoever looks at the runs."""

    store: Store
    clock: Clock
    ids: Ids
    writer: SummaryWriter
    cadence: Cadence
    worker: str


def load_latest(store: Store, caller: Caller, now: datetime, *, own: bool) -> Fact | None:
    """The newest reflection that is believed, of the agent itself, or also of what everybody sees; None for none."""
    asked = Filter(
        kinds=("fact",),
        scopes=(caller.agent,) if own else (GLOBAL_SCOPE, caller.agent),
        subjects=(caller.agent,) if own else (),
        categories=(REFLECTION,),
    )
    found = store.recent(Request(caller=caller, filter=asked, now=now), 1)
    return next((each for each in found if isinstance(each, Fact)), None)


def reflect(study: ReflectionDependencies, caller: Caller, *, dry_run: bool, force: bool) -> ReflectionOutcome:
    """Reflect for one agent, where it is due; a model that fails is reported and never raised.

    Of several workers at once one reflects: a run is claimed, and what is due is looked at again inside it.
    """
    seen = _seen(study, caller)
    found = _outcome(study, caller, seen, force=force)
    if found is not None:
        return found
    if dry_run:
        said = f"{seen.facts} facts, {len(seen.memories)} memories to reflect on"
        return replace(_blank(caller, seen), outcome="due", said=said)
    writer = study.writer
    claim = Claim(
        kind="reflection",
        worker=study.worker,
        lease_s=writer.timeout_s + _LEASE_MARGIN_S,
        model=None if writer.llm is None else writer.llm.name,
        prompt_version=None if writer.llm is None else PROMPT_VERSION,
    )
    batch = study.store.claim(Act(caller=caller, at=study.clock()), claim)
    if batch is None:
        return replace(_blank(caller, seen), outcome="running", said="another worker reflects for this agent")
    return _in_run(study, caller, batch.run.id, force=force)


def _in_run(study: ReflectionDependencies, caller: Caller, run_id: str, *, force: bool) -> ReflectionOutcome:
    """What a claimed run comes to; it is ended, whatever comes of it."""
    seen = _seen(study, caller)
    found = _outcome(study, caller, seen, force=force)
    if found is not None:
        act = Act(caller=caller, at=study.clock())
        study.store.carry_out(act, run_id, Plan(episode_ids=()), {"outcome": found.outcome})
        return replace(found, run_id=run_id)
    writer = study.writer
    try:
        thought = write_draft(
            seen,
            writer.count_tokens,
            llm=writer.llm,
            timeout_s=writer.timeout_s,
            prompt_tokens=writer.prompt_tokens,
        )
    except EngineUnavailable as error:
        metrics.count("reflections_failed")
        said = writer.why_not(error)
        _LOG.warning("a reflection failed", extra={"code": error.code, "run": run_id, "reason": str(error)})
        study.store.give_up(Act(caller=caller, at=study.clock()), run_id, said.outside, Retry())
        return replace(_blank(caller, seen), outcome="failed", said=said, run_id=run_id)
    return _kept(study, replace(_blank(caller, seen), run_id=run_id), caller, thought)


def _kept(
    study: ReflectionDependencies, begun: ReflectionOutcome, caller: Caller, thought: ReflectionDraft
) -> ReflectionOutcome:
    """Keep a reflection and end its run, in one transaction."""
    assert begun.run_id is not None
    act = Act(caller=caller, at=study.clock())
    fact = build_fact(thought, caller, act.at, study.ids())
    plan = Plan(episode_ids=(), actions=(Action(kind="new_fact", memory=fact, sources=thought.source_ids),))
    report = {"method": thought.method, "memories": begun.memories, "unknown_sources": thought.unknown}
    done = study.store.carry_out(act, begun.run_id, plan, {**report, "usage": thought.usage.to_dict()})
    if done is None or done[0].memory_id is None:
        metrics.count("reflections_failed")
        said = "its time was up and another worker may reflect" if done is None else f"it was not kept: {done[0].error}"
        return replace(begun, outcome="failed", said=said, usage=thought.usage)
    metrics.count("reflections")
    kept = study.store.get(caller, [done[0].memory_id])
    stored = next((each for each in kept if isinstance(each, Fact)), None)  # somebody may have erased it already
    said = f"drawn from {len(thought.source_ids)} memories"
    return replace(begun, outcome="reflected", said=said, reflection=stored, method=thought.method, usage=thought.usage)


def _outcome(
    study: ReflectionDependencies, caller: Caller, seen: ReflectionWindow, *, force: bool
) -> ReflectionOutcome | None:
    """Why no reflection is due; None where one is."""
    found = check_due(seen, study.cadence, study.clock(), force=force)
    return None if found is None else replace(_blank(caller, seen), outcome=found[0], said=found[1])


def _seen(study: ReflectionDependencies, caller: Caller) -> ReflectionWindow:
    """What is news to the agent: by when it happened, and of facts by when they were stored as well."""
    now, most = study.clock(), study.cadence.most_memories
    window = Filter(since=now - timedelta(days=study.cadence.window_days))

    def asking(narrowed: Filter) -> Request:
        return Request(caller=caller, filter=narrowed, now=now)

    def seen() -> ReflectionWindow:
        last = load_latest(study.store, caller, now, own=True)
        found = [
            *study.store.recent(asking(replace(window, kinds=("fact",))), most),
            *study.store.recent(asking(replace(window, kinds=("episode",))), most),
            *study.store.page(asking(Filter(kinds=("fact",))), before=None, limit=most),
        ]
        return select_window(found, study.cadence, now, reflected_at=None if last is None else last.created_at)

    return study.store.in_one_snapshot(caller, seen)


def _blank(caller: Caller, seen: ReflectionWindow) -> ReflectionOutcome:
    return ReflectionOutcome(
        tenant_id=caller.tenant_id,
        agent=caller.agent,
        outcome="failed",
        said="",
        facts=seen.facts,
        memories=len(seen.memories),
    )
