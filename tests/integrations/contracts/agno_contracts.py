"""Uses the learning store in runs of an agent of Agno, on one database, given as argument."""

import asyncio
import sys

from agno.agent import Agent
from agno.db.in_memory import InMemoryDb
from agno.learn import LearningMachine
from agno.learn.stores.protocol import LearningStore
from agno.models.base import Model
from agno.models.message import Message
from agno.models.response import ModelResponse

from engrain import AsyncMemory, Memory
from engrain.integrations.agno import EngrainLearningStore

COFFEE = "I like strong coffee."
REFUSED = ("\0", "My key is ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8")


class Answers(Model):
    """Answers in turn, and notes what it was asked."""

    def __init__(self, *answers):
        super().__init__(id="m")
        self.answers, self.asked, self.tools = list(answers), [], []

    def invoke(self, messages, tools=None, **_):
        self.asked.append([(message.role, message.get_content_string()) for message in messages])
        self.tools = [tool["function"]["name"] for tool in tools or ()]
        answer = self.answers.pop(0)
        return answer if isinstance(answer, ModelResponse) else ModelResponse(role="assistant", content=answer)

    async def ainvoke(self, *arguments, **options):
        return self.invoke(*arguments, **options)

    def invoke_stream(self, *_, **__):
        raise NotImplementedError

    ainvoke_stream = _parse_provider_response = _parse_provider_response_delta = invoke_stream


def call(name, arguments):
    function = {"name": name, "arguments": arguments}
    return ModelResponse(role="assistant", tool_calls=[{"id": "c", "type": "function", "function": function}])


def made(memory, model, user=None):
    store = EngrainLearningStore(memory, agent="a", user=user)
    assert isinstance(store, LearningStore)
    learning = LearningMachine(custom_stores={"engrain": store})
    return Agent(model=model, learning=learning, db=InMemoryDb(), add_history_to_context=True, telemetry=False), store


async def check_tools(memory):
    memory.agent("a", user="ana").remember("espresso", subject="Ana", predicate="drinks", valid_from="2019-05-01")
    search, told = '{"query": "coffee or espresso"}', '{"content": "Ana was here."}'
    for awaited in (False, True):
        model = Answers(call("recall_memories", search), call("remember_memory", told), "Done.")
        agent, _ = made(memory, model)
        asked = {"input": "What do I like?", "user_id": "ana", "session_id": f"tools {awaited}"}
        answer = await agent.arun(**asked) if awaited else agent.run(**asked)
        assert answer.content == "Done."
        assert set(model.tools) == {"recall_memories", "remember_memory"}
        assert COFFEE in str(model.asked[1][-1])
        assert "Ana drinks: espresso" in str(model.asked[1][-1])
        assert "2019-05-01" in str(model.asked[1][-1])
        assert "stored as " in str(model.asked[2][-1])
    assert "Ana was here." in {fact.content for fact in memory.agent("a", user="ana").list("fact")}


def turns(memory, **whose):
    memory.flush()
    return [(turn.session, turn.role, turn.content) for turn in memory.agent("a", **whose).list("episode")]


async def main(location):
    with Memory.open(location, settings={"privacy": {"secrets": "refuse"}}) as memory:
        model = Answers("Noted.", "You like it strong.")
        agent, store = made(AsyncMemory(memory), model, user="somebody")
        assert not store.was_updated
        agent.run(COFFEE, user_id="ana", session_id="monday")
        assert store.was_updated
        await agent.arun("What coffee do I like?", user_id="ana", session_id="tuesday")
        assert COFFEE in model.asked[1][0][1]  # the system message of another session
        assert "</memories>" in model.asked[1][0][1]  # marked as data
        agent.model.answers += ["Fine."]
        agent.run("And now?", user_id="ana", session_id="monday")  # with the history of Monday
        stored = turns(memory, user="ana")
        assert len(set(stored)) == len(stored)  # history adds nothing twice
        assert set(stored) >= {  # an answer that is not there yet comes with the history of the next run
            ("monday", "assistant", "Noted."),
            ("monday", "user", "And now?"),
            ("monday", "user", COFFEE),
            ("tuesday", "user", "What coffee do I like?"),
        }
        batch = [Message(role="user", content=said) for said in ("Before.", *REFUSED, "After.")]
        store.process(batch, user_id="dora", session_id="s")
        assert sorted(turns(memory, user="dora")) == [("s", "user", "After."), ("s", "user", "Before.")]
        store.process([])
        assert not store.was_updated
        other = Answers("I do not know.")
        made(memory, other)[0].run("What coffee do I like?", user_id="bo", session_id="x")
        assert not any(COFFEE in text for _, text in other.asked[0])
        agent.model.answers += ["Hello."]
        agent.run("Hello", session_id="nobody's")
        assert ("nobody's", "user", "Hello") in turns(memory, user="somebody")
        await check_tools(memory)
        assert store.build_context(None) == ""
        assert store.recall(message=" ") is None
        store.close()  # which did not open it
    sys.stdout.write("ok\n")


asyncio.run(main(sys.argv[1]))
