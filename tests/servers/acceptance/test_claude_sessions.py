"""The session store of the Claude Agent SDK without the SDK, whose own contracts are in tests/integrations."""

import asyncio

import pytest

from engrain import AsyncMemory, Memory
from engrain.errors import MemoryClosed
from engrain.integrations.claude_agent_sdk import EngrainSessionStore

KEY = {"project_key": "-work-app", "session_id": "s1"}
SAID = {"type": "user", "uuid": "u1", "message": {"role": "user", "content": "The server uses port 7321.\0\ud800"}}
CALL = {
    "type": "assistant",
    "uuid": "u2",
    "message": {"role": "assistant", "content": [{"type": "tool_use", "id": "t"}]},
}
MODE = {"type": "mode"}


@pytest.fixture
def memory(location):
    with Memory.open(location, embedder="none") as memory:
        yield memory


@pytest.mark.parametrize("awaited", [False, True])
def test_a_resent_batch_adds_what_is_new_and_words_are_remembered_once(memory, awaited):
    async def use():
        store = EngrainSessionStore(AsyncMemory(memory) if awaited else memory, agent="claude")
        await store.append(KEY, [SAID, MODE])
        await store.append(KEY, [{**SAID, "type": "changed"}, MODE, CALL])
        await store.append({**KEY, "subpath": "subagents/a"}, [SAID])
        assert await store.load(KEY) == [SAID, MODE, MODE, CALL]
        assert await store.list_subkeys(KEY) == ["subagents/a"]
        [listed] = await store.list_sessions("-work-app")
        assert (listed["session_id"], listed["mtime"] > 1e12) == ("s1", True)

    asyncio.run(use())
    turns = memory.agent("claude").list()
    assert [(turn.session, turn.role) for turn in turns] == [("s1", "user")]


def test_users_projects_and_long_paths_are_apart(memory):
    async def use():
        long = ["-" + "x" * 600, "-" + "x" * 601]
        stores = [EngrainSessionStore(memory, user=user, remember=False) for user in (None, "ana", "bob")]
        for number, store in enumerate(stores):
            for project in (*long, "p"):
                await store.append({"project_key": project, "session_id": "s"}, [{"n": number, "of": project}])
        for number, store in enumerate(stores):
            for project in (*long, "p"):
                found = await store.load({"project_key": project, "session_id": "s"})
                assert found == [{"n": number, "of": project}]
                assert len(await store.list_sessions(project)) == 1

    asyncio.run(use())
    assert memory.agent().list().items == ()


def test_sessions_of_more_than_a_page_are_all_listed(memory):
    async def use():
        store = EngrainSessionStore(memory, remember=False)
        for number in range(1_003):
            await store.append({"project_key": "p", "session_id": f"s{number}"}, [MODE])
        assert {row["session_id"] for row in await store.list_sessions("p")} == {f"s{n}" for n in range(1_003)}

    asyncio.run(use())


def test_a_store_closes_the_memory_that_it_opened_and_no_other(memory, tmp_path):
    EngrainSessionStore(memory).close()
    assert memory.agent().list().items == ()
    store = EngrainSessionStore(tmp_path / "own.db")
    store.close()
    with pytest.raises(MemoryClosed):
        asyncio.run(store.load(KEY))
