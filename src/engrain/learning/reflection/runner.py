"""Reflection runs: claims a run for each agent, reads its window, and stores its reflection. Effectful."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from engrain import metrics
from engrain.domain.filters import Filter
from engrain.domain.memories.trust import levels_from
from engrain.domain.records import Caller, Degraded, Fact, MemoryRecord
from engrain.domain.requests import Act, Request
from engrain.domain.runs.plans import Action, Plan
from engrain.domain.runs.retries import Retry
from engrain.domain.runs.runs import Claim
from engrain.errors import EngineUnavailable
from engrain.learning.reflection.reflections import (
    PROMPT_VERSION,
    Outcome,
    ReflectionDraft,
    ReflectionOutcome,
    ReflectionPolicy,
    ReflectionWindow,
    build_fact,
    check_due,
    select_window,
    write_draft,
)
from engrain.log_events import get_logger
from engrain.storage.reports.surveys import load_page
from engrain.storage.runs import claims
from engrain.storage.search.recency import load_latest_reflection, load_newest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from engrain.domain.ports import Clock, Ids
    from engrain.learning.summaries.summarization import SummaryWriter
    from engrain.storage.store import SqlStore
    from engrain.storage.unit_of_work import Snapshot, UnitOfWork

# More than the one call to a model that a run makes.
_LEASE_MARGIN_S = 60.0
_LOG = get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReflectionDependencies:
    """The collaborators of a reflection; `worker` names who makes it, in the list of runs.

    `link` links a reflection to whom it mentions, in the unit that stores it.
    """

    store: SqlStore
    clock: Clock
    ids: Ids
    writer: SummaryWriter
    policy: ReflectionPolicy
    worker: str
    link: Callable[[UnitOfWork, MemoryRecord], None]


def reflect(dependencies: ReflectionDependencies, caller: Caller, *, dry_run: bool, force: bool) -> ReflectionOutcome:
    """Reflect for one agent, where it is due; a model that fails is reported and never raised.

    Of several workers at once one reflects: the transaction that claims a run looks for the last reflection again.
    """
    return _Reflection(dependencies, caller, force=force).reflect(dry_run=dry_run)


class _Reflection:
    """The reflection of one agent."""

    def __init__(self, dependencies: ReflectionDependencies, caller: Caller, *, force: bool) -> None:
        self._dependencies = dependencies
        self._caller = caller
        self._force = force
        self._window = dependencies.store.read(caller, _load_window, dependencies.policy, dependencies.clock())

    def reflect(self, *, dry_run: bool) -> ReflectionOutcome:
        reason = check_due(self._window, self._dependencies.policy, self._dependencies.clock(), force=self._force)
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
        begun = self._dependencies.store.write(self._act(), self._begin, claim)
        if begun is None:
            return self._outcome("running", "another worker reflects for this agent")
        run_id, reason = begun
        outcome = self._run(run_id) if reason is None else self._outcome(*reason)
        return replace(outcome, run_id=run_id)

    def _begin(self, work: UnitOfWork, claim: Claim) -> tuple[str, tuple[Outcome, str] | None] | None:
        """Begin a run; where none is due any more it is ended, with the reason."""
        batch = claims.claim_run(work, claim)
        if batch is None:
            return None
        last = load_latest_reflection(work, work.act.at, own=True)
        window = replace(self._window, reflected_at=None if last is None else last.created_at)
        reason = check_due(window, self._dependencies.policy, work.act.at, force=self._force)
        if reason is not None:
            claims.carry_out(work, batch.run.id, Plan(episode_ids=()), {"outcome": reason[0]})
        return batch.run.id, reason

    def _run(self, run_id: str) -> ReflectionOutcome:
        """Reflect in a claimed run; it is ended, whatever the outcome."""
        writer = self._dependencies.writer
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
            self._dependencies.store.write(self._act(), claims.give_up, run_id, failure.message, Retry())
            return self._fail(failure)
        return self._store(run_id, draft)

    def _store(self, run_id: str, draft: ReflectionDraft) -> ReflectionOutcome:
        """Store a reflection and end its run, in one transaction."""
        act = self._act()
        fact = build_fact(draft, self._caller, act.at, self._dependencies.ids())
        action = Action(kind="new_fact", memory=fact, sources=draft.source_ids)
        report = {"method": draft.method, "memories": len(self._window.memories), "unknown_sources": draft.unknown}
        report["unsupported_sentences"] = draft.unsupported
        stored = self._dependencies.store.write(
            act, self._carry_out, run_id, action, {**report, "usage": draft.usage.to_dict()}
        )
        if not isinstance(stored, Fact):
            metrics.count("reflections_failed")
            lost = Degraded(code="lease_lost", message="its time was up and another worker may reflect")
            failure = stored.with_prefix("it was not kept: ") if isinstance(stored, Degraded) else lost
            return replace(self._fail(failure), usage=draft.usage)
        metrics.count("reflections")
        return replace(
            self._outcome("reflected", f"drawn from {len(draft.source_ids)} memories"),
            reflection=stored,
            method=draft.method,
            usage=draft.usage,
        )

    def _carry_out(
        self, work: UnitOfWork, run_id: str, action: Action, report: Mapping[str, Any]
    ) -> MemoryRecord | Degraded | None:
        stored = claims.carry_out_one(work, run_id, action, report)
        if isinstance(stored, Fact):
            self._dependencies.link(work, stored)
        return stored

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


def _load_window(snapshot: Snapshot, policy: ReflectionPolicy, now: datetime) -> ReflectionWindow:
    """Load the agent's news: by when they happened, and of facts by when they were stored as well.

    What only tools and assistants have said is none: a reflection stands in blocks for good.
    """
    most, since = policy.most_memories, now - timedelta(days=policy.window_days)

    def request(**criteria: Any) -> Request:
        trusted = Filter(**criteria, trust=levels_from("import"))
        return Request(caller=snapshot.caller, filter=trusted, now=now)

    last = load_latest_reflection(snapshot, now, own=True)
    memories = [
        *load_newest(snapshot, request(since=since, until=now, kinds=("fact",)), most),
        *load_newest(snapshot, request(since=since, kinds=("episode",)), most),
        *load_page(snapshot, request(kinds=("fact",)), before=None, limit=most),
    ]
    return select_window(memories, policy, now, reflected_at=None if last is None else last.created_at)
