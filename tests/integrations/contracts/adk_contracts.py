"""Uses the memory service of Google's ADK as its runner and tools do, on one database, given as argument."""

import asyncio
import sys

from google.adk.events.event import Event
from google.adk.memory.base_memory_service import BaseMemoryService
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.sessions.session import Session
from google.genai import types

from engrain import AsyncMemory, Memory
from engrain.integrations.google_adk import EngrainMemoryService

COFFEE = "I like strong coffee in the morning."
REFUSED = ("\0", "My key is ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8")


def event(id_, author, *parts, partial=None):
    role = "user" if author == "user" else "model"
    return Event(id=id_, author=author, timestamp=1_760_000_000.5, partial=partial,
                 content=types.Content(role=role, parts=list(parts)) if parts else None)  # fmt: skip


def text(said, **more):
    return types.Part(text=said, **more)


def session(user, *events, app="app"):
    return Session(id="s", app_name=app, user_id=user, events=list(events))


async def check_own(memory, service):
    """An event is stored once, in whatever session; a memory keeps its id, author and time, and is corrected by id."""
    later = event("e7", "user", text("The boiler is serviced in May."))
    await service.add_events_to_memory(app_name="app", user_id="eva", events=[later])
    for _ in range(2):
        await service.add_session_to_memory(session("eva", later))
    assert len(memory.agent("app", user="eva").list("episode").items) == 1

    async def store(said, **more):
        entry = MemoryEntry(id="n1", content=types.Content(parts=[text(said)]), author="doctor", **more)
        await service.add_memory(app_name="app", user_id="eva", memories=[entry])
        memory.flush()
        found = await service.search_memory(app_name="app", user_id="eva", query="What is Eva allergic to?")
        return [one for one in found.memories if "allergic" in one.content.parts[0].text]

    for _ in range(2):
        [nuts] = await store("Eva is allergic to nuts", timestamp="2020-05-01T00:00:00", custom_metadata={"n": 2})
    assert (nuts.id, nuts.author, nuts.timestamp[:10]) == ("n1", "doctor", "2020-05-01")
    assert nuts.custom_metadata == {"n": 2}
    [fish] = await store("Eva is allergic to fish")
    assert (fish.id, fish.content.parts[0].text) == ("n1", "Eva is allergic to fish")
    await service.delete_memory(app_name="app", user_id="eva", memory_id="n1")
    assert await store("Eva is allergic to fish") == []


async def main(location):
    with Memory.open(location, settings={"privacy": {"secrets": "refuse"}}) as memory:
        service = EngrainMemoryService(AsyncMemory(memory), limit=3)
        assert isinstance(service, BaseMemoryService)

        async def found(query, user="ana", app="app"):
            return (await service.search_memory(app_name=app, user_id=user, query=query)).memories

        call = types.Part(function_call=types.FunctionCall(name="f", args={"a": 1}))
        events = [
            event("1", "user", text(COFFEE)),
            event("2", "helper", text("A thought", thought=True), text("Noted."), call),
            event("3", "helper", call),
            event("4", "helper"),
            event("5", "helper", text("Not"), partial=True),
        ]
        for upto in (1, 5, 5):  # a session is added as it grows
            await service.add_session_to_memory(session("ana", *events[:upto]))
        turns = memory.agent("app", user="ana").episodes(session="s").items
        told = {("user", "user", COFFEE), ("assistant", "helper", "Noted.")}
        assert {(turn.role, turn.speaker, turn.content) for turn in turns} == told
        assert len(turns) == 2
        await service.add_events_to_memory(
            app_name="app", user_id="bo", session_id="s", events=[event("1", "user", text("Bo likes tea."))]
        )
        await service.add_session_to_memory(session("ana", event("9", "user", text("Another app's.")), app="other"))
        memory.flush()
        best = (await found("What does she drink in the morning?"))[0]
        assert (best.content.parts[0].text, best.content.role, best.author) == (COFFEE, "user", "user")
        assert best.timestamp.startswith("2025-10-09T08:53:20.5")
        assert [one.content.parts[0].text for one in await found("tea", "bo")] == ["Bo likes tea."]
        assert await found("tea", "carl") == []
        kept = ("Before.", *REFUSED, "After.")
        grown = session("dora", *(event(said, "user", text(said)) for said in kept))
        for _ in range(2):
            await service.add_session_to_memory(grown)
        entries = [MemoryEntry(content=types.Content(parts=[text(said)])) for said in kept]
        await service.add_memory(app_name="app", user_id="dora", memories=entries)
        stored = memory.agent("app", user="dora").list().items
        assert sorted((one.kind, one.content) for one in stored) == [
            (kind, said) for kind in ("episode", "fact") for said in ("After.", "Before.")
        ]
        entry = MemoryEntry(
            id="m1", content=types.Content(parts=[text("Ana lives in Porto")]), custom_metadata={"n": 1}
        )
        for _ in range(2):
            await service.add_memory(app_name="app", user_id="ana", memories=[entry])
        memory.flush()
        [lives] = [one for one in await found("Where does Ana live?") if "Porto" in one.content.parts[0].text]
        assert lives.custom_metadata["n"] == 1
        memory.agent("app", user="ana").remember("Faro", subject="Bo", predicate="works in", valid_from="2019-05-01")
        works = (await found("Where does Bo work?"))[0]
        assert (works.content.parts[0].text, works.timestamp[:10]) == ("Bo works in: Faro", "2019-05-01")
        await service.delete_memory(app_name="app", user_id="ana", memory_id=best.id)
        await service.add_session_to_memory(session("ana", *events))
        assert COFFEE not in {one.content.parts[0].text for one in await found("coffee in the morning")}
        await check_own(memory, service)
        service.close()  # which did not open it
        assert await found("Porto")
    sys.stdout.write("ok\n")


asyncio.run(main(sys.argv[1]))
