"""Learning store of Agno: messages as episodes, a context block for each run, and tools to recall and remember.

https://github.com/agno-agi/agno, `agno.learn.stores.protocol.LearningStore`: an object with its methods.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from agno.learn.stores.protocol import LearningStore

from engrain.context.block import ContextBlock
from engrain.integrations.connection import (
    SPOKEN_ROLES,
    Adapter,
    AgentConnection,
    MemoryOrLocation,
    derive_key,
    describe_memory,
    quote_block,
    store_text,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from engrain.agent.agent import Agent

_INSTRUCTIONS = (
    "You have a long-term memory. Search it with recall_memories before you say that you do not know something about "
    "the user or their past; store with remember_memory what will matter in later conversations."
)


class EngrainLearningStore(Adapter, LearningStore):
    """Gives an agent a memory: `LearningMachine(custom_stores={"engrain": EngrainLearningStore("agent.db")})`.

    A run begins with a context block for its message, within `budget_tokens`, and has the tools `recall_memories` and
    `remember_memory`; the texts of its messages become episodes, each once. The user of a run is the end user, and
    `user` stands in for a run without one. A memory that is out of reach fails no run.
    """

    learning_type = "engrain"
    schema = ContextBlock

    def __init__(
        self,
        memory: MemoryOrLocation,
        *,
        agent: str | None = None,
        user: str | None = None,
        budget_tokens: int = 800,
    ) -> None:
        """Use an open memory, or open the one at a location, which `close` closes then."""
        self._connection = AgentConnection(memory)
        self._names = agent, user
        self._budget_tokens = budget_tokens
        self._was_updated = False

    @property
    def was_updated(self) -> bool:
        """True if the last messages added something."""
        return self._was_updated

    def recall(self, *, message: str | None = None, **context: Any) -> ContextBlock | None:
        """Build the context block for the message of a run; None without one."""
        if not (message or "").strip():
            return None
        return self._agent(context).hooks.session_start(message or "", budget_tokens=self._budget_tokens)

    async def arecall(self, **context: Any) -> ContextBlock | None:
        return await self._connection.call(self.recall, **context)

    def process(self, messages: Sequence[Any], **context: Any) -> None:
        """Remember the texts of messages as episodes; one that was handed over before adds nothing."""
        hooks, self._was_updated = self._agent(context).hooks, False
        for message in messages:
            text = message.get_content_string()
            if message.role in SPOKEN_ROLES:
                # A message of history has its id; its text may have been changed since.
                key = derive_key("agno", f"{message.id} {text}")
                receipt = store_text(hooks.message, text, role=message.role, idempotency_key=key)
                self._was_updated |= receipt is not None and receipt.is_stored

    async def aprocess(self, messages: Sequence[Any], **context: Any) -> None:
        await self._connection.call(self.process, messages, **context)

    def build_context(self, data: ContextBlock | None) -> str:
        """Return the text of what `recall` built."""
        return "" if data is None else quote_block(data)

    def instructions(self) -> str:
        """Return what to do with the tools."""
        return _INSTRUCTIONS

    def get_tools(self, **context: Any) -> list[Callable[..., Any]]:
        """Return the tools of a run, for its user and session."""
        agent = self._agent(context)

        def recall_memories(query: str) -> list[dict[str, str]]:
            """Search the long-term memory for a question, in any words."""
            found = agent.recall(query)
            return [describe_memory(hit.memory) for hit in found]

        def remember_memory(content: str) -> str:
            """Store something for later conversations, as one sentence that stands for itself."""
            return f"stored as {agent.remember(content).id}"

        return [recall_memories, remember_memory]

    async def aget_tools(self, **context: Any) -> list[Callable[..., Any]]:
        return [self._awaited(tool) for tool in self.get_tools(**context)]

    def _agent(self, context: dict[str, Any]) -> Agent:
        agent, user = self._names
        return self._connection.memory.agent(
            agent, user=context.get("user_id") or user, session=context.get("session_id")
        )

    def _awaited(self, tool: Callable[..., Any]) -> Callable[..., Awaitable[Any]]:
        @functools.wraps(tool)
        async def call(**arguments: Any) -> Any:
            return await self._connection.call(tool, **arguments)

        return call
