"""Uses the adapter of a framework, argument 1, with the memory of a server, argument 2, which stops meanwhile."""

import asyncio
import sys

from engrain import Memory

COFFEE = "I like strong coffee."


async def adk(memory, stop):
    from google.adk.events.event import Event
    from google.adk.sessions.session import Session
    from google.genai import types

    from engrain.integrations.google_adk import EngrainMemoryService

    service = EngrainMemoryService(memory)
    stop()
    event = Event(author="user", content=types.Content(role="user", parts=[types.Part(text=COFFEE)]))
    await service.add_session_to_memory(Session(id="s", app_name="app", user_id="ana", events=[event]))
    assert (await service.search_memory(app_name="app", user_id="ana", query="coffee")).memories == []


async def llama_index(memory, stop):
    from llama_index.core.llms import ChatMessage

    from engrain.integrations.llama_index import EngrainMemoryBlock

    block = EngrainMemoryBlock(memory=memory, user="ana")
    stop()
    said = [ChatMessage(role="user", content=COFFEE)]
    await block.aput(said, session_id="monday")
    assert await block.aget(said, session_id="monday") == ""


async def main(framework, address):
    with Memory.open(address, timeout_s=1) as memory:

        def stop():
            """Let the test stop the server."""
            sys.stdout.write("open\n")
            sys.stdout.flush()
            sys.stdin.readline()

        await globals()[framework](memory, stop)


asyncio.run(main(*sys.argv[1:]))
