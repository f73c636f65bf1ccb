"""Memory block of LlamaIndex: what left the short-term memory as episodes, and a context block of what is remembered.

https://github.com/run-llama/llama_index, `llama_index.core.memory.BaseMemoryBlock`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from llama_index.core.memory import BaseMemoryBlock
from pydantic import Field, PrivateAttr

from engrain.integrations.connection import SPOKEN_ROLES, Adapter, AgentConnection, derive_key, quote_block, store_text

if TYPE_CHECKING:
    from llama_index.core.base.llms.types import ChatMessage


class _BlockText(str):
    """Text of a context block, with the question that it answers: one memory block serves several sessions at once."""

    __slots__ = ("question", "tokens")
    question: str
    tokens: int


class EngrainMemoryBlock(Adapter, BaseMemoryBlock[str]):
    """A long-term memory: `Memory.from_defaults(memory_blocks=[EngrainMemoryBlock(memory="agent.db")])`.

    Gives a context block for the last message of the user within `budget_tokens`, and a smaller one where the memory
    asks for less. A message that is put again adds nothing, as LlamaIndex names none: of equal ones in a session the
    first stays. A memory that is out of reach fails no run: the block is left out, and messages wait.
    """

    name: str = "engrain"
    memory: Any = Field(exclude=True)
    agent: str | None = None
    user: str | None = None
    budget_tokens: int = 800
    _connection: AgentConnection = PrivateAttr()

    def model_post_init(self, context: Any, /) -> None:
        """Use an open memory, or open the one at a location, which `close` closes then."""
        super().model_post_init(context)
        self._connection = AgentConnection(self.memory, agent=self.agent, user=self.user)

    async def _aget(self, messages: list[ChatMessage] | None = None, **_: Any) -> str:
        said = [message.content or "" for message in messages or () if message.role == "user"]
        return await self._load(said[-1] if said else "", self.budget_tokens)

    async def _aput(self, messages: list[ChatMessage]) -> None:
        for message in messages:
            session, content = message.additional_kwargs.get("session_id"), message.content or ""
            if message.role in SPOKEN_ROLES:
                agent = self._connection.memory.agent(self.agent, user=self.user, session=session)
                await self._connection.call(
                    store_text,
                    agent.hooks.message,
                    content,
                    role=str(message.role.value),
                    idempotency_key=derive_key("llama-index", f"{session} {message.role} {content}"),
                )

    async def atruncate(self, content: str, tokens_to_truncate: int) -> str | None:
        """Give the context block of the same question that is smaller by so many tokens; None for nothing."""
        if not isinstance(content, _BlockText) or (left := content.tokens - tokens_to_truncate) <= 0:
            return None
        return await self._load(content.question, left) or None

    async def _load(self, question: str, budget_tokens: int) -> str:
        if not question.strip():
            return ""
        start = self._connection.agent.hooks.session_start
        block = await self._connection.call(start, question, budget_tokens=budget_tokens)
        text = _BlockText(quote_block(block))
        text.question, text.tokens = question, block.tokens
        return text
