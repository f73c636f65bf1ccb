"""Memory service of Google's Agent Development Kit: events as episodes, found by words and meaning.

https://github.com/google/adk-python, `google.adk.memory.BaseMemoryService`.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
from google.adk.memory.memory_entry import MemoryEntry
from google.genai import types

from engrain import metrics
from engrain.domain.memories.hooks import fails_open
from engrain.domain.records import Episode, Fact, MemoryRecord
from engrain.integrations.connection import (
    Adapter,
    AgentConnection,
    MemoryOrLocation,
    derive_key,
    store_text,
)
from engrain.log_events import get_logger

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from google.adk.events.event import Event
    from google.adk.sessions.session import Session

    from engrain.agent.agent import Agent

_LOG = get_logger(__name__)
_IDS = "google-adk"  # namespace of the ids that memories were given, beside other items of the agent
_ID, _AUTHOR = "adk:id", "adk:author"  # in the metadata of a fact


class EngrainMemoryService(Adapter, BaseMemoryService):
    """Remembers the events of sessions: `Runner(..., memory_service=EngrainMemoryService("agent.db"))`.

    An app of ADK is an agent, its users are users: neither sees another's. The texts of events become episodes, each
    once, however often a session is added; what was deleted or forgotten does not come back. A memory that is out of
    reach fails no run: turns wait, and a search finds nothing.
    """

    def __init__(self, memory: MemoryOrLocation, *, limit: int = 10) -> None:
        """Use an open memory, or open the one at a location, which `close` closes then; a search gives `limit`."""
        self._connection = AgentConnection(memory)
        self._limit = limit

    async def add_session_to_memory(self, session: Session) -> None:
        """Remember the events of a session that are not there yet."""
        agent = self._agent(session.app_name, session.user_id, session.id)
        await self._connection.call(_observe, agent, session.events)

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
        agent = self._agent(app_name, user_id, session_id)
        await self._connection.call(_observe, agent, events, custom_metadata)

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Store memories as facts with their author and time; another text for an id that is there corrects it."""
        agent = self._agent(app_name, user_id)
        await self._connection.call(_remember, agent, memories, dict(custom_metadata or {}))

    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        """Find the memories of a user of an app that answer a query best, the best first."""
        agent = self._agent(app_name, user_id)
        try:
            found = await self._connection.call(agent.recall, query, limit=self._limit)
        except Exception as error:  # ADK's load_memory would end the run with it
            if not fails_open(error):
                raise
            metrics.count("contexts_degraded")
            _LOG.warning("a search failed open", extra={"error": type(error).__name__})
            return SearchMemoryResponse()
        return SearchMemoryResponse(memories=[_entry(hit.memory) for hit in found])

    async def delete_memory(self, *, app_name: str, user_id: str, memory_id: str | None = None) -> None:
        """Forget a memory by the id that a search gave; without an id, nothing."""
        if memory_id is not None:
            await self._connection.call(_forget, self._agent(app_name, user_id), memory_id)

    def _agent(self, app_name: str, user_id: str, session_id: str | None = None) -> Agent:
        return self._connection.memory.agent(app_name, user=user_id, session=session_id)


def _observe(agent: Agent, events: Iterable[Event], metadata: Mapping[str, object] | None = None) -> None:
    for event in events:
        if not event.partial:
            text = _text(event.content)
            # An event may be added without its session first; ids that an app gives may begin anew with each session.
            store_text(
                agent.hooks.message,
                text,
                role="user" if event.author == "user" else "assistant",
                speaker=event.author,
                event_time=datetime.fromtimestamp(event.timestamp, UTC),
                metadata=dict(metadata or {}),
                idempotency_key=derive_key(f"adk:{event.id}", f"{event.timestamp} {event.author} {text}"),
            )


def _remember(agent: Agent, memories: Iterable[MemoryEntry], metadata: dict[str, Any]) -> None:
    for memory in memories:
        own = {name: value for name, value in ((_ID, memory.id), (_AUTHOR, memory.author)) if value}
        about = {"metadata": {**metadata, **memory.custom_metadata, **own}, "valid_from": memory.timestamp}
        store_text(_remember_one, _text(memory.content), agent=agent, id_=memory.id, about=about)


def _remember_one(text: str, *, agent: Agent, id_: str | None, about: Mapping[str, Any]) -> None:
    """Store a memory as a fact, or correct the one that its id names; one that was forgotten stays so."""
    if not id_:
        agent.remember(text, **about)
        return
    known = agent.get(_find(agent, id_), count_references=False)
    if known is None:
        fact = agent.remember(text, **about)
    elif isinstance(known, Fact) and known.validity == "active" and known.content != text.strip():
        fact = agent.correct(known.id, text, **about)
    else:
        return
    agent.store.put(id_, {"fact": fact.id}, namespace=[_IDS])


def _forget(agent: Agent, id_: str) -> None:
    agent.forget(_find(agent, id_))


def _find(agent: Agent, id_: str) -> str:
    """Return the id of the fact that was stored under an id of ADK, or else the id."""
    found = agent.store.get(id_, namespace=[_IDS])
    return id_ if found is None else str(found.value["fact"])


def _text(content: types.Content | None) -> str:
    """Return the texts of a content, without thoughts, calls and files."""
    parts = (content.parts or ()) if content is not None else ()
    return "\n".join(part.text for part in parts if part.text and not part.thought)


def _entry(memory: MemoryRecord) -> MemoryEntry:
    metadata = dict(memory.metadata)
    role, author, id_ = "user", metadata.pop(_AUTHOR, memory.agent), metadata.pop(_ID, memory.id)
    if isinstance(memory, Episode):
        role, author = "user" if memory.role == "user" else "model", memory.speaker or memory.role
    return MemoryEntry(
        content=types.Content(role=role, parts=[types.Part(text=memory.statement)]),
        id=id_,
        author=author,
        timestamp=memory.happened_at.isoformat(),
        custom_metadata=metadata,
    )
