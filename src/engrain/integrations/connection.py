"""Connection of an adapter to an agent: of an open memory, or of one that the adapter opens and closes.

Also how it stores the texts of messages, and what it tells a model of a memory or a context block.
"""

from __future__ import annotations

import asyncio
import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeAlias, TypeVar

from engrain import metrics
from engrain.context.block import ContextBlock, mark_as_data
from engrain.domain import checks
from engrain.domain.records import Episode, MemoryRecord
from engrain.errors import InvalidInput
from engrain.log_events import get_logger
from engrain.service import Memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from engrain.agent.agent import Agent
    from engrain.agent.exact.item_store import ItemStore
    from engrain.aio import AsyncMemory
    from engrain.domain.pagination import Page

_LOG = get_logger(__name__)
_PAGE = 1_000
SPOKEN_ROLES = ("user", "assistant")  # of messages that are remembered
MemoryOrLocation: TypeAlias = "Memory | AsyncMemory | str | Path"
"""An open memory, or the location of one: an adapter opens that, and closes it with itself."""

_Parameters = ParamSpec("_Parameters")
_Answer = TypeVar("_Answer")
_Item = TypeVar("_Item")


class AgentConnection:
    """The agent behind an adapter: of a memory that is open, local or a server's, or of the one at a location."""

    def __init__(
        self,
        memory: MemoryOrLocation,
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


class Adapter:
    """An adapter that speaks to an agent."""

    _connection: AgentConnection

    def close(self) -> None:
        """Close the memory, if this opened it."""
        self._connection.close()


def iterate_pages(verb: Callable[..., Page[_Item]], **arguments: Any) -> Iterator[_Item]:
    """Yield the items of all pages of a list, each page loaded when it is reached."""
    after: str | None = None
    while True:
        page = verb(**arguments, limit=_PAGE, after=after)
        yield from page
        if (after := page.next) is None:
            return


def write_items(store: ItemStore, changes: Sequence[Any]) -> None:
    """Write and delete items; more than one call takes are several transactions."""
    for start in range(0, len(changes), _PAGE):
        store.write(changes[start:][:_PAGE])


def derive_key(prefix: str, text: str) -> str:
    """Derive an idempotency key from what identifies a message."""
    return f"{prefix}:{hashlib.sha256(text.encode(errors='replace')).hexdigest()}"


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


def quote_block(block: ContextBlock) -> str:
    """Return the text of a context block between tags that mark it as data; "" for an empty one."""
    return mark_as_data(block.text) if block.text else ""


def describe_memory(memory: MemoryRecord) -> dict[str, str]:
    """Describe a memory for a model: what it says, when that happened, and whose words these are."""
    speaker = {"speaker": memory.speaker or memory.role} if isinstance(memory, Episode) else {}
    return {"content": memory.statement, "time": memory.happened_at.isoformat(), **speaker}
