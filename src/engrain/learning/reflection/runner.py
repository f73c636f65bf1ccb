"""Reflection runs: claims a run for each agent, reads its window, and stores its reflection. Effectful."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from engrain import metrics
from engrain.domain.filters import Filter
from engrain.domain.records import GLOBAL_SCOPE, REFLECTION, Degraded, Fact
from engrain.domain.requests import Act, Request
from engrain.domain.runs.plans import Action, Plan
from engrain.domain.runs.retries import Retry
from engrain.domain.runs.runs import Claim
from engrain.errors import EngineUnavailable
from engrain.learning.reflection.reflections import (
    PROMPT_VERSION,
    ReflectionOutcome,
    ReflectionPolicy,
    build_fact,
    check_due,
    select_window,
    write_draft,
)

if TYPE_CHECKING:
    from datetime import datetime
    from typing import Any

    from engrain.domain.ports import Clock, Ids, Store
    from engrain.domain.records import Caller
    from engrain.learning.reflection.reflections import Outcome, ReflectionDraft, ReflectionWindow
    from engrain.learning.summaries.summarization import SummaryWriter

# More than the one call to a model that a run makes.
_LEASE_MARGIN_S = 60.0
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReflectionDependencies:
    """The collaborators of a reflection; `worker` names who makes it, in the list of runs."""

    store: Store
    clock: Clock
    ids: Ids
    writer: SummaryWriter
    policy: ReflectionPolicy
    worker: str


def load_latest(store: Store, caller: Caller, now: datetime, *, own: bool) -> Fact | None:
    """The newest active reflection, of the agent itself, or also of what everybody sees; None for none."""
    criteria = Filter(
        kinds=("fact",),
        scopes=(caller.agent,) if own else (GLOBAL_SCOPE, caller.agent),
        subjects=(caller.agent,) if own else (),
        categories=(REFLECTION,),
    )
    newest = store.recent(Request(caller=caller, filter=criteria, now=now), 1)
    return next((memory for memory in newest if isinstance(memory, Fact)), None)


def reflect(dependencies: ReflectionDependencies, caller: Caller, *, dry_run: bool, force: bool) -> ReflectionOutcome:
    """Reflect for one agent, where it is due; a model that fails is reported and never raised.

    Of several workers at once one reflects: a run is claimed, and the window is read again inside it.
    """
    return _Reflection(dependencies, caller, force=force).reflect(dry_run=dry_run)


class _Reflection:
    """The reflection of one agent."""

    def __init__(self, dependencies: ReflectionDependencies, caller: Caller, *, force: bool) -> None:
        self._dependencies = dependencies
        self._caller = caller
        self._force = force
        self._window = self._read_window()

    def reflect(self, *, dry_run: bool) -> ReflectionOutcome:
        reason = self._check_due()
        if reason is not None:
            return self._outcome(*reason)
        window, writer = self._window, self._dependencies.writer
        if dry_run:
            return self._outcome("due", f"{window.facts} facts, {len(window.memories)} memories to reflect on")
        claim = Claim(
            kind="reflection",
            worker=self._dependencies.worker,
            lease_s=writer.timeout_s + _LEASE_MARGIN_S,
            model=None if writer.llm is None else writer.llm.name,
            prompt_version=None if writer.llm is None else PROMPT_VERSION,
        )
        batch = self._dependencies.store.claim(self._act(), claim)
        if batch is None:
            return self._outcome("running", "another worker reflects for this agent")
        return replace(self._run(batch.run.id), run_id=batch.run.id)

    def _run(self, run_id: str) -> ReflectionOutcome:
        """Reflect in a claimed run; it is ended, whatever the outcome."""
        store, writer = self._dependencies.store, self._dependencies.writer
        self._window = self._read_window()
        reason = self._check_due()
        if reason is not None:
            store.carry_out(self._act(), run_id, Plan(episode_ids=()), {"outcome": reason[0]})
            return self._outcome(*reason)
        try:
            draft = write_draft(
                self._window,
                writer.count_tokens,
                llm=writer.llm,
                timeout_s=writer.timeout_s,
                prompt_tokens=writer.prompt_tokens,
            )
        except EngineUnavailable as error:
            metrics.count("reflections_failed")
            failure = writer.describe(error)
            _LOG.warning("a reflection failed", extra={"code": error.code, "run": run_id, "reason": str(error)})
            store.give_up(self._act(), run_id, failure.message, Retry())
            return self._fail(failure)
        return self._store(run_id, draft)

    def _store(self, run_id: str, draft: ReflectionDraft) -> ReflectionOutcome:
        """Store a reflection and end its run, in one transaction."""
        store, act = self._dependencies.store, self._act()
        fact = build_fact(draft, self._caller, act.at, self._dependencies.ids())
        plan = Plan(episode_ids=(), actions=(Action(kind="new_fact", memory=fact, sources=draft.source_ids),))
        report = {"method": draft.method, "memories": len(self._window.memories), "unknown_sources": draft.unknown}
        results = store.carry_out(act, run_id, plan, {**report, "usage": draft.usage.to_dict()})
        if results is None or results[0].memory_id is None:
            metrics.count("reflections_failed")
            lost = Degraded(code="lease_lost", message="its time was up and another worker may reflect")
            error = None if results is None else results[0].error
            failure = lost if error is None else error.with_prefix("it was not kept: ")
            return replace(self._fail(failure), usage=draft.usage)
        metrics.count("reflections")
        memories = store.get(self._caller, [results[0].memory_id])  # somebody may have erased it already
        return replace(
            self._outcome("reflected", f"drawn from {len(draft.source_ids)} memories"),
            reflection=next((memory for memory in memories if isinstance(memory, Fact)), None),
            method=draft.method,
            usage=draft.usage,
        )

    def _check_due(self) -> tuple[Outcome, str] | None:
        return check_due(self._window, self._dependencies.policy, self._dependencies.clock(), force=self._force)

    def _read_window(self) -> ReflectionWindow:
        """Read the agent's news: by when they happened, and of facts by when they were stored as well."""
        store, policy, caller = self._dependencies.store, self._dependencies.policy, self._caller
        now, most = self._dependencies.clock(), policy.most_memories
        since = now - timedelta(days=policy.window_days)

        def request(**criteria: Any) -> Request:
            return Request(caller=caller, filter=Filter(**criteria), now=now)

        def read() -> ReflectionWindow:
            last = load_latest(store, caller, now, own=True)
            memories = [
                *store.recent(request(since=since, kinds=("fact",)), most),
                *store.recent(request(since=since, kinds=("episode",)), most),
                *store.page(request(kinds=("fact",)), before=None, limit=most),
            ]
            return select_window(memories, policy, now, reflected_at=None if last is None else last.created_at)

        return store.in_one_snapshot(caller, read)

    def _fail(self, failure: Degraded) -> ReflectionOutcome:
        return replace(self._outcome("failed", failure.message), failure=failure)

    def _outcome(self, outcome: Outcome, message: str) -> ReflectionOutcome:
        return ReflectionOutcome(
            tenant_id=self._caller.tenant_id,
            agent=self._caller.agent,
            outcome=outcome,
            said=message,
            facts=self._window.facts,
            memories=len(self._window.memories),
        )

    def _act(self) -> Act:
        return Act(caller=self._caller, at=self._dependencies.clock())
