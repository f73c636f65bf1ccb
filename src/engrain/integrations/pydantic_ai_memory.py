"""Capability of Pydantic AI: an agent that recalls before it answers, remembers what was said, and has tools for both.

https://github.com/pydantic/pydantic-ai, `pydantic_ai.capabilities.AbstractCapability`.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, Literal

from pydantic_ai import ModelRetry, RunContext, ToolFailed
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.toolsets import FunctionToolset

from engrain.domain.memories.hooks import fails_open
from engrain.errors import InvalidInput
from engrain.integrations.connection import (
    Adapter,
    AgentConnection,
    MemoryOrLocation,
    describe_memory,
    quote_block,
    store_text,
)
from engrain.log_events import get_logger

if TYPE_CHECKING:
    from collections.abc import Callable

    from pydantic_ai.run import AgentRunResult

    from engrain.agent.agent import Agent

_LOG = get_logger(__name__)

_INSTRUCTIONS = (
    "You have a long-term memory. Recall before you say that you do not know something about the user or their past; "
    "remember what will matter in later conversations."
)


class EngrainMemory(Adapter, AbstractCapability[Any]):
    """Gives an agent a memory: `Agent(model, capabilities=[EngrainMemory("agent.db")])`.

    A run begins with a context block for its prompt, within `budget_tokens` (0 for none), has the tools `recall` and
    `remember`, and ends by storing prompt and answer, unless `observe` is false. `user` names the end user, or tells
    it from the context of a run; where it gives None, nothing is looked up or stored, as what the agent knows without a
    user is seen by all of them. A memory that is out of reach fails no run: the block is left out, turns wait, and the
    tools say so; an argument that is refused goes back to the model with the reason.
    """

    def __init__(
        self,
        memory: MemoryOrLocation,
        *,
        agent: str | None = None,
        user: str | Callable[[RunContext[Any]], str | None] | None = None,
        budget_tokens: int = 800,
        observe: bool = True,
    ) -> None:
        """Use an open memory, or open the one at a location, which `close` closes then."""
        super().__init__()
        self._connection = AgentConnection(memory, agent=agent)
        self._memory = self._connection.memory
        self._agent_name = agent
        self._user = user
        self._budget_tokens = budget_tokens
        self._observe = observe
        self._block = ""
        self._has_user = True

    @classmethod
    def get_serialization_name(cls) -> str | None:
        """Return None: a memory is open, and no part of a specification."""
        return None

    async def for_run(self, ctx: RunContext[Any]) -> EngrainMemory:
        """Return the capability of one run, with the context block for its prompt."""
        own = copy.copy(self)
        prompt, agent = _text(ctx.prompt), self._agent(ctx)
        if agent is None:
            own._has_user = False  # noqa: SLF001  # of the same class
            _LOG.warning("a run without a user: nothing is looked up or stored")
        elif prompt and self._budget_tokens:
            start = agent.hooks.session_start
            block = await self._connection.call(start, prompt, budget_tokens=self._budget_tokens)
            own._block = quote_block(block)  # noqa: SLF001  # of the same class
        return own

    def get_instructions(self) -> str | None:
        """Return what to do with the memory, and the context block; None where there is no user to remember."""
        if not self._has_user:
            return None
        return f"{_INSTRUCTIONS}\n\n{self._block}" if self._block else _INSTRUCTIONS

    def get_toolset(self) -> FunctionToolset[Any]:
        """Return the tools `recall` and `remember`."""
        toolset: FunctionToolset[Any] = FunctionToolset(id="engrain-memory")

        @toolset.tool
        async def recall(ctx: RunContext[Any], query: str) -> list[dict[str, str]]:
            """Search the long-term memory for a question, in any words."""
            found = await self._call(ctx, "recall", query)
            return [describe_memory(hit.memory) for hit in found]

        @toolset.tool
        async def remember(ctx: RunContext[Any], content: str) -> str:
            """Store something for later conversations, as one sentence that stands for itself."""
            stored = await self._call(ctx, "remember", content)
            return f"stored as {stored.id}"

        return toolset

    async def after_run(self, ctx: RunContext[Any], *, result: AgentRunResult[Any]) -> AgentRunResult[Any]:
        """Store the prompt and the answer, once for a run."""
        agent = self._agent(ctx)
        if agent is None or not self._observe:
            return result
        said = {"user": _text(ctx.prompt), "assistant": result.output if isinstance(result.output, str) else ""}
        for role, content in said.items():
            key = None if ctx.run_id is None else f"{ctx.run_id}:{role}"
            await self._connection.call(store_text, agent.hooks.message, content, role=role, idempotency_key=key)
        return result

    async def _call(self, ctx: RunContext[Any], verb: Literal["recall", "remember"], argument: str) -> Any:
        """Call a verb for the model, which is told of what went wrong.

        Raises:
            ModelRetry: the argument was refused; ToolFailed: the memory is out of reach, or the run has no user.
        """
        agent = self._agent(ctx)
        if agent is None:
            raise ToolFailed("Nothing is remembered here: this conversation has no user.")
        try:
            return await self._connection.call(getattr(agent, verb), argument)
        except InvalidInput as error:
            raise ModelRetry(str(error)) from error
        except Exception as error:
            if not fails_open(error):
                raise
            _LOG.warning("a tool failed open", extra={"error": type(error).__name__})
            raise ToolFailed("The memory cannot be reached now.") from error

    def _agent(self, ctx: RunContext[Any]) -> Agent | None:
        """Return the agent's memory for the user and the conversation of a run; None where its user is not told."""
        user = self._user(ctx) if callable(self._user) else self._user
        if user is None and self._user is not None:
            return None
        return self._memory.agent(self._agent_name, user=user, session=ctx.conversation_id)


def _text(prompt: Any) -> str:
    """Return the texts of a prompt, without images and files."""
    parts = [prompt] if isinstance(prompt, str) else prompt or ()
    return "\n".join(part for part in parts if isinstance(part, str))
