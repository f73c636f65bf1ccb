"""Quotas: what one tenant can take of the memory of a process from another."""

import pytest

from engrain import Memory
from engrain.errors import InvalidInput


@pytest.fixture
def memory():
    working = {"sessions": 10, "most_bytes": 100_000, "tenant_share": 0.5}
    settings = {"working": working, "notes": {"cache_entries": 10, "tenant_share": 0.5}}
    with Memory.open(":memory:", embedder="none", settings=settings) as memory:
        yield memory


def open_sessions(memory, tenant, count, text="hello"):
    agents = [memory.agent("aide", tenant=tenant, session=f"s{number}") for number in range(count)]
    for agent in agents:
        agent.working.append(text)
    return [len(agent.working.messages()) for agent in agents]


def messages_of(memory, tenant, count):
    return [len(memory.agent("aide", tenant=tenant, session=f"s{n}").working.messages()) for n in range(count)]


@pytest.mark.parametrize("text", ["hello", "a" * 12_000])
def test_a_tenant_of_many_sessions_or_large_ones_takes_no_working_memory_of_another(memory, text):
    open_sessions(memory, "victim", 3)
    open_sessions(memory, "hog", 50, text)
    assert messages_of(memory, "victim", 3) == [1, 1, 1]
    assert sum(messages_of(memory, "hog", 50)) >= 3
    hog = memory.agent("aide", tenant="hog")
    assert hog.stats().episodes.total + sum(messages_of(memory, "hog", 50)) == 50  # what made room is stored


def test_a_tenant_alone_may_have_all_of_it(memory):
    assert sum(open_sessions(memory, "only", 10)) == 10
    assert messages_of(memory, "only", 10) == [1] * 10


def test_a_tenant_of_many_notes_takes_no_cached_note_of_another(memory):
    victim, hog = memory.agent("aide", tenant="victim"), memory.agent("aide", tenant="hog")
    for agent, count in ((victim, 3), (hog, 30)):
        for number in range(count):
            agent.notes.save(f"key {number}", f"value {number}")
            agent.notes.recall(f"key {number}")
    assert victim.notes.cache_stats().size == 3
    assert hog.notes.cache_stats().size == 7


def test_what_replaces_a_tool_result_or_scratchpad_takes_its_room(memory):
    agent = memory.agent("aide", session="monday")
    for size in (60_000, 70_000, 5_000):
        agent.working.tool_result("search", "x" * size)
        assert len(agent.working.tool_results()["search"]) == size
    for size in (60_000, 70_000, 5_000):
        assert len(agent.working.write_scratchpad("x" * size)) == size


def test_a_tool_result_or_scratchpad_that_has_no_room_is_refused_with_the_setting(memory):
    agent = memory.agent("aide", session="monday")
    agent.working.append("hello")
    for store in (
        lambda: agent.working.tool_result("search", "x" * 200_000),
        lambda: agent.working.write_scratchpad("x" * 200_000),
    ):
        with pytest.raises(InvalidInput, match=r"working memory, which has 100,000 \(working\.most_bytes\)"):
            store()
    assert [message.content for message in agent.working.messages()] == ["hello"]
