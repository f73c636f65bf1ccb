"""Pools: who is in one sees it, who is not is told nothing, and nobody can be locked out of what it holds."""

from dataclasses import replace
from datetime import timedelta

import pytest

from engrain.domain.pools import Pool
from engrain.domain.records import Caller
from engrain.domain.requests import Act
from engrain.errors import InvalidInput
from tests.sample_records import NOON, fact
from tests.store_samples import put

ANA, BEN, CAL = (Caller(agent=name) for name in ("ana", "ben", "cal"))
ELSEWHERE = Caller(tenant_id="bolt", agent="ana")


def by(caller, minutes=0):
    return Act(caller=caller, at=NOON + timedelta(minutes=minutes))


@pytest.mark.req("G14")
def test_a_pool_is_its_makers_and_those_it_names(store):
    made = store.create_pool(by(ANA), "team", ["ben", "ana"], {"about": "trams"})
    assert made == Pool(name="team", members=("ana", "ben"), created_at=NOON, metadata={"about": "trams"})
    assert store.pools(ANA) == store.pools(BEN) == [made]
    assert store.pools_of(ANA) == ("team",)
    assert store.pools_of(CAL) == store.pools_of(ELSEWHERE) == ()
    assert store.pools(replace(CAL, pools=("team",))) == []


def test_names_are_a_tenants_own_and_taken_once(store):
    store.create_pool(by(ANA), "team", [], {})
    with pytest.raises(InvalidInput, match="team"):
        store.create_pool(by(BEN), "team", [], {})
    assert store.pools_of(BEN) == ()
    assert store.create_pool(by(ELSEWHERE), "team", [], {}).members == ("ana",)
    store.create_pool(by(ANA), "garden", [], {})
    assert store.pools_of(ANA) == ("garden", "team")


def test_members_come_and_go_and_twice_is_once(store):
    store.create_pool(by(ANA), "team", [], {})
    assert store.join_pool(by(ANA, 1), "team", "ben").members == ("ana", "ben")
    assert store.join_pool(by(BEN, 2), "team", "ben").members == ("ana", "ben")
    assert store.leave_pool(by(BEN, 3), "team", "ana").members == ("ben",)
    assert store.pools_of(ANA) == ()
    assert store.leave_pool(by(BEN, 4), "team", "ana").members == ("ben",)
    told = store.events(replace(BEN, pools=("team",)))
    assert [(each.event_type, each.payload["members"]) for each in reversed(told)] == [
        ("pool_created", ["ana"]),
        ("pool_joined", ["ben"]),
        ("pool_left", ["ana"]),
    ]
    assert store.events(ANA) == []


def test_to_a_stranger_a_pool_is_not_there(store):
    store.create_pool(by(ANA), "team", [], {})
    for stranger in (CAL, replace(CAL, pools=("team",)), ELSEWHERE):
        assert store.join_pool(by(stranger), "team", "cal") is None
        assert store.leave_pool(by(stranger), "team", "ana") is None
        assert store.delete_pool(by(stranger), "team") is False
    assert store.pools(ANA)[0].members == ("ana",)


def test_the_last_member_stays_and_what_holds_something_is_not_deleted(store):
    store.create_pool(by(ANA), "team", [], {})
    with pytest.raises(InvalidInput, match="last member"):
        store.leave_pool(by(ANA), "team", "ana")
    member = replace(ANA, pools=("team",))
    held = fact(scope="pool:team")
    put(store, [held], by=member)
    store.retire(by(member), held.id)
    with pytest.raises(InvalidInput, match="holds"):
        store.delete_pool(by(ANA), "team")
    assert store.pools_of(ANA) == ("team",)
    store.erase(by(member), [held.id])
    assert store.delete_pool(by(ANA), "team") is True
    assert store.pools_of(ANA) == ()
    assert store.create_pool(by(BEN), "team", [], {}).members == ("ben",)
