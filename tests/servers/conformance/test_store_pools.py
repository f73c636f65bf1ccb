"""Pools: who is in one sees it, who is not is told nothing, and nobody can be locked out of what it holds."""

from dataclasses import replace
from datetime import timedelta

import pytest

from engrain.domain.access.pools import Pool
from engrain.domain.access.scopes import user_scope
from engrain.domain.records import Caller
from engrain.domain.requests import Act
from engrain.errors import InvalidInput
from tests.support.sample_records import NOON, episode, fact, request, rule
from tests.support.store_samples import put

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
    store.forget(by(member), held.id)
    with pytest.raises(InvalidInput, match="holds"):
        store.delete_pool(by(ANA), "team")
    assert store.pools_of(ANA) == ("team",)
    store.erase(by(member), [held.id])
    assert store.delete_pool(by(ANA), "team") is True
    assert store.pools_of(ANA) == ()
    assert store.create_pool(by(BEN), "team", [], {}).members == ("ben",)


@pytest.mark.parametrize("user", ["cal", "a/b", "50%", "%2F"])
@pytest.mark.parametrize("make", [episode, fact, rule])
def test_a_pool_that_holds_something_of_any_user_is_not_deleted(store, make, user):
    store.create_pool(by(ANA), "team", ["ben"], {})
    users = replace(ANA, user=user, pools=("team",))
    held = make(scope=user_scope(user, "pool:team"))
    put(store, [held], by=users)
    for caller in (ANA, BEN, replace(BEN, user="dot")):
        with pytest.raises(InvalidInput, match="holds 1 memories, live or not, of all users together"):
            store.delete_pool(by(caller), "team")
    assert store.pools_of(ANA) == ("team",)
    store.erase(by(users), [held.id])
    assert store.delete_pool(by(BEN), "team") is True


def test_a_pool_holds_nothing_that_is_another_pools_or_an_agents(store):
    for name in ("team", "a/pool:team"):
        store.create_pool(by(ANA), name, [], {})
    scopes = {"a": "user:cal/pool:a/pool:team", "b": "user:cal/ana", "c": "user:cal"}
    put(
        store,
        [fact(subject, subject=subject, scope=scope) for subject, scope in scopes.items()],
        by=replace(ANA, user="cal", pools=("a/pool:team",)),
    )
    odd = Caller(agent="user/pool:team")
    put(store, [fact(agent=odd.agent, scope=odd.agent)], by=odd)
    assert store.delete_pool(by(ANA), "team") is True
    with pytest.raises(InvalidInput, match="holds 1 memories"):
        store.delete_pool(by(ANA), "a/pool:team")


WRITING = {
    "put": lambda store, now, new: store.put(now, [new]),
    "put_related": lambda store, now, new: store.put_related(now, new, {}),
    "supersede": lambda store, now, new: store.supersede(now, new, []),
    "put_mentioning": lambda store, now, new: store.put_mentioning(now, [new], [], lambda _: {}),
}


@pytest.mark.parametrize("verb", WRITING)
def test_a_write_adds_to_those_pools_alone_that_its_caller_is_in_by_then(store, verb):
    store.create_pool(by(ANA), "team", ["ben"], {})
    checked = by(BEN, 1)
    kept = fact("Lisbon", agent="ben", scope="pool:team")
    assert WRITING[verb](store, checked, kept)
    store.leave_pool(by(ANA, 2), "team", "ben")
    with pytest.raises(InvalidInput):
        WRITING[verb](store, checked, fact("Porto", agent="ben", scope="pool:team", predicate="likes"))
    assert WRITING[verb](store, checked, fact("Porto", agent="ben", scope="ben"))
    store.erase(by(ANA, 3), [kept.id])
    assert store.delete_pool(by(ANA, 4), "team")
    with pytest.raises(InvalidInput):
        WRITING[verb](store, checked, fact("Faro", agent="ben", scope="pool:team"))
    assert [each.content for each in store.recent(request(BEN), 9)] == ["Porto"]
