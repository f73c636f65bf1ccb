"""Messages that need not be durable when the call returns: gathered, and none of them lost on an orderly way out."""

import os
import signal
import subprocess
import sys

import pytest

from engrain import InvalidInput, Memory, metrics
from tests.support.races import locked

LONG_S = 3_600
PATIENCE_S = 180
HOST = """
import signal, sys, time
from engrain import Memory
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
memory = Memory.open(sys.argv[1], embedder="none", settings={"batching": {"seconds": 3600}})
hooks = memory.agent("aide", session="monday").hooks
for place in range(250):
    assert not hooks.message(f"number {place}", durable=False).is_stored
print("said", flush=True)
while sys.argv[2] == "waits":
    time.sleep(0.05)  # not signal.pause(): a signal right before it would be waited for without end
"""


def opened(path, **batching):
    return Memory.open(
        path, embedder="none", settings={"batching": {"seconds": LONG_S, **batching}, "storage": {"busy_timeout_s": 0}}
    )


def stored(path):
    with Memory.open(path, embedder="none") as memory:
        return [each.content for each in memory.agent("aide", session="monday").hooks.recent(1_000).episodes]


@pytest.mark.req("G17")
def test_messages_are_written_together_and_a_durable_one_comes_after_those_before_it(path):
    before = metrics.snapshot().get("batches_written", 0)
    with opened(path, size=10) as memory:
        hooks = memory.agent("aide", session="monday").hooks
        told = [hooks.message(f"number {place}", durable=False) for place in range(25)]
        assert not any(each.is_stored or each.degraded for each in told)
        last = hooks.message("number 25")
        assert (last.is_stored, last.episode.turn) == (True, 26)
        assert metrics.snapshot()["batches_written"] == before + 3
        hooks.message("number 26", durable=False)
    assert stored(path) == [f"number {place}" for place in range(27)]


def test_without_seconds_each_is_durable_when_the_call_returns(path):
    with opened(path, seconds=0) as memory:
        hooks = memory.agent("aide", session="monday").hooks
        assert hooks.message("tea", durable=False).is_stored
        with pytest.raises(InvalidInput, match="durable"):
            hooks.message("tea", durable="no")


def test_a_repeat_under_its_key_is_stored_once_and_another_text_is_refused_and_counted(path):
    refused = metrics.snapshot().get("messages_refused", 0)
    with opened(path) as memory:
        hooks = memory.agent("aide", session="monday").hooks
        for content in ("tea", "tea", "coffee"):
            hooks.message(content, durable=False, idempotency_key="k")
    assert stored(path) == ["tea"]
    assert metrics.snapshot()["messages_refused"] == refused + 1


@pytest.mark.req("N05")
def test_a_batch_that_the_database_does_not_take_waits_and_is_stored_in_order(path):
    with opened(path) as memory:
        hooks = memory.agent("aide", session="monday").hooks
        with locked(path):
            for place in range(3):
                hooks.message(f"number {place}", durable=False)
            assert str(hooks.session_end().degraded[0]).startswith("3 messages wait")
        assert hooks.message("number 3", durable=False).is_stored
        assert [each.content for each in hooks.recent().episodes] == [f"number {place}" for place in range(4)]


@pytest.mark.req("G17")
@pytest.mark.parametrize("end", ["returns", "waits"])
def test_an_interpreter_that_ends_as_it_should_writes_what_waits(path, end):
    """By the end of its program, or by a signal that its host turns into one."""
    with subprocess.Popen(
        [sys.executable, "-c", HOST, str(path), end], stdout=subprocess.PIPE, env=os.environ, text=True
    ) as host:
        try:
            assert host.stdout.readline() == "said\n"
            if end == "waits":
                host.send_signal(signal.SIGTERM)
            assert host.wait(PATIENCE_S) == 0
        finally:
            host.kill()  # a failure does not wait for it
    assert stored(path) == [f"number {place}" for place in range(250)]
