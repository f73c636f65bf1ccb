"""Summaries of an agent's memories with the parts of one Memory, and their storage as facts."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from engrain.agent.learning.consolidation_runs import worker_name
from engrain.agent.reads.lookups import memory_not_found
from engrain.agent.reads.search import search_counted
from engrain.agent.wiring.acts import new_act
from engrain.agent.wiring.arguments import find_preset
from engrain.agent.writes import linking
from engrain.agent.writes.memories import new_fact
from engrain.domain.filters import Filter
from engrain.domain.records import SUMMARY, Caller, Degraded, Fact, MemoryRecord
from engrain.domain.requests import Act, Request
from engrain.domain.runs.plans import Action
from engrain.domain.runs.runs import Claim
from engrain.errors import DatabaseBusy, InvalidInput
from engrain.storage.runs import claims
from engrain.storage.search.recency import load_newest
from engrain.storage.selection import load_memories

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from engrain.agent.wiring.parts import Parts
    from engrain.domain.runs.summaries import Strategy, Summary
    from engrain.learning.summaries.summarization import SummaryWriter
    from engrain.storage.unit_of_work import Snapshot, UnitOfWork

MOST_MEMORIES = 1_000
_MOST_HITS = 50
_LONGEST_NAME = 512
_LEASE_S = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The memories to summarize: those that a search for `text` finds, a session's turns, or those of some ids."""

    by: Literal["query", "session", "ids"]
    text: str = ""
    ids: tuple[str, ...] = ()

    def statement(self, agent: str) -> tuple[str, str]:
        """Return subject and predicate of a stored summary: a later one of the same supersedes it."""
        if self.by == "ids":
            digest = hashlib.sha256("\n".join(sorted(self.ids)).encode()).hexdigest()
            return agent, f"{SUMMARY} {digest[:16]}"
        return self.text[:_LONGEST_NAME].strip(), SUMMARY


def summarize(
    parts: Parts, caller: Caller, choice: Choice, *, strategy: Strategy | None, target_tokens: int
) -> Summary:
    """Summarize the chosen memories, oldest first."""
    from engrain.learning.summaries import summarization
    from engrain.learning.summaries.passages import build_passage

    memories = _read_chosen(parts, caller, choice)
    writer = new_writer(parts)
    usual = parts.settings.summarization.strategy if writer.llm is not None else "extractive"
    passages = [build_passage(memory) for memory in memories[-MOST_MEMORIES:]]
    summary = summarization.summarize(passages, writer, strategy=strategy or usual, target_tokens=target_tokens)
    if len(memories) <= MOST_MEMORIES:
        return summary
    message = f"only the newest {MOST_MEMORIES:,} memories were summarized: choose fewer, or summarize ids in parts"
    reason = Degraded(code="memories_left_out", message=message)
    return replace(summary, degraded=(*summary.degraded, reason))


def store_summary(parts: Parts, caller: Caller, choice: Choice, summary: Summary) -> Summary:
    """Store the summary as a fact of the agent's own, derived_from its sources, by a run that can be undone.

    Raises:
        DatabaseBusy: another summary of this agent is being kept.
        InvalidInput: a source is gone meanwhile; nothing was written.
    """
    act = new_act(parts, caller)
    claim = Claim(
        kind="summary",
        worker=worker_name(),
        lease_s=_LEASE_S,
        model=summary.model,
        prompt_version=summary.prompt_version,
    )
    fact = _as_fact(parts, act, choice, summary)
    action = Action(kind="new_fact", memory=fact, sources=summary.source_ids)
    report = {"strategy": summary.strategy, "tokens": summary.tokens, "source_tokens": summary.source_tokens}
    try:
        run_id, stored = parts.store.write(act, _carry_out, parts, claim, action, report=report)
    finally:
        parts.note_cache.drop(fact)
    parts.queue.announce()
    return replace(summary, memory_id=stored.id, run_id=run_id)


def new_writer(parts: Parts) -> SummaryWriter:
    """Return the writer of summaries and reflections."""
    from engrain.learning.summaries.summarization import SummaryWriter

    return SummaryWriter(
        count_tokens=parts.count_tokens,
        llm=parts.llm,
        run_all=lambda works: parts.workers.map_bounded(lambda work: work(), works),
        timeout_s=parts.settings.llm.timeout_s,
    )


def _read_chosen(parts: Parts, caller: Caller, choice: Choice) -> Sequence[MemoryRecord]:
    """Return the chosen memories, oldest first, one more than are summarized where there are more.

    Raises:
        NotFound: the agent does not see one of the ids.
    """
    match choice.by:
        case "session":
            narrowed = Filter(kinds=("episode",), sessions=(choice.text,))
            request = Request(caller=caller, filter=narrowed, now=parts.clock())
            return _in_order(parts.store.read(caller, load_newest, request, MOST_MEMORIES + 1))
        case "ids":
            return _in_order(parts.store.read(caller, _load_all, choice.ids))
        case _:
            from engrain.retrieval.search_query import SearchQuery

            question = SearchQuery(text=choice.text, preset=find_preset(parts, None), limit=_MOST_HITS)
            return _in_order([hit.memory for hit in search_counted(parts, caller, question, Filter())])


def _load_all(snapshot: Snapshot, ids: Sequence[str]) -> list[MemoryRecord]:
    memories = load_memories(snapshot, ids)
    visible = {memory.id for memory in memories}
    for id_ in ids:
        if id_ not in visible:
            raise memory_not_found(snapshot.caller, id_)
    return memories


def _carry_out(
    work: UnitOfWork, parts: Parts, claim: Claim, action: Action, *, report: Mapping[str, Any]
) -> tuple[str, MemoryRecord]:
    """Carry out one action in a run of its own; return the id of the run, and the memory as stored."""
    batch = claims.claim_run(work, claim)
    if batch is None:
        raise DatabaseBusy(f"another summary of agent {work.agent} is being kept; nothing was written: repeat it")
    stored = claims.carry_out_one(work, batch.run.id, action, report)
    if stored is None or isinstance(stored, Degraded):
        raise InvalidInput(f"the summary was not kept ({stored}); summarize again")
    linking.link(work, parts, stored)
    return batch.run.id, stored


def _in_order(memories: Sequence[MemoryRecord]) -> list[MemoryRecord]:
    return sorted(memories, key=lambda memory: (memory.happened_at, getattr(memory, "turn", 0), memory.id))


def _as_fact(parts: Parts, act: Act, choice: Choice, summary: Summary) -> Fact:
    subject, predicate = choice.statement(act.caller.agent)
    return new_fact(
        parts,
        act,
        scope=act.caller.own_scope,
        subject=subject,
        predicate=predicate,
        content=summary.text,
        category=SUMMARY,
        metadata={"strategy": summary.strategy, "model": summary.model, "prompt_version": summary.prompt_version},
    )
