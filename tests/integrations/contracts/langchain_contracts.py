"""Runs LangChain's standard tests of retrievers, and messages through its history, on one database, as argument."""

import asyncio
import contextlib
import io
import sys

import pytest
from langchain_core.documents import Document
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    ChatMessage,
    HumanMessage,
    HumanMessageChunk,
    SystemMessage,
    ToolMessage,
)
from langchain_core.runnables import RunnableLambda
from langchain_core.runnables.history import RunnableWithMessageHistory
from langchain_tests.integration_tests import RetrieversIntegrationTests

from engrain import AsyncMemory, Memory
from engrain.integrations.langchain import EngrainChatMessageHistory, EngrainRetriever

MEMORY: list[Memory] = []


class TestRetriever(RetrieversIntegrationTests):
    """The six standard tests."""

    @property
    def retriever_constructor(self):
        return EngrainRetriever

    @property
    def retriever_constructor_params(self):
        return {"memory": MEMORY[0], "agent": "retriever"}

    @property
    def retriever_query_example(self):
        return "Where does Ana live?"


def check_documents(memory):
    facts = EngrainRetriever(memory=AsyncMemory(memory), agent="retriever", filters={"kinds": ["fact"]})
    [found] = facts.invoke("Where does Ana live?")
    assert isinstance(found, Document)
    told = found.page_content, found.metadata["kind"], found.metadata["subject"]
    assert told == ("Ana lives in: Porto", "fact", "Ana")
    assert found.metadata["time"] == "2019-05-01T00:00:00+00:00"
    turns = EngrainRetriever(memory=memory, agent="retriever", filters={"kinds": ["episode"]})
    assert len(turns.invoke("house", k=1)) == len(asyncio.run(turns.ainvoke("house", k=1))) == 1
    assert len(asyncio.run(turns.ainvoke("house"))) > 1
    assert memory.agent("retriever").get(found.id).content == "Porto"
    memory.agent("retriever", user="bo").observe("Bo lives in Faro.")
    of_users = [EngrainRetriever(memory=memory, agent="retriever", user=user).invoke("Faro") for user in ("bo", "ana")]
    assert ["Bo lives in Faro." in {found.page_content for found in documents} for documents in of_users] == [
        True,
        False,
    ]


def check_history(memory):
    call = {"name": "f", "args": {"a": "b\0"}, "id": "c", "type": "tool_call"}
    said = [
        SystemMessage("Be brief."),
        HumanMessage("I like strong coffee.", name="ana"),
        AIMessage("", tool_calls=[call]),
        ToolMessage("ok", tool_call_id="c"),
        AIMessage([{"type": "text", "text": "Noted."}], usage_metadata=None),
    ]
    history = EngrainChatMessageHistory("monday", memory, agent="history")
    history.add_messages(said)
    assert history.messages == said
    other = EngrainChatMessageHistory("monday", AsyncMemory(memory), agent="history", user="bo", remember=False)
    assert asyncio.run(other.aget_messages()) == []
    asyncio.run(other.aadd_messages([HumanMessage("x")]))
    assert len(other.messages) == 1
    asyncio.run(other.aclear())
    assert (other.messages, len(history.messages)) == ([], 5)
    turns = memory.agent("history").episodes(session="monday").items
    assert sorted(turn.content for turn in turns) == ["I like strong coffee.", "Noted."]
    said = {
        "I drink": HumanMessageChunk("I drink"),
        "Noted in pieces": AIMessageChunk("Noted ") + AIMessageChunk("in pieces"),
        "By its role": ChatMessage("By its role", role="user"),
        "A list of texts": HumanMessage(["A list ", {"type": "text", "text": "of texts"}]),
    }
    streamed = EngrainChatMessageHistory("streamed", memory, agent="history")
    streamed.add_messages([*said.values(), ChatMessage("Be brief", role="developer")])
    assert streamed.messages[:4] == [*said.values()]
    turns = memory.agent("history").episodes(session="streamed").items
    assert {turn.content for turn in turns} == said.keys()
    assert [turn.content for turn in turns if turn.role == "assistant"] == ["Noted in pieces"]
    chain = RunnableWithMessageHistory(
        RunnableLambda(lambda messages: AIMessage(f"{len(messages)} messages")),
        lambda session_id: EngrainChatMessageHistory(session_id, memory, agent="chain"),
    )
    told = [chain.invoke([HumanMessage("Hi")], {"configurable": {"session_id": "s"}}).content for _ in range(2)]
    assert told == ["1 messages", "3 messages"]


def main(location):
    with Memory.open(location) as memory:
        MEMORY.append(memory)
        agent = memory.agent("retriever")
        agent.remember("Porto", subject="Ana", predicate="lives in", valid_from="2019-05-01")
        for text in ("Ana moved house in May.", "Ana lives near the river.", "The house of Ana is blue."):
            agent.observe(text, speaker="Ana")
        memory.flush()
        check_documents(memory)
        check_history(memory)
        sys.modules["langchain_contracts"] = sys.modules["__main__"]  # pytest imports this file anew otherwise
        options = "-q -p no:cacheprovider -p pytest_asyncio.plugin -o asyncio_mode=auto -W ignore --rootdir .".split()
        collected = Plugin()
        with contextlib.redirect_stdout(io.StringIO()):
            code = pytest.main([*options, "--import-mode=importlib", __file__], plugins=[collected])
    assert (code, collected.passed) == (0, 5), (code, collected.passed)
    sys.stdout.write("ok\n")


class Plugin:
    """Counts the tests that pass, and gives them this module's memory."""

    passed = 0

    def pytest_collection_modifyitems(self, items):
        for item in items:
            item.module.MEMORY = MEMORY

    def pytest_runtest_logreport(self, report):
        self.passed += report.when == "call" and report.passed


if __name__ == "__main__":
    main(sys.argv[1])
