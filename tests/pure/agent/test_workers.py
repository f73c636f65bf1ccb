import contextlib
import threading

import pytest

from engrain.agent.wiring.workers import Workers
from engrain.errors import MemoryClosed


@pytest.fixture
def workers():
    made = Workers()
    yield made
    made.close()


def test_work_is_done_in_another_thread_and_its_result_can_be_asked_for_again(workers):
    done = []

    def work():
        done.append(threading.current_thread().name)
        return len(done)

    result = workers.start(work)
    assert (result(), result()) == (1, 1)
    assert done[0].startswith("engrain-worker")


def test_what_work_raises_is_raised_where_its_result_is_asked_for(workers):
    result = workers.start(lambda: 1 // 0)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            result()


def test_where_every_thread_is_busy_work_is_done_by_who_waits_for_it(workers):
    release = threading.Event()
    try:
        busy = [workers.start(release.wait) for _ in range(2)]
        own = workers.start(threading.current_thread)
        assert own() is threading.current_thread()
        assert own() is threading.current_thread()
    finally:
        release.set()
    assert [each() for each in busy] == [True, True]
    assert workers.start(threading.current_thread)() is not threading.current_thread()


def test_closing_waits_for_what_was_begun_and_afterwards_work_is_done_by_who_waits():
    workers, done = Workers(), []
    workers.start(lambda: done.append("begun"))
    workers.close()
    workers.close()
    assert done == ["begun"]
    assert workers.start(threading.current_thread)() is threading.current_thread()


class TestMapping:
    def test_results_come_in_the_order_of_the_items(self, workers):
        assert workers.map_bounded(lambda item: item * 2, iter(range(50))) == [item * 2 for item in range(50)]
        assert workers.map_bounded(lambda item: item, []) == []

    def test_no_more_are_at_work_than_were_allowed_whoever_asks(self):
        workers, counting = Workers(max_parallel=3), threading.Lock()
        together, now, most = threading.Barrier(3), 0, 0

        def work(_):
            nonlocal now, most
            with counting:
                now += 1
                most = max(most, now)
            together.wait(30)  # three are at work at once, or nobody goes on
            with counting:
                now -= 1

        askers = [threading.Thread(target=lambda: workers.map_bounded(work, range(6))) for _ in range(2)]
        for each in askers:
            each.start()
        for each in askers:
            each.join()
        workers.close()
        assert most == 3

    def test_the_first_error_is_raised_when_nothing_is_under_way(self):
        workers, begun, done = Workers(max_parallel=2), threading.Barrier(2), []

        def work(item):
            if item < 2:
                begun.wait(30)
            if item == 0:
                raise ValueError("the first")
            done.append(item)
            if item > 1:
                raise KeyError("another")

        with pytest.raises(ValueError, match="the first"):
            workers.map_bounded(work, range(100))
        assert done.count(1) == 1
        assert len(done) < 100
        finished = list(done)
        workers.close()
        assert done == finished

    def test_mapping_within_mapping_does_not_wait_for_itself(self):
        workers = Workers(max_parallel=1)
        assert workers.map_bounded(lambda rows: workers.map_bounded(str, range(rows)), [2, 1]) == [["0", "1"], ["0"]]
        workers.close()

    def test_closing_leaves_what_was_not_begun_and_says_so_to_who_waits(self):
        workers, begun, let_go, done, said = Workers(max_parallel=1), threading.Event(), threading.Event(), [], []

        def work(item):
            begun.set()
            let_go.wait(60)
            done.append(item)

        def ask():
            with pytest.raises(MemoryClosed, match="closed before all was done") as closed:
                workers.map_bounded(work, range(5))
            said.append(closed)

        asker = threading.Thread(target=ask)
        asker.start()
        assert begun.wait(30)
        closer = threading.Thread(target=workers.close)
        closer.start()
        with contextlib.suppress(RuntimeError):  # it takes no work any more, and has left what it had
            while True:
                workers._mapping.submit(int)
        let_go.set()
        closer.join()
        asker.join()
        assert (len(said), done) == (1, [0])
        with pytest.raises(MemoryClosed):
            workers.map_bounded(str, [1])

    def test_mapping_leaves_the_other_threads_alone(self, workers):
        names = workers.map_bounded(lambda _: threading.current_thread().name, range(3))
        assert all(name.startswith("engrain-fan-out") for name in names)
