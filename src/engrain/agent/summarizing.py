"""Summaries of what an agent chose to have summarised, and keeping them, with the rooms as wired."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from engrain.agent.consolidating import worker_name
from engrain.agent.parts import unknown
from engrain.domain.filters import Filter
from engrain.domain.records import DECAY_RATES, SUMMARY, Fact
from engrain.domain.requests import Request
from engrain.domain.runs.plans import Action, Plan
from engrain.domain.runs.runs import Claim
from engrain.domain.wording import Wording
from engrain.errors import DatabaseBusy, InvalidInput

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engrain.agent.parts import Parts
    from engrain.domain.records import Caller, MemoryRecord
    from engrain.domain.runs.summaries import Strategy, Summary

MOST_MEMORIES = 1_000
_FOUND = 50
_LONGEST_NAME = 512
_LEASE_S = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What is to be summarised: what a search for `said` finds, a session's turns, or the memories of some ids."""

    by: Literal["query", "session", "ids"]
    said: str = ""
    ids: tuple[str, ...] = ()

    def place(self, agent: str) -> tuple[str, str]:
        """Subject and predicate of a summary that is kept: one of the same takes its place."""
        if self.by == "ids":
            digest = hashlib.sha256("\n".join(sorted(self.ids)).encode()).hexdigest()
            return agent, f"{SUMMARY} {digest[:16]}"
        return self.said[:_LONGEST_NAME].strip(), SUMMARY


def summarize(
    parts: Parts, caller: Caller, choice: Choice, *, strategy: Strategy | None, target_tokens: int
) -> Summary:
    """The summary of what was chosen, oldest first."""
    from engrain.learning.summaries import summarization
    from engrain.learning.summaries.passages import build_passage

    memories = _chosen(parts, caller, choice)
    writer = parts.writer()
    usual = parts.settings.summarization.strategy if writer.llm is not None else "extractive"
    passages = [build_passage(each) for each in memories[-MOST_MEMORIES:]]
    summary = summarization.summarize(passages, writer, strategy=strategy or usual, target_tokens=target_tokens)
    if len(memories) <= MOST_MEMORIES:
        return summary
    said = f"only the newest {MOST_MEMORIES:,} memories were summarised: choose fewer, or summarise ids in parts"
    return replace(summary, degraded=(*summary.degraded, Wording(said)))


def keep(parts: Parts, caller: Caller, choice: Choice, summary: Summary) -> Summary:
    """The summary, kept as a fact of the agent's own, derived_from its sources, by a run that can be undone.

    Raises:
        DatabaseBusy: another summary of this agent is being kept.
        InvalidInput: a source is gone meanwhile; nothing was written.
    """
    act = parts.act(caller)
    claim = Claim(
        kind="summary",
        worker=worker_name(),
        lease_s=_LEASE_S,
        model=summary.model,
        prompt_version=summary.prompt_version,
    )
    batch = parts.store.claim(act, claim)
    if batch is None:
        raise DatabaseBusy(f"another summary of agent {caller.agent} is being kept; nothing was written: repeat it")
    fact = _as_fact(parts, caller, choice, summary)
    plan = Plan(episode_ids=(), actions=(Action(kind="new_fact", memory=fact, sources=summary.source_ids),))
    report = {"strategy": summary.strategy, "tokens": summary.tokens, "source_tokens": summary.source_tokens}
    try:
        done = parts.store.carry_out(act, batch.run.id, plan, report)
    finally:
        parts.note_cache.drop(fact)
    if done is None or done[0].memory_id is None:
        why = "its time was up" if done is None else done[0].error
        raise InvalidInput(f"the summary was not kept ({why}); summarise again")
    for stored in parts.store.get(caller, [done[0].memory_id]):
        parts.follow_up(act, stored)
    return replace(summary, memory_id=done[0].memory_id, run_id=batch.run.id)


def _chosen(parts: Parts, caller: Caller, choice: Choice) -> Sequence[MemoryRecord]:
    """The memories, oldest first, one more than are summarised where there are more.

    Raises:
        NotFound: the agent does not see one of the ids.
    """
    match choice.by:
        case "session":
            narrowed = Filter(kinds=("episode",), sessions=(choice.said,))
            request = Request(caller=caller, filter=narrowed, now=parts.clock())
            return _in_order(parts.store.recent(request, MOST_MEMORIES + 1))
        case "ids":
            found = parts.store.get(caller, choice.ids)
            missing = set(choice.ids) - {each.id for each in found}
            for id_ in choice.ids:
                if id_ in missing:
                    raise unknown(caller, id_)
            return _in_order(found)
        case _:
            from engrain.retrieval.search import SearchQuery

            asked = SearchQuery(text=choice.said, preset=parts.preset(None), limit=_FOUND)
            return _in_order([hit.memory for hit in parts.answer(caller, asked, Filter())])


def _in_order(memories: Sequence[MemoryRecord]) -> list[MemoryRecord]:
    return sorted(memories, key=lambda each: (each.happened_at, getattr(each, "turn", 0), each.id))


def _as_fact(parts: Parts, caller: Caller, choice: Choice, summary: Summary) -> Fact:
    subject, predicate = choice.place(caller.agent)
    now = parts.clock()
    return Fact(
        id=parts.ids(),
        tenant_id=caller.tenant_id,
        agent=caller.agent,
        scope=caller.agent,
        subject=subject,
        predicate=predicate,
        content=summary.text,
        category=SUMMARY,
        decay_rate=DECAY_RATES["standard"],
        created_at=now,
        last_confirmed_at=now,
        metadata={"strategy": summary.strategy, "model": summary.model, "prompt_version": summary.prompt_version},
    )
