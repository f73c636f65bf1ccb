"""Small writes gathered into few transactions; an acknowledgement means durable."""

import threading
from contextlib import closing

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
