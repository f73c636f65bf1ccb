"""Memory: the facade. One short method for each verb, and the only place that wires the rooms together."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from engrain import config, metrics
from engrain.domain import checks
from engrain.domain.ids import IdSource
from engrain.domain.ports import Request
from engrain.domain.query import Filter
from engrain.domain.records import (
    DECAY_RATES,
    GLOBAL_SCOPE,
    KINDS,
    ROLES,
    Answer,
    Caller,
    Episode,
    Fact,
    MemoryRecord,
    Stats,
)
from engrain.errors import EngineUnavailable, InvalidInput, MemoryClosed, NotFound

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from types import TracebackType

    import numpy as np
    from numpy.typing import NDArray

    from engrain.config import Settings
    from engrain.context.block import ContextBlock
    from engrain.domain.ports import Clock, Embedder, Health, Ids, Store, TokenCounter
    from engrain.portability.importer import ImportReport
    from engrain.retrieval.embedding_queue import EmbeddingQueue

# A search waits for vectors that are being made only while they are few; an import's thousands it does without.
_WORTH_WAITING_FOR = 64
# More than a context block can hold at any sensible budget.
_CONTEXT_CANDIDATES = 50


def utc_now() -> datetime:
    """The default clock."""
    return datetime.now(UTC)


class Memory:
    """A long-term memory: owns the database, the engines and the background work. Thread-safe; close it when done."""

    def __init__(
        self,
        store: Store,
        *,
        embedder: Embedder | None = None,
        settings: Settings | None = None,
        clock: Clock = utc_now,
        ids: Ids | None = None,
    ) -> None:
        """Wire parts of your own; most callers use `Memory.open`."""
        from engrain.retrieval.checked_embedder import checked, usable_with
        from engrain.retrieval.embedding_queue import EmbeddingQueue

        usable, without_vectors = usable_with(store, checked(embedder))
        self._closed = False
        self._process = os.getpid()
        self._parts = Parts(
            store=store,
            queue=EmbeddingQueue(store, usable),
            settings=settings or config.load(),
            clock=clock,
            ids=ids or IdSource(clock),
            embedder=usable,
            without_vectors=without_vectors,
        )

    @classmethod
    def open(
        cls,
        location: str | Path | None = None,
        *,
        settings: Mapping[str, Any] | None = None,
        embedder: Embedder | str | None = None,
        clock: Clock = utc_now,
        ids: Ids | None = None,
    ) -> Self:
        """The memory at `location` (a path, ":memory:", or the settings' `db`), created where there is none.

        `embedder` is a `provider:model`, an object of your own, or None for the settings' choice. `clock` and `ids`
        give the time (aware, UTC) and fresh ids; tests inject them.

        Raises:
            InvalidInput: an unknown setting or embedder, or a location that is no path.
            NotAnEngrainFile, SchemaTooNew, DatabaseReadOnly, DatabaseDamaged: the file was left as it is.
        """
        from engrain import engines
        from engrain.retrieval.checked_embedder import checked
        from engrain.storage import open_store

        chosen = config.load(settings)
        if embedder is None or isinstance(embedder, str):
            name = chosen.embedder if embedder is None else embedder
            embedder = engines.embedder(name, threads=chosen.embedding_threads)
        embedder = checked(embedder)
        store = open_store(
            chosen.db if location is None else location,
            busy_timeout_s=chosen.busy_timeout_s,
            synchronous=chosen.synchronous,
        )
        try:
            return cls(store, embedder=embedder, settings=chosen, clock=clock, ids=ids)
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
            agent=_agent_name(self.settings.agent if name is None else name),
            session=checks.optional_name(session, what="session"),
            request_id=checks.optional_name(request_id, what="request_id"),
        )
        return Agent(self, caller)

    def flush(self, progress: Callable[[int], None] | None = None) -> None:
        """Make the vectors of everything that waits for one, telling `progress` how many after each batch.

        Raises:
            EngineUnavailable: the embedder cannot work; what is left stays queued.
        """
        self.parts.queue.drain(progress)

    def health(self) -> Health:
        """What `engrain doctor` shows: reads the whole file, so seconds on a large one."""
        found = self.parts.store.health()
        missing = self.parts.without_vectors
        return replace(found, problems=(*found.problems, missing)) if missing else found

    def close(self, *, flush: bool = True) -> None:
        """Finish the waiting vectors (`flush=False` leaves them for the next open) and release the file."""
        if self._closed or self._is_inherited:
            return
        self._closed = True
        try:
            self._parts.queue.close(flush=flush)
        finally:
            self._parts.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close(flush=error is None)

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self._parts.settings

    @property
    def parts(self) -> Parts:
        """What the agents of this memory work with.

        Raises:
            MemoryClosed: after close(), and in a process forked from the one that opened it.
        """
        if self._closed:
            raise MemoryClosed("this Memory is closed; open it again with Memory.open")
        if self._is_inherited:
            raise MemoryClosed(
                f"this Memory belongs to process {self._process}, and this is {os.getpid()}: open one after each fork"
            )
        return self._parts

    @property
    def _is_inherited(self) -> bool:
        """Whether this is a fork: SQLite's locks stay with the parent, and what a child writes can be lost.

        https://www.sqlite.org/howtocorrupt.html §2.6
        """
        return os.getpid() != self._process


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The rooms as wired for one Memory."""

    store: Store
    queue: EmbeddingQueue
    settings: Settings
    clock: Clock
    ids: Ids
    embedder: Embedder | None
    without_vectors: str | None  # why an embedder that was asked for is not used

    def keep(self, memory: MemoryRecord) -> MemoryRecord:
        """Store one memory and let the background work know; the memory as stored."""
        stored = self.store.put([memory])
        if not stored:
            raise InvalidInput(f"id {memory.id} is taken and nothing was written; the source of ids repeats itself")
        self.queue.announce()
        return stored[0]

    def vector_of(self, caller: Caller, text: str) -> NDArray[np.float32] | str:
        """The vector of a question, or a sentence that says why there is none; the newest memories' are made first."""
        if self.embedder is None:
            return self.without_vectors or "keywords alone: no embedder is configured"
        waiting = self.store.waiting(caller)
        if waiting:
            self.queue.announce()  # another process may have left them
        if 0 < waiting <= _WORTH_WAITING_FOR:
            self.queue.wait(self.settings.embedding_wait_s)
        try:
            vector: NDArray[np.float32] = self.embedder.embed([text], role="query")[0]
        except EngineUnavailable as error:
            metrics.count("searches_without_vectors")
            return f"keywords alone: {error}"
        return vector


class Agent:
    """The memory as one agent sees it: its own scope, the global one, and nothing else. Immutable and cheap."""

    __slots__ = ("_caller", "_memory")

    def __init__(self, memory: Memory, caller: Caller) -> None:
        """Made by `Memory.agent`."""
        self._memory = memory
        self._caller = caller

    @property
    def caller(self) -> Caller:
        """Tenant, agent, session and request id that every call carries."""
        return self._caller

    def observe(  # what an episode is made of
        self,
        content: str,
        *,
        role: str = "user",
        speaker: str | None = None,
        session: str | None = None,
        event_time: datetime | str | None = None,
        importance: float = 5.0,
        ttl_days: float | None = None,
        tags: Iterable[str] | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Episode:
        """Remember what happened: one turn of a conversation. Durable when it returns; its vector follows soon.

        `role` is user, assistant, tool or system; `event_time` (now) is when it happened; `importance` lies in 0-10;
        with `ttl_days` it is forgotten that long after now.

        Raises:
            InvalidInput: empty, too long (10 MB) or not text, or another value out of range; nothing was written.
        """
        parts = self._memory.parts
        now = parts.clock()
        lifetime = None if ttl_days is None else checks.number(ttl_days, what="ttl_days", low=0, high=36_500)
        stored = parts.keep(
            Episode(
                id=parts.ids(),
                tenant_id=self._caller.tenant_id,
                agent=self._caller.agent,
                scope=self._caller.agent,
                session=self._caller.session if session is None else checks.name(session, what="session"),
                role=checks.choice(role, ROLES, what="role"),
                speaker=checks.optional_name(speaker, what="speaker"),
                content=checks.content(content),
                event_time=checks.moment(event_time, what="event_time") or now,
                created_at=now,
                expires_at=None if lifetime is None else now + timedelta(days=lifetime),
                importance=checks.number(importance, what="importance", low=0, high=10),
                tags=checks.names(tags, what="tag"),
                metadata=checks.metadata(metadata),
            )
        )
        assert isinstance(stored, Episode)
        return stored

    def remember(  # what a fact is made of
        self,
        content: str,
        *,
        subject: str,
        predicate: str,
        scope: str | None = None,
        valid_from: datetime | str | None = None,
        valid_to: datetime | str | None = None,
        permanence: str = "standard",
        importance: float = 5.0,
        confidence: float = 1.0,
        tags: Iterable[str] | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Fact:
        """Remember what is true: `subject` `predicate` `content`. It supersedes what was true of the same before.

        `scope` is "global" (every agent of the tenant sees it) or this agent's own name; `permanence` (permanent,
        stable, standard, volatile, ephemeral) is how slowly it fades; `valid_from` and `valid_to` bound when it is
        true.

        Raises:
            InvalidInput: an empty or unknown value, or an interval that ends before it begins; nothing was written.
        """
        parts = self._memory.parts
        now = parts.clock()
        kept = checks.choice(permanence, DECAY_RATES, what="permanence")
        start, end = checks.moment(valid_from, what="valid_from"), checks.moment(valid_to, what="valid_to")
        if start is not None and end is not None and end < start:
            raise InvalidInput(f"valid_to {end:%Y-%m-%d} lies before valid_from {start:%Y-%m-%d}")
        stored = parts.keep(
            Fact(
                id=parts.ids(),
                tenant_id=self._caller.tenant_id,
                agent=self._caller.agent,
                scope=self._writable(scope),
                subject=checks.name(subject, what="subject"),
                predicate=checks.name(predicate, what="predicate"),
                content=checks.content(content),
                confidence=checks.number(confidence, what="confidence", low=0, high=1),
                importance=checks.number(importance, what="importance", low=0, high=10),
                permanence=kept,
                decay_rate=DECAY_RATES[kept],
                valid_from=start,
                valid_to=end,
                created_at=now,
                last_confirmed_at=now,
                tags=checks.names(tags, what="tag"),
                metadata=checks.metadata(metadata),
            )
        )
        assert isinstance(stored, Fact)
        return stored

    def recall(  # what a search can be narrowed by
        self,
        query: str,
        *,
        limit: int | None = None,
        preset: str | None = None,
        kinds: Iterable[str] | str | None = None,
        sessions: Iterable[str] | str | None = None,
        exclude_sessions: Iterable[str] | str | None = None,
        roles: Iterable[str] | str | None = None,
        speakers: Iterable[str] | str | None = None,
        tags: Iterable[str] | str | None = None,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
    ) -> Answer:
        """The best memories for a question, best first (ties: newest, then id), each saying why.

        Any text is a query. `preset` is engrain, semantic, keyword or hybrid. The rest narrows: `tags` must all be
        there, of the others any; since <= time < until.

        Raises:
            InvalidInput: a limit outside 0-1000, an unknown preset, kind or role, or a time that is none.
        """
        from engrain.retrieval import presets, search

        parts = self._memory.parts
        asked = search.Question(
            text=checks.query(query),
            preset=presets.preset(parts.settings.preset if preset is None else preset),
            limit=parts.settings.limit if limit is None else checks.count(limit, what="limit"),
        )
        narrowed = Filter(
            kinds=checks.choices(kinds, KINDS, what="kind") or KINDS,
            sessions=checks.names(sessions, what="session"),
            exclude_sessions=checks.names(exclude_sessions, what="session"),
            roles=checks.choices(roles, ROLES, what="role"),
            speakers=checks.names(speakers, what="speaker"),
            tags=checks.names(tags, what="tag"),
            since=checks.moment(since, what="since"),
            until=checks.moment(until, what="until"),
        )
        request = Request(caller=self._caller, filter=narrowed, now=parts.clock())
        with metrics.timed("recall_seconds"):
            return search.search(parts.store, request, asked, lambda text: parts.vector_of(self._caller, text))

    def context(
        self, query: str, *, budget_tokens: int | None = None, count_tokens: TokenCounter | None = None
    ) -> ContextBlock:
        """A Markdown block for a prompt: facts, then what was said, the best for `query` within the budget.

        The current session is left out: the model has it already. `count_tokens` defaults to four characters a token.

        Raises:
            InvalidInput: a budget that is negative or no whole number.
        """
        from engrain.context import block

        chosen = self._memory.parts.settings.budget_tokens if budget_tokens is None else budget_tokens
        budget = checks.count(chosen, what="budget_tokens", high=10_000_000)
        answer = self.recall(query, limit=_CONTEXT_CANDIDATES, exclude_sessions=self._caller.session)
        built = block.build(answer.hits, budget_tokens=budget, count_tokens=count_tokens or block.approximate_tokens)
        return replace(built, degraded=answer.degraded)

    def get(self, id_: str) -> MemoryRecord | None:
        """One memory by id, whether live, superseded or forgotten; None where this agent sees no such memory."""
        return next(iter(self._memory.parts.store.get(self._caller, [checks.name(id_, what="id")])), None)

    def forget(self, id_: str) -> MemoryRecord:
        """Forget one memory: it leaves every search at once. An episode expires, a fact is retracted; twice is once.

        Raises:
            NotFound: this agent sees no such memory.
        """
        name = checks.name(id_, what="id")
        parts = self._memory.parts
        gone = parts.store.retire(self._caller, name, at=parts.clock())
        if gone is None:
            raise NotFound(f"no memory {name} is visible to agent {self._caller.agent}; recall shows ids")
        return gone

    def stats(self) -> Stats:
        """How much this agent remembers."""
        parts = self._memory.parts
        return parts.store.stats(self._caller, parts.clock())

    def import_file(
        self,
        path: str | Path,
        *,
        format: str = "auto",  # noqa: A002  # the word of the command line
        strict: bool = False,
        progress: Callable[[int], None] | None = None,
    ) -> ImportReport:
        """Add the conversations of an export (chatgpt, claude, claude-code, openai, jsonl, locomo) as episodes.

        Importing a file again adds only what is new in it. A broken record is reported and passed over; `strict` stops
        at it. `progress` is told how many turns were read. Vectors are made in the background; `Memory.flush` waits for
        them.

        Raises:
            UnreadableImport: the file is of no known format, or broken and `strict`.
        """
        from engrain.portability import importer
        from engrain.portability.formats import FORMATS

        parts = self._memory.parts
        report = importer.import_file(
            parts.store,
            self._caller,
            Path(checks.path(path, what="path")),
            clock=parts.clock,
            format_name=checks.choice(format, ["auto", *FORMATS], what="format"),
            strict=strict,
            progress=progress,
        )
        parts.queue.announce()
        return report

    def _writable(self, scope: str | None) -> str:
        """Where this agent may write: everybody's scope or its own."""
        return GLOBAL_SCOPE if scope is None else checks.choice(scope, [GLOBAL_SCOPE, self._caller.agent], what="scope")


def _agent_name(value: object) -> str:
    name = checks.name(value, what="agent")
    if name == GLOBAL_SCOPE or name.startswith("pool:"):
        raise InvalidInput(f"agent {name!r} is the name of a scope; choose another")
    return name
