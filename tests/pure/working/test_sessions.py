"""The bounds of working memory, by a clock that the test moves."""

import sys
from itertools import count

import pytest

from engrain.domain.maintenance.backups import Extent
from engrain.domain.records import Caller
from engrain.working import sessions
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


NOBODY = Extent(tenant_id="default", user="nobody")
CALLS = {
    "discard": lambda memory, other: memory.discard(other, ["nothing"]),
    "discard_extent": lambda memory, _: memory.discard_extent(NOBODY),
    "holds_extent": lambda memory, _: memory.holds_extent(NOBODY),
    "clear": lambda memory, other: memory.clear(other),
    "copy": lambda memory, other: memory.copy(other),
    "change": lambda memory, other: said(memory, "hello", other),
    "len": lambda memory, _: len(memory),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_no_call_of_another_loses_what_grew_too_old(call):
    now = [0.0]
    memory = WorkingMemory(ttl_s=10, clock=lambda: now[0])
    said(memory, "one")
    now[0] = 11
    call(memory, Caller(agent="other", session="tuesday"))
    assert [message.content for session in memory.take_evicted() for message in session.messages] == ["one"]


@pytest.mark.parametrize("gone", ["too old", "made room"])
def test_what_waits_to_be_stored_is_discarded_and_found_like_what_is_at_hand(gone):
    now = [0.0]
    ana, other = Caller(agent="aide", user="ana", session="monday"), Caller(agent="aide", user="ben", session="monday")

    def filled():
        memory = WorkingMemory(most=1 if gone == "made room" else 9, ttl_s=10, clock=lambda: now[0])
        said(memory, "secret", ana)
        [message] = memory.copy(ana).messages
        now[0] += 11 if gone == "too old" else 0
        said(memory, "hello", other)
        return memory, message.id

    def left(memory):
        return [message.content for session in memory.take_evicted() for message in session.messages]

    memory, _ = filled()
    theirs = Extent(tenant_id=ana.tenant_id, user="ana")
    assert memory.holds_extent(theirs)
    memory.discard_extent(theirs)
    assert not memory.holds_extent(theirs)
    assert left(memory) == []
    memory, id_ = filled()
    memory.discard(ana, [id_])
    assert left(memory) == []
    memory, _ = filled()
    memory.clear(ana)
    assert left(memory) == []


def test_ctrl_c_while_a_session_changes_loses_no_message():
    """At the start and the end of each of our own calls, one after another."""

    def interrupt(frame, event, _):
        nonlocal left
        left -= frame.f_code.co_filename == sessions.__file__ and event in {"call", "return", "c_return"}
        if left < 0:
            raise KeyboardInterrupt

    for after in count():
        memory, left = WorkingMemory(), after
        said(memory, "One.")
        sys.setprofile(interrupt)
        try:
            said(memory, "Two.")
        except KeyboardInterrupt:
            left = None
        finally:
            sys.setprofile(None)
        kept = [message.content for session in memory.take_all() for message in session.messages]
        assert kept in (["One."], ["One.", "Two."]), after
        if left is not None:
            break
    assert after > 20
