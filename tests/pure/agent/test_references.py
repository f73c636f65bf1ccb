import threading

import pytest

from engrain import metrics
from engrain.agent.wiring.usage import References
from engrain.agent.wiring.workers import Workers
from engrain.domain.records import Caller
from engrain.errors import DatabaseBusy, DatabaseReadOnly, MemoryClosed
from tests.support.idle_workers import ByHand
from tests.support.sample_records import CALLER, LATER, act, episode
from tests.support.store_samples import put
from tests.support.stores import InMemoryStore


def counts(store, turns):
    return [each.reference_count for each in store.get(CALLER, [turn.id for turn in turns])]


@pytest.fixture
def turns():
    return [episode("tram"), episode("river")]


@pytest.fixture
def store(turns):
    made = InMemoryStore()
    put(made, turns)
    return made


def not_counted():
    return metrics.snapshot().get("references_not_counted", 0)


def test_nothing_is_counted_before_it_is_time_and_once_it_is_exactly_once(store, turns):
    workers = ByHand()
    references = References(store, workers)
    references.add(act(LATER), turns)
    references.add(act(LATER), turns[:1])
    references.add(act(LATER), [])
    assert counts(store, turns) == [0, 0]
    assert len(workers.asked) == 1
    workers.asked[0]()
    references.flush()
    assert counts(store, turns) == [2, 1]
    assert store.get(CALLER, [turns[0].id])[0].last_referenced_at == LATER
    references.add(act(LATER), turns[1:])
    assert len(workers.asked) == 2


def test_a_flush_of_one_tenant_leaves_the_others_to_be_counted_together(store, turns):
    references = References(store, ByHand())
    references.add(act(LATER), turns)
    references.flush("other")
    assert counts(store, turns) == [0, 0]
    references.add(act(caller=Caller(tenant_id="other", agent="aide")), turns)
    references.flush(CALLER.tenant_id)
    assert counts(store, turns) == [1, 1]


def test_each_answer_is_one_call(turns):
    class Listening(InMemoryStore):
        calls = 0

        def write(self, act_, work, references):
            self.calls += 1
            return self.store.write(act_, work, references)

    store = Listening()
    put(store, turns)
    references = References(store, ByHand())
    references.add(act(), turns)
    references.flush()
    references.flush()
    assert store.calls == 1


def test_only_what_the_caller_sees_is_counted(store, turns):
    references = References(store, ByHand())
    references.add(act(caller=Caller(agent="other")), turns[:1])
    references.flush()
    assert counts(store, turns) == [0, 0]


@pytest.mark.parametrize(
    "reason", [DatabaseBusy("locked"), DatabaseReadOnly("read-only"), MemoryClosed("closed")], ids=lambda e: e.code
)
def test_what_cannot_be_counted_is_told_by_the_counter_and_by_nothing_else(reason, turns):
    class Refusing(InMemoryStore):
        def write(self, *_):
            raise reason

    store, before = Refusing(), not_counted()
    references = References(store, ByHand())
    references.add(act(), turns)
    references.flush()
    references.flush()
    assert not_counted() - before == 2


def test_who_settles_waits_for_what_a_worker_is_counting(turns):
    entered, release = threading.Event(), threading.Event()

    class Slow(InMemoryStore):
        def write(self, act_, work, references):
            entered.set()
            release.wait(30)
            return self.store.write(act_, work, references)

    store, workers = Slow(), Workers()
    put(store, turns)
    references = References(store, workers)
    references.add(act(), turns[:1])
    assert entered.wait(30)
    threading.Timer(0.05, release.set).start()
    references.flush()
    assert counts(store, turns) == [1, 0]
    workers.close()
