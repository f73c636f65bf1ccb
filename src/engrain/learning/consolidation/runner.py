"""Consolidation: episodes are claimed in batches, a model is asked, and what it can prove is learned."""

from __future__ import annotations

import logging
from collections import deque
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from engrain import metrics
from engrain.domain.records import GLOBAL_SCOPE, Caller
from engrain.domain.requests import Act
from engrain.domain.runs.completions import Usage
from engrain.domain.runs.plans import Plan
from engrain.domain.runs.runs import Claim, Retry
from engrain.domain.wording import UNEXPECTED, Wording, sentence, worded
from engrain.engines.endpoint import Refused
from engrain.errors import EngineUnavailable, EngrainError, MemoryClosed
from engrain.learning.consolidation import known_memories, prompt
from engrain.learning.consolidation.echoes import list_echo_sources, read_episode
from engrain.learning.consolidation.planner import BatchContext, KnownMemories, make_plan
from engrain.learning.consolidation.reply_parser import parse_reply
from engrain.learning.consolidation.report import ConsolidationReport, Failure, Group, Learned

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime
    from typing import Any, Literal

    from engrain.domain.ports import LLM, Clock, Store
    from engrain.domain.runs.plans import Done
    from engrain.domain.runs.runs import Batch, Shard
    from engrain.learning.consolidation.known_memories import HybridSearch

BATCH = 30
_LOG = logging.getLogger(__name__)


class _LeaseLost(Exception):
    """Another worker has taken over; never leaves this module."""


class _Unusable(Exception):
    """A reply that says nothing of its episodes; never leaves this module."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationDependencies:
    """What a consolidation works with.

    `caller` says who works for a shard; `search` is a hybrid search that counts nothing; `follow_up` is told what was
    learned, once it is written.
    """

    store: Store
    llm: LLM
    clock: Clock
    caller: Callable[[Shard], Caller]
    search: HybridSearch
    follow_up: Callable[[Act, Sequence[str]], None]
    worker: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationOptions:
    """How it is done. `scope`: whether what is learned is the agent's own, or everybody's of its tenant."""

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
    store: Store,
    shards: Sequence[Shard],
    manner: ConsolidationOptions,
    *,
    caller: Callable[[Shard], Caller],
    now: datetime,
) -> tuple[Group, ...]:
    """How many episodes of how many sessions wait for each agent; with sessions named, of those, be it for a retry."""
    groups = (_group(store, shard, manner, caller=caller, now=now) for shard in shards)
    return tuple(each for each in groups if each.episodes)


def _group(
    store: Store, shard: Shard, manner: ConsolidationOptions, *, caller: Callable[[Shard], Caller], now: datetime
) -> Group:
    whole = Group(tenant_id=shard.tenant_id, agent=shard.agent, episodes=shard.episodes, sessions=shard.sessions)
    if not manner.sessions and not manner.exclude_sessions:
        return whole
    pending = store.pending_sessions(caller(shard), now)
    left_out = [each for each in pending if each.session in manner.exclude_sessions]
    if not manner.sessions:  # what is in no session is not left out
        episodes = shard.episodes - sum(each.episodes for each in left_out)
        return replace(whole, episodes=max(0, episodes), sessions=max(0, shard.sessions - len(left_out)))
    asked = [each for each in pending if each.session in manner.sessions and each not in left_out]
    return replace(whole, episodes=sum(each.episodes for each in asked), sessions=len(asked))


def consolidate(
    means: ConsolidationDependencies,
    shards: Sequence[Shard],
    manner: ConsolidationOptions,
    *,
    progress: Callable[[int], None] | None = None,
    goes_on: Callable[[], bool] = lambda: True,
) -> ConsolidationReport:
    """Learn from what is due in each shard, a batch of each in turn, until nothing is or `max_batches` are done.

    A batch that fails is tried again later, by half as many episodes each time, so that one that fails again and again
    ends alone; what the service refuses is not tried again. Neither stops another shard. Where the model cannot be
    reached the shard is left for now. `progress` is told after each batch how many episodes it had; `goes_on` is asked
    before each.
    """
    report = ConsolidationReport(dry_run=False)
    waiting = deque(shards)
    while waiting and goes_on() and report.batches != manner.max_batches:
        shard = waiting.popleft()
        outcome = _Turn(means, manner, shard).take()
        report += outcome.report
        if progress is not None and outcome.episodes:
            progress(outcome.episodes)
        if outcome.goes_on:
            waiting.append(shard)
    return report


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What one batch came to, how many episodes it had, and whether the shard may have more."""

    report: ConsolidationReport
    episodes: int = 0
    goes_on: bool = False


class _Turn:
    """One batch of one shard."""

    def __init__(self, means: ConsolidationDependencies, manner: ConsolidationOptions, shard: Shard) -> None:
        self._means = means
        self._manner = manner
        self._shard = shard
        self._caller = Caller(tenant_id=shard.tenant_id, agent=shard.agent)
        self._usage = Usage(calls=0)

    def take(self) -> _Outcome:
        """Claim a batch and learn from it; every failure is told in the report."""
        batch: Batch | None = None
        try:
            self._caller = self._means.caller(self._shard)
            batch = self._claim()
            if batch is None:
                return _Outcome(ConsolidationReport(dry_run=False))
            return self._learn(batch)
        except MemoryClosed:
            raise
        except _LeaseLost:
            said = Wording("another worker took over meanwhile; nothing was written")
            run_id = None if batch is None else batch.run.id
            return _Outcome(self._report(failures=(self._failure("lease_lost", said, run_id),)))
        except Exception as error:  # noqa: BLE001  # whatever it is: other shards go on, and what fails each time ends in dead_letter
            return self._fail(batch, error)

    def _claim(self) -> Batch | None:
        """The next episodes, by half as many for each attempt they have behind them."""
        batch = self._claim_at_most(self._manner.batch)
        if batch is None:
            return None
        most = max(1, self._manner.batch >> batch.episodes[0].consolidation_attempts)
        if len(batch.episodes) <= most:
            return batch
        # How many attempts they have is known once they are claimed: let them go, and claim as many as there should be.
        told = {"batches": 0, "claimed_again": most}
        self._means.store.carry_out(self._act(), batch.run.id, Plan(episode_ids=()), told)
        return self._claim_at_most(most)

    def _claim_at_most(self, limit: int) -> Batch | None:
        manner = self._manner
        claim = Claim(
            kind="consolidation",
            worker=self._means.worker,
            lease_s=manner.timeout_s + manner.lease_s,
            limit=limit,
            sessions=manner.sessions,
            exclude_sessions=manner.exclude_sessions,
            model=self._means.llm.name,
            prompt_version=prompt.VERSION,
            retry=manner.retry,
        )
        return self._means.store.claim(self._act(), claim)

    def _learn(self, batch: Batch) -> _Outcome:
        means, run, episodes = self._means, batch.run, batch.episodes
        decided = self._decide(batch)
        told = {"rejected": [each.to_dict() for each in decided.rejected], "parse_errors": list(decided.parse_errors)}
        told |= {"usage": self._usage.to_dict()}
        done = means.store.carry_out(self._act(), run.id, decided, told)
        if done is None:
            raise _LeaseLost
        learned = self._learned(done)
        means.follow_up(self._act(), [each.memory_id for each in learned if each.kind != "confirmation"])
        metrics.count("episodes_consolidated", len(episodes))
        metrics.count("proposals_rejected", len(decided.rejected))
        failures = [self._failure("action_failed", each.error, run.id) for each in done if each.error is not None]
        if failures:
            _LOG.warning(
                "actions of a consolidation failed", extra={**self._who, "run": run.id, "actions": len(failures)}
            )
        report = self._report(
            batches=1,
            episodes=len(episodes),
            learned=learned,
            rejected=decided.rejected,
            parse_errors=decided.parse_errors,
            failures=tuple(failures),
            run_ids=(run.id,),
        )
        return _Outcome(report, len(episodes), goes_on=True)

    def _decide(self, batch: Batch) -> Plan:
        """What the model proposes, as far as it is proven.

        Raises:
            EngineUnavailable: the model does not answer.
            _Unusable: what it answers says nothing of the episodes.
            _LeaseLost: the batch is another worker's now.
        """
        means, manner, caller, episodes = self._means, self._manner, self._caller, batch.episodes
        now = means.clock()
        known = known_memories.known(means.store, caller, episodes, now)
        asked, shown = prompt.build(episodes, known, most_characters=manner.most_characters)
        self._hold(batch, manner.timeout_s + manner.lease_s)
        completion = means.llm.complete(asked, timeout_s=manner.timeout_s)
        self._usage += completion.usage
        result = parse_reply(completion.text)
        if not result.is_readable:
            raise _Unusable("; ".join(result.parse_errors[:3]))
        self._hold(batch, manner.lease_s)
        told = list_echo_sources(
            {
                each.id: each for each in (*known, *known_memories.handed_out(means.store, caller, episodes, now))
            }.values()
        )
        lesson = BatchContext(
            caller=caller,
            scope=caller.agent if manner.scope == "agent" else GLOBAL_SCOPE,
            heard={f"e{place}": read_episode(each, told) for place, each in enumerate(episodes, 1)},
            known=KnownMemories(shown=shown, found=tuple(known)),
            now=means.clock(),
        )
        near = known_memories.of_proposals(
            means.store, caller, result, lesson.scope, search=means.search, most=lesson.most_actions
        )
        return make_plan(result, replace(lesson, known=KnownMemories(shown=shown, found=(*known, *near))))

    def _hold(self, batch: Batch, seconds: float) -> None:
        if not self._means.store.renew(self._act(), batch.run.id, seconds):
            raise _LeaseLost

    def _fail(self, batch: Batch | None, error: Exception) -> _Outcome:
        """Give a batch up, and say why: its episodes wait for another attempt, unless that would fail alike."""
        code, said = _told(error)
        metrics.count("consolidation_failures")
        fields = {"code": code, "error": type(error).__name__}
        if isinstance(error, EngrainError):  # what others say may quote a memory
            fields["reason"] = str(error)
        _LOG.warning("consolidation failed", extra={**self._who, **fields})
        if batch is None:
            return _Outcome(self._report(failures=(self._failure(code, said, None),)))
        failures = [self._failure(code, said, batch.run.id, episodes=len(batch.episodes))]
        retry = replace(self._manner.retry, is_final=isinstance(error, Refused))
        try:
            self._means.store.give_up(self._act(), batch.run.id, f"{code}: {said.outside}", retry)
        except EngrainError as worse:  # the lease runs out by itself, and whoever takes over begins anew
            failures.append(self._failure(worse.code, worded(worse), batch.run.id))
        is_away = isinstance(error, EngineUnavailable) and not isinstance(error, Refused)
        goes_on = not is_away and len(failures) == 1
        return _Outcome(self._report(batches=1, failures=tuple(failures)), len(batch.episodes), goes_on=goes_on)

    def _learned(self, done: Sequence[Done]) -> tuple[Learned, ...]:
        tenant_id, agent = self._caller.tenant_id, self._caller.agent
        return tuple(
            Learned(tenant_id=tenant_id, agent=agent, kind=each.kind, memory_id=each.memory_id)
            for each in done
            if each.memory_id is not None
        )

    def _report(self, **values: Any) -> ConsolidationReport:
        return ConsolidationReport(dry_run=False, usage=self._usage, **values)

    def _failure(self, code: str, said: Wording, run_id: str | None, *, episodes: int = 0) -> Failure:
        return Failure(**self._who, code=code, said=said, run_id=run_id, episodes=episodes)

    @property
    def _who(self) -> Mapping[str, str]:
        return {"tenant_id": self._caller.tenant_id, "agent": self._caller.agent}

    def _act(self) -> Act:
        return Act(caller=self._caller, at=self._means.clock())


def _told(error: Exception) -> tuple[str, Wording]:
    """The code of why a batch failed, and that in words; what no error of ours says is for whoever runs the memory."""
    match error:
        case _Unusable():
            return "unusable_reply", Wording(str(error))
        case EngrainError():
            return error.code, Wording(str(error), sentence(error, "the language model"))
        case _:
            return UNEXPECTED, Wording(f"{type(error).__name__}: {error}", type(error).__name__)
