"""What the library's tools answer: its values, whole, as `to_dict()` says them."""

from collections.abc import Sequence
from dataclasses import fields
from datetime import datetime
from typing import Annotated, Any, Self

from pydantic import Field

from engrain.agent.agent import Agent
from engrain.context.block import ContextBlock, ContextSection
from engrain.context.messages import ContextMessages, WindowBudget
from engrain.domain.access.pools import Pool, PoolSync
from engrain.domain.entities.registry import EntityMerge
from engrain.domain.maintenance.findings import Audit, Finding
from engrain.domain.maintenance.overview import Overview
from engrain.domain.memories.maturity import Application
from engrain.domain.memories.routing import Routing
from engrain.domain.pagination import Page
from engrain.domain.records import Answer, DroppedCandidate, Event, Hit, Link, Record
from engrain.domain.runs.completions import Usage
from engrain.domain.runs.runs import KeptItem, RestoredItem, Run, UndoResult
from engrain.domain.runs.summaries import Summary
from engrain.interfaces.mcp.results import EntityJson, FactJson, MemoryJson, Result, Told, Wordings
from engrain.learning.consolidation.report import ConsolidationReport
from engrain.lifecycle.cleanup import CleanupReport
from engrain.lifecycle.sweep import DecayCounts, DecayReport

LinkJson = Annotated[Link, Told("A link: source_id, target_id, relation, weight, created_at.")]
EventJson = Annotated[Event, Told("An event: event_type, memory_id, actor, request_id, payload, created_at, ...")]
HitJson = Annotated[Hit, Told("A hit: score, memory, why (contributions and matched words), neighbours.")]
DroppedJson = Annotated[DroppedCandidate, Told("A candidate that is no hit: id, score, reason, why.")]
SectionJson = Annotated[ContextSection, Told("A section of the block: its name, tokens and lines.")]
BlockJson = Annotated[ContextBlock, Told("The block in the messages, as the tool context answers it.")]
UsageJson = Annotated[Usage, Told("What the language model took: calls, tokens, dollars.")]
FindingJson = Annotated[Finding, Told("What is wrong: kind, severity, evidence, says, and a command for it.")]
ApplicationJson = Annotated[Application, Told("One time a rule was followed: outcome, agent, context, created_at.")]
OverviewJson = Annotated[Overview, Told("stats, days, what is newest, most referenced, runs, waiting sessions, ...")]
PoolJson = Annotated[Pool, Told("A pool: name, members, created_at, metadata.")]
RunJson = Annotated[Run, Told("A run: id, kind, status, agent, started_at, report, ...")]
RestoredJson = Annotated[RestoredItem, Told("A memory that is as it was before the run.")]
KeptJson = Annotated[KeptItem, Told("A memory that stays as it is, and why.")]
AgedJson = Annotated[DecayCounts, Told("How many were looked at, are fading, have recovered, have expired.")]
ReportJson = Annotated[ConsolidationReport, Told("groups, episodes, learned, rejected, failures, run_ids, usage, ...")]


def _told(record: Any) -> dict[str, Any]:
    """Each field of a record, but for the request it answers."""
    return {each.name: getattr(record, each.name) for each in fields(record) if each.name != "request_id"}


class Recalled(Result):
    """The hits of a search, best first, and what it had to do without."""

    query: str
    preset: str
    hits: list[HitJson]
    degraded: Wordings
    mode: str
    candidates: int
    evidence: str | None = Field(description="Whether the answer is there: none, weak, strong; null: cannot be told.")
    evidence_score: float | None
    dropped: list[DroppedJson]

    @classmethod
    def of(cls, agent: Agent, answer: Answer) -> Self:
        return cls(**_told(answer), request_id=agent.caller.request_id)


class FromPool(Result):
    """What a pool knows of a question, or `found` false where the agent is in no such pool."""

    found: bool
    answer: Annotated[Answer, Told("The hits, best first, as the tool recall answers.")] | None = None


class Block(Result):
    """A block for a prompt of at most `budget_tokens`, and what it is made of."""

    text: str
    tokens: int
    budget_tokens: int
    sections: list[SectionJson]
    memories: list[MemoryJson]
    clipped: list[str] = Field(description="Ids of memories of which a part stands.")
    left_out: int
    degraded: Wordings

    @classmethod
    def of(cls, agent: Agent, block: ContextBlock) -> Self:
        return cls(**_told(block), request_id=agent.caller.request_id)


class Chat(Result):
    """Messages for a chat that fit into a model's window."""

    messages: list[dict[str, str]]
    tokens: int
    budget: Annotated[WindowBudget, Told("How the window is divided, in tokens.")]
    block: BlockJson
    summarised: list[str] = Field(description="Ids of memories that did not fit, and that a message sums up.")
    degraded: Wordings

    @classmethod
    def of(cls, agent: Agent, made: ContextMessages) -> Self:
        return cls(**_told(made), request_id=agent.caller.request_id)


class Summarized(Result):
    """One text about several memories, or `found` false where the agent does not see one of them."""

    found: bool
    summary: Annotated[Summary, Told("text, strategy, source_ids, tokens, degraded, memory_id, run_id, ...")] | None = (
        None
    )


class Routed(Result):
    """Where an input belongs, and why."""

    route: str
    content: str
    reasons: list[str]
    subject: str | None = Field(description="Of a fact.")
    predicate: str | None = Field(description="Of a fact.")
    key: str | None = Field(description="Of a note.")

    @classmethod
    def of(cls, agent: Agent, found: Routing) -> Self:
        return cls(**_told(found), request_id=agent.caller.request_id)


class Erased(Result):
    """The ids of what is gone for good; what this agent does not see is not among them."""

    erased: list[str]


class Linked(Result):
    """A link as it is there, or `found` false where this agent does not see one of its ends."""

    found: bool
    link: LinkJson | None = None


class Listed(Result):
    """One page of a list."""

    items: list[Any]
    next: str | None = Field(description="`after` of the next page; null: this is the last.")

    @classmethod
    def of(cls, found: Sequence[Record], request_id: str | None = None) -> Self:
        following = found.next if isinstance(found, Page) else None
        return cls(items=list(found), next=following, request_id=request_id)


class Facts(Listed):
    """Facts in the order that the tool tells."""

    items: list[FactJson]


class Links(Listed):
    """Links by their creation."""

    items: list[LinkJson]


class Events(Listed):
    """What was done, the newest first."""

    items: list[EventJson]


class Applications(Listed):
    """How a rule fared, the newest time first."""

    items: list[ApplicationJson]


class Entities(Listed):
    """Entities by name."""

    items: list[EntityJson]


class Parted(Result):
    """A merge that was undone, or `found` false where the tenant knows no such entity."""

    found: bool
    merge: Annotated[EntityMerge, Told("source and target as they are now, facts that went back, ...")] | None = None


class Overviewed(Result):
    """A memory at a glance."""

    overview: OverviewJson


class Audited(Result):
    """What was looked at, and what is wrong with it."""

    at: datetime
    memories: int
    is_complete: bool = Field(description="Whether that was all; if not, the newest.")
    counts: dict[str, int]
    findings: list[FindingJson]

    @classmethod
    def of(cls, agent: Agent, found: Audit) -> Self:
        return cls(**_told(found), request_id=agent.caller.request_id)


class Archived(Result):
    """How many notes were archived."""

    archived: int


class FoundPool(Result):
    """A pool as it is now, or `found` false where this agent is in no such pool."""

    found: bool
    pool: PoolJson | None = None

    @classmethod
    def of(cls, agent: Agent, pool: Pool | None) -> Self:
        return cls(found=pool is not None, pool=pool, request_id=agent.caller.request_id)


class PoolList(Listed):
    """The pools this agent is in, by name."""

    items: list[PoolJson]


class PoolGone(Result):
    """The pool is gone, or `found` false where this agent was in no such pool."""

    found: bool


class Synced(Result):
    """What was copied out of a pool, or `found` false where this agent is in no such pool."""

    found: bool
    sync: Annotated[PoolSync, Told("pool, copied (ids), unchanged, kept (ids of its own facts).")] | None = None


class Runs(Listed):
    """Runs of learning, the newest first."""

    items: list[RunJson]


class UndoneRun(Result):
    """What was taken back, or `found` false where the agent had no such run."""

    found: bool
    run: RunJson | None = None
    restored: list[RestoredJson] = Field(default_factory=list)
    kept: list[KeptJson] = Field(default_factory=list)

    @classmethod
    def of(cls, undone: UndoResult | None) -> Self:
        return cls(found=False) if undone is None else cls(found=True, **_told(undone))


class Learned(Result):
    """What was due, what was learned, what was not and why, what it cost, and the runs that can be undone."""

    report: ReportJson


class Decayed(Result):
    """What faded and expired, or in a dry run would have."""

    tenants: int
    facts: AgedJson
    rules: AgedJson
    dry_run: bool

    @classmethod
    def of(cls, report: DecayReport) -> Self:
        return cls(**_told(report))


class CleanedUp(Result):
    """How many episodes were removed, or in a dry run would have been, and how many there are after it."""

    tenants: int
    expired_deleted: int
    capacity_deleted: int
    remaining: int
    dry_run: bool

    @classmethod
    def of(cls, report: CleanupReport) -> Self:
        return cls(**_told(report))
