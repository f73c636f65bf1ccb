"""Uses the store of Strands through its MemoryManager, on one database, given as argument."""

import asyncio
import sys

from strands.memory import MemoryManager
from strands.memory.types import AddMessagesContext

from engrain import AsyncMemory, Memory
from engrain.integrations.strands import EngrainStore

REFUSED = ("\0", "My key is ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8")


def message(role, *texts):
    return {"role": role, "content": [{"text": text} for text in texts]}


async def main(location):
    with Memory.open(location, settings={"privacy": {"secrets": "refuse"}}) as memory:
        store = EngrainStore(AsyncMemory(memory), agent="a", session="monday", extraction=True)
        manager = MemoryManager(stores=[store, EngrainStore(memory, agent="b", name="other", writable=False)])
        call = {"role": "assistant", "content": [{"toolUse": {"toolUseId": "t", "name": "f", "input": {}}}]}
        batch = [message("user", "I like strong coffee", "in the morning"), message("assistant", "Noted."), call]
        for _ in range(2):  # at least once
            ids = await store.add_messages(batch, AddMessagesContext(sequence_numbers=[0, 1, 3]))
            assert len(ids) == 2
        agent = memory.agent("a", session="monday")
        turns = agent.episodes(session="monday").items
        assert {turn.content for turn in turns} == {"I like strong coffee\nin the morning", "Noted."}
        assert len(turns) == 2
        await store.add_messages([message("user", "Noted.")])
        assert len(agent.episodes(session="monday").items) == 3
        batch = [message("user", said) for said in ("Before.", *REFUSED, "After.")]
        ids = await store.add_messages(batch, AddMessagesContext(sequence_numbers=[4, 5, 6, 7]))
        assert [agent.get(id_).content for id_ in ids] == ["Before.", "After."]
        await manager.add("Ana lives in Porto", {"metadata": {"by": "test"}})
        memory.flush()
        found = await manager.search("Where does Ana live?")
        assert (found[0].content, found[0].store_name) == ("Ana lives in Porto", "engrain")
        assert agent.get(found[0].metadata["id"]).metadata["by"] == "test"
        agent.remember("Lisbon", subject="Bo", predicate="works in", valid_from="2019-05-01")
        agent.observe("The boiler was serviced.", speaker="Bo", event_time="2019-05-02")
        [works] = await store.search("Where does Bo work?", {"max_search_results": 1})
        assert (works.content, works.metadata["time"][:10]) == ("Bo works in: Lisbon", "2019-05-01")
        [boiler] = await store.search("boiler", {"max_search_results": 1})
        assert (boiler.metadata["speaker"], boiler.metadata["time"][:10]) == ("Bo", "2019-05-02")
        assert len(await store.search("coffee", {"max_search_results": 1})) == 1
        assert (await store.search("What does she drink?"))[0].metadata["score"] > 0
        assert await EngrainStore(memory, agent="c").search("coffee") == []
        store.close()  # which did not open it
        assert agent.recall("coffee")
    sys.stdout.write("ok\n")


asyncio.run(main(sys.argv[1]))
