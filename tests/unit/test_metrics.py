import threading
import uuid

import pytest

from engrain import metrics


@pytest.fixture
def name():
    """A counter nobody else counts on: they belong to the process."""
    return f"test_{uuid.uuid4().hex}"


def test_a_counter_counts_from_nothing(name):
    assert name not in metrics.snapshot()
    metrics.count(name)
    metrics.count(name, 4)
    assert metrics.snapshot()[name] == 5


def test_no_count_is_lost_between_threads(name):
    def count():
        for _ in range(2_000):
            metrics.count(name)

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert metrics.snapshot()[name] == 8_000


def test_a_timer_counts_its_blocks_and_adds_up_their_seconds(name):
    with metrics.timed(name):
        first = metrics.snapshot().get(f"{name}_total")
    once = metrics.snapshot()[f"{name}_total"]
    with metrics.timed(name):
        pass
    after = metrics.snapshot()
    assert first is None
    assert after[name] == 2
    assert after[f"{name}_total"] >= once >= 0


def test_a_block_that_fails_is_timed_too(name):
    def failing():
        with metrics.timed(name):
            raise KeyError(name)

    with pytest.raises(KeyError):
        failing()
    assert metrics.snapshot()[name] == 1


def test_a_snapshot_does_not_change_afterwards(name):
    before = metrics.snapshot()
    metrics.count(name)
    assert name not in before
