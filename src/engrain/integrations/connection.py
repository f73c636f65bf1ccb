"""Connection of an adapter to an agent: of an open memory, or of one that the adapter opens and closes.

Also how it stores the texts of messages, and what it tells a model of a memory.
"""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from engrain import metrics
from engrain.domain import checks
from engrain.domain.records import Episode, Fact
from engrain.errors import InvalidInput
from engrain.service import Memory

if TYPE_CHECKING:
    from collections.abc import Callable

    from engrain.agent.agent import Agent
    from engrain.aio import AsyncMemory
    from engrain.domain.records import MemoryRecord

_LOG = logging.getLogger(__name__)

_Parameters = ParamSpec("_Parameters")
_Answer = TypeVar("_Answer")


class AgentConnection:
    """The agent behind an adapter: of a memory that is open, local or a server's, or of the one at a location."""

    def __init__(
        self,
        memory: Memory | AsyncMemory | str | Path,
        *,
        agent: str | None = None,
        user: str | None = None,
        session: str | None = None,
    ) -> None:
        """Use an open memory, or open the one at a location, which `close` closes then."""
        opened = Memory.open(memory) if isinstance(memory, str | Path) else None
        used: Any = opened or memory
        self._opened = opened
        self.memory: Memory = getattr(used, "wrapped", used)
        self.agent: Agent = self.memory.agent(agent, user=user, session=session)

    async def call(
        self, method: Callable[_Parameters, _Answer], *args: _Parameters.args, **options: _Parameters.kwargs
    ) -> _Answer:
        """Call a verb in a worker thread."""
        return await asyncio.to_thread(method, *args, **options)

    def close(self) -> None:
        """Close the memory, if this opened it."""
        if self._opened is not None:
            self._opened.close()


def store_text(verb: Callable[..., _Answer], text: str, **options: Any) -> _Answer | None:
    """Store the text of one message by a verb; None for a message without text, or one that the memory refuses.

    A refusal is logged and counted: the other messages of a batch are stored, and a run that is over does not fail.
    """
    if not checks.clean(text):
        return None
    try:
        return verb(text, **options)
    except InvalidInput as error:
        metrics.count("messages_refused")
        _LOG.warning("message refused", extra={"error": type(error).__name__})  # its message may hold the text
        return None


def state_memory(memory: MemoryRecord) -> str:
    """State a memory in words: a fact with its subject and predicate, anything else as it is."""
    return memory.statement if isinstance(memory, Fact) else memory.content


def describe_memory(memory: MemoryRecord) -> dict[str, str]:
    """Describe a memory for a model: what it says, when that happened, and whose words these are."""
    speaker = {"speaker": memory.speaker or memory.role} if isinstance(memory, Episode) else {}
    return {"content": state_memory(memory), "time": memory.happened_at.isoformat(), **speaker}
