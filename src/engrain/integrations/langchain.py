"""Retriever and chat history of LangChain: what a memory recalls as documents, and messages as a log.

https://github.com/langchain-ai/langchain, `langchain_core.retrievers.BaseRetriever` and
`langchain_core.chat_history.BaseChatMessageHistory`.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, ChatMessage, HumanMessage, message_to_dict, messages_from_dict
from langchain_core.retrievers import BaseRetriever
from pydantic import ConfigDict, Field, PrivateAttr

from engrain.integrations.connection import Adapter, AgentConnection, MemoryOrLocation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from langchain_core.messages import BaseMessage

    from engrain.domain.records import Hit

_LOG = "langchain"


class EngrainRetriever(Adapter, BaseRetriever):
    """Retrieves memories as documents: `EngrainRetriever(memory="agent.db", k=5)` in any chain.

    `filters` are further arguments of `recall`, such as `{"kinds": ["fact"]}`. A document has the id of its memory, and
    in its metadata kind, score, why, session, speaker and time.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    memory: Any = Field(exclude=True)
    agent: str | None = None
    user: str | None = None
    k: int = 5
    filters: dict[str, Any] = Field(default_factory=dict)
    _connection: AgentConnection = PrivateAttr()

    def model_post_init(self, context: Any, /) -> None:
        """Use an open memory, or open the one at a location, which `close` closes then."""
        super().model_post_init(context)
        self._connection = AgentConnection(self.memory, agent=self.agent, user=self.user)

    def _get_relevant_documents(self, query: str, *, run_manager: Any, k: int | None = None) -> list[Document]:  # noqa: ARG002  # LangChain names it
        found = self._connection.agent.recall(query, limit=self.k if k is None else k, **self.filters)
        return [_document(hit) for hit in found]

    async def _aget_relevant_documents(self, query: str, *, run_manager: Any, k: int | None = None) -> list[Document]:
        find = self._get_relevant_documents
        return await self._connection.call(find, query, run_manager=run_manager.get_sync(), k=k)


class EngrainChatMessageHistory(Adapter, BaseChatMessageHistory):
    """Stores the messages of a session, for `RunnableWithMessageHistory`; they come back equal.

    What people and the model say is remembered as episodes too, unless `remember` is false.
    """

    def __init__(
        self,
        session: str,
        memory: MemoryOrLocation,
        *,
        agent: str | None = None,
        user: str | None = None,
        remember: bool = True,
    ) -> None:
        """Use an open memory, or open the one at a location, which `close` closes then."""
        self._connection = AgentConnection(memory, agent=agent, user=user)
        self._log = self._connection.agent.log(_LOG)
        self._session = session
        self._remember = remember

    @property
    def messages(self) -> list[BaseMessage]:
        """All messages, oldest first."""
        found: list[BaseMessage] = messages_from_dict(
            [entry.entry["of"] for entry in self._log.read(session=self._session)]
        )
        return found

    async def aget_messages(self) -> list[BaseMessage]:
        return await asyncio.to_thread(lambda: self.messages)

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Append messages in their order, all or none."""
        entries = [_entry(message) for message in messages]
        if entries:
            self._log.append(entries, session=self._session, remember=self._remember)

    async def aadd_messages(self, messages: Sequence[BaseMessage]) -> None:
        await asyncio.to_thread(self.add_messages, messages)

    def clear(self) -> None:
        """Delete all messages; the episodes stay."""
        self._log.delete(session=self._session)

    async def aclear(self) -> None:
        await asyncio.to_thread(self.clear)


def _entry(message: BaseMessage) -> dict[str, Any]:
    """Return the entry of a message: as LangChain writes it, and as a turn of a conversation."""
    role = _role(message)
    turn = {} if role is None else {"role": role, "content": str(message.text)}
    return {"of": message_to_dict(message), **turn}


def _role(message: BaseMessage) -> str | None:
    """Return the role of a message as a turn, whole or in chunks; None of a tool's or a system's."""
    match message:
        case HumanMessage():
            return "user"
        case AIMessage():
            return "assistant"
        case ChatMessage():
            return str(message.role)
        case _:
            return None


def _document(hit: Hit) -> Document:
    memory = hit.memory
    about = {name: getattr(memory, name, None) for name in ("kind", "session", "speaker", "subject", "predicate")}
    told = {name: value for name, value in about.items() if value is not None}
    return Document(
        id=memory.id,
        page_content=memory.statement,
        metadata={**told, "score": hit.score, "why": str(hit.why), "time": memory.happened_at.isoformat()},
    )
