"""Memory: opens, wires and closes; what an agent does with it is in `agent`. The only place that wires the rooms."""

from __future__ import annotations

import os
import threading
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Self

from engrain.agent import Agent
from engrain.agent.parts import Parts, agent_name
from engrain.agent.references import References
from engrain.agent.workers import Workers
from engrain.config import Settings, key_for, load
from engrain.domain import checks
from engrain.domain.decay import DecayPolicy
from engrain.domain.ids import IdSource
from engrain.domain.records import Caller
from engrain.errors import InvalidInput, MemoryClosed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path
    from types import TracebackType

    from engrain.domain.completions import Usage
    from engrain.domain.ports import LLM, Clock, Embedder, Ids, NameFinder, Reranker, Store
    from engrain.domain.requests import Act, Health
    from engrain.domain.runs import Run, Undone
    from engrain.engines.metered import MeteredLLM
    from engrain.learning.reflection import ReflectionReport
    from engrain.learning.report import ConsolidationReport
    from engrain.lifecycle.cleanup import CleanupReport
    from engrain.lifecycle.sweep import DecayReport
    from engrain.retrieval.reembedding import ReembedReport


_MOST_ENTRIES = 1_000_000_000_000


def utc_now() -> datetime:
    """The default clock."""
    return datetime.now(UTC)


def embedder_of(settings: Settings, spec: str | None = None) -> Embedder | None:
    """The embedder that the settings name, or else `spec`, reached as they say; None for `"none"`.

    Raises:
        InvalidInput: no such embedder, or a key that is none.
    """
    from engrain import engines

    name = settings.embedding.model if spec is None else spec
    key = key_for(name, url=settings.embedding.url, key=settings.embedding.key)
    return engines.embedder(
        name,
        threads=settings.embedding.threads,
        dims=settings.embedding.dims,
        reach=engines.Reach(url=settings.embedding.url, key=key),
    )


def llm_of(settings: Settings, spec: str | None = None) -> LLM | None:
    """The language model that the settings name, or else `spec`, reached as they say; None for `"none"`.

    Raises:
        InvalidInput: no such model, a command that is none, or a key that is none.
    """
    from engrain import engines
    from engrain.engines.answers import Limits

    chosen = settings.llm
    name = chosen.model if spec is None else spec
    key = key_for(name, url=chosen.url, key=chosen.key)
    limits = Limits(attempts=chosen.attempts, max_tokens=chosen.max_tokens)
    return engines.llm(name, reach=engines.Reach(url=chosen.url, key=key), limits=limits, command=chosen.command)


def reranker_of(settings: Settings, spec: str | None = None, *, llm: LLM | None = None) -> Reranker | None:
    """The re-ranker that the settings name, or else `spec`, reached as they say; None for `"none"`, `llm` for `"llm"`.

    Raises:
        InvalidInput: no such re-ranker, one without an address, a key that is none, or `"llm"` without one.
    """
    from engrain import engines

    name = settings.reranking.model if spec is None else spec
    key = key_for(name, url=settings.reranking.url, key=settings.reranking.key)
    return engines.reranker(name, reach=engines.Reach(url=settings.reranking.url, key=key), llm=llm)


class Memory:
    """A long-term memory: owns the database, the engines and the background work. Thread-safe; close it when done."""

    def __init__(
        self,
        store: Store,
        *,
        embedder: Embedder | None = None,
        reranker: Reranker | None = None,
        name_finder: NameFinder | None = None,
        llm: LLM | None = None,
        settings: Settings | None = None,
        clock: Clock = utc_now,
        ids: Ids | None = None,
    ) -> None:
        """Wire parts of your own; most callers use `Memory.open`."""
        from engrain.agent.learner import Learner
        from engrain.agent.note_cache import NoteCache
        from engrain.retrieval import deep
        from engrain.retrieval.checked_embedder import checked, usable_with
        from engrain.retrieval.custom_presets import with_custom, with_weights
        from engrain.retrieval.embedding_queue import EmbeddingQueue

        settings = settings or load()
        ranking = settings.retrieval
        shipped = with_weights(score=ranking.score_weights.model_dump(), hybrid=ranking.hybrid_weights.model_dump())
        presets = with_custom(ranking.presets, shipped)
        workers = Workers(max_parallel=settings.llm.max_parallel)
        asked = checked(embedder)
        usable, without_vectors = usable_with(store, asked)
        self._decay = DecayPolicy(
            curve=settings.decay.curve,
            anchor=settings.decay.anchor,
            fading_below=settings.decay.fading_below,
            expired_below=settings.decay.expired_below,
        )
        self._settings = settings
        self._process = os.getpid()
        self._changing = threading.Lock()
        self._parts: Parts | None = Parts(
            store=store,
            queue=EmbeddingQueue(store, usable),
            settings=settings,
            clock=clock,
            ids=ids or IdSource(clock),
            embedder=_caching(usable, settings),
            reranker=deep.checked(reranker),
            name_finder=name_finder,
            llm=_metered(llm, settings),
            asked_embedder=asked,
            without_vectors=without_vectors,
            presets=presets,
            workers=workers,
            learner=Learner(),
            references=References(store, workers),
            note_cache=NoteCache(settings.notes.cache_entries, ttl_s=settings.notes.cache_ttl_s),
        )

    @classmethod
    def open(
        cls,
        location: str | Path | None = None,
        *,
        settings: Mapping[str, Any] | Settings | None = None,
        config: str | Path | None = None,
        embedder: Embedder | str | None = None,
        reranker: Reranker | str | None = None,
        name_finder: NameFinder | str | None = None,
        llm: LLM | str | None = None,
        clock: Clock = utc_now,
        ids: Ids | None = None,
    ) -> Self:
        """The memory at `location` (path, `postgresql://...` or ":memory:", else the setting `db`), made if missing.

        `settings` are nested by section, over the environment and the TOML file `config` (ENGRAIN_CONFIG, else the
        engrain.toml of the working folder), which may be a host's with a table `[modules.memory]`; or they are what
        `engrain.config.load` made of all that before.

        `embedder`, `reranker` (which deep searches ask), `name_finder` (whom `entities.enrich` asks) and `llm` (asked
        where a language model helps) are a `provider:model`, an object of your own, or None for the settings' choice.
        `clock` and `ids` give the time (aware, UTC) and fresh ids; tests inject them.

        Raises:
            InvalidInput: an unknown setting or engine, a file that is no TOML, or a location that is no path.
            NotAnEngrainFile, SchemaTooNew, DatabaseReadOnly, DatabaseDamaged: the file was left as it is.
        """
        from engrain import engines
        from engrain.retrieval.checked_embedder import checked
        from engrain.storage import open_store

        chosen = _settled(settings, config)
        if embedder is None or isinstance(embedder, str):
            embedder = embedder_of(chosen, embedder)
        embedder = checked(embedder)
        metered = _metered(llm_of(chosen, llm) if llm is None or isinstance(llm, str) else llm, chosen)
        if reranker is None or isinstance(reranker, str):
            reranker = reranker_of(chosen, reranker, llm=metered)
        if name_finder is None or isinstance(name_finder, str):
            name = chosen.entities.name_finder if name_finder is None else name_finder
            name_finder = engines.name_finder(name, llm=metered, timeout_s=chosen.llm.timeout_s)
        store = open_store(
            chosen.db if location is None else location,
            busy_timeout_s=chosen.storage.busy_timeout_s,
            synchronous=chosen.storage.synchronous,
            pool_size=chosen.storage.pool_size,
        )
        try:
            return cls(
                store,
                embedder=embedder,
                reranker=reranker,
                name_finder=name_finder,
                llm=metered,
                settings=chosen,
                clock=clock,
                ids=ids,
            )
        except BaseException:
            store.close()
            raise

    def agent(
        self,
        name: str | None = None,
        *,
        session: str | None = None,
        tenant: str | None = None,
        request_id: str | None = None,
    ) -> Agent:
        """The same memory as one agent sees it; cheap, make one for each request."""
        caller = Caller(
            tenant_id=checks.name(self.settings.tenant if tenant is None else tenant, what="tenant"),
            agent=agent_name(self.settings.agent if name is None else name),
            session=checks.optional_name(session, what="session"),
            request_id=checks.optional_name(request_id, what="request_id"),
        )
        return Agent(lambda: self.parts, caller)

    def flush(self, progress: Callable[[int], None] | None = None) -> None:
        """Make the vectors of everything that waits for one, telling `progress` how many after each batch.

        Raises:
            EngineUnavailable: the embedder cannot work; what is left stays queued.
        """
        self.parts.queue.drain(progress)

    def reembed(self, progress: Callable[[int], None] | None = None) -> ReembedReport:
        """Make the vectors of all memories, every tenant's, with this Memory's embedder, and search by them.

        For a database whose vectors are of another embedder. Its searches go on all the while, and change over at once
        when every memory has its new vector; other processes search by words alone from then on until they open it
        with this embedder. What is made is kept: call it again after it was stopped. `progress` is told after each
        batch how many it embedded.

        Raises:
            InvalidInput: no embedder is configured, or the vectors of yet another one are being made.
            EngineUnavailable: the embedder cannot work, or refuses the texts that the message names; nothing is lost,
                and searches are as before.
        """
        from engrain.retrieval.embedding_queue import EmbeddingQueue
        from engrain.retrieval.reembedding import reembed

        parts = self.parts
        embedder = parts.asked_embedder
        if embedder is None:
            raise InvalidInput("no embedder is configured; open the memory with the one whose vectors you want")
        report = reembed(parts.store, embedder, parts.act(self.agent().caller), progress=progress)
        if parts.embedder is None:
            queue = EmbeddingQueue(parts.store, embedder)
            kept = _caching(embedder, parts.settings)
            with self._changing:
                if self._parts is parts:  # or it was closed meanwhile
                    self._parts = replace(parts, embedder=kept, queue=queue, without_vectors=None)
            parts.queue.close(flush=False)
        return report

    def decay(
        self, tenant: str | None = None, *, dry_run: bool = False, progress: Callable[[int], None] | None = None
    ) -> DecayReport:
        """Let the facts and rules of one tenant, or of all, fade and expire that nobody confirmed for too long.

        What fades is found as before and says so in `metadata["status"]`; what expired is out of the searches and stays
        readable. The settings `decay` say when. Made to be run once a day; a second run changes nothing, and one after
        a run that was stopped does the rest. A dry run only counts. `progress` is told after each batch how many it
        looked at.
        """
        from engrain.lifecycle.sweep import sweep

        try:
            return sweep(self.parts.store, self._acts(tenant), self._decay, dry_run=dry_run, progress=progress)
        finally:
            self.parts.note_cache.clear()

    def cleanup(
        self,
        tenant: str | None = None,
        *,
        max_entries: int | None = None,
        dry_run: bool = False,
        progress: Callable[[int], None] | None = None,
    ) -> CleanupReport:
        """Remove the episodes of one tenant, or of all, that ran out, and of too many the oldest consolidated ones.

        `max_entries` is how many of a tenant may stay (the setting `cleanup.max_entries`); what is not consolidated and
        has not run out stays anyway. What is removed cannot be read again; facts and rules learned from it stay. A
        second run changes nothing; a dry run only counts. `progress` is told after each batch how many it removed.

        Raises:
            InvalidInput: `max_entries` is no number from 0 on.
        """
        from engrain.domain.retention import Retention
        from engrain.lifecycle.cleanup import cleanup

        most = self.settings.cleanup.max_entries
        if max_entries is not None:
            most = checks.count(max_entries, what="max_entries", high=_MOST_ENTRIES)
        kept = Retention(expired_days=self.settings.cleanup.retention_days, max_entries=most)
        return cleanup(self.parts.store, self._acts(tenant), kept, dry_run=dry_run, progress=progress)

    def consolidate(
        self,
        tenant: str | None = None,
        *,
        agent: str | None = None,
        session: str | None = None,
        exclude_session: str | None = None,
        dry_run: bool = False,
        max_batches: int | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> ConsolidationReport:
        """Learn facts and rules from the episodes that wait for it: of one tenant or agent, or of all.

        The language model is asked about them in batches, and believed where it quotes them. What it repeats is
        confirmed, what it corrects superseded, what speaks against something else lowers its confidence. A batch that
        fails is tried again later, and stops no other agent's. Without a language model, and in a dry run, the answer
        only counts what is due. `progress` is told after each batch how many episodes it had.

        Raises:
            InvalidInput: a name or number out of its range; nothing was asked.
        """
        from engrain.agent import consolidating

        asked = consolidating.Asked(
            tenant_id=checks.optional_name(tenant, what="tenant"),
            agent=checks.optional_name(agent, what="agent"),
            sessions=checks.names(session, what="session"),
            exclude_sessions=checks.names(exclude_session, what="session"),
            dry_run=checks.flag(dry_run, what="dry_run"),
            max_batches=None if max_batches is None else checks.count(max_batches, what="max_batches"),
        )
        return consolidating.consolidate(self.parts, asked, progress=progress)

    def runs(
        self, agent: str | None = None, *, tenant: str | None = None, kind: str | None = None, limit: int = 50
    ) -> list[Run]:
        """What was learned when, by whom and how it ended: the runs of one agent, newest first (then the larger id).

        Raises:
            InvalidInput: an unknown kind, or a limit outside 0-1000.
        """
        from engrain.domain.runs import RUN_KINDS

        known = None if kind is None else checks.choice(kind, RUN_KINDS, what="kind")
        caller = self.agent(agent, tenant=tenant).caller
        return self.parts.store.runs(caller, kind=known, limit=checks.count(limit, what="limit"))

    def undo(self, run_id: str, *, agent: str | None = None, tenant: str | None = None) -> Undone:
        """Take back what one run of an agent learned, in one transaction; what somebody has changed since stays.

        Its episodes wait again, so they are learned from anew. `runs` shows the ids.

        Raises:
            NotFound: the agent has no such run.
            InvalidInput: it is running, was never carried out, or is undone already; nothing was changed.
        """
        caller = self.parts.seeing(self.agent(agent, tenant=tenant).caller)
        name = checks.name(run_id, what="run_id")
        try:
            return self.parts.store.undo(self.parts.act(caller), name)
        finally:
            self.parts.note_cache.drop_agent(caller)

    def reflect(
        self,
        tenant: str | None = None,
        *,
        agent: str | None = None,
        dry_run: bool = False,
        force: bool = False,
        progress: Callable[[int], None] | None = None,
    ) -> ReflectionReport:
        """Let each agent of one tenant, or of all, that learned something of late look back on it: one reflection.

        The settings `reflection` say when it is due; `force` passes over the days between. Made to be run once a day: a
        model that fails is told of, never raised. `progress` is told after each agent how many it was.
        """
        from engrain.agent.reflecting import reflect

        return reflect(self.parts, self._acts(tenant), agent=agent, dry_run=dry_run, force=force, progress=progress)

    def health(self) -> Health:
        """What `engrain doctor` shows: reads the whole file, so seconds on a large one."""
        found = self.parts.store.health()
        missing = self.parts.without_vectors
        return replace(found, problems=(*found.problems, missing)) if missing else found

    @property
    def llm_usage(self) -> Usage:
        """What the language model's answers to this Memory have cost so far; nothing where there is none."""
        from engrain.domain.completions import Usage

        llm = self.parts.llm
        return Usage() if llm is None else llm.usage

    def close(self, *, flush: bool = True) -> None:
        """Count the last references, make the waiting vectors (`flush=False` leaves them), and let go of it all.

        The file or the connections are released when it returns, and neither they nor an engine is held any longer. A
        second call does nothing. An engine that is named, not given, stays loaded for who opens a memory next.
        """
        if self._is_inherited:
            return
        with self._changing:
            parts, self._parts = self._parts, None
        if parts is None:
            return
        try:
            parts.learner.close()
            parts.workers.close()
            parts.references.settle()
            parts.queue.close(flush=flush)
        finally:
            parts.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close(flush=error is None)

    def _acts(self, tenant: str | None) -> Iterator[Act]:
        """A write now for one tenant, or for each there is."""
        caller = self.agent(tenant=tenant).caller
        tenants = self.parts.store.tenants() if tenant is None else [caller.tenant_id]
        return (self.parts.act(replace(caller, tenant_id=name)) for name in tenants)

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self._settings

    @property
    def parts(self) -> Parts:
        """What the agents of this memory work with.

        Raises:
            MemoryClosed: after close(), and in a process forked from the one that opened it.
        """
        parts = self._parts
        if parts is None:
            raise MemoryClosed("this Memory is closed; open it again with Memory.open")
        if self._is_inherited:
            raise MemoryClosed(
                f"this Memory belongs to process {self._process}, and this is {os.getpid()}: open one after each fork"
            )
        return parts

    @property
    def _is_inherited(self) -> bool:
        """Whether this is a fork: SQLite's locks stay with the parent, and what a child writes can be lost.

        https://www.sqlite.org/howtocorrupt.html §2.6
        """
        return os.getpid() != self._process


def _settled(settings: Mapping[str, Any] | Settings | None, config: str | Path | None) -> Settings:
    if not isinstance(settings, Settings):
        return load(settings, file=config)
    if config is not None:
        raise InvalidInput("these settings are made already; give the file to engrain.config.load, or no file")
    return settings


def _caching(embedder: Embedder | None, settings: Settings) -> Embedder | None:
    """The embedder, asked only for what it was not asked lately, if the settings want that."""
    from engrain.engines.caching import CachingEmbedder

    if embedder is None or not settings.embedding.cache_entries:
        return embedder
    entries, ttl_s = settings.embedding.cache_entries, settings.embedding.cache_ttl_s
    return CachingEmbedder(embedder, max_entries=entries, ttl_s=ttl_s)


def _metered(llm: LLM | None, settings: Settings) -> MeteredLLM | None:
    """The language model with a meter of this Memory's own on it."""
    from engrain.engines.metered import MeteredLLM, Prices

    if llm is None or isinstance(llm, MeteredLLM):
        return llm
    chosen = settings.llm
    prices = Prices(
        input_usd_per_million=chosen.input_usd_per_million, output_usd_per_million=chosen.output_usd_per_million
    )
    return MeteredLLM(llm, prices)
