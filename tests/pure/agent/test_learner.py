"""What is learned in the background: in turn, once for a name, and of a failure nobody hears but the counter."""

import threading

import pytest

from engrain import metrics
from engrain.agent.wiring.learner import Learner


def test_what_is_told_is_done_in_turn_in_one_thread():
    learner, done = Learner(), []
    for number in range(5):
        learner.submit(number, lambda number=number: done.append((number, threading.current_thread().name)))
    learner.wait()
    assert done == [(number, "engrain-learner") for number in range(5)]
    learner.submit("again", lambda: done.append("again"))
    learner.wait()
    assert done[-1] == "again"


def test_of_several_under_one_name_the_last_is_done_once_the_first_is():
    learner, done, begun, goes_on = Learner(), [], threading.Event(), threading.Event()

    def first():
        begun.set()
        assert goes_on.wait(30)
        done.append("first")

    learner.submit("name", first)
    assert begun.wait(30)
    for number in range(3):
        learner.submit("name", lambda number=number: done.append(number))
    goes_on.set()
    learner.wait()
    assert done == ["first", 2]


@pytest.mark.parametrize("error", [ValueError("no"), SystemExit(3)], ids=["an error", "an exit"])
def test_a_failure_is_counted_and_the_next_is_done(error):
    learner, done = Learner(), []
    before = metrics.snapshot().get("background_learning_failures", 0)

    def fail():
        raise error

    learner.submit("one", fail)
    learner.submit("two", lambda: done.append("two"))
    learner.wait()
    assert done == ["two"]
    assert metrics.snapshot()["background_learning_failures"] == before + 1


def test_after_close_nothing_is_begun_and_what_was_begun_is_done():
    learner, done, begun, goes_on = Learner(), [], threading.Event(), threading.Event()

    def slow():
        begun.set()
        assert goes_on.wait(30)
        done.append(learner.is_open())

    learner.submit("one", slow)
    assert begun.wait(30)
    learner.submit("two", lambda: done.append("two"))
    closing = threading.Thread(target=learner.close)
    closing.start()
    while learner.is_open():
        pass
    goes_on.set()
    closing.join()
    learner.submit("three", lambda: done.append("three"))
    learner.close()
    assert done == [False]
