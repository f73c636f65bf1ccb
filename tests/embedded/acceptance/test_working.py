"""Working memory: messages at hand become episodes without being lost or doubled."""

import threading

import pytest

from engrain import InvalidInput, Memory, metrics
from tests.support.races import locked

FAST = {"storage": {"busy_timeout_s": 0}}


def opened(path, **working):
    return Memory.open(path, embedder="none", settings={**FAST, "working": working})


def stored(memory, session="monday"):
    found = memory.agent("aide").recall("", preset="recency", sessions=session, limit=1_000)
    return [hit.memory.content for hit in sorted(found, key=lambda hit: hit.memory.turn)]


@pytest.mark.req("G01")
def test_each_agent_and_session_has_its_own_messages_results_and_scratchpad(path):
    with opened(path) as memory:
        working = memory.agent("aide", session="monday").working
        first = working.append("Four characters make one token.", speaker="Ana")
        assert (first.messages, first.tokens) == (1, 8)
        assert working.append("Known to be long.", role="assistant", tokens=90).tokens == 98
        assert working.tool_result("search", {"hits": [1, 2]}).tool_results == 1
        assert working.write_scratchpad("first this, then that") == working.scratchpad() == "first this, then that"
        assert working.tool_results() == {"search": {"hits": [1, 2]}}
        assert [(message.role, message.speaker) for message in working.messages()] == [
            ("user", "Ana"),
            ("assistant", None),
        ]
        for other in (memory.agent("aide", session="friday"), memory.agent("else", session="monday")):
            assert other.working.messages() == []
            assert other.working.stats().estimated_bytes < working.stats().estimated_bytes
        assert memory.agent("aide", session="monday", tenant="other").working.stats().messages == 0
        assert len(memory.agent("aide").recall("tokens long")) == 0
        working.clear()
        assert working.messages() == []
    with opened(path) as memory:
        assert stored(memory) == []


@pytest.mark.req("G01")
def test_above_its_tokens_the_oldest_messages_become_episodes_and_the_newest_stay(path):
    with opened(path, flush_tokens=100) as memory:
        working = memory.agent("aide", session="monday").working
        for place in range(10):
            assert working.append(f"number {place}", tokens=10).messages == place + 1
        waiting = working.messages()
        assert working.append("number 10", tokens=10).messages == 5
        assert stored(memory) == [f"number {place}" for place in range(6)]
        assert [message.content for message in working.messages()] == [f"number {place}" for place in range(6, 11)]
        kept = memory.agent("aide").get(waiting[0].id)
        assert (kept.created_at, kept.tokens) == (waiting[0].created_at, 10)
        assert working.append("one that is longer than all may be", tokens=1_000).messages == 1
        assert working.flush().messages == 0
        assert len(stored(memory)) == 12


@pytest.mark.req("G01")
def test_a_message_leaves_once_its_episode_is_durable_and_a_second_flush_doubles_nothing(path):
    with opened(path, flush_tokens=30) as memory:
        working = memory.agent("aide", session="monday").working
        with locked(path):
            for place in range(5):
                told = working.append(f"number {place}", tokens=10, idempotency_key=str(place))
            assert told.messages == 5
            assert told.degraded[0].code == "database_busy"
        before = working.messages()
        assert working.flush() == working.stats()
        assert working.flush().messages == 0
        # As if the process had died between the two: the episodes are there, and so are the messages.
        for message in before:
            working.append(message.content, tokens=10, idempotency_key=message.content[-1])
        working.flush()
        assert stored(memory) == [f"number {place}" for place in range(5)]


@pytest.mark.req("G01")
@pytest.mark.parametrize("bound", [{"sessions": 2}, {"most_bytes": 5_500}])
def test_who_was_silent_longest_makes_room_and_loses_no_message(path, bound):
    with opened(path, **bound) as memory:
        for session in ("monday", "tuesday", "wednesday"):
            memory.agent("aide", session=session).working.append(f"said on {session}", tokens=1)
        desks = {day: memory.agent("aide", session=day).working.messages() for day in ("monday", "wednesday")}
        assert desks["monday"] == []
        assert len(desks["wednesday"]) == 1
        assert (stored(memory, "monday"), stored(memory, "wednesday")) == (["said on monday"], [])


@pytest.mark.req("G01")
def test_closing_makes_episodes_of_what_is_at_hand(path):
    with opened(path) as memory:
        memory.agent("aide", session="monday").working.append("still here")
    with opened(path) as memory:
        assert stored(memory) == ["still here"]


def test_what_has_to_leave_while_the_database_takes_nothing_waits_and_is_stored_later(path):
    lost = metrics.snapshot().get("messages_lost", 0)
    with opened(path, sessions=1) as memory:
        with locked(path):
            for day in ("monday", "tuesday", "wednesday"):
                memory.agent("aide", session=day).working.append(f"said on {day}")
        memory.agent("aide", session="friday").hooks.message("next")
        assert [stored(memory, day) for day in ("monday", "tuesday")] == [["said on monday"], ["said on tuesday"]]
    assert metrics.snapshot().get("messages_lost", 0) == lost


def test_what_is_no_message_or_no_json_is_refused_and_changes_nothing(path):
    with opened(path) as memory:
        working = memory.agent("aide", session="monday").working
        for refused in (
            lambda: working.append(" "),
            lambda: working.append("x", tokens=-1),
            lambda: working.tool_result("", 1),
            lambda: working.tool_result("t", {1, 2}),
            lambda: working.tool_result("t", "x" * 10_000_001),
        ):
            with pytest.raises(InvalidInput):
                refused()
        assert (working.messages(), working.tool_results(), working.scratchpad()) == ([], {}, "")


def wait_until(holds):
    for _ in range(200):
        if holds():
            return True
        threading.Event().wait(0.05)
    return False


def test_a_process_that_idles_stores_what_was_not_used_for_its_time(path):
    with opened(path, ttl_s=0.05) as memory:
        memory.agent("aide", session="monday").working.append("said on monday")
        assert wait_until(lambda: stored(memory) == ["said on monday"])
        memory.agent("aide", session="monday").working.append("said later")  # and again, after all was stored
        assert wait_until(lambda: stored(memory) == ["said on monday", "said later"])


@pytest.mark.parametrize("read", ["messages", "stats"])
def test_whoever_reads_the_session_finds_what_made_room_among_the_episodes(path, read):
    with opened(path, sessions=1) as memory:
        memory.agent("aide", session="monday").working.append("said on monday")
        memory.agent("aide", session="tuesday").working.write_scratchpad("a note")
        assert stored(memory) == []
        getattr(memory.agent("aide", session="monday").working, read)()
        assert stored(memory) == ["said on monday"]


@pytest.mark.parametrize("bound", [{"sessions": 1}, {"ttl_s": 0.05}])
def test_an_erased_message_that_made_room_or_grew_too_old_does_not_come_back(path, bound):
    with opened(path, **bound) as memory:
        ana = memory.agent("aide", user="ana", session="monday")
        ana.observe("stored before")
        ana.working.append("a secret")
        memory.agent("aide", session="tuesday").working.write_scratchpad("a note")
        memory.erase_user("ana")
        memory.agent("aide", session="tuesday").working.append("hello")
        assert len(ana.recall("", preset="recency")) == 0
