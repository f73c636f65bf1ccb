"""AsyncMemory answers as Memory does, to many callers at once, and never blocks the event loop."""

import asyncio
import inspect

import pytest

from engrain.agent.agent import Agent
from engrain.agent.entities import Entities
from engrain.agent.rules import Rules
from engrain.aio import AsyncAgent, AsyncEntities, AsyncMemory, AsyncRules
from engrain.errors import InvalidInput, MemoryClosed, NotFound, UnreadableImport
from engrain.service import Memory
from tests.support.engines import HashEmbedder, HeldEmbedder

SETTINGS = {"embedding": {"wait_s": 60}}


def opened(path, embedder=None, **settings):
    return AsyncMemory.open(path, embedder=embedder or HashEmbedder(), settings={**SETTINGS, **settings})


def test_every_verb_does_what_memory_does(path, tmp_path):
    export = tmp_path / "export.jsonl"
    export.write_text('{"content": "An imported turn about the sea", "session": "old"}', encoding="utf-8")

    async def live():  # hashes are no meaning, and so no evidence
        async with await opened(path, context={"min_evidence": 0.0}) as memory:
            agent = memory.agent("ana", session="s")
            episode = await agent.observe("A turn about the boat", speaker="Ana", tags=["boat"])
            fact = await agent.remember("Aurora", subject="boat", predicate="is called", permanence="stable")
            report = await agent.import_file(export)
            await memory.flush()
            answer = await agent.recall("What is the boat called?", preset="keyword", limit=2)
            block = await memory.agent("ana").context("the boat", budget_tokens=200)
            gone = await agent.forget(episode.id)
            got = await agent.get(episode.id, as_of=episode.created_at)
            entity = await agent.entities.create("Aurora", "other")
            rule = await agent.rules.add("Call the boat by her name")
            corrected = await agent.correct(fact.id, "Boreas", source="Ana")
            link = await agent.link(rule.id, corrected.id, "derived_from")
            assert (await agent.confirm(rule.id)).last_confirmed_at > rule.last_confirmed_at
            assert (await agent.facts("boat")).items == (corrected,)
            assert [each.id for each in await agent.history(fact.id)] == [fact.id, corrected.id]
            assert await agent.links(rule.id) == [link]
            assert await agent.entities.get(entity.id) == entity
            assert (await agent.erase(rule.id)).ids == [rule.id]
            assert (await agent.events(rule.id, limit=1))[0].event_type == "memory_erased"
            return (
                [report.added, {hit.memory.id for hit in answer} == {episode.id, fact.id}, gone == got],
                [block.text.splitlines()[1], (await agent.stats()).episodes.total, (await memory.health()).problems],
                [agent.caller.agent, memory.settings.embedding.wait_s],
            )

    assert asyncio.run(live()) == ([1, True, True], ["- boat is called: Aurora", 1, ()], ["ana", 60])
    with Memory.open(path, embedder=HashEmbedder()) as memory:
        assert memory.agent("ana").recall("boat")[0].memory.content == "Boreas"


@pytest.mark.parametrize(
    ("ours", "theirs"), [(Memory, AsyncMemory), (Agent, AsyncAgent), (Rules, AsyncRules), (Entities, AsyncEntities)]
)
def test_every_public_verb_is_there_with_the_same_parameters(ours, theirs):
    def verbs(kind):
        found = inspect.getmembers(kind, lambda each: inspect.isfunction(each) or inspect.ismethod(each))
        return {name: list(inspect.signature(each).parameters) for name, each in found if not name.startswith("_")}

    assert verbs(theirs) == verbs(ours)
    assert all(inspect.iscoroutinefunction(getattr(theirs, verb)) for verb in verbs(theirs) if verb != "agent")


def test_fifty_callers_at_once(path):
    async def live():
        async with await opened(path) as memory:
            agent = memory.agent("ana", session="s")
            episodes = await asyncio.gather(*(agent.observe(f"Turn word{number}x") for number in range(50)))
            answers = await asyncio.gather(
                *(agent.recall(f"word{number}x", preset="keyword", limit=1) for number in range(50)),
                *(agent.recall(f"Turn word{number}x", preset="semantic", limit=1) for number in range(50)),
            )
            return episodes, answers

    episodes, answers = asyncio.run(live())
    assert sorted(episode.turn for episode in episodes) == list(range(1, 51))
    assert [answer[0].memory.id for answer in answers] == [episode.id for episode in episodes] * 2


def test_a_slow_call_holds_up_no_other(path):
    """The loop goes on while one call waits for an embedder that does not come back before the other is done."""
    embedder = HeldEmbedder()

    async def live():
        memory = await opened(path, embedder)
        agent = memory.agent("ana")
        await agent.observe("A turn")
        flushing = asyncio.create_task(memory.flush())
        assert await asyncio.to_thread(embedder.reached.wait, 60)
        assert (await agent.recall("turn", preset="keyword")).hits
        assert not flushing.done()
        embedder.release.set()
        await flushing
        assert (await agent.stats()).pending_embeddings == 0
        await memory.close()

    asyncio.run(live())


def test_errors_arrive_as_they_are(path):
    async def live():
        async with await opened(path) as memory:
            agent = memory.agent("ana")
            with pytest.raises(InvalidInput, match="role 'robot'"):
                await agent.observe("A turn", role="robot")
            with pytest.raises(NotFound, match="unknown-id"):
                await agent.forget("unknown-id")
            with pytest.raises(UnreadableImport, match="missing"):
                await agent.import_file("missing.jsonl")
            with pytest.raises(InvalidInput, match="agent 'global'"):
                memory.agent("global")
        with pytest.raises(MemoryClosed):
            await agent.observe("Too late")

    asyncio.run(live())


def test_it_closes_with_the_block_whatever_happens_in_it(path):
    async def live():
        async with await opened(path) as memory:
            agents.append(memory.agent("ana"))
            await agents[0].observe("A turn")
            raise KeyError

    agents = []
    with pytest.raises(KeyError):
        asyncio.run(live())
    with pytest.raises(MemoryClosed):
        asyncio.run(agents[0].stats())
    assert [file.name for file in path.parent.iterdir()] == [path.name]
    with Memory.open(path, embedder=HashEmbedder()) as memory:
        assert memory.agent("ana").stats().episodes.total == 1


def test_a_location_that_is_refused_is_refused_when_awaited():
    with pytest.raises(InvalidInput, match="location is empty"):
        asyncio.run(opened(""))


def test_a_progress_that_is_awaited_runs_in_the_loop_before_the_work_goes_on(path):
    seen = []

    async def note(*done):
        await asyncio.sleep(0)
        seen.append((done, asyncio.get_running_loop()))

    async def live():
        async with await opened(path) as memory:
            await memory.agent("ana").remember("tea", subject="Ana", predicate="likes")
            await memory.decay(progress=note)
            count = len(seen)
            await memory.flush(note)
            return count, asyncio.get_running_loop()

    count, loop = asyncio.run(live())
    assert count > 0
    assert {running for _, running in seen} == {loop}
