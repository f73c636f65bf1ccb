"""Uses of access keys, gathered: no caller waits for the database, and no thread of a search does."""

from datetime import timedelta

import pytest

from engrain import metrics
from engrain.agent.wiring.usage import KeyUses
from engrain.domain.access.keys import AccessKey
from engrain.errors import DatabaseBusy
from tests.support.idle_workers import ByHand
from tests.support.sample_records import NOON


class Store:
    """Lists the writes that it is asked for."""

    def __init__(self, error=None):
        self.writes, self.error = [], error

    def write(self, act, _, uses):
        self.writes.append((act.caller.tenant_id, act.at, sorted(key_id for key_id, _ in uses)))
        if self.error is not None:
            raise self.error


def key(id_, tenant="acme"):
    return AccessKey(id=id_, tenant_id=tenant, role="reader", created_at=NOON)


def test_many_keys_used_within_a_second_are_one_transaction_of_their_tenant():
    store, workers = Store(), ByHand()
    uses = KeyUses(store, workers)
    for place in range(12):
        uses.add(key(f"key {place:02}"), NOON)
        uses.add(key(f"key {place:02}"), NOON + timedelta(seconds=59))
    uses.add(key("another", tenant="bolt"), NOON)
    assert store.writes == []
    [flush] = workers.asked
    flush()
    assert store.writes == [("acme", NOON, [f"key {place:02}" for place in range(12)]), ("bolt", NOON, ["another"])]
    uses.add(key("key 00"), NOON + timedelta(seconds=60))
    uses.close()
    assert store.writes[2:] == [("acme", NOON + timedelta(seconds=60), ["key 00"])]


@pytest.mark.parametrize("count", [1, 3])
def test_uses_that_cannot_be_written_are_counted(count):
    before = metrics.snapshot().get("key_uses_not_noted", 0)
    uses = KeyUses(Store(DatabaseBusy("locked")), ByHand())
    for place in range(count):
        uses.add(key(str(place)), NOON)
    uses.flush()
    assert metrics.snapshot()["key_uses_not_noted"] == before + count
