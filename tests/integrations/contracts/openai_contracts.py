"""Compares the session of the OpenAI Agents SDK with its SQLiteSession, on one database, given as argument."""

import asyncio
import random
import sys

from agents import Agent, Runner, SessionSettings, SQLiteSession
from agents.memory import Session
from agents.testing import ScriptedModel
from openai.types.responses import ResponseOutputMessage, ResponseOutputText

from engrain import AsyncMemory, Memory
from engrain.integrations.openai_agents import EngrainSession

ITEMS = (
    {"role": "user", "content": "Hi"},
    {"role": "assistant", "content": [{"type": "output_text", "text": "你好 🎉", "annotations": []}]},
    {"type": "function_call", "call_id": "c", "name": "f", "arguments": '{"a": "b\\u0000"}'},
    {"type": "function_call_output", "call_id": "c", "output": "O'Brien'; DROP TABLE x; --\n "},
    {"type": "reasoning", "id": "r", "summary": [], "encrypted_content": "AAA="},
    {"role": "user", "content": "My key is ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"},  # in the session, not remembered
)


async def compare(ours, theirs, chance):
    for _ in range(60):
        match chance.randint(0, 5):
            case 0 | 1 | 2:
                items = [dict(chance.choice(ITEMS)) for _ in range(chance.randint(0, 3))]
                await ours.add_items(items)
                await theirs.add_items(items)
            case 3:
                assert await ours.pop_item() == await theirs.pop_item()
            case 4:
                limit = chance.choice([None, 0, 1, 2, 100, -1])
                if limit is None or limit >= 0:
                    assert await ours.get_items(limit) == await theirs.get_items(limit)
            case _:
                if chance.random() < 0.2:
                    await ours.clear_session()
                    await theirs.clear_session()
        assert await ours.get_items() == await theirs.get_items()


def message(text):
    content = [ResponseOutputText(annotations=[], text=text, type="output_text")]
    return ResponseOutputMessage(id="m", type="message", role="assistant", content=content, status="completed")


async def run(memory):
    """An agent answers in the light of what was said, and both are remembered."""
    session = EngrainSession("talk", memory, agent="runner")
    model = ScriptedModel([[message("San Francisco")], [message("California")]])
    agent = Agent(name="test", model=model)
    assert (
        await Runner.run(agent, "Where is the Golden Gate Bridge?", session=session)
    ).final_output == "San Francisco"
    assert (await Runner.run(agent, "Which state?", session=session)).final_output == "California"
    assert len(await session.get_items()) == 4
    assert len(await session.get_items(limit=1)) == 1


async def main(location):
    with Memory.open(location, embedder="none", settings={"privacy": {"secrets": "refuse"}}) as memory:
        for number, one in enumerate((memory, AsyncMemory(memory))):
            ours = EngrainSession("s", one, agent=f"agent {number}")
            assert isinstance(ours, Session)
            await compare(ours, SQLiteSession("s"), random.Random(number))
            other = EngrainSession("other", one, agent=f"agent {number}", session_settings={"limit": 2})
            await asyncio.gather(*(other.add_items([dict(ITEMS[0]), dict(ITEMS[2])]) for _ in range(5)))
            assert await other.get_items() == [ITEMS[0], ITEMS[2]]
            assert len(await other.get_items(limit=20)) == 10
            apart = EngrainSession("s", one, agent=f"agent {number}", user="ana", session_settings=SessionSettings())
            assert await apart.get_items() == []
        await run(memory)
        found = memory.agent("runner").recall("Which city is in California?", kinds=["episode"])
        said = {hit.memory.content: hit.memory.session for hit in found}
        assert said["San Francisco"] == said["California"] == "talk"
        session = EngrainSession("quiet", memory, agent="quiet", remember=False)
        await session.add_items([dict(ITEMS[0])])
        assert memory.agent("quiet").episodes().items == ()
        ours.close()  # which did not open it
        assert await session.get_items() == [ITEMS[0]]
    sys.stdout.write("ok\n")


asyncio.run(main(sys.argv[1]))
