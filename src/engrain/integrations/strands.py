"""Memory store of Strands Agents: messages as episodes and what is added as facts, found by words and meaning.

https://github.com/strands-agents/sdk-python, `strands.memory.MemoryStore`: an object with its methods.
"""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

from strands.memory.types import MemoryEntry

from engrain.integrations.connection import (
    Adapter,
    AgentConnection,
    MemoryOrLocation,
    derive_key,
    describe_memory,
    store_text,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from strands.memory.types import AddMessagesContext

    from engrain.domain.records import Hit

_MOST_RESULTS = 5


class EngrainStore(Adapter):
    """A store of Strands: `Agent(memory_manager=MemoryManager(stores=[EngrainStore("agent.db")]))`.

    With `extraction=True` the manager hands over the messages of a conversation, which are remembered as episodes; the
    memory learns from them by itself, and no model of Strands is asked.
    """

    def __init__(
        self,
        memory: MemoryOrLocation,
        *,
        agent: str | None = None,
        user: str | None = None,
        session: str | None = None,
        name: str = "engrain",
        description: str | None = None,
        max_search_results: int = _MOST_RESULTS,
        writable: bool = True,
        extraction: Any = None,
    ) -> None:
        """Use an open memory, or open the one at a location, which `close` closes then."""
        self._connection = AgentConnection(memory, agent=agent, user=user, session=session)
        self._id = uuid.uuid4().hex
        self.name = name
        self.description = description
        self.max_search_results = max_search_results
        self.writable = writable
        self.extraction = extraction

    async def search(self, query: str, options: Mapping[str, Any] | None = None) -> list[MemoryEntry]:
        """Find the memories that answer a query best, the best first."""
        most = (options or {}).get("max_search_results") or self.max_search_results
        found = await self._connection.call(self._connection.agent.recall, query, limit=most)
        return [_entry(hit) for hit in found]

    async def add(self, content: str, metadata: dict[str, Any] | None = None) -> str:
        """Store one content as a fact, and return its id; the same content again confirms it."""
        remember = self._connection.agent.remember
        return (await self._connection.call(remember, content, metadata=metadata)).id

    async def add_messages(
        self, messages: Sequence[Mapping[str, Any]], context: AddMessagesContext | None = None
    ) -> list[str]:
        """Remember the texts of messages as episodes, and return their ids; a batch tried again adds nothing."""
        numbers = None if context is None else context.sequence_numbers
        return await self._connection.call(self._observe, messages, numbers)

    def _observe(self, messages: Sequence[Mapping[str, Any]], numbers: Sequence[int] | None) -> list[str]:
        stored = []
        for place, message in enumerate(messages):
            text = "\n".join(part["text"] for part in message["content"] if "text" in part)
            # Numbers begin anew with each run of an agent; of the same place, another text is another message.
            told = None if numbers is None else f"{self._id} {numbers[place]} {message['role']} {text}"
            key = None if told is None else derive_key("strands", told)
            stored.append(store_text(self._connection.agent.observe, text, role=message["role"], idempotency_key=key))
        return [episode.id for episode in stored if episode is not None]


def _entry(hit: Hit) -> MemoryEntry:
    told = describe_memory(hit.memory)
    return MemoryEntry(content=told.pop("content"), metadata={"id": hit.memory.id, "score": hit.score, **told})
