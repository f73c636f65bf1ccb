"""A memory as part of a host: started with its database and settings, shut down again, one engine for all of them."""

import asyncio
import gc
import json
import subprocess
import sys
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest

from engrain import AsyncMemory, Memory
from engrain.config import load
from engrain.errors import InvalidInput, MemoryClosed
from tests.support.engines import HashEmbedder
from tests.support.stores import open_verbs

PATIENCE_S = 60


@pytest.fixture
def settings(tmp_path):
    """What a host reads when it reads its own file, before it starts anything."""
    host = tmp_path / "butler.toml"
    host.write_text('[butler]\nname = "b"\n[modules.memory]\nagent = "helper"\nretrieval.limit = 3\n', encoding="utf-8")
    made = load(file=host)
    host.unlink()
    return made


def is_released(path):
    """Whether nobody has the file open: its log goes with the last who closes it."""
    return [file.name for file in path.parent.iterdir()] == [path.name]


def contents(memory):
    return {hit.memory.content for hit in memory.agent().recall("", preset="recency")}


class TestStartup:
    @pytest.mark.req("B28.1")
    def test_a_memory_holds_the_database_and_the_settings_it_was_given(self, path, settings):
        async def live():
            async with await AsyncMemory.open(path, settings=settings, embedder="none") as memory:
                await memory.agent().observe("tea")
                return memory.settings, memory.agent().caller.agent

        held, agent = asyncio.run(live())
        assert held is settings
        assert agent == "helper"
        with Memory.open(path, settings=settings, embedder="none") as memory:
            assert memory.settings is settings
            assert memory.parts.store.location == str(path)
            assert contents(memory) == {"tea"}

    def test_a_relative_path_is_of_the_folder_where_it_was_opened(self, tmp_path, monkeypatch):
        """Threads that come later open the file, too."""
        here, there = tmp_path / "here", tmp_path / "there"
        for folder in (here, there):
            folder.mkdir()
            monkeypatch.chdir(folder)
            with Memory.open("agent.db", embedder="none") as memory:
                memory.agent().observe(folder.name)
        monkeypatch.chdir(here)
        with Memory.open("agent.db", embedder="none") as memory, ThreadPoolExecutor(1) as later:
            monkeypatch.chdir(there)
            assert later.submit(contents, memory).result() == {"here"}
            assert memory.parts.store.location == str(here / "agent.db")

    def test_a_working_folder_that_is_gone_needs_an_absolute_path(self, path, tmp_path, monkeypatch):
        gone = tmp_path / "gone"
        gone.mkdir()
        monkeypatch.chdir(gone)
        gone.rmdir()
        with pytest.raises(InvalidInput, match="give an absolute path"):
            Memory.open("agent.db", embedder="none")
        with Memory.open(path, embedder="none") as memory:
            memory.agent().observe("tea")
            assert contents(memory) == {"tea"}

    @pytest.mark.req("B28.1")
    def test_a_store_of_the_hosts_own_is_held_too(self, path, settings):
        store = open_verbs(path)
        with Memory(store, settings=settings) as memory:
            assert memory.parts.store is store
            assert memory.settings is settings

    def test_settings_that_are_made_take_no_file(self, path, settings):
        with pytest.raises(InvalidInput, match="these settings are made already"):
            Memory.open(path, settings=settings, config="butler.toml")
        assert not path.exists()

    @pytest.mark.req("B28.1")
    def test_starting_again_does_no_harm(self, path, settings):
        """A host that starts twice, of which neither knows the other, and shuts down in any order."""
        first = Memory.open(path, settings=settings, embedder=HashEmbedder())
        first.agent().observe("one")
        second = Memory.open(path, settings=settings, embedder=HashEmbedder())
        second.agent().observe("two")
        assert contents(first) == {"one", "two"}
        first.close()
        with pytest.raises(MemoryClosed):
            contents(first)
        third = second.agent().observe("three")
        assert [hit.memory.id for hit in second.agent().recall("three", limit=1, preset="keyword")] == [third.id]
        second.close()
        assert is_released(path)
        with Memory.open(path, settings=settings, embedder="none") as memory:
            assert memory.health(thorough=True).problems == ()
            assert memory.agent().stats().episodes.total == 3

    def test_many_may_start_a_new_file_at_once(self, path):
        with ExitStack() as stack, ThreadPoolExecutor(8) as threads:
            opening = [threads.submit(Memory.open, path, embedder="none") for _ in range(8)]
            memories = [stack.enter_context(each.result()) for each in opening]
            for number, memory in enumerate(memories):
                memory.agent().observe(f"turn {number}")
            assert {memory.agent().stats().episodes.total for memory in memories} == {8}
        assert is_released(path)

    def test_memories_without_a_file_share_nothing(self):
        with Memory.open(":memory:", embedder="none") as one, Memory.open(":memory:", embedder="none") as other:
            one.agent().observe("tea")
            assert other.agent().stats().episodes.total == 0

    def test_each_memory_of_a_file_has_its_own_settings_and_its_own_tenant(self, path):
        with (
            Memory.open(path, embedder="none", settings={"tenant": "a", "retrieval": {"limit": 1}}) as one,
            Memory.open(path, embedder="none", settings={"tenant": "b"}) as other,
        ):
            for number in range(3):
                one.agent().observe(f"tea {number}")
            assert len(one.agent().recall("tea")) == 1
            assert len(other.agent().recall("tea")) == 0
            other.agent().observe("tea")
            assert [memory.agent().stats().episodes.total for memory in (one, other)] == [3, 1]


class HeldEmbedder(HashEmbedder):
    """Does not say its length, which opening a memory asks for, before it is allowed to."""

    def __init__(self):
        self.asked = threading.Event()
        self.allowed = threading.Event()
        super().__init__()

    @property
    def dims(self):
        self.asked.set()
        assert self.allowed.wait(PATIENCE_S)
        return self._dims

    @dims.setter
    def dims(self, value):
        self._dims = value


class TestGivingUp:
    def test_a_startup_that_nobody_waits_for_any_more_leaves_nothing_open(self, path):
        embedder = HeldEmbedder()

        async def live():
            starting = asyncio.create_task(AsyncMemory.open(path, embedder=embedder))
            assert await asyncio.to_thread(embedder.asked.wait, PATIENCE_S)
            starting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await starting
            embedder.allowed.set()

        asyncio.run(live())  # which waits for its threads
        assert is_released(path)


class TestShutdown:
    @pytest.mark.req("B28.2")
    @pytest.mark.parametrize("how", ["called", "awaited"])
    def test_neither_the_database_nor_an_engine_is_held_any_longer(self, path, how):
        before = set(threading.enumerate())
        embedder = HashEmbedder()
        memory = Memory.open(path, embedder=embedder, settings={"embedding": {"wait_s": PATIENCE_S}})
        agent = memory.agent("ana")
        agent.observe("tea")
        agent.recall("tea")
        held = [weakref.ref(each) for each in (embedder, memory.parts.store, memory.parts.queue)]
        del embedder
        if how == "called":
            memory.close()
        else:
            asyncio.run(AsyncMemory(memory).close())
        gc.collect()
        assert [each() for each in held] == [None] * len(held)
        assert is_released(path)
        assert set(threading.enumerate()) <= before
        for call in (memory.flush, memory.health, agent.stats):
            with pytest.raises(MemoryClosed):
                call()
        assert memory.settings.embedding.wait_s == PATIENCE_S

    @pytest.mark.req("B28.2")
    def test_what_waited_for_a_vector_has_one(self, path):
        memory = Memory.open(path, embedder=HashEmbedder())
        for number in range(20):
            memory.agent("ana").observe(f"turn {number}")
        memory.close()
        with Memory.open(path, embedder="none") as again:
            assert again.health().embedded == 20

    def test_many_may_shut_it_down_at_once(self, path):
        memory = Memory.open(path, embedder=HashEmbedder())
        memory.agent("ana").observe("tea")
        with ThreadPoolExecutor(8) as threads:
            assert list(threads.map(lambda _: memory.close(), range(8))) == [None] * 8
        assert is_released(path)


LOADS = """
import asyncio, json, sys
import onnxruntime
from concurrent.futures import ThreadPoolExecutor
from engrain import AsyncMemory, Memory

loads = []
load = onnxruntime.InferenceSession
onnxruntime.InferenceSession = lambda *given, **named: loads.append(1) or load(*given, **named)
told = {}
folder = sys.argv[1]

async def awaited():
    async with await AsyncMemory.open(f"{folder}/third.db") as memory:
        await memory.agent("ana").observe("coffee")
        await memory.agent("ana").recall("coffee", preset="semantic")

one, two = Memory.open(f"{folder}/first.db"), Memory.open(f"{folder}/second.db")
told["open"] = len(loads)
one.agent("ana").recall("tea", preset="keyword")
told["searched by words"] = len(loads)
with ThreadPoolExecutor(4) as threads:
    for memory in (one, two, one, two):
        threads.submit(memory.agent("ana").recall, "tea", preset="semantic")
told["searched at once"] = len(loads)
asyncio.run(awaited())
one.close()
two.agent("ana").observe("tea")
found = two.agent("ana").recall("tea", preset="semantic")
told["found"] = [hit.memory.content for hit in found]
two.close()
told["all"] = len(loads)
print(json.dumps(told))
"""


@pytest.mark.req("B28.3")
def test_the_model_is_loaded_when_it_is_first_needed_and_once_for_all_memories(tmp_path):
    ran = subprocess.run(
        [sys.executable, "-c", LOADS, str(tmp_path)], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert json.loads(ran.stdout) == {
        "open": 0,
        "searched by words": 0,
        "searched at once": 1,
        "found": ["tea"],
        "all": 1,
    }
