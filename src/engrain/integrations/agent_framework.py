"""Context and history providers of Microsoft's Agent Framework: what is remembered, and the messages of a session.

https://github.com/microsoft/agent-framework, `agent_framework.ContextProvider` and `agent_framework.HistoryProvider`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_framework import ContextProvider, HistoryProvider, Message

from engrain.integrations.connection import (
    SPOKEN_ROLES,
    Adapter,
    AgentConnection,
    MemoryOrLocation,
    quote_block,
    store_text,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

_LOG = "agent-framework"


class EngrainContextProvider(Adapter, ContextProvider):
    """Gives an agent a memory: `Agent(client, context_providers=[EngrainContextProvider("agent.db")])`.

    A run begins with a context block for the last message, within `budget_tokens`, and ends by storing what was said.
    A memory that is out of reach fails no run: the block is left out, and turns wait.
    """

    def __init__(
        self,
        memory: MemoryOrLocation,
        *,
        agent: str | None = None,
        user: str | None = None,
        budget_tokens: int = 800,
        source_id: str = "engrain",
    ) -> None:
        """Use an open memory, or open the one at a location, which `close` closes then."""
        super().__init__(source_id)
        self._connection = AgentConnection(memory, agent=agent, user=user)
        self._names = agent, user
        self._budget_tokens = budget_tokens

    async def before_run(self, *, agent: Any, session: Any, context: Any, state: dict[str, Any]) -> None:  # noqa: ARG002  # named by the framework
        """Add the context block for the last message."""
        asked = next((message.text for message in reversed(context.input_messages) if message.text), "")
        if asked.strip():
            start = self._hooks(session).session_start
            block = await self._connection.call(start, asked, budget_tokens=self._budget_tokens)
            if block.text:
                context.extend_messages(self, [Message("user", [quote_block(block)])])

    async def after_run(self, *, agent: Any, session: Any, context: Any, state: dict[str, Any]) -> None:  # noqa: ARG002  # named by the framework
        """Store the texts of the messages of this run."""
        answered = context.response.messages if context.response is not None else ()
        hooks = self._hooks(session)
        for message in (*context.input_messages, *answered):
            if message.role in SPOKEN_ROLES:
                await self._connection.call(store_text, hooks.message, message.text, role=message.role)

    def _hooks(self, session: Any) -> Any:
        agent, user = self._names
        return self._connection.memory.agent(agent, user=user, session=session.session_id).hooks


class EngrainHistoryProvider(Adapter, HistoryProvider):
    """Stores the messages of sessions, which come back equal: `context_providers=[EngrainHistoryProvider("agent.db")]`.

    `options` are those of `HistoryProvider`, such as `store_outputs`.
    """

    def __init__(
        self,
        memory: MemoryOrLocation,
        *,
        agent: str | None = None,
        user: str | None = None,
        source_id: str = "engrain-history",
        **options: Any,
    ) -> None:
        """Use an open memory, or open the one at a location, which `close` closes then."""
        super().__init__(source_id, **options)
        self._connection = AgentConnection(memory, agent=agent, user=user)
        self._log = self._connection.agent.log(_LOG)

    async def get_messages(self, session_id: str | None, **_: Any) -> list[Message]:
        """Load the messages of a session, oldest first."""
        if session_id is None:
            return []
        found = await self._connection.call(self._log.read, session=session_id)
        return [Message.from_dict(entry.entry) for entry in found]

    async def save_messages(self, session_id: str | None, messages: Sequence[Message], **_: Any) -> None:
        """Append messages to a session, all or none."""
        if session_id is not None and messages:
            entries = [message.to_dict() for message in messages]
            await self._connection.call(self._log.append, entries, session=session_id)
