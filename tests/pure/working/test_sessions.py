"""The bounds of working memory, by a clock that the test moves."""

import pytest

from engrain.domain.records import Caller
from engrain.working.sessions import WorkingMemory, select_oldest
from tests.support.sample_records import episode

CALLER = Caller(agent="aide", session="monday")


def said(memory, content, caller=CALLER):
    memory.change(caller, lambda session: session.messages.append(episode(content)))


@pytest.mark.req("G01")
def test_a_desk_that_is_not_used_for_its_time_is_handed_over_once():
    now = [0.0]
    memory = WorkingMemory(ttl_s=1_800, clock=lambda: now[0])
    said(memory, "one")
    now[0] = 1_799
    said(memory, "two")
    now[0] = 3_598
    assert memory.take_evicted() == []
    now[0] = 3_600
    [gone] = memory.take_evicted()
    assert [message.content for message in gone.messages] == ["one", "two"]
    assert memory.take_evicted() == memory.copy(CALLER).messages == []


def test_a_desk_that_is_larger_than_all_may_be_is_handed_over():
    memory = WorkingMemory(most_bytes=3_000)
    said(memory, "x" * 5_000)
    assert [len(session.messages) for session in memory.take_evicted()] == [1]
    assert memory.copy(CALLER).messages == []


@pytest.mark.req("G01")
@pytest.mark.parametrize(
    ("tokens", "going"),
    [([], 0), ([100], 0), ([101], 0), ([60, 40], 0), ([60, 41], 1), ([10] * 11, 6), ([500, 1], 1), ([1, 500], 1)],
)
def test_the_oldest_go_until_at_most_half_is_left_and_the_newest_stays(tokens, going):
    messages = [episode("x", tokens=token) for token in tokens]
    assert select_oldest(messages, 100) == messages[:going]
