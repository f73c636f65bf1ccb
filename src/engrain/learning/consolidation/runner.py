"""Consolidation runner: claims batches of episodes, asks a model, and writes the changes that quotes prove."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from engrain import metrics
from engrain.domain.faults import UNEXPECTED, describe_fault
from engrain.domain.records import Caller, Degraded, Episode, Fact, MemoryRecord, Rule
from engrain.domain.requests import Act
from engrain.domain.runs.completions import Usage
from engrain.domain.runs.retries import Retry
from engrain.domain.runs.runs import AgentBacklog, Batch, Claim
from engrain.engines.endpoint import Refused
from engrain.errors import EngineUnavailable, EngrainError, MemoryClosed
from engrain.learning.consolidation import prompt
from engrain.learning.consolidation.earlier_turns import Recaps, load_session_context
from engrain.learning.consolidation.echoes import list_echo_sources, read_episode
from engrain.learning.consolidation.known_memories import (
    list_episode_questions,
    list_questions,
    load_forgotten,
    load_holders,
    load_known,
    load_near,
    load_recalled,
    reload,
    select_of_projects,
)
from engrain.learning.consolidation.planner import BatchContext, KnownMemories, list_slot_facts, make_plan
from engrain.learning.consolidation.reply_parser import parse_reply
from engrain.learning.consolidation.report import ConsolidationReport, Failure, Group, Learned
from engrain.log_events import get_logger
from engrain.storage.runs import claims
from engrain.storage.selection import load_memories

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from engrain.domain.ports import LLM, Clock
    from engrain.domain.runs.plans import ActionResult, Plan
    from engrain.learning.consolidation.known_memories import HybridSearch, NearSearch
    from engrain.learning.consolidation.prompt import SessionContext
    from engrain.learning.consolidation.proposals import ConsolidationResult
    from engrain.storage.store import SqlStore
    from engrain.storage.unit_of_work import Snapshot, UnitOfWork

BATCH = 30
_LONGEST_REASON = 400
_LOG = get_logger(__name__)


class _LeaseLost(Exception):
    """The lease of a batch is another worker's now; never leaves this module."""


class _UnusableReply(Exception):
    """A reply that says nothing of its episodes; never leaves this module."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationDependencies:
    """The collaborators of a consolidation.

    `search` is a hybrid search that counts no references; `link` links a new memory to whom it mentions, in the unit
    that stores it; `announce` says afterwards that an agent's memories were written.
    """

    store: SqlStore
    llm: LLM
    clock: Clock
    search: HybridSearch
    link: Callable[[UnitOfWork, MemoryRecord], None]
    announce: Callable[[Caller], None]
    worker: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationOptions:
    """Options of a consolidation. `scope`: whether new memories are the agent's own, or everybody's of its tenant."""

    batch: int = BATCH
    max_batches: int | None = None
    scope: Literal["agent", "global"] = "agent"
    sessions: tuple[str, ...] = ()
    exclude_sessions: tuple[str, ...] = ()
    timeout_s: float = 120.0
    lease_s: float = 60.0  # beyond what the model may take
    most_characters: int = prompt.DEFAULT_CHARACTERS
    retry: Retry = field(default_factory=Retry)


def count_due(
    store: SqlStore, backlogs: Sequence[AgentBacklog], options: ConsolidationOptions, *, now: datetime
) -> tuple[Group, ...]:
    """Count the episodes and sessions that wait for each agent; of named sessions also those that wait for a retry."""
    groups: list[Group] = []
    for backlog in backlogs:
        episodes, sessions = backlog.episodes, backlog.sessions
        if options.sessions or options.exclude_sessions:
            pending = store.read(_caller_of(backlog), claims.list_pending_sessions, now)
            excluded = [session for session in pending if session.session in options.exclude_sessions]
            if options.sessions:
                named = [item for item in pending if item.session in options.sessions and item not in excluded]
                episodes, sessions = sum(session.episodes for session in named), len(named)
            else:  # episodes of no session are not excluded
                episodes -= sum(session.episodes for session in excluded)
                sessions = max(0, sessions - len(excluded))
        if episodes > 0:
            groups.append(
                Group(
                    tenant_id=backlog.tenant_id,
                    agent=backlog.agent,
                    user=backlog.user,
                    episodes=episodes,
                    sessions=sessions,
                    leased_until=backlog.leased_until,
                )
            )
    return tuple(groups)


def consolidate(
    dependencies: ConsolidationDependencies,
    backlogs: Sequence[AgentBacklog],
    options: ConsolidationOptions,
    *,
    progress: Callable[[int], None] | None = None,
    goes_on: Callable[[], bool] = lambda: True,
) -> ConsolidationReport:
    """Learn from what is due in each backlog, a batch of each in turn, until nothing is or `max_batches` are done.

    A batch that fails is tried again later, by half as many episodes each time, so that one that fails again and again
    ends alone; what the service refuses is not tried again. Neither stops another backlog. Where the model cannot be
    reached the backlog is left for now. `progress` gets the number of episodes after each batch; `goes_on` is asked
    before each.
    """
    report = ConsolidationReport(dry_run=False)
    waiting, recaps = deque(backlogs), dict[AgentBacklog, Recaps]()
    while waiting and goes_on() and report.batches != options.max_batches:
        backlog = waiting.popleft()
        outcome = _BatchRun(dependencies, options, backlog, recaps.setdefault(backlog, {})).run()
        report += outcome.report
        if progress is not None and outcome.episodes:
            progress(outcome.episodes)
        if outcome.goes_on:
            waiting.append(backlog)
    return report


@dataclass(frozen=True, slots=True)
class _Reading:
    """The proposals of a reply, what they are judged by, and a search for what may say the same."""

    result: ConsolidationResult
    context: BatchContext
    search: NearSearch


@dataclass(frozen=True, slots=True)
class _Outcome:
    """The report of one batch, the number of its episodes, and whether the backlog may have more."""

    report: ConsolidationReport
    episodes: int = 0
    goes_on: bool = False


class _BatchRun:
    """The consolidation of one batch of one backlog. Recaps of its sessions are read, and left for the next batch."""

    def __init__(
        self,
        dependencies: ConsolidationDependencies,
        options: ConsolidationOptions,
        backlog: AgentBacklog,
        recaps: Recaps,
    ) -> None:
        self._dependencies = dependencies
        self._options = options
        self._recaps = recaps
        self._caller = _caller_of(backlog)
        self._usage = Usage(calls=0)

    def run(self) -> _Outcome:
        """Claim a batch and learn from it; every failure stands in the report."""
        batch: Batch | None = None
        try:
            batch = self._claim()
            if batch is None:
                return _Outcome(ConsolidationReport(dry_run=False))
            return self._learn(batch)
        except MemoryClosed:
            raise
        except _LeaseLost:
            reason = Degraded(code="lease_lost", message="another worker took over meanwhile; nothing was written")
            run_id = None if batch is None else batch.run.id
            return _Outcome(self._report(failures=(self._failure(reason, run_id),)))
        except Exception as error:  # noqa: BLE001  # whatever it is: other backlogs go on, and what fails each time ends in dead_letter
            return self._fail(batch, error)

    def _claim(self) -> Batch | None:
        options = self._options
        claim = Claim(
            kind="consolidation",
            worker=self._dependencies.worker,
            lease_s=options.timeout_s + options.lease_s,
            limit=options.batch,
            halves_retries=True,
            sessions=options.sessions,
            exclude_sessions=options.exclude_sessions,
            model=self._dependencies.llm.name,
            prompt_version=prompt.VERSION,
            retry=options.retry,
        )
        return self._dependencies.store.write(self._act(), claims.claim_run, claim)

    def _learn(self, batch: Batch) -> _Outcome:
        run, episodes = batch.run, batch.episodes
        reading = self._ask(batch)
        try:
            done = self._dependencies.store.write(self._act(), self._carry_out, run.id, reading)
        finally:
            self._dependencies.announce(self._caller)
        if done is None:
            raise _LeaseLost
        plan, results = done
        learned = tuple(
            Learned(**self._agent, kind=result.kind, memory_id=result.memory_id)
            for result in results
            if result.memory_id is not None
        )
        metrics.count("episodes_consolidated", len(episodes))
        metrics.count("proposals_rejected", len(plan.rejected))
        errors = [result.error for result in results if result.error is not None]
        if errors:
            reasons = dict.fromkeys(f"{error.code}: {error.message}" for error in errors)
            fields = {
                **self._agent,
                "run": run.id,
                "actions": len(errors),
                "reason": "; ".join(reasons)[:_LONGEST_REASON],
            }
            _LOG.warning("actions of a consolidation failed", extra=fields)
        outcome = self._report(
            batches=1,
            episodes=len(episodes),
            learned=learned,
            rejected=plan.rejected,
            parse_errors=plan.parse_errors,
            failures=tuple(self._failure(_failed_action(error), run.id) for error in errors),
            run_ids=(run.id,),
        )
        return _Outcome(outcome, len(episodes), goes_on=True)

    def _ask(self, batch: Batch) -> _Reading:
        """Return the proposals of the model, and what they are judged by.

        Raises:
            EngineUnavailable: the model does not answer.
            _UnusableReply: its reply says nothing of the episodes.
            _LeaseLost: the batch is another worker's now.
        """
        options, caller, episodes = self._options, self._caller, batch.episodes
        store, llm = self._dependencies.store, self._dependencies.llm
        now = self._dependencies.clock()
        search = self._dependencies.search(caller, list_episode_questions(episodes))
        known, recalled, sessions = store.search(caller, self._load_context, episodes, search, now)
        near = select_of_projects(known, episodes)
        question, shown = prompt.build_prompt(episodes, near, sessions, most_characters=options.most_characters)
        self._renew(batch, options.timeout_s + options.lease_s)
        completion = llm.complete(question, timeout_s=options.timeout_s)
        self._usage += completion.usage
        result = parse_reply(completion.text)
        if not result.is_readable:
            raise _UnusableReply("; ".join(result.parse_errors[:3]))
        last = episodes[-1]
        if sessions.is_cut and last.session is not None and result.recap is not None:
            self._recaps[last.scope, last.session] = result.recap
        self._renew(batch, options.lease_s)
        sources = list_echo_sources({memory.id: memory for memory in (*known, *recalled)}.values())
        context = BatchContext(
            caller=caller,
            scope=caller.own_scope if options.scope == "agent" else caller.shared_scope,
            episodes={f"e{number}": read_episode(episode, sources) for number, episode in enumerate(episodes, 1)},
            known=KnownMemories(shown=shown, related=tuple(known)),
            now=self._dependencies.clock(),
            earlier=tuple(turn for before in sessions.earlier for turn in before.turns),
        )
        search = self._dependencies.search(caller, list_questions(result, context.most_actions))
        return _Reading(result, context, search)

    def _load_context(
        self, snapshot: Snapshot, episodes: Sequence[Episode], search: NearSearch, now: datetime
    ) -> tuple[list[Fact | Rule], list[MemoryRecord], SessionContext]:
        """Load the facts and rules to show with some episodes, what these may be echoes of, and what came before."""
        return (
            load_known(snapshot, episodes, search, now),
            load_recalled(snapshot, episodes, now),
            load_session_context(snapshot, episodes, self._recaps, now),
        )

    def _carry_out(
        self, work: UnitOfWork, run_id: str, reading: _Reading
    ) -> tuple[Plan, Sequence[ActionResult]] | None:
        """Judge proposals by what is known now, and carry out what is left of them; None if the run has ended.

        The slots that they may take are locked before it is known who is in them.
        """
        run = claims.lock_run(work, run_id)
        if run is None or run.status != "running":
            return None
        result, context = reading.result, reading.context
        near = load_near(work, result, reading.search, context.most_actions)
        before = replace(context.known, related=(*context.known.related, *near))
        slot_facts = list_slot_facts(result, replace(context, known=before))
        work.backend.lock(work, run.episode_ids, slot_facts)
        now = reload(work, (*before.shown, *before.related))
        known = KnownMemories(
            shown=tuple(now[memory.id] for memory in before.shown),
            related=(*(now[memory.id] for memory in before.related), *load_holders(work, slot_facts)),
            forgotten=tuple(load_forgotten(work, [text.episode for text in context.episodes.values()])),
        )
        plan = make_plan(result, replace(context, known=known))
        report = {
            "rejected": [rejection.to_dict() for rejection in plan.rejected],
            "parse_errors": list(plan.parse_errors),
            "usage": self._usage.to_dict(),
        }
        results = claims.carry_out(work, run_id, plan, report)
        if results is None:
            return None
        new = (result.memory_id for result in results if result.kind != "confirmation")
        for memory in load_memories(work, [id_ for id_ in new if id_ is not None]):
            self._dependencies.link(work, memory)
        return plan, results

    def _renew(self, batch: Batch, seconds: float) -> None:
        if not self._dependencies.store.write(self._act(), claims.renew_run, batch.run.id, seconds):
            raise _LeaseLost

    def _fail(self, batch: Batch | None, error: Exception) -> _Outcome:
        """Give a batch up with the reason: its episodes wait for another attempt, unless that would fail alike."""
        reason = _describe(error)
        metrics.count("consolidation_failures")
        fields = {"code": reason.code, "error": type(error).__name__}
        match error:  # messages of others may quote a memory, and so do errors in a reply
            case EngrainError():
                fields["reason"] = str(error)
            case _UnusableReply():
                fields["reason"] = "the reply of the language model says nothing of the episodes"
            case _:
                fields["reason"] = f"unforeseen: {type(error).__name__}"
        _LOG.warning("consolidation failed", extra={**self._agent, **fields})
        if batch is None:
            return _Outcome(self._report(failures=(self._failure(reason, None),)))
        failures = [self._failure(reason, batch.run.id, episodes=len(batch.episodes))]
        retry = replace(self._options.retry, is_final=isinstance(error, Refused))
        try:
            message = f"{reason.code}: {reason.message}"
            self._dependencies.store.write(self._act(), claims.give_up, batch.run.id, message, retry)
        except EngrainError as worse:  # the lease runs out by itself, and whoever takes over begins anew
            failures.append(self._failure(describe_fault(worse), batch.run.id))
        is_away = isinstance(error, EngineUnavailable) and not isinstance(error, Refused)
        goes_on = not is_away and len(failures) == 1
        return _Outcome(self._report(batches=1, failures=tuple(failures)), len(batch.episodes), goes_on=goes_on)

    def _report(self, **values: Any) -> ConsolidationReport:
        return ConsolidationReport(dry_run=False, usage=self._usage, **values)

    def _failure(self, reason: Degraded, run_id: str | None, *, episodes: int = 0) -> Failure:
        return Failure(
            **self._agent,
            code=reason.code,
            message=reason.message,
            detail=reason.detail,
            run_id=run_id,
            episodes=episodes,
        )

    @property
    def _agent(self) -> Mapping[str, str]:
        return {"tenant_id": self._caller.tenant_id, "agent": self._caller.agent}

    def _act(self) -> Act:
        return Act(caller=self._caller, at=self._dependencies.clock())


def _caller_of(backlog: AgentBacklog) -> Caller:
    """Return the agent of a backlog; it learns from the pools that it is in by then."""
    return Caller(tenant_id=backlog.tenant_id, agent=backlog.agent, user=backlog.user)


def _describe(error: Exception) -> Degraded:
    """Describe why a batch failed; a foreign error's text is for whoever runs the memory."""
    match error:
        case _UnusableReply():
            return Degraded(code="unusable_reply", message=str(error))
        case EngrainError():
            return replace(describe_fault(error, "llm"), code=error.code)
        case _:
            return Degraded(code=UNEXPECTED, message=type(error).__name__, detail=str(error))


def _failed_action(reason: Degraded) -> Degraded:
    return replace(reason, code="action_failed", message=f"{reason.message} ({reason.code})")
