import threading

import pytest

from engrain.agent.workers import Workers


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


def test_busy_searches_leave_a_thread_for_what_nobody_waits_for(workers):
    release, came = threading.Event(), threading.Event()
    try:
        busy = [workers.start(release.wait) for _ in range(2)]
        workers.later(came.set)
        assert came.wait(30)
    finally:
        release.set()
    assert [each() for each in busy] == [True, True]


def test_closing_waits_for_what_was_begun_and_afterwards_work_is_done_by_who_waits():
    workers, done = Workers(), []
    workers.later(lambda: done.append("later"))
    workers.close()
    workers.close()
    assert done == ["later"]
    assert workers.start(threading.current_thread)() is threading.current_thread()
    workers.later(lambda: done.append("never"))
    assert done == ["later"]
