"""Small writes gathered into few transactions; an acknowledgement means durable."""

import threading
from contextlib import closing
from dataclasses import replace

import pytest

from engrain.domain.records import Caller
from engrain.errors import InvalidInput, MemoryClosed
from engrain.storage.batch_writer import BatchWriter
from tests.support.sample_records import CALLER, act, episode, fact

LONG_S = 3_600.0
PATIENCE_S = 180


class Counting:
    """A store that notes how many memories came together, and can be held."""

    def __init__(self, store):
        self._store = store
        self.batches = []
        self.may_write = threading.Event()
        self.may_write.set()

    def put(self, act, memories):
        assert self.may_write.wait(PATIENCE_S)
        self.batches.append(len(memories))
        return self._store.put(act, memories)


@pytest.fixture
def counting(store):
    return Counting(store)


@pytest.mark.req("G17")
def test_a_hundred_are_written_as_one_and_acknowledged_when_they_are_there(counting, store):
    with closing(BatchWriter(counting.put, wait_s=LONG_S)) as writer:
        memories = [episode(f"Number {place}.", session="monday") for place in range(100)]
        stored = [future.result(PATIENCE_S) for future in [writer.add(act(), each) for each in memories]]
        assert store.get(CALLER, [each.id for each in memories]) == stored
    assert counting.batches == [100]
    assert [each.turn for each in stored] == list(range(1, 101))


@pytest.mark.req("G17")
def test_a_few_are_written_when_their_time_is_up(counting, store):
    with closing(BatchWriter(counting.put, wait_s=0.001)) as writer:
        one = episode("One.")
        assert [writer.add(act(), one).result(PATIENCE_S)] == store.get(CALLER, [one.id])


@pytest.mark.req("G17")
@pytest.mark.parametrize("end", ["flush", "close"])
def test_what_waits_is_written_at_once_when_asked_and_nothing_is_lost(counting, store, end):
    with closing(BatchWriter(counting.put, wait_s=LONG_S)) as writer:
        memories = [episode(f"Number {place}.") for place in range(7)]
        futures = [writer.add(act(), each) for each in memories]
        getattr(writer, end)()
        assert [future.result(0).id for future in futures] == [each.id for each in memories]
    assert len(store.get(CALLER, [each.id for each in memories])) == 7


def test_one_that_is_refused_fails_alone(counting, store):
    with closing(BatchWriter(counting.put, wait_s=LONG_S)) as writer:
        good, bad, last = episode("Good."), fact("Bad", entity_id="nobody"), episode("Last.")
        futures = [writer.add(act(), each) for each in (good, bad, last, good)]
        writer.flush()
        assert isinstance(futures[1].exception(0), InvalidInput)
        assert isinstance(futures[3].exception(0), InvalidInput)
        assert [futures[0].result(0).id, futures[2].result(0).id] == [good.id, last.id]
    assert {each.id for each in store.get(CALLER, [good.id, bad.id, last.id])} == {good.id, last.id}


def test_a_batch_is_of_one_caller(counting):
    other = Caller(agent="other")
    with closing(BatchWriter(counting.put, wait_s=LONG_S)) as writer:
        for caller, scope in ((CALLER, "aide"), (other, "other"), (other, "other")):
            writer.add(act(caller=caller), episode("x", agent=caller.agent, scope=scope))
        writer.flush()
    assert counting.batches == [1, 2]


def test_when_too_many_wait_so_does_the_writer(counting):
    """Somebody who adds faster than the database takes is held up, and never runs out of memory."""
    counting.may_write.clear()
    added = []
    with closing(BatchWriter(counting.put, most=2, wait_s=0, capacity=2)) as writer:
        hurrying = threading.Thread(target=lambda: added.extend(writer.add(act(), episode("x")) for _ in range(9)))
        hurrying.start()
        hurrying.join(0.05)
        assert hurrying.is_alive()
        assert len(added) <= 5
        counting.may_write.set()
        hurrying.join(PATIENCE_S)
        assert all(future.result(PATIENCE_S) for future in added)


def test_a_closed_writer_takes_nothing(counting):
    writer = BatchWriter(counting.put)
    writer.close()
    writer.close()
    with pytest.raises(MemoryClosed):
        writer.add(act(), episode("Late."))


def test_a_flush_waits_for_what_was_added_before_it_and_not_for_what_comes_after(counting):
    """Or one tenant who writes without a pause would hold up the erasure of another."""
    entered, may_write, done = threading.Event(), threading.Semaphore(0), threading.Event()

    def put(act, memories):
        entered.set()
        assert may_write.acquire(timeout=PATIENCE_S)
        return counting.put(act, memories)

    with closing(BatchWriter(put, most=1, wait_s=LONG_S)) as writer:
        before = [writer.add(act(), episode("x")) for _ in range(2)]
        assert entered.wait(PATIENCE_S)
        flush = threading.Thread(target=lambda: (writer.flush(), done.set()))
        flush.start()
        while not writer._urgent:  # the flush has not begun to wait
            done.wait(0.001)
        after = [writer.add(act(), episode("x")) for _ in range(2)]
        may_write.release(2)
        assert done.wait(PATIENCE_S)
        assert ([each.done() for each in before], after[1].done()) == ([True, True], False)
        may_write.release(2)
        flush.join()


def test_messages_of_several_requests_and_sessions_are_one_transaction_of_their_agent(counting, store):
    other = Caller(agent="other")
    with closing(BatchWriter(counting.put, wait_s=LONG_S)) as writer:
        memories = []
        for place in range(6):
            caller = replace(CALLER, session=f"s{place % 2}", request_id=f"r{place}")
            memories.append(episode(f"Number {place}.", session=caller.session))
            writer.add(act(caller=caller), memories[-1])
            writer.add(act(caller=other), episode("x", agent="other", scope="other"))
        writer.flush()
        assert [each.turn for each in store.get(CALLER, [each.id for each in memories])] == [1, 1, 2, 2, 3, 3]
        same = episode("Again.")
        writer.add(act(caller=replace(CALLER, request_id="r")), same)
    assert counting.batches == [6, 6, 1]
    events = store.events(CALLER, limit=99)
    assert {event.memory_id: event.request_id for event in events} == {
        **{each.id: None for each in memories},
        same.id: "r",
    }


def test_a_model_that_exits_ends_neither_the_thread_nor_the_messages_of_others(counting):
    def put(act, memories):
        if any(memory.content == "exit" for memory in memories):
            raise SystemExit(3)
        return counting.put(act, memories)

    with closing(BatchWriter(put, wait_s=LONG_S)) as writer:
        futures = [writer.add(act(), episode(content)) for content in ("one", "exit", "two")]
        writer.flush()
        assert [type(future.exception(0)) for future in futures] == [type(None), SystemExit, type(None)]
