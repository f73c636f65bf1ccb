"""The outbox, from many threads at once."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from engrain.errors import DatabaseBusy, InvalidInput
from engrain.working.outbox import Outbox
from tests.support.sample_records import act, episode


class Shelf:
    """Takes what it is given while it is open, once under each key."""

    def __init__(self):
        self.is_open = True
        self.kept = {}

    def keep(self, _, said, key):
        if not self.is_open:
            raise DatabaseBusy("another writer holds the lock")
        if said.content == "wrong":
            raise InvalidInput("wrong in itself")
        return self.kept.setdefault(key, said)


@pytest.mark.req("N05", "B24.2")
def test_of_what_many_threads_say_nothing_is_lost_or_doubled():
    shelf, outbox = Shelf(), Outbox()
    said = [episode(f"number {place}") for place in range(200)]

    def say(message):
        shelf.is_open = not shelf.is_open
        return outbox.deliver(act(), message, shelf.keep)

    with ThreadPoolExecutor(8) as threads:
        told = list(threads.map(say, said))
    shelf.is_open = True
    assert outbox.drain(shelf.keep) is None
    assert len(outbox) == outbox.discard() == 0
    assert {message.id for message in shelf.kept.values()} == {message.id for message in said}
    assert any(not outcome.is_stored for outcome in told)


def test_what_was_refused_is_raised_for_its_own_and_passed_over_for_others():
    shelf, outbox = Shelf(), Outbox()
    with pytest.raises(InvalidInput):
        outbox.deliver(act(), episode("wrong"), shelf.keep)
    shelf.is_open = False
    for content in ("one", "wrong", "two"):
        assert not outbox.deliver(act(), episode(content), shelf.keep).is_stored
    shelf.is_open = True
    assert outbox.deliver(act(), episode("three"), shelf.keep).is_stored
    assert [message.content for message in shelf.kept.values()] == ["one", "two", "three"]


def test_text_is_bounded_as_well_and_room_comes_back():
    shelf, outbox = Shelf(), Outbox(most_characters=10)
    shelf.is_open = False
    told = [outbox.deliver(act(), episode(content), shelf.keep).degraded[0] for content in ("x" * 8, "y" * 8)]
    assert [reason.message.partition(",")[0] for reason in told] == ["not stored yet", "not stored and not kept"]
    shelf.is_open = True
    assert outbox.deliver(act(), episode("z" * 8), shelf.keep).is_stored
    assert outbox.discard() == 0


def test_what_is_discarded_leaves_its_room_to_others():
    shelf, outbox = Shelf(), Outbox(most_characters=10)
    shelf.is_open = False
    outbox.deliver(act(), episode("x" * 10), shelf.keep)
    assert outbox.discard() == 1
    [why] = outbox.deliver(act(), episode("y" * 10), shelf.keep).degraded
    assert why.message.startswith("not stored yet")
