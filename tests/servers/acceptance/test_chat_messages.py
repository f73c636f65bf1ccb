"""Messages of a chat: the turns of the session, the context block and the question; and imports that can be read."""

import json

import pytest

from engrain.service import Memory
from tests.support.clock import Clock
from tests.support.sample_search import WordEmbedder


@pytest.fixture
def memory(location):
    with Memory.open(location, embedder=WordEmbedder(), clock=Clock(microseconds=1)) as memory:
        yield memory


@pytest.fixture
def agent(memory):
    memory.agent("aide", session="before").observe("Miso the cat eats tuna.", speaker="Ana")
    return memory.agent("aide", session="now")


def said(built):
    return [(message["role"], message["content"]) for message in built.messages]


def test_messages_hold_the_turns_of_the_session_between_the_block_and_the_question(agent):
    agent.hooks.message("I am home.")
    stored = agent.hooks.message("Welcome!", role="assistant").episode
    agent.hooks.message("42", role="tool")
    question = "What does Miso the cat eat?"
    built = agent.messages(question, system="Be kind.", window_tokens=8_000)
    roles = [role for role, _ in said(built)]
    assert roles == ["system", "system", "user", "assistant", "user", "user"]
    assert "tuna" in said(built)[1][1]
    assert said(built)[2:] == [
        ("user", "I am home."),
        ("assistant", "Welcome!"),
        ("user", "[tool] 42"),
        ("user", question),
    ]
    assert stored.id in built.turns
    assert len(built.turns) == 3


def test_a_question_that_was_stored_before_it_is_asked_stands_once(agent):
    agent.hooks.message("I am home.")
    agent.hooks.message("What does the cat eat?")
    contents = [content for _, content in said(agent.messages("What does the cat eat?", window_tokens=8_000))]
    assert contents.count("What does the cat eat?") == 1
    assert "I am home." in contents


@pytest.mark.parametrize("window", [400, 1_000, 8_000])
def test_the_newest_turns_stand_that_fit_and_the_window_is_never_exceeded(agent, window):
    for number in range(120):
        agent.hooks.message(f"Turn number {number} about the long way to the market.")
    built = agent.messages("What does Miso the cat eat?", window_tokens=window)
    turns = [content for role, content in said(built) if content.startswith("Turn number")]
    assert turns == [f"Turn number {number} about the long way to the market." for number in range(120)][-len(turns) :]
    assert len(turns) > 0
    assert built.tokens + built.budget.output <= window
    assert any("tuna" in content for _, content in said(built))


def test_what_a_long_session_said_before_the_turns_that_fit_is_found_by_the_block(memory):
    """A session may last for months: its first turns are in no window any more."""
    agent = memory.agent("aide", session="for months")
    agent.hooks.message("Rex the dog fears thunder.")
    for number in range(300):
        agent.hooks.message(f"Turn number {number} about the long way to the market.")
    question = "What does Rex the dog fear?"
    agent.hooks.message(question)
    built = agent.messages(question, window_tokens=2_000)
    turns = [content for _, content in said(built) if content.startswith("Turn number")]
    assert 0 < len(turns) < 200
    assert turns[-1] == "Turn number 299 about the long way to the market."
    assert "fears thunder" in built.block.text
    standing = [line for line in built.block.text.splitlines() if line.rsplit(": ", 1)[-1] in turns]
    assert standing == []
    assert "fears thunder" in agent.context(question).text


def test_where_no_turn_fits_the_block_finds_what_the_session_said(memory):
    agent = memory.agent("aide", session="now")
    agent.hooks.message("Rex the dog fears thunder.")
    agent.hooks.message("Turn of a long way to the market. " * 400)
    question = "What does Rex the dog fear?"
    agent.hooks.message(question)
    built = agent.messages(question, window_tokens=2_000)
    assert built.turns == ()
    assert "fears thunder" in built.block.text
    assert question not in built.block.text


@pytest.mark.parametrize(("kept", "holds"), [(0, True), (2, True), (3, False), (50, False)])
@pytest.mark.parametrize("is_setting", [True, False])
def test_a_block_leaves_out_the_newest_turns_of_its_session(location, kept, holds, is_setting):
    settings = {"context": {"session_turns": kept}} if is_setting else {}
    with Memory.open(location, embedder=WordEmbedder(), clock=Clock(microseconds=1), settings=settings) as memory:
        agent = memory.agent("aide", session="now")
        for said_ in ("Miso the cat eats tuna.", "It rains.", "The tram is late."):
            agent.hooks.message(said_)
        memory.agent("aide", session="before").hooks.message("Miso the cat hates milk.")
        block = agent.context("What does Miso the cat eat?", session_turns=None if is_setting else kept).text
        assert ("tuna" in block) is holds
        assert "milk" in block


def test_turns_of_other_sessions_and_agents_stay_out(memory, agent):
    memory.agent("other", session="now").observe("A secret of another agent.")
    built = agent.messages("What does Miso the cat eat?", window_tokens=8_000)
    assert built.turns == ()
    assert memory.agent("aide").messages("What does Miso the cat eat?").turns == ()


def test_memories_of_mem0_read_as_what_they_say(memory, agent, tmp_path):
    path = tmp_path / "mem0.json"
    one = {"id": "7e8b1c9a-1111-4a4a-8a8a-abcdefabcdef", "memory": "Is allergic to nuts", "user_id": "ana"}
    path.write_text(json.dumps({"results": [one]}), encoding="utf-8")
    assert agent.import_file(path).added == 1
    with_ana = memory.agent("aide", session="now", user="ana")
    [fact] = with_ana.facts("ana").items
    assert fact.statement == "ana: Is allergic to nuts"
    block = with_ana.context("What is ana allergic to?")
    assert "Is allergic to nuts" in block.text
    assert one["id"] not in block.text
    assert agent.facts("ana").items == ()
    later = {**one, "memory": "Is allergic to nuts and bees", "updated_at": "2027-01-01T00:00:00Z"}
    path.write_text(json.dumps({"results": [later]}), encoding="utf-8")
    agent.import_file(path)
    assert [fact.content for fact in with_ana.facts("ana").items] == ["Is allergic to nuts and bees"]
