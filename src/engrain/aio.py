"""The same memory, awaited: each call runs in a worker thread.

Generated from service.py and agent/ by tools/generate_async.py.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Self

from engrain import service

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from pathlib import Path
    from types import TracebackType

    from engrain.agent import agent, consolidation, entities, graph, hooks, jobs, keys, notes, pools, rules, working
    from engrain.config.tree import Settings
    from engrain.context.block import ContextBlock
    from engrain.context.messages import ContextMessages
    from engrain.domain.access.keys import (
        AccessKey,
        CreatedKey,
        Grant,
    )
    from engrain.domain.access.pools import Pool, PoolSync
    from engrain.domain.entities.graph import (
        EntityObservations,
        GraphEntity,
        GraphRelation,
        KnowledgeGraph,
    )
    from engrain.domain.entities.registry import (
        Enrichment,
        EntityMatch,
        EntityMerge,
        EntityProfile,
    )
    from engrain.domain.maintenance.findings import Audit
    from engrain.domain.maintenance.overview import Overview
    from engrain.domain.maintenance.readiness import Readiness
    from engrain.domain.maintenance.stats import AgentCounts, Stats
    from engrain.domain.memories.hooks import MessageReceipt, RecentTurns, SessionEnd
    from engrain.domain.memories.maturity import Application
    from engrain.domain.memories.notes import (
        Note,
        NoteAnswer,
        NoteCacheStats,
        NoteRelation,
    )
    from engrain.domain.memories.routing import HandledInput, Routing, WorkingStats
    from engrain.domain.pagination import Page
    from engrain.domain.ports import LLM, Clock, Embedder, Ids, NameFinder, Reranker
    from engrain.domain.records import (
        Answer,
        Caller,
        Degraded,
        Entity,
        Episode,
        Event,
        Fact,
        Link,
        MemoryRecord,
        Rule,
    )
    from engrain.domain.requests import Health
    from engrain.domain.runs.completions import Usage
    from engrain.domain.runs.jobs import Job
    from engrain.domain.runs.runs import Run, UndoResult
    from engrain.domain.runs.summaries import Summary
    from engrain.learning.consolidation.extracted_facts import SavedFacts
    from engrain.learning.consolidation.report import ConsolidationReport
    from engrain.learning.reflection.reflections import ReflectionReport
    from engrain.lifecycle.cleanup import CleanupReport
    from engrain.lifecycle.sweep import DecayReport
    from engrain.metrics import Measured
    from engrain.portability.backups import BackupReport
    from engrain.portability.exports import ExportReport
    from engrain.portability.imports import ImportReport
    from engrain.portability.restores import RestoreReport
    from engrain.retrieval.embeddings.reembedding import ReembedReport
    from engrain.verbs import words


class AsyncMemory:
    """A long-term memory whose calls are awaited; `Memory` says what each of them does.

    async with await AsyncMemory.open("agent.db") as memory: ...
    """

    def __init__(self, memory: service.Memory) -> None:
        """Await the calls of a Memory; most callers use `AsyncMemory.open`."""
        self._wrapped = memory

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await asyncio.to_thread(self._wrapped.__exit__, kind, error, trace)

    @classmethod
    async def open(
        cls,
        location: str | Path | None = None,
        *,
        settings: Mapping[str, Any] | Settings | None = None,
        config: str | Path | None = None,
        embedder: Embedder | str | None = None,
        reranker: Reranker | str | None = None,
        name_finder: NameFinder | str | None = None,
        llm: LLM | str | None = None,
        clock: Clock = service.utc_now,
        ids: Ids | None = None,
    ) -> Self:
        """Open the memory at a location, made if missing."""
        return cls(
            await asyncio.to_thread(
                service.Memory.open,
                location,
                settings=settings,
                config=config,
                embedder=embedder,
                reranker=reranker,
                name_finder=name_finder,
                llm=llm,
                clock=clock,
                ids=ids,
            )
        )

    def agent(
        self,
        name: str | None = None,
        *,
        session: str | None = None,
        tenant: str | None = None,
        request_id: str | None = None,
    ) -> AsyncAgent:
        """Return the memory as one agent sees it; cheap, make one for each request."""
        return AsyncAgent(self._wrapped.agent(name, session=session, tenant=tenant, request_id=request_id))

    @property
    def keys(self) -> AsyncKeys:
        """Access keys: create, list, revoke and authenticate them."""
        return AsyncKeys(self._wrapped.keys)

    @property
    def jobs(self) -> AsyncJobs:
        """Background jobs: list, run and retry them."""
        return AsyncJobs(self._wrapped.jobs)

    async def flush(self, progress: words.Progress | None = None) -> None:
        """Make the vectors of all memories that wait for one; `progress` gets the number after each batch."""
        await asyncio.to_thread(self._wrapped.flush, progress)

    async def reembed(self, progress: words.Progress | None = None) -> ReembedReport:
        """Make new vectors of all memories, every tenant's, with the configured embedder, and search by them."""
        return await asyncio.to_thread(self._wrapped.reembed, progress)

    async def health(self) -> Health:
        """Check the database and its indexes, as `engrain doctor` shows them; reads the whole file."""
        return await asyncio.to_thread(self._wrapped.health)

    async def readiness(self) -> Readiness:
        """Check in a few short statements whether this memory can serve: database, schema, embedder, backlog, jobs."""
        return await asyncio.to_thread(self._wrapped.readiness)

    async def metrics(self) -> Measured:
        """Read the counters, timers and gauges of this process and database, as `/metrics` shows them."""
        return await asyncio.to_thread(self._wrapped.metrics)

    @property
    def llm_usage(self) -> Usage:
        """The calls, tokens and cost of the language model in this Memory so far; zeros without one."""
        return self._wrapped.llm_usage

    async def close(self, *, flush: bool = True, wait_s: float = 0.0) -> None:
        """Close the memory: count the last references, make the waiting vectors, release the database."""
        await asyncio.to_thread(self._wrapped.close, flush=flush, wait_s=wait_s)

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self._wrapped.settings

    @property
    def now(self) -> datetime:
        """The time by the clock of this memory: aware, UTC."""
        return self._wrapped.now

    @property
    def embedder(self) -> Embedder | None:
        """The embedder in force; None where searches use keywords alone."""
        return self._wrapped.embedder

    @property
    def without_vectors(self) -> Degraded | None:
        """The reason why a configured embedder is not used; None where it is, or none is configured."""
        return self._wrapped.without_vectors

    @property
    def is_reembedding(self) -> bool:
        """True while the vectors of another embedder are being made (`reembed`)."""
        return self._wrapped.is_reembedding

    async def decay(
        self,
        tenant: words.Tenant | None = None,
        *,
        dry_run: words.DryRun = False,
        progress: words.Progress | None = None,
    ) -> DecayReport:
        """Mark the facts and rules that fade or expire as nobody confirmed them for too long."""
        return await asyncio.to_thread(self._wrapped.decay, tenant, dry_run=dry_run, progress=progress)

    async def cleanup(
        self,
        tenant: words.Tenant | None = None,
        *,
        max_entries: words.MaxEntries | None = None,
        dry_run: words.DryRun = False,
        progress: words.Progress | None = None,
    ) -> CleanupReport:
        """Remove expired episodes for good, and of too many the oldest consolidated ones."""
        return await asyncio.to_thread(
            self._wrapped.cleanup, tenant, max_entries=max_entries, dry_run=dry_run, progress=progress
        )

    async def consolidate(
        self,
        tenant: words.Tenant | None = None,
        *,
        agent: words.OfAgent | None = None,
        session: words.OneSession | None = None,
        exclude_session: words.OtherSession | None = None,
        dry_run: words.DryRun = False,
        max_batches: words.MaxBatches | None = None,
        progress: words.Progress | None = None,
    ) -> ConsolidationReport:
        """Learn facts and rules from the episodes that wait for it."""
        return await asyncio.to_thread(
            self._wrapped.consolidate,
            tenant,
            agent=agent,
            session=session,
            exclude_session=exclude_session,
            dry_run=dry_run,
            max_batches=max_batches,
            progress=progress,
        )

    async def agents(
        self, tenant: words.Tenant | None = None, *, limit: words.PageLimit = 100, after: words.After | None = None
    ) -> Page[AgentCounts]:
        """List the agents of a tenant, or of all, with counts of the live memories that each stored."""
        return await asyncio.to_thread(self._wrapped.agents, tenant, limit=limit, after=after)

    async def runs(
        self,
        agent: words.CallerAgent | None = None,
        *,
        tenant: words.Tenant | None = None,
        kind: words.OfRunKind | None = None,
        limit: words.PageLimit = 50,
        after: words.After | None = None,
    ) -> Page[Run]:
        """List the runs of an agent, newest first: what was learned, when, by whom, with which outcome."""
        return await asyncio.to_thread(self._wrapped.runs, agent, tenant=tenant, kind=kind, limit=limit, after=after)

    async def undo(
        self, run_id: words.RunId, *, agent: words.CallerAgent | None = None, tenant: words.Tenant | None = None
    ) -> UndoResult:
        """Undo a run of an agent in one transaction; what was changed since stays."""
        return await asyncio.to_thread(self._wrapped.undo, run_id, agent=agent, tenant=tenant)

    async def reflect(
        self,
        tenant: words.Tenant | None = None,
        *,
        agent: words.OfAgent | None = None,
        dry_run: words.DryRun = False,
        force: words.Force = False,
        progress: words.Progress | None = None,
    ) -> ReflectionReport:
        """Write a reflection for each agent that learned something of late."""
        return await asyncio.to_thread(
            self._wrapped.reflect, tenant, agent=agent, dry_run=dry_run, force=force, progress=progress
        )

    async def backup(
        self,
        path: words.FilePath,
        *,
        agent: words.OfAgent | None = None,
        tenant: words.Tenant | None = None,
        vectors: words.WithVectors = True,
        progress: words.StepProgress | None = None,
    ) -> BackupReport:
        """Back up an agent, a tenant or the whole database into one file, as of one moment."""
        return await asyncio.to_thread(
            self._wrapped.backup, path, agent=agent, tenant=tenant, vectors=vectors, progress=progress
        )

    async def restore(
        self,
        path: words.FilePath,
        *,
        agent: words.OfAgent | None = None,
        tenant: words.Tenant | None = None,
        replace: words.Replace = False,
        with_erased: words.WithErased = False,
        dry_run: words.DryRun = False,
        progress: words.StepProgress | None = None,
    ) -> RestoreReport:
        """Restore what is missing of a backup, for its own agent or tenant or another one."""
        return await asyncio.to_thread(
            self._wrapped.restore,
            path,
            agent=agent,
            tenant=tenant,
            replace=replace,
            with_erased=with_erased,
            dry_run=dry_run,
            progress=progress,
        )

    async def export(
        self,
        path: words.FilePath,
        *,
        agent: words.CallerAgent | None = None,
        tenant: words.Tenant | None = None,
        format: words.ExportFormat = "jsonl",
        kinds: words.ExportKinds | None = None,
        progress: words.Progress | None = None,
    ) -> ExportReport:
        """Export the memories of an agent into a new file, for people or other systems."""
        return await asyncio.to_thread(
            self._wrapped.export, path, agent=agent, tenant=tenant, format=format, kinds=kinds, progress=progress
        )


class AsyncAgent:
    """The verbs of `Agent`, awaited."""

    __slots__ = ("_wrapped",)

    def __init__(self, wrapped: agent.Agent) -> None:
        """Made by `AsyncMemory.agent`."""
        self._wrapped = wrapped

    @property
    def rules(self) -> AsyncRules:
        """Rules: guidance learned from outcomes, and how it fared."""
        return AsyncRules(self._wrapped.rules)

    @property
    def entities(self) -> AsyncEntities:
        """Entities: the registry of people, places and things that facts are about."""
        return AsyncEntities(self._wrapped.entities)

    @property
    def graph(self) -> AsyncGraph:
        """Graph: entities, observations of them, and their relations."""
        return AsyncGraph(self._wrapped.graph)

    @property
    def notes(self) -> AsyncNotes:
        """Notes: the agent's own, under keys."""
        return AsyncNotes(self._wrapped.notes)

    @property
    def pools(self) -> AsyncPools:
        """Pools: memories shared with some agents of the tenant."""
        return AsyncPools(self._wrapped.pools)

    @property
    def consolidation(self) -> AsyncConsolidation:
        """Consolidation, step by step, for an outside consolidator; `Memory.consolidate` does it by itself."""
        return AsyncConsolidation(self._wrapped.consolidation)

    @property
    def hooks(self) -> AsyncHooks:
        """Hooks: calls of a host around a conversation, which fail open where memory cannot be reached."""
        return AsyncHooks(self._wrapped.hooks)

    @property
    def working(self) -> AsyncWorking:
        """Working memory: messages, tool results and scratchpad of the session, in this process alone."""
        return AsyncWorking(self._wrapped.working)

    async def observe(
        self,
        content: words.Content,
        *,
        role: words.TurnRole = "user",
        speaker: words.Speaker | None = None,
        session: words.Session | None = None,
        event_time: words.EventTime | None = None,
        importance: words.Importance | None = None,
        ttl_days: words.TtlDays | None = None,
        tokens: words.Tokens | None = None,
        model: words.Model | None = None,
        tool_calls: words.ToolCalls | None = None,
        tags: words.Tags | None = None,
        metadata: words.Metadata | None = None,
        idempotency_key: words.IdempotencyKey | None = None,
    ) -> Episode:
        """Remember one turn of a conversation as an episode."""
        return await asyncio.to_thread(
            self._wrapped.observe,
            content,
            role=role,
            speaker=speaker,
            session=session,
            event_time=event_time,
            importance=importance,
            ttl_days=ttl_days,
            tokens=tokens,
            model=model,
            tool_calls=tool_calls,
            tags=tags,
            metadata=metadata,
            idempotency_key=idempotency_key,
        )

    async def remember(
        self,
        content: words.Statement,
        *,
        subject: words.Subject,
        predicate: words.Predicate,
        entity_id: words.AboutEntity | None = None,
        scope: words.Scope | None = None,
        valid_from: words.ValidFrom | None = None,
        valid_to: words.ValidTo | None = None,
        category: words.Category | None = None,
        permanence: words.HowLong = "standard",
        importance: words.Importance | None = None,
        confidence: words.Confidence = 1.0,
        source: words.Source | None = None,
        source_episode_id: words.SourceEpisode | None = None,
        tags: words.Tags | None = None,
        metadata: words.Metadata | None = None,
        idempotency_key: words.IdempotencyKey | None = None,
    ) -> Fact:
        """Remember a fact: `subject` `predicate` `content`; it supersedes the fact in its slot."""
        return await asyncio.to_thread(
            self._wrapped.remember,
            content,
            subject=subject,
            predicate=predicate,
            entity_id=entity_id,
            scope=scope,
            valid_from=valid_from,
            valid_to=valid_to,
            category=category,
            permanence=permanence,
            importance=importance,
            confidence=confidence,
            source=source,
            source_episode_id=source_episode_id,
            tags=tags,
            metadata=metadata,
            idempotency_key=idempotency_key,
        )

    async def correct(
        self,
        id_: words.Id,
        content: words.Statement,
        *,
        valid_from: words.ValidFrom | None = None,
        valid_to: words.ValidTo | None = None,
        confidence: words.Confidence = 1.0,
        source: words.Source | None = None,
        source_episode_id: words.SourceEpisode | None = None,
        metadata: words.Metadata | None = None,
    ) -> Fact:
        """Supersede an active fact by the same statement with other content."""
        return await asyncio.to_thread(
            self._wrapped.correct,
            id_,
            content,
            valid_from=valid_from,
            valid_to=valid_to,
            confidence=confidence,
            source=source,
            source_episode_id=source_episode_id,
            metadata=metadata,
        )

    async def confirm(self, id_: words.Id) -> Fact | Rule:
        """Confirm that a fact or a rule still holds: its decay starts anew."""
        return await asyncio.to_thread(self._wrapped.confirm, id_)

    async def forget(self, id_: words.Id) -> MemoryRecord:
        """Forget a memory: it leaves every search at once, and stays readable by its id. Twice is once."""
        return await asyncio.to_thread(self._wrapped.forget, id_)

    async def erase(self, ids: words.Ids) -> list[str]:
        """Erase memories for good, with their vectors and links; give the ids that went."""
        return await asyncio.to_thread(self._wrapped.erase, ids)

    async def link(
        self,
        source_id: words.LinkSource,
        target_id: words.LinkTarget,
        relation: words.LinkRelation,
        *,
        weight: words.LinkWeight = 1.0,
    ) -> Link:
        """Link one memory to another by a relation; a link that is there stays as it is."""
        return await asyncio.to_thread(self._wrapped.link, source_id, target_id, relation, weight=weight)

    async def summarize(
        self,
        query: words.SummaryQuery | None = None,
        *,
        session: words.SummarySession | None = None,
        ids: words.SummaryIds | None = None,
        strategy: words.SummaryStrategy | None = None,
        target_tokens: words.TargetTokens | None = None,
        store: words.StoreSummary = False,
    ) -> Summary:
        """Summarize a search, a session or some memories in at most `target_tokens`."""
        return await asyncio.to_thread(
            self._wrapped.summarize,
            query,
            session=session,
            ids=ids,
            strategy=strategy,
            target_tokens=target_tokens,
            store=store,
        )

    async def route(
        self, content: words.Content, *, role: words.TurnRole = "user", speaker: words.Speaker | None = None
    ) -> Routing:
        """Say where an input belongs, and why, by its role and English words; nothing is stored."""
        return await asyncio.to_thread(self._wrapped.route, content, role=role, speaker=speaker)

    async def handle(
        self, content: words.Content, *, role: words.TurnRole = "user", speaker: words.Speaker | None = None
    ) -> HandledInput:
        """Store an input where `route` says, hold it in working memory, or answer it by `recall`."""
        return await asyncio.to_thread(self._wrapped.handle, content, role=role, speaker=speaker)

    async def import_file(
        self,
        path: words.FilePath,
        *,
        format: words.ImportFormat = "auto",
        strict: words.Strict = False,
        progress: words.Progress | None = None,
    ) -> ImportReport:
        """Import a file of another system: conversations, memories or Markdown notes."""
        return await asyncio.to_thread(self._wrapped.import_file, path, format=format, strict=strict, progress=progress)

    @property
    def caller(self) -> Caller:
        """The tenant, agent, session and request id that every call carries; its pools are read at each."""
        return self._wrapped.caller

    async def recall(
        self,
        query: words.Query,
        *,
        limit: words.Limit | None = None,
        preset: words.PresetName | None = None,
        kinds: words.Kinds | None = None,
        scope: words.WithinScope | None = None,
        sessions: words.Sessions | None = None,
        exclude_sessions: words.ExcludeSessions | None = None,
        roles: words.Roles | None = None,
        speakers: words.Speakers | None = None,
        subjects: words.Subjects | None = None,
        tags: words.AllTags | None = None,
        since: words.Since | None = None,
        until: words.Until | None = None,
        as_of: words.AsOf | None = None,
        include_inactive: words.IncludeInactive = False,
        min_confidence: words.MinConfidence | None = None,
        deep: words.Deep = False,
        neighbours: words.Neighbours = 0,
        explain: words.Explain = False,
    ) -> Answer:
        """Find the best memories for a question, best first, with the reasons for each hit's rank."""
        return await asyncio.to_thread(
            self._wrapped.recall,
            query,
            limit=limit,
            preset=preset,
            kinds=kinds,
            scope=scope,
            sessions=sessions,
            exclude_sessions=exclude_sessions,
            roles=roles,
            speakers=speakers,
            subjects=subjects,
            tags=tags,
            since=since,
            until=until,
            as_of=as_of,
            include_inactive=include_inactive,
            min_confidence=min_confidence,
            deep=deep,
            neighbours=neighbours,
            explain=explain,
        )

    async def context(
        self,
        query: words.Prompt,
        *,
        budget_tokens: words.BudgetTokens | None = None,
        count_tokens: words.CountTokens | None = None,
        recipe: words.RecipeName | None = None,
        recent_episodes: words.RecentEpisodes | None = None,
        include_superseded: words.IncludeSuperseded = False,
        with_dates: words.WithDates = True,
        with_sources: words.WithSources = False,
    ) -> ContextBlock:
        """Build a Markdown block for a prompt from the best memories that fit its budget."""
        return await asyncio.to_thread(
            self._wrapped.context,
            query,
            budget_tokens=budget_tokens,
            count_tokens=count_tokens,
            recipe=recipe,
            recent_episodes=recent_episodes,
            include_superseded=include_superseded,
            with_dates=with_dates,
            with_sources=with_sources,
        )

    async def messages(
        self,
        asked: words.Prompt,
        *,
        system: words.SystemPrompt = "",
        tools: words.Tools = 0,
        window_tokens: words.WindowTokens | None = None,
        count_tokens: words.CountTokens | None = None,
        recipe: words.RecipeName | None = None,
        recent_episodes: words.RecentEpisodes | None = None,
        summarise: words.Summarise | None = None,
    ) -> ContextMessages:
        """Build chat messages from a system prompt, a context block and a prompt, within a window."""
        return await asyncio.to_thread(
            self._wrapped.messages,
            asked,
            system=system,
            tools=tools,
            window_tokens=window_tokens,
            count_tokens=count_tokens,
            recipe=recipe,
            recent_episodes=recent_episodes,
            summarise=summarise,
        )

    async def get(self, id_: words.Id, *, as_of: words.AsOf | None = None) -> MemoryRecord | None:
        """Read one memory by id, be it live, superseded or forgotten; None where this agent sees none."""
        return await asyncio.to_thread(self._wrapped.get, id_, as_of=as_of)

    async def facts(
        self,
        subject: words.OfSubject | None = None,
        predicate: words.OfPredicate | None = None,
        *,
        as_of: words.AsOf | None = None,
        include_inactive: words.IncludeInactive = False,
        limit: words.PageLimit = 100,
        after: words.After | None = None,
    ) -> Page[Fact]:
        """List the facts about a subject, with a predicate or both, newest first."""
        return await asyncio.to_thread(
            self._wrapped.facts,
            subject,
            predicate,
            as_of=as_of,
            include_inactive=include_inactive,
            limit=limit,
            after=after,
        )

    async def list(
        self,
        kind: words.OfKind | None = None,
        *,
        include_inactive: words.IncludeInactive = False,
        limit: words.PageLimit = 100,
        after: words.After | None = None,
    ) -> Page[MemoryRecord]:
        """List the memories that this agent sees, of one kind or of all, newest first."""
        return await asyncio.to_thread(
            self._wrapped.list, kind, include_inactive=include_inactive, limit=limit, after=after
        )

    async def episodes(
        self,
        session: words.OneSession | None = None,
        *,
        include_inactive: words.IncludeInactive = False,
        limit: words.PageLimit = 100,
        after: words.After | None = None,
    ) -> Page[MemoryRecord]:
        """List the episodes that this agent sees, of one conversation or of all, newest first."""
        return await asyncio.to_thread(
            self._wrapped.episodes, session, include_inactive=include_inactive, limit=limit, after=after
        )

    async def latest_reflection(self) -> Fact | None:
        """Read the newest reflection of this agent (`Memory.reflect`); None before the first."""
        return await asyncio.to_thread(self._wrapped.latest_reflection)

    async def links(
        self, id_: words.Id, *, direction: words.LinkDirection = "both", relation: words.OfRelation | None = None
    ) -> Sequence[Link]:
        """List the links of a memory whose both ends this agent sees, oldest first."""
        return await asyncio.to_thread(self._wrapped.links, id_, direction=direction, relation=relation)

    async def history(self, id_: words.Id) -> Sequence[Fact]:
        """List every fact that was ever in the slot of this one, oldest first."""
        return await asyncio.to_thread(self._wrapped.history, id_)

    async def events(
        self,
        id_: words.OfMemory | None = None,
        *,
        event_type: words.EventType | None = None,
        limit: words.PageLimit = 100,
        after: words.After | None = None,
    ) -> Page[Event]:
        """List the changes of one memory, or of all that this agent sees, newest first."""
        return await asyncio.to_thread(self._wrapped.events, id_, event_type=event_type, limit=limit, after=after)

    async def stats(self, *, scope: words.WithinScope | None = None) -> Stats:
        """Count the memories of this agent by kind and state."""
        return await asyncio.to_thread(self._wrapped.stats, scope=scope)

    async def overview(self, *, days: words.Days = 30, limit: words.MostOfEach = 10) -> Overview:
        """Show counts, activity by day, newest and most used memories, entities, runs and backlog."""
        return await asyncio.to_thread(self._wrapped.overview, days=days, limit=limit)

    async def audit(
        self,
        *,
        kinds: words.FindingKinds | None = None,
        limit: words.PageLimit = 100,
        skip: words.Skip = 0,
        unused_days: words.UnusedDays = 30.0,
        progress: words.Progress | None = None,
    ) -> Audit:
        """Audit the memories for problems, with evidence and a command for each finding; change nothing."""
        return await asyncio.to_thread(
            self._wrapped.audit, kinds=kinds, limit=limit, skip=skip, unused_days=unused_days, progress=progress
        )


class AsyncRules:
    """The verbs of `Rules`, awaited."""

    __slots__ = ("_wrapped",)

    def __init__(self, wrapped: rules.Rules) -> None:
        """Made by `AsyncAgent.rules`."""
        self._wrapped = wrapped

    async def add(
        self,
        content: words.Guidance,
        *,
        scope: words.Scope | None = None,
        source_episode_id: words.SourceEpisode | None = None,
        tags: words.Tags | None = None,
        metadata: words.Metadata | None = None,
        idempotency_key: words.IdempotencyKey | None = None,
    ) -> Rule:
        """Remember a rule: a candidate of confidence 0.5, until outcomes speak for or against it."""
        return await asyncio.to_thread(
            self._wrapped.add,
            content,
            scope=scope,
            source_episode_id=source_episode_id,
            tags=tags,
            metadata=metadata,
            idempotency_key=idempotency_key,
        )

    async def mark_helpful(self, id_: words.RuleId) -> Rule:
        """Mark that following a rule helped; a rule that often helps is established, and in time proven."""
        return await asyncio.to_thread(self._wrapped.mark_helpful, id_)

    async def mark_harmful(self, id_: words.RuleId, reason: words.HarmReason | None = None) -> Rule:
        """Mark that following a rule did harm, which weighs as much as four helps, and why."""
        return await asyncio.to_thread(self._wrapped.mark_harmful, id_, reason)

    async def applications(
        self, id_: words.RuleId, *, limit: words.PageLimit = 100, after: words.After | None = None
    ) -> Page[Application]:
        """List the outcomes of a rule each time it was marked, newest first."""
        return await asyncio.to_thread(self._wrapped.applications, id_, limit=limit, after=after)


class AsyncEntities:
    """The verbs of `Entities`, awaited."""

    __slots__ = ("_wrapped",)

    def __init__(self, wrapped: entities.Entities) -> None:
        """Made by `AsyncAgent.entities`."""
        self._wrapped = wrapped

    async def create(
        self,
        name: words.EntityName,
        entity_type: words.TypeOfEntity = "other",
        *,
        aliases: words.Aliases | None = None,
        metadata: words.Metadata | None = None,
    ) -> Entity:
        """Add an entity to the registry under its canonical name."""
        return await asyncio.to_thread(self._wrapped.create, name, entity_type, aliases=aliases, metadata=metadata)

    async def get(self, id_: words.EntityId) -> Entity | None:
        """Read one entity by id; None where the tenant has none of that id."""
        return await asyncio.to_thread(self._wrapped.get, id_)

    async def update(
        self,
        id_: words.EntityId,
        *,
        name: words.NewEntityName | None = None,
        aliases: words.Aliases | None = None,
        metadata: words.MergedMetadata | None = None,
    ) -> Entity:
        """Rename an entity, replace its aliases, or add to its metadata."""
        return await asyncio.to_thread(self._wrapped.update, id_, name=name, aliases=aliases, metadata=metadata)

    async def find(
        self,
        *,
        entity_type: words.OfEntityType | None = None,
        after: words.After | None = None,
        limit: words.PageLimit = 100,
    ) -> Page[Entity]:
        """List the entities of the registry by canonical name, then type, without tombstones."""
        return await asyncio.to_thread(self._wrapped.find, entity_type=entity_type, after=after, limit=limit)

    async def resolve(
        self,
        name: words.EntityName,
        *,
        entity_type: words.OfEntityType | None = None,
        hints: words.NameHints | None = None,
        fuzzy: words.Fuzzy = False,
        limit: words.Limit | None = None,
    ) -> list[EntityMatch]:
        """Rank the entities that a name may mean, the likeliest first; create none."""
        return await asyncio.to_thread(
            self._wrapped.resolve, name, entity_type=entity_type, hints=hints, fuzzy=fuzzy, limit=limit
        )

    async def merge(self, source_id: words.MergeSource, target_id: words.MergeTarget) -> EntityMerge:
        """Merge one entity into another: facts, mentions, aliases and metadata move to the target."""
        return await asyncio.to_thread(self._wrapped.merge, source_id, target_id)

    async def unmerge(self, source_id: words.MergedEntity) -> EntityMerge:
        """Undo the merge of an entity: its facts, mentions and aliases go back to it."""
        return await asyncio.to_thread(self._wrapped.unmerge, source_id)

    async def profile(self, id_or_name: words.EntityIdOrName) -> EntityProfile:
        """Show an entity's facts with their history, episodes, rules and related entities."""
        return await asyncio.to_thread(self._wrapped.profile, id_or_name)

    async def enrich(
        self, ids: words.Ids, *, strategy: words.EnrichStrategy = "accurate", publish: words.Publish = False
    ) -> Enrichment:
        """Read memories for the names in them, and link them to the entities they mention."""
        return await asyncio.to_thread(self._wrapped.enrich, ids, strategy=strategy, publish=publish)

    async def enrich_waiting(
        self,
        *,
        most_entities: words.MostEntities = 2,
        limit: words.PageLimit = 50,
        publish: words.Publish = False,
        progress: words.Progress | None = None,
    ) -> Enrichment:
        """Enrich the newest episodes and facts that `to_enrich` lists, with the name finder."""
        return await asyncio.to_thread(
            self._wrapped.enrich_waiting, most_entities=most_entities, limit=limit, publish=publish, progress=progress
        )

    async def to_enrich(self, *, most_entities: words.MostEntities = 2, limit: words.PageLimit = 50) -> list[str]:
        """List the ids of the newest episodes and facts that mention few entities and were never enriched."""
        return await asyncio.to_thread(self._wrapped.to_enrich, most_entities=most_entities, limit=limit)


class AsyncGraph:
    """The verbs of `Graph`, awaited."""

    __slots__ = ("_wrapped",)

    def __init__(self, wrapped: graph.Graph) -> None:
        """Made by `AsyncAgent.graph`."""
        self._wrapped = wrapped

    async def create_entities(self, entities: words.NewNodes) -> list[GraphEntity]:
        """Add entities with their observations; give those whose name was new."""
        return await asyncio.to_thread(self._wrapped.create_entities, entities)

    async def create_relations(self, relations: words.Relations) -> list[GraphRelation]:
        """Add relations between entities; give those that were new. Their ends need not be known."""
        return await asyncio.to_thread(self._wrapped.create_relations, relations)

    async def add_observations(self, observations: words.Observations) -> list[EntityObservations]:
        """Add observations to entities that are there; give the texts that were new."""
        return await asyncio.to_thread(self._wrapped.add_observations, observations)

    async def delete_entities(self, names: words.NodeNames) -> list[str]:
        """Forget entities with their observations and relations; give the names that were there."""
        return await asyncio.to_thread(self._wrapped.delete_entities, names)

    async def delete_observations(self, observations: words.Observations) -> int:
        """Forget observations of entities; give the number of facts that said them."""
        return await asyncio.to_thread(self._wrapped.delete_observations, observations)

    async def delete_relations(self, relations: words.Relations) -> int:
        """Forget relations between entities; give the number of facts that said them."""
        return await asyncio.to_thread(self._wrapped.delete_relations, relations)

    async def read(self) -> KnowledgeGraph:
        """Read the whole graph, the oldest entities first."""
        return await asyncio.to_thread(self._wrapped.read)

    async def search(self, query: words.GraphQuery) -> KnowledgeGraph:
        """Find the entities whose name, type or observations hold a text, with their relations."""
        return await asyncio.to_thread(self._wrapped.search, query)

    async def open(self, names: words.NodeNames) -> KnowledgeGraph:
        """Read the entities of exactly these names, with their relations."""
        return await asyncio.to_thread(self._wrapped.open, names)


class AsyncNotes:
    """The verbs of `Notes`, awaited."""

    __slots__ = ("_wrapped",)

    def __init__(self, wrapped: notes.Notes) -> None:
        """Made by `AsyncAgent.notes`."""
        self._wrapped = wrapped

    async def save(self, key: words.NoteKey, content: words.NoteText) -> Note:
        """Save a note under a key; it supersedes the one that was there (`Agent.history` keeps that)."""
        return await asyncio.to_thread(self._wrapped.save, key, content)

    async def recall(self, key: words.NoteKey) -> Note | None:
        """Read the note under a key; None where there is none."""
        return await asyncio.to_thread(self._wrapped.recall, key)

    async def list(self, limit: words.PageLimit = 100, *, after: words.After | None = None) -> Page[Note]:
        """List the notes, newest first."""
        return await asyncio.to_thread(self._wrapped.list, limit, after=after)

    async def list_by_category(
        self, category: words.NoteCategory, limit: words.PageLimit = 20, *, after: words.After | None = None
    ) -> Page[Note]:
        """List the notes of one category, newest first."""
        return await asyncio.to_thread(self._wrapped.list_by_category, category, limit, after=after)

    async def related(self, note: words.NoteKeyOrId, limit: words.PageLimit = 10) -> Sequence[NoteRelation]:
        """List the notes that share words with one, the most alike first, then the newest."""
        return await asyncio.to_thread(self._wrapped.related, note, limit)

    async def search(
        self,
        query: words.Query,
        *,
        mode: words.NoteMode = "fast",
        limit: words.Limit | None = None,
        category: words.PreferredCategory | None = None,
        min_similarity: words.MinSimilarity = 0.0,
    ) -> NoteAnswer:
        """Find the best notes for a question by the ranking `notes`, with the channel of each hit."""
        return await asyncio.to_thread(
            self._wrapped.search, query, mode=mode, limit=limit, category=category, min_similarity=min_similarity
        )

    async def forget(self, key: words.NoteKey) -> Note:
        """Forget the note under a key: it leaves every search at once, and stays readable by its id."""
        return await asyncio.to_thread(self._wrapped.forget, key)

    async def summarize_old(self, older_than_days: words.OlderThanDays = 30) -> int:
        """Supersede groups of old notes by one summary each, without a model; give the number of notes."""
        return await asyncio.to_thread(self._wrapped.summarize_old, older_than_days)

    async def invalidate(self) -> int:
        """Drop this agent's notes from the cache; give their number."""
        return await asyncio.to_thread(self._wrapped.invalidate)

    async def clear_cache(self) -> None:
        """Drop every agent's notes from the cache of this Memory."""
        await asyncio.to_thread(self._wrapped.clear_cache)

    async def cache_stats(self) -> NoteCacheStats:
        """Count this agent's notes in the cache, and the hits and misses of its recalls."""
        return await asyncio.to_thread(self._wrapped.cache_stats)


class AsyncPools:
    """The verbs of `Pools`, awaited."""

    __slots__ = ("_wrapped",)

    def __init__(self, wrapped: pools.Pools) -> None:
        """Made by `AsyncAgent.pools`."""
        self._wrapped = wrapped

    async def create(
        self, name: words.PoolName, members: words.PoolMembers | None = None, *, metadata: words.Metadata | None = None
    ) -> Pool:
        """Create a pool of this agent and other members; only they see its memories."""
        return await asyncio.to_thread(self._wrapped.create, name, members, metadata=metadata)

    async def list(self) -> list[Pool]:
        """List the pools that this agent is in, by name."""
        return await asyncio.to_thread(self._wrapped.list)

    async def add(self, name: words.PoolName, member: words.PoolMember) -> Pool:
        """Add an agent of the tenant to a pool; it sees the whole pool at once. Twice is once."""
        return await asyncio.to_thread(self._wrapped.add, name, member)

    async def remove(self, name: words.PoolName, member: words.PoolMember) -> Pool:
        """Remove a member from a pool, or leave it; its next call sees nothing of it. Twice is once."""
        return await asyncio.to_thread(self._wrapped.remove, name, member)

    async def delete(self, name: words.PoolName) -> None:
        """Delete an empty pool."""
        await asyncio.to_thread(self._wrapped.delete, name)

    async def contribute(self, name: words.PoolName, id_: words.Id) -> MemoryRecord:
        """Copy a memory that this agent sees into a pool; the copy is linked `derived_from` it."""
        return await asyncio.to_thread(self._wrapped.contribute, name, id_)

    async def query(
        self,
        name: words.PoolName,
        query: words.Query,
        *,
        limit: words.Limit | None = None,
        preset: words.PresetName | None = None,
    ) -> Answer:
        """Find the best memories of a pool for a question, best first, as `Agent.recall` does."""
        return await asyncio.to_thread(self._wrapped.query, name, query, limit=limit, preset=preset)

    async def sync_to_agent(self, name: words.PoolName) -> PoolSync:
        """Copy the facts and rules of others in a pool into this agent's own scope, to stay there."""
        return await asyncio.to_thread(self._wrapped.sync_to_agent, name)


class AsyncConsolidation:
    """The verbs of `Consolidation`, awaited."""

    __slots__ = ("_wrapped",)

    def __init__(self, wrapped: consolidation.Consolidation) -> None:
        """Made by `AsyncAgent.consolidation`."""
        self._wrapped = wrapped

    async def is_session_consolidated(self, session: words.OneSession) -> bool:
        """Check whether this agent has episodes in a session and none of them waits for consolidation."""
        return await asyncio.to_thread(self._wrapped.is_session_consolidated, session)

    async def episodes(
        self, session: words.OneSession, *, page: words.PageNumber = 0, limit: words.PageLimit = 30
    ) -> list[Episode]:
        """Read a page of the episodes of a session, in their order; empty past the last one."""
        return await asyncio.to_thread(self._wrapped.episodes, session, page=page, limit=limit)

    async def save_facts(self, facts: words.ExtractedFacts, *, scope: words.Scope | None = None) -> SavedFacts:
        """Store extracted facts, each once: repeats are dropped, and known facts confirmed."""
        return await asyncio.to_thread(self._wrapped.save_facts, facts, scope=scope)

    async def detect_conflicts(self, fact_id: words.FactId) -> list[Fact]:
        """Find active facts of the same subject that may contradict one, by a hybrid search."""
        return await asyncio.to_thread(self._wrapped.detect_conflicts, fact_id)

    async def resolve_conflict(self, old_id: words.DoubtedFact, new_id: words.StandingFact) -> Fact:
        """Lower the confidence of an older fact to 0.3 at most, as a newer one contradicts it."""
        return await asyncio.to_thread(self._wrapped.resolve_conflict, old_id, new_id)

    async def mark_session(self, session: words.OneSession) -> int:
        """Mark all of a session as consolidated; give the number of episodes that waited."""
        return await asyncio.to_thread(self._wrapped.mark_session, session)


class AsyncWorking:
    """The verbs of `Working`, awaited."""

    __slots__ = ("_wrapped",)

    def __init__(self, wrapped: working.Working) -> None:
        """Made by `AsyncAgent.working`."""
        self._wrapped = wrapped

    async def append(
        self,
        content: words.Content,
        *,
        role: words.TurnRole = "user",
        speaker: words.Speaker | None = None,
        event_time: words.EventTime | None = None,
        tokens: words.Tokens | None = None,
        tool_calls: words.ToolCalls | None = None,
        metadata: words.Metadata | None = None,
        idempotency_key: words.IdempotencyKey | None = None,
    ) -> WorkingStats:
        """Add a message to the session; the oldest become episodes where there are too many tokens."""
        return await asyncio.to_thread(
            self._wrapped.append,
            content,
            role=role,
            speaker=speaker,
            event_time=event_time,
            tokens=tokens,
            tool_calls=tool_calls,
            metadata=metadata,
            idempotency_key=idempotency_key,
        )

    async def tool_result(self, name: words.ToolName, value: words.ToolValue) -> WorkingStats:
        """Store the answer of a tool under its name, in place of an earlier one."""
        return await asyncio.to_thread(self._wrapped.tool_result, name, value)

    async def tool_results(self) -> dict[str, Any]:
        """Read the answers of tools, by name."""
        return await asyncio.to_thread(self._wrapped.tool_results)

    async def scratchpad(self) -> str:
        """Read the scratchpad of the session."""
        return await asyncio.to_thread(self._wrapped.scratchpad)

    async def write_scratchpad(self, text: words.ScratchpadText) -> str:
        """Replace the text of the scratchpad."""
        return await asyncio.to_thread(self._wrapped.write_scratchpad, text)

    async def messages(self) -> list[Episode]:
        """List the messages of the session that are not stored yet, oldest first."""
        return await asyncio.to_thread(self._wrapped.messages)

    async def flush(self) -> WorkingStats:
        """Store all messages as episodes."""
        return await asyncio.to_thread(self._wrapped.flush)

    async def clear(self) -> None:
        """Drop messages, tool results and scratchpad; none of them becomes an episode."""
        await asyncio.to_thread(self._wrapped.clear)

    async def stats(self) -> WorkingStats:
        """Count the messages, tokens and tool results of the session."""
        return await asyncio.to_thread(self._wrapped.stats)


class AsyncKeys:
    """The verbs of `Keys`, awaited."""

    __slots__ = ("_wrapped",)

    def __init__(self, wrapped: keys.Keys) -> None:
        """Made by `AsyncMemory.keys`."""
        self._wrapped = wrapped

    async def create(
        self,
        *,
        role: words.KeyRole,
        tenant: words.Tenant | None = None,
        agent: words.OfAgent | None = None,
        name: words.KeyName | None = None,
        expires_at: words.ExpiresAt | None = None,
    ) -> CreatedKey:
        """Create a key; its secret is in this answer and nowhere else, as only a digest is stored."""
        return await asyncio.to_thread(
            self._wrapped.create, role=role, tenant=tenant, agent=agent, name=name, expires_at=expires_at
        )

    async def list(self, *, tenant: words.Tenant | None = None, agent: words.OfAgent | None = None) -> list[AccessKey]:
        """List the keys of a tenant, or of one of its agents, newest first."""
        return await asyncio.to_thread(self._wrapped.list, tenant=tenant, agent=agent)

    async def revoke(
        self, key_id: words.KeyId, *, tenant: words.Tenant | None = None, agent: words.BoundAgent | None = None
    ) -> AccessKey:
        """Revoke a key of a tenant, or of one of its agents, in any process. Twice is once."""
        return await asyncio.to_thread(self._wrapped.revoke, key_id, tenant=tenant, agent=agent)

    async def authenticate(self, secret: words.Secret) -> Grant:
        """Return the tenant, agent and role of a key's secret; its use is written to the minute."""
        return await asyncio.to_thread(self._wrapped.authenticate, secret)


class AsyncHooks:
    """The verbs of `Hooks`, awaited."""

    __slots__ = ("_wrapped",)

    def __init__(self, wrapped: hooks.Hooks) -> None:
        """Made by `AsyncAgent.hooks`."""
        self._wrapped = wrapped

    async def session_start(
        self, prompt: words.Prompt, *, budget_tokens: words.BudgetTokens | None = None
    ) -> ContextBlock:
        """Begin a session: give the context block for a prompt, or an empty one that says why."""
        return await asyncio.to_thread(self._wrapped.session_start, prompt, budget_tokens=budget_tokens)

    async def message(
        self,
        content: words.Content,
        *,
        role: words.TurnRole = "user",
        speaker: words.Speaker | None = None,
        event_time: words.EventTime | None = None,
        tokens: words.Tokens | None = None,
        model: words.Model | None = None,
        tool_calls: words.ToolCalls | None = None,
        tags: words.Tags | None = None,
        metadata: words.Metadata | None = None,
        idempotency_key: words.IdempotencyKey | None = None,
        durable: words.Durable = True,
    ) -> MessageReceipt:
        """Remember one turn of the session, with links to the entities it mentions, in one transaction."""
        return await asyncio.to_thread(
            self._wrapped.message,
            content,
            role=role,
            speaker=speaker,
            event_time=event_time,
            tokens=tokens,
            model=model,
            tool_calls=tool_calls,
            tags=tags,
            metadata=metadata,
            idempotency_key=idempotency_key,
            durable=durable,
        )

    async def recent(self, limit: words.PageLimit = 20) -> RecentTurns:
        """Read the newest turns of the session, oldest first, from Redis or the database."""
        return await asyncio.to_thread(self._wrapped.recent, limit)

    async def session_end(self) -> SessionEnd:
        """End the session: store what waits in this process, and start to consolidate its episodes."""
        return await asyncio.to_thread(self._wrapped.session_end)


class AsyncJobs:
    """The verbs of `Jobs`, awaited."""

    __slots__ = ("_wrapped",)

    def __init__(self, wrapped: jobs.Jobs) -> None:
        """Made by `AsyncMemory.jobs`."""
        self._wrapped = wrapped

    async def list(
        self,
        *,
        tenant: words.Tenant | None = None,
        name: words.OfJobName | None = None,
        status: words.OfJobStatus | None = None,
        limit: words.PageLimit = 50,
    ) -> list[Job]:
        """List the jobs of a tenant, or of all and of the whole database, newest first."""
        return await asyncio.to_thread(self._wrapped.list, tenant=tenant, name=name, status=status, limit=limit)

    async def run(
        self, name: words.NameOfJob, *, tenant: words.Tenant | None = None, enqueue: words.Enqueue = False
    ) -> Job:
        """Run a job now, for one tenant or for all, in this process; or leave it to a worker."""
        return await asyncio.to_thread(self._wrapped.run, name, tenant=tenant, enqueue=enqueue)

    async def retry(self, job_id: words.JobId, *, tenant: words.Tenant | None = None) -> Job:
        """Let a worker try a dead letter again, as often as at first."""
        return await asyncio.to_thread(self._wrapped.retry, job_id, tenant=tenant)
