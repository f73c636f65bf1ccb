"""What the host of an agent calls around a conversation: it goes on whatever memory cannot do just now."""

from contextlib import closing
from datetime import UTC, datetime

import apsw
import pytest

from engrain import InvalidInput, Memory, metrics
from engrain.engines.llms.scripted import ScriptedLLM
from engrain.errors import IntegrityViolated, MemoryClosed
from tests.support.clock import Clock
from tests.support.learning_memories import NOTHING
from tests.support.one_call import OneCall
from tests.support.own_calls import count_calls
from tests.support.races import locked
from tests.support.sqlite_statements import statements

START = datetime(2026, 11, 20, 8, tzinfo=UTC)


@pytest.fixture
def memory(path):
    settings = {"entities": {"link": "fast"}, "storage": {"busy_timeout_s": 0}}
    with Memory.open(path, embedder="none", settings=settings, clock=Clock(START, minutes=1)) as opened:
        yield opened


def counted(name):
    return metrics.snapshot().get(name, 0)


def said(memory, session="monday"):
    found = memory.agent("assistant").recall("", preset="recency", sessions=session, limit=100)
    return sorted((each.memory.turn, each.memory.content) for each in found)


@pytest.mark.req("Y02")
def test_a_message_and_whom_it_mentions_are_one_transaction_without_a_model(memory):
    agent = memory.agent("assistant", session="monday")
    ana = agent.entities.create("ana", "person")
    agent.hooks.message("The first of the session.")
    with statements(OneCall(memory.parts.store)) as ran:
        heard = agent.hooks.message("Is @ana back, #lisbon?", speaker="Ben")
    assert heard.is_stored
    assert heard.degraded == ()
    assert sum(each.startswith("BEGIN") for each in ran) == sum(each.startswith("COMMIT") for each in ran) == 1
    assert len(ran) <= 15  # entities are found, locked and mentioned in the transaction of the turn
    assert agent.get(heard.episode.id).content == "Is @ana back, #lisbon?"
    assert agent.entities.get(ana.id).mention_count == 1
    assert [each.event_type for each in agent.events(heard.episode.id)] == ["entities_mentioned", "episode_created"]


def test_a_turn_that_mentions_nobody_costs_no_more_than_its_episode(memory):
    agent = memory.agent("assistant", session="monday")
    agent.hooks.message("The first.", speaker="Ana")
    with statements(OneCall(memory.parts.store)) as ran:
        agent.hooks.message("The second.", speaker="Ana")
    assert [sql.split()[0] for sql in ran] == ["BEGIN", "SELECT", "INSERT", "INSERT", "COMMIT"]


@pytest.mark.req("B24.2", "N05")
def test_what_cannot_be_stored_waits_and_is_stored_in_order_with_its_time_once(memory, path):
    hooks = memory.agent("assistant", session="monday").hooks
    hooks.message("one")
    waiting = counted("messages_waiting")
    with locked(path):
        late = [hooks.message(content, idempotency_key=content) for content in ("two", "three")]
        assert [each.is_stored for each in late] == [False, False]
        assert late[0].degraded[0].code == "database_busy"
        assert "2 messages wait" in str(late[1].degraded[0])
        for told in (hooks.session_start("one"), hooks.session_end()):
            assert str(told.degraded[-1]).startswith("2 messages wait")
    assert counted("messages_waiting") == waiting + 2
    four = hooks.message("four")
    assert four.is_stored
    assert said(memory) == [(1, "one"), (2, "two"), (3, "three"), (4, "four")]
    stored = [memory.agent("assistant").get(each.episode.id) for each in (*late, four)]
    assert [each.created_at for each in stored] == [each.episode.created_at for each in (*late, four)]
    assert stored[0].created_at < stored[1].created_at < stored[2].created_at
    assert hooks.message("two", idempotency_key="two").episode.turn == 2


def test_a_start_an_end_and_a_close_store_what_waits(path):
    settings = {"storage": {"busy_timeout_s": 0}}
    with Memory.open(path, embedder="none", settings=settings) as memory:
        hooks = memory.agent("assistant", session="monday").hooks
        for place, call in enumerate((lambda: hooks.session_start("x"), hooks.session_end, memory.close), start=1):
            with locked(path):
                assert not hooks.message(f"number {place}").is_stored
            call()
    with Memory.open(path, embedder="none") as memory:
        assert said(memory) == [(place, f"number {place}") for place in (1, 2, 3)]


def test_of_more_than_may_wait_the_newest_is_told_to_be_lost(path):
    settings = {"storage": {"busy_timeout_s": 0}, "working": {"waiting": 2}}
    lost = counted("messages_lost")
    with Memory.open(path, embedder="none", settings=settings) as memory:
        hooks = memory.agent("assistant", session="monday").hooks
        with locked(path):
            told = [str(hooks.message(content).degraded[0]) for content in ("one", "two", "three")]
        assert [each.partition(",")[0] for each in told] == [
            "not stored yet",
            "not stored yet",
            "not stored and not kept",
        ]
        assert hooks.message("four").is_stored
        assert said(memory) == [(1, "one"), (2, "two"), (3, "four")]
    assert counted("messages_lost") == lost + 1


@pytest.mark.req("B24.1", "N05")
def test_a_session_starts_with_an_empty_context_where_memory_cannot_be_read(path):
    with Memory.open(path, embedder="none") as memory:
        memory.agent("assistant").observe("Ana lives in Lisbon.")
        memory.agent("assistant", session="monday").observe("Tea?")
    size = path.stat().st_size
    degraded = counted("contexts_degraded")
    with Memory.open(path, embedder="none") as memory:
        hooks = memory.agent("assistant", session="tuesday").hooks
        assert "Lisbon" in hooks.session_start("Where does Ana live?").text
        with path.open("r+b") as file:
            file.seek(4096)
            file.write(b"\x5a" * (size - 4096))
        block = hooks.session_start("Where does Ana live?", budget_tokens=90)
        assert (block.text, block.tokens, block.budget_tokens, block.memories) == ("", 0, 90, ())
        assert block.degraded[0].code == "database_damaged"
        assert block.degraded[0].message.startswith("no context: ")
        assert hooks.session_end().degraded[0].code == "database_damaged"
        assert not hooks.message("Still here?").is_stored
    assert counted("contexts_degraded") == degraded + 1


@pytest.mark.req("N05")
def test_what_is_wrong_in_itself_is_raised_and_does_not_wait(memory, path):
    agent = memory.agent("assistant", session="monday")
    for refused in (
        lambda: agent.hooks.message(""),
        lambda: agent.hooks.message("x", role="nobody"),
        lambda: agent.hooks.session_start("x", budget_tokens=-1),
        memory.agent("assistant").hooks.session_end,
    ):
        with pytest.raises(InvalidInput):
            refused()
    agent.hooks.message("said once", idempotency_key="k")
    with pytest.raises(InvalidInput, match="'k' was used for another episode"):
        agent.hooks.message("said otherwise", idempotency_key="k")
    with closing(apsw.Connection(str(path))) as other:  # another SQLite's close would take this process's locks away
        other.execute("CREATE UNIQUE INDEX said_once ON episodes (tenant_id, content)")
    with pytest.raises(IntegrityViolated):
        agent.hooks.message("said once")
    assert agent.hooks.message("something new").degraded == ()
    memory.close()
    with pytest.raises(MemoryClosed):
        agent.hooks.message("too late")


@pytest.mark.req("N05")
def test_a_message_that_waits_and_can_never_be_stored_holds_up_no_other(memory, path):
    hooks = memory.agent("assistant", session="monday").hooks
    refused = counted("messages_refused")
    hooks.message("said once", idempotency_key="k")
    with locked(path):
        hooks.message("said otherwise", idempotency_key="k")
        hooks.message("next")
    assert hooks.message("last").is_stored
    assert [content for _, content in said(memory)] == ["said once", "next", "last"]
    assert counted("messages_refused") == refused + 1


@pytest.mark.req("N02")
def test_a_session_that_ends_waits_for_consolidation(memory):
    agent = memory.agent("assistant", session="monday")
    assert agent.hooks.session_end().pending == 0
    for content in ("one", "two"):
        assert agent.hooks.message(content).episode.consolidation_status == "pending"
    assert agent.hooks.session_end().pending == 2
    assert memory.agent("assistant", session="tuesday").hooks.session_end().pending == 0


@pytest.mark.req("N02")
def test_sessions_that_wait_cost_the_end_of_another_nothing(memory):
    """Without a language model every session that ever was still waits."""
    ends = memory.agent("assistant", session="friday").hooks
    ends.message("one")
    few = count_calls(ends.session_end).total()
    for place in range(100):
        memory.agent("assistant", session=f"session {place}").hooks.message("two")
    assert count_calls(ends.session_end).total() <= few


@pytest.mark.req("N02")
def test_where_there_is_a_model_the_end_of_a_session_has_it_consolidated_in_the_background(path):
    llm = ScriptedLLM([NOTHING])
    settings = {"consolidation": {"on_session_switch": False}}
    with Memory.open(path, embedder="none", llm=llm, settings=settings) as memory:
        agent, other = (memory.agent("assistant", session=day) for day in ("monday", "tuesday"))
        for each in (agent, other):
            each.hooks.message("The tram to Sintra leaves at nine.")
        assert agent.hooks.session_end().is_handed_over
        memory.parts.learner.wait()
        ended = agent.hooks.session_end()
        assert (ended.pending, ended.is_handed_over) == (0, False)
        assert other.consolidation.is_session_consolidated("tuesday") is False


@pytest.mark.req("Y02")
def test_a_message_that_begins_a_session_has_the_earlier_ones_consolidated(path):
    with Memory.open(path, embedder="none", llm=ScriptedLLM([NOTHING])) as memory:
        memory.agent("assistant", session="monday").hooks.message("The tram to Sintra leaves at nine.")
        memory.agent("assistant", session="tuesday").hooks.message("Good morning.")
        memory.parts.learner.wait()
        assert memory.agent("assistant").consolidation.is_session_consolidated("monday")


@pytest.mark.parametrize("verb", ["recent", "session_end"])
def test_a_hook_of_a_session_says_how_to_be_in_one(memory, verb):
    with pytest.raises(InvalidInput, match=r"is in no session; name one: memory\.agent"):
        getattr(memory.agent("aide").hooks, verb)()
