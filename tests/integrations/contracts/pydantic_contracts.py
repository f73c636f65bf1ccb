"""Compares the memory store with the harness's InMemoryStore over random operations, on one database, as argument."""

import asyncio
import random
import sys

from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel
from pydantic_ai_harness.memory import (
    InMemoryStore,
    MemoryConflictError,
    MemoryOperation,
    MemoryOperationConflictError,
    MemoryStore,
    MetadataMemoryStore,
    SearchableMemoryStore,
)
from pydantic_ai_harness.memory import Memory as MemoryCapability

from engrain import AsyncMemory, Memory
from engrain.integrations.pydantic_ai import EngrainMemoryStore
from engrain.integrations.pydantic_ai_memory import EngrainMemory

PATHS = ("a/main/MEMORY.md", "a/main/notes.md", "a/x.md", "b/main/MEMORY.md", "top.md", "../x", "a//b", "")
TEXTS = ("", "coffee", "Ana likes strong coffee in the morning", "ä 🎉\0", "x" * 50)
PREFIXES = ("", "a/", "a/main/", "a/ma", "zzz/")


async def outcome(call):
    try:
        return await call
    except (MemoryConflictError, MemoryOperationConflictError, ValueError, TypeError) as error:
        return type(error).__name__


class Versions:
    """The versions of a store by the order in which they were seen: what they look like is its own business."""

    def __init__(self):
        self._known = {}

    def shown(self, result):
        """A result with the number of its version."""
        if not hasattr(result, "version"):
            return result
        number = self._known.setdefault(result.version, len(self._known))
        return (
            {**{name: getattr(result, name) for name in result.__slots__}, "version": number}
            if hasattr(result, "__slots__")
            else {**vars(result), "version": number}
        )


async def compare(ours, theirs, chance):
    pair = [(ours, Versions()), (theirs, Versions())]
    for number in range(250):
        path, text, limit = chance.choice(PATHS), chance.choice(TEXTS), chance.choice([0, 1, 5, 100])
        is_current, kind = chance.random() < 0.7, chance.randint(0, 5)
        operation = chance.choice([None, MemoryOperation(f"op {chance.randint(0, 40)}", chance.choice("xy"))])
        metadata = chance.choice([None, {}, {"by": "ana"}, {"n": 1}])
        prefix, told = chance.choice(PREFIXES), []
        for store, versions in pair:
            found = await outcome(store.read(path, max_chars=1_000))
            version = getattr(found, "version", None) if is_current else "stale"
            match kind:
                case 0 | 1:
                    call = store.write_with_metadata(
                        path, text, expected_version=version, metadata=metadata, operation=operation
                    )
                case 2:
                    call = store.delete(path, expected_version=version, operation=operation)
                case 3:
                    call = store.read(path, max_chars=limit)
                case 4:
                    call = store.list_paths(prefix, limit=limit)
                case _:
                    call = store.get_operation(operation or MemoryOperation("none", "x"))
            told.append(versions.shown(await outcome(call)))
        assert told[0] == told[1], (number, kind, path, told)


async def use(memory):
    """An agent remembers in one run and reads in the next; a search finds by meaning."""
    store = EngrainMemoryStore(memory, agent="capability")
    assert isinstance(store, MemoryStore)
    assert isinstance(store, MetadataMemoryStore)
    assert isinstance(store, SearchableMemoryStore)
    asked = []

    def answer(messages, info):
        asked.append(info)
        called = any(isinstance(part, ToolCallPart) for message in messages for part in message.parts)
        names = {tool.name for tool in info.function_tools}
        write = next(name for name in names if "write" in name)
        if called:
            return ModelResponse(parts=[TextPart("done")])
        schema = next(tool for tool in info.function_tools if tool.name == write).parameters_json_schema
        known = {"content": "Ana likes strong coffee", "file": "MEMORY.md", "path": "MEMORY.md", "name": "MEMORY.md"}
        given = {name: known.get(name, "Ana likes strong coffee") for name in schema.get("required", [])}
        return ModelResponse(parts=[ToolCallPart(write, given)])

    agent = Agent(FunctionModel(answer), capabilities=[MemoryCapability(store, namespace="ana")])
    assert (await agent.run("Remember that I like coffee")).output == "done"
    [path] = await store.list_paths("", limit=10)
    assert "coffee" in (await store.read(path, max_chars=1_000)).content
    for name, text in {"sea": "The ocean is deep and salty", "dog": "Rex barks at the postman"}.items():
        await store.write(f"bo/main/{name}.md", text, expected_version=None)
    await store.write("bo/main/deeper/sea.md", "salt", expected_version=None)
    bounds = {"limit": 5, "max_files": 100, "max_chars": 1_000, "max_file_chars": 100}
    found = await store.search("bo/main/", "How much salt is in sea water?", **bounds)
    assert found.matches[0].path == "bo/main/sea.md"
    assert found.scanned == 2
    assert "ocean" in found.matches[0].snippet


async def check_many(memory):
    """A file is found, however many below its folder answer better."""
    store = EngrainMemoryStore(memory, agent="many")
    await store.write("c/own.md", "A rather long text in which the coffee comes last", expected_version=None)
    items = memory.agent("many").store
    below = ["pydantic-ai", "c", "below"]
    deep = {"content": "coffee", "version": "v", "operation": None, "metadata": None}
    items.write([{"namespace": below, "key": str(n), "value": deep, "index": ["content"]} for n in range(1_000)])
    bounds = {"limit": 5, "max_files": 100, "max_chars": 1_000, "max_file_chars": 100}
    found = await store.search("c/", "coffee", **bounds)
    assert [match.path for match in found.matches] == ["c/own.md"]


async def race(memory):
    store = EngrainMemoryStore(memory, agent="race")
    writes = (outcome(store.write("a.md", str(number), expected_version=None)) for number in range(6))
    told = await asyncio.gather(*writes)
    assert sum(one != "MemoryConflictError" for one in told) == 1
    operation = MemoryOperation("same", "x")
    same = (store.write("b.md", "text", expected_version=None, operation=operation) for _ in range(6))
    assert sorted(mutation.replayed for mutation in await asyncio.gather(*same)) == [False, *[True] * 5]


async def check_capability(memory):
    """A run begins with what is known of its prompt, has tools, and is stored; users are apart."""
    seen = []

    def answer(messages, info):
        seen.append((info.instructions or "", sorted(tool.name for tool in info.function_tools)))
        if len(seen) == 2:
            return ModelResponse(parts=[ToolCallPart("recall", {"query": "What does Ana drink?"})])
        if len(seen) == 3:
            [told] = [part.content for part in messages[-1].parts]
            assert "I like strong coffee." in {found["content"] for found in told}
            return ModelResponse(parts=[ToolCallPart("remember", {"content": "Ana drinks coffee"})])
        return ModelResponse(parts=[TextPart("Noted.")])

    capability = EngrainMemory(AsyncMemory(memory), agent="assistant", user=lambda ctx: ctx.deps)
    agent = Agent(FunctionModel(answer), deps_type=str, capabilities=[capability])
    await agent.run("I like strong coffee.", deps="ana")
    memory.flush()
    await agent.run("What coffee do I like?", deps="ana")
    await agent.run("What coffee do I like?", deps="bo")
    assert [tools for _, tools in seen] == [["recall", "remember"]] * len(seen)
    assert ["I like strong coffee." in told for told, _ in seen] == [False, True, True, True, False]
    assert all(told.endswith("</memories>") for told, _ in seen if "I like strong coffee." in told)  # marked as data
    ana = memory.agent("assistant", user="ana")
    assert [fact.content for fact in ana.facts().items] == ["Ana drinks coffee"]
    assert len(ana.list("episode").items) == 4
    assert len(memory.agent("assistant", user="bo").list("episode").items) == 2
    capability.close()  # which did not open it
    assert ana.facts().items


async def main(location):
    with Memory.open(location) as memory:
        await use(memory)
        await check_capability(memory)
    with Memory.open(location, embedder="none") as memory:
        for number, one in enumerate((memory, AsyncMemory(memory))):
            store = EngrainMemoryStore(one, agent=f"agent {number}")
            await compare(store, InMemoryStore(), random.Random(number))
        await race(memory)
        await check_many(memory)
    sys.stdout.write("ok\n")


asyncio.run(main(sys.argv[1]))
