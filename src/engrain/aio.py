"""The same memory, awaited: each call runs in a worker thread.

Generated from service.py by tools/generate_async.py.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Self

from engrain import service

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from datetime import datetime
    from pathlib import Path
    from types import TracebackType

    from engrain.config import Settings
    from engrain.context.block import ContextBlock
    from engrain.domain.ports import Clock, Embedder, Health, Ids, TokenCounter
    from engrain.domain.records import Answer, Caller, Episode, Fact, MemoryRecord, Stats
    from engrain.portability.importer import ImportReport


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
        settings: Mapping[str, Any] | None = None,
        embedder: Embedder | str | None = None,
        clock: Clock = service.utc_now,
        ids: Ids | None = None,
    ) -> Self:
        """The memory at `location` (a path, ":memory:", or the settings' `db`), created where there is none."""
        return cls(
            await asyncio.to_thread(
                service.Memory.open, location, settings=settings, embedder=embedder, clock=clock, ids=ids
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
        """The same memory as one agent sees it; cheap, make one for each request."""
        return AsyncAgent(self._wrapped.agent(name, session=session, tenant=tenant, request_id=request_id))

    async def flush(self, progress: Callable[[int], None] | None = None) -> None:
        """Make the vectors of everything that waits for one, telling `progress` how many after each batch."""
        await asyncio.to_thread(self._wrapped.flush, progress)

    async def health(self) -> Health:
        """What `engrain doctor` shows: reads the whole file, so seconds on a large one."""
        return await asyncio.to_thread(
            self._wrapped.health,
        )

    async def close(self, *, flush: bool = True) -> None:
        """Finish the waiting vectors (`flush=False` leaves them for the next open) and release the file."""
        await asyncio.to_thread(self._wrapped.close, flush=flush)

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self._wrapped.settings


class AsyncAgent:
    """The memory as one agent sees it, awaited; `Agent` says what each call does."""

    __slots__ = ("_wrapped",)

    def __init__(self, agent: service.Agent) -> None:
        """Made by `AsyncMemory.agent`."""
        self._wrapped = agent

    @property
    def caller(self) -> Caller:
        """Tenant, agent, session and request id that every call carries."""
        return self._wrapped.caller

    async def observe(
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
        """Remember what happened: one turn of a conversation. Durable when it returns; its vector follows soon."""
        return await asyncio.to_thread(
            self._wrapped.observe,
            content,
            role=role,
            speaker=speaker,
            session=session,
            event_time=event_time,
            importance=importance,
            ttl_days=ttl_days,
            tags=tags,
            metadata=metadata,
        )

    async def remember(
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
        """Remember what is true: `subject` `predicate` `content`. It supersedes what was true of the same before."""
        return await asyncio.to_thread(
            self._wrapped.remember,
            content,
            subject=subject,
            predicate=predicate,
            scope=scope,
            valid_from=valid_from,
            valid_to=valid_to,
            permanence=permanence,
            importance=importance,
            confidence=confidence,
            tags=tags,
            metadata=metadata,
        )

    async def recall(
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
        """The best memories for a question, best first (ties: newest, then id), each saying why."""
        return await asyncio.to_thread(
            self._wrapped.recall,
            query,
            limit=limit,
            preset=preset,
            kinds=kinds,
            sessions=sessions,
            exclude_sessions=exclude_sessions,
            roles=roles,
            speakers=speakers,
            tags=tags,
            since=since,
            until=until,
        )

    async def context(
        self, query: str, *, budget_tokens: int | None = None, count_tokens: TokenCounter | None = None
    ) -> ContextBlock:
        """A Markdown block for a prompt: facts, then what was said, the best for `query` within the budget."""
        return await asyncio.to_thread(
            self._wrapped.context, query, budget_tokens=budget_tokens, count_tokens=count_tokens
        )

    async def get(self, id_: str) -> MemoryRecord | None:
        """One memory by id, whether live, superseded or forgotten; None where this agent sees no such memory."""
        return await asyncio.to_thread(self._wrapped.get, id_)

    async def forget(self, id_: str) -> MemoryRecord:
        """Forget one memory: it leaves every search at once. An episode expires, a fact is retracted; twice is once."""
        return await asyncio.to_thread(self._wrapped.forget, id_)

    async def stats(self) -> Stats:
        """How much this agent remembers."""
        return await asyncio.to_thread(
            self._wrapped.stats,
        )

    async def import_file(
        self,
        path: str | Path,
        *,
        format: str = "auto",
        strict: bool = False,
        progress: Callable[[int], None] | None = None,
    ) -> ImportReport:
        """Add the conversations of an export (chatgpt, claude, claude-code, openai, jsonl, locomo) as episodes."""
        return await asyncio.to_thread(self._wrapped.import_file, path, format=format, strict=strict, progress=progress)
