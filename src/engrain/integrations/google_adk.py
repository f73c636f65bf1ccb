"""Memory service of Google's Agent Development Kit: events as episodes, found by words and meaning.

https://github.com/google/adk-python, `google.adk.memory.BaseMemoryService`.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
from google.adk.memory.memory_entry import MemoryEntry
from google.genai import types

from engrain.domain.records import Episode
from engrain.integrations.connection import AgentConnection, state_memory, store_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from google.adk.events.event import Event
    from google.adk.sessions.session import Session

    from engrain.agent.agent import Agent
    from engrain.aio import AsyncMemory
    from engrain.domain.records import MemoryRecord
    from engrain.service import Memory


class EngrainMemoryService(BaseMemoryService):
    """Remembers the events of sessions: `Runner(..., memory_service=EngrainMemoryService("agent.db"))`.

    An app of ADK is an agent, its users are users: neither sees another's. The texts of events become episodes, each
    once, however often a session is added; what was deleted or forgotten does not come back.
    """

    def __init__(self, memory: Memory | AsyncMemory | str | Path, *, limit: int = 10) -> None:
        """Use an open memory, or open the one at a location, which `close` closes then; a search gives `limit`."""
        self._connection = AgentConnection(memory)
        self._limit = limit

    async def add_session_to_memory(self, session: Session) -> None:
        """Remember the events of a session that are not there yet."""
        agent = self._agent(session.app_name, session.user_id)
        await self._connection.call(_observe, agent, session.events, session.id)

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Remember some events that are not there yet."""
        agent = self._agent(app_name, user_id)
        await self._connection.call(_observe, agent, events, session_id, custom_metadata)

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Store memories as facts, each under its id if it has one."""
        agent = self._agent(app_name, user_id)
        await self._connection.call(_remember, agent, memories, dict(custom_metadata or {}))

    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        """Find the memories of a user of an app that answer a query best, the best first."""
        agent = self._agent(app_name, user_id)
        found = await self._connection.call(agent.recall, query, limit=self._limit)
        return SearchMemoryResponse(memories=[_entry(hit.memory) for hit in found])

    async def delete_memory(self, *, app_name: str, user_id: str, memory_id: str | None = None) -> None:
        """Forget a memory by the id that a search gave; without an id, nothing."""
        if memory_id is not None:
            await self._connection.call(self._agent(app_name, user_id).forget, memory_id)

    def close(self) -> None:
        """Close the memory, if this opened it."""
        self._connection.close()

    def _agent(self, app_name: str, user_id: str) -> Agent:
        return self._connection.memory.agent(app_name, user=user_id)


def _observe(
    agent: Agent, events: Iterable[Event], session: str | None, metadata: Mapping[str, object] | None = None
) -> None:
    for event in events:
        if not event.partial:
            store_text(
                agent.observe,
                _text(event.content),
                role="user" if event.author == "user" else "assistant",
                speaker=event.author,
                session=session,
                event_time=datetime.fromtimestamp(event.timestamp, UTC),
                metadata=dict(metadata or {}),
                idempotency_key=f"adk:{session or ''}:{event.id}",  # a key is of one session
            )


def _remember(agent: Agent, memories: Iterable[MemoryEntry], metadata: dict[str, Any]) -> None:
    for memory in memories:
        key = None if memory.id is None else f"adk:{memory.id}"
        about = {**metadata, **memory.custom_metadata}
        store_text(agent.remember, _text(memory.content), metadata=about, idempotency_key=key)


def _text(content: types.Content | None) -> str:
    """Return the texts of a content, without thoughts, calls and files."""
    parts = (content.parts or ()) if content is not None else ()
    return "\n".join(part.text for part in parts if part.text and not part.thought)


def _entry(memory: MemoryRecord) -> MemoryEntry:
    role, author = "user", memory.agent
    if isinstance(memory, Episode):
        role, author = "user" if memory.role == "user" else "model", memory.speaker or memory.role
    return MemoryEntry(
        content=types.Content(role=role, parts=[types.Part(text=state_memory(memory))]),
        id=memory.id,
        author=author,
        timestamp=memory.happened_at.isoformat(),
        custom_metadata=dict(memory.metadata),
    )
