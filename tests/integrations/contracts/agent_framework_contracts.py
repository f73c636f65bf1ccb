"""Uses the providers of the Agent Framework in runs of an agent, on one database, given as argument."""

import asyncio
import sys

from agent_framework import Agent, AgentSession, BaseChatClient, ChatResponse, Content, Message

from engrain import AsyncMemory, Memory
from engrain.integrations.agent_framework import EngrainContextProvider, EngrainHistoryProvider

COFFEE = "I like strong coffee."
REFUSED = ("\0", "My key is ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8")


class Client(BaseChatClient):
    """Answers the same, and notes what it was asked."""

    def __init__(self):
        super().__init__()
        self.asked = []

    def _inner_get_response(self, *, messages, **_):
        async def answer():
            self.asked.append([message.text for message in messages])
            return ChatResponse(messages=[Message("assistant", ["Noted."])], response_id="r")

        return answer()


async def check_context(memory):
    client, provider = Client(), EngrainContextProvider(AsyncMemory(memory), agent="a", user="ana")
    agent = Agent(client, context_providers=[provider])
    await agent.run(COFFEE, session=AgentSession(session_id="monday"))
    memory.flush()
    await agent.run("What coffee do I like?", session=AgentSession(session_id="tuesday"))
    assert [any(COFFEE in text for text in asked) for asked in client.asked] == [True, True]
    assert any(COFFEE in text and text.endswith("</memories>") for text in client.asked[1])  # marked as data
    turns = memory.agent("a", user="ana").list("episode").items
    assert {(turn.session, turn.role, turn.content) for turn in turns} == {
        ("monday", "user", COFFEE),
        ("monday", "assistant", "Noted."),
        ("tuesday", "user", "What coffee do I like?"),
        ("tuesday", "assistant", "Noted."),
    }
    for said in REFUSED:  # the run goes on
        await agent.run(said, session=AgentSession(session_id="refused"))
    stored = memory.agent("a", user="ana").episodes(session="refused").items
    assert [turn.content for turn in stored] == ["Noted.", "Noted."]
    other = Client()
    bo = EngrainContextProvider(memory, agent="a", user="bo")
    await Agent(other, context_providers=[bo]).run("What coffee do I like?", session=AgentSession(session_id="x"))
    assert not any(COFFEE in text for text in other.asked[0])


async def check_history(memory):
    client, provider = Client(), EngrainHistoryProvider(memory, agent="h")
    for said in ("One", "Two"):
        await Agent(client, context_providers=[provider]).run(said, session=AgentSession(session_id="s"))
    assert client.asked == [["One"], ["One", "Noted.", "Two"]]
    call = Content.from_function_call(call_id="c", name="f", arguments='{"a": "b\\u0000"}')
    said = [Message("assistant", [call], additional_properties={"n": 1}), Message("user", ["ä 🎉"], author_name="ana")]
    await provider.save_messages("exact", said)
    await provider.save_messages("exact", [])
    assert [message.to_dict() for message in await provider.get_messages("exact")] == [one.to_dict() for one in said]
    assert await provider.get_messages(None) == await provider.get_messages("none") == []
    provider.close()  # which did not open it
    assert len(await EngrainHistoryProvider(AsyncMemory(memory), agent="h").get_messages("s")) == 4


async def main(location):
    with Memory.open(location, settings={"privacy": {"secrets": "refuse"}}) as memory:
        await check_context(memory)
        await check_history(memory)
    sys.stdout.write("ok\n")


asyncio.run(main(sys.argv[1]))
