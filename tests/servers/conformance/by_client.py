"""The client as a way to a memory: `Memory.open` on the address of a server, over a real socket."""

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from engrain import AsyncMemory, Memory
from engrain.config import load
from engrain.engines import embedder
from engrain.interfaces.access import Gate
from engrain.interfaces.http.app import create_app
from tests.servers.conformance.interfaces import AsyncLibrary, Library, Way
from tests.servers.conformance.scenario import SETTINGS
from tests.support.asgi import serving
from tests.support.wiped import fresh_store


@contextmanager
def _served(memory: Memory) -> Iterator[str]:
    with memory, serving(create_app(memory, gate=Gate(memory, keys_required=False))) as url:
        yield url


@contextmanager
def by_client(folder: Path) -> Iterator[Way]:
    memory = Memory.open(folder / "memory.db", settings=SETTINGS)
    with _served(memory) as url, Memory.open(url) as client:
        yield Library(client, memory)


@contextmanager
def by_client_on_postgres(_: Path) -> Iterator[Way]:
    with fresh_store() as store:
        memory = Memory(store, embedder=embedder("minilm"), settings=load(SETTINGS))
        with _served(memory) as url, Memory.open(url) as client:
            yield Library(client, memory)


@contextmanager
def by_async_client(folder: Path) -> Iterator[Way]:
    memory = Memory.open(folder / "memory.db", settings=SETTINGS)
    with ExitStack() as stack:
        url = stack.enter_context(_served(memory))
        runner = stack.enter_context(asyncio.Runner())
        client = runner.run(AsyncMemory.open(url))
        yield AsyncLibrary(client, runner, AsyncMemory(memory))
        runner.run(client.close())
