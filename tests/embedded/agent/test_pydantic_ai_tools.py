"""Tools of the capability of Pydantic AI: a run goes on where the memory refuses an argument or is out of reach."""

import asyncio

import pytest
from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel

from engrain import Memory
from engrain.errors import MemoryClosed
from engrain.integrations.pydantic_ai_memory import EngrainMemory
from tests.support.races import locked

SECRET = "My key is ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"


@pytest.fixture
def memory(path):
    with Memory.open(path, embedder="none", settings={"storage": {"busy_timeout_s": 0}}) as opened:
        yield opened


def run(memory, *calls):
    """Return the last answer of a run of a model that calls tools in turn, and what the tools answered."""
    replies = [ToolCallPart(name, arguments) for name, arguments in calls]
    answers = []

    def answer(messages, _):
        answers.extend(part for part in messages[-1].parts if part.part_kind in {"tool-return", "retry-prompt"})
        return ModelResponse(parts=[replies.pop(0) if replies else TextPart("Done.")])

    capability = EngrainMemory(memory, budget_tokens=0, observe=False)
    output = asyncio.run(Agent(FunctionModel(answer), capabilities=[capability]).run("Hello")).output
    return output, [part.content for part in answers]


def test_a_refused_argument_goes_back_to_the_model_with_the_reason(memory):
    calls = [("remember", {"content": " "}), ("remember", {"content": "Ana drinks coffee"})]
    output, [reason, stored] = run(memory, *calls)
    assert (output, reason) == ("Done.", "content is empty (' '); pass text that says something")
    assert stored.startswith("stored as ")


def test_a_memory_that_is_out_of_reach_is_told_and_the_run_goes_on(memory, path, caplog):
    with locked(path):
        output, [told] = run(memory, ("remember", {"content": "Ana drinks coffee"}))
    assert (output, told) == ("Done.", "The memory cannot be reached now.")
    assert [record.error for record in caplog.records if record.msg == "a tool failed open"] == ["DatabaseBusy"]


def test_a_fact_is_told_with_whom_and_what_it_is_about(memory):
    memory.agent().remember("Lisbon", subject="Ana", predicate="lives in", valid_from="2019-05-01")
    _, [found] = run(memory, ("recall", {"query": "Lisbon"}))
    assert found == [{"content": "Ana lives in: Lisbon", "time": "2019-05-01T00:00:00+00:00"}]


@pytest.mark.parametrize("refused", ["\0", SECRET])
def test_a_prompt_that_is_refused_fails_no_run_and_the_answer_is_remembered(path, refused):
    with Memory.open(path, embedder="none", settings={"privacy": {"secrets": "refuse"}}) as memory:
        model = FunctionModel(lambda *_: ModelResponse(parts=[TextPart("Done.")]))
        agent = Agent(model, capabilities=[EngrainMemory(memory)])
        assert asyncio.run(agent.run(refused)).output == "Done."
        assert [turn.content for turn in memory.agent().list()] == ["Done."]


def test_nothing_is_looked_up_or_stored_where_the_user_of_a_run_is_not_told(memory, caplog):
    memory.agent().observe("Rex was walked this morning.")
    calls = [ToolCallPart("recall", {"query": "Rex"}), ToolCallPart("remember", {"content": "Rex barks"})]
    seen = []

    def answer(messages, info):
        seen.append((info.instructions, [part.content for part in messages[-1].parts]))
        return ModelResponse(parts=[calls.pop(0) if calls else TextPart("Done.")])

    agent = Agent(FunctionModel(answer), deps_type=str, capabilities=[EngrainMemory(memory, user=lambda run: run.deps)])
    assert asyncio.run(agent.run("Who is Rex?", deps=None)).output == "Done."
    refusal = "Nothing is remembered here: this conversation has no user."
    assert seen == [(None, ["Who is Rex?"]), (None, [refusal]), (None, [refusal])]
    assert [one.content for one in memory.agent().list()] == ["Rex was walked this morning."]
    assert [record.message for record in caplog.records] == ["a run without a user: nothing is looked up or stored"]


def test_a_closed_memory_is_a_fault_of_the_host(memory):
    memory.close()
    with pytest.raises(MemoryClosed):
        run(memory, ("recall", {"query": "Lisbon"}))
