"""The newest and the most important: in a total order, within every wall and filter, as an index gives them."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engrain.domain.records import Caller
from engrain.domain.requests import Request
from tests.support.reference_filters import matches
from tests.support.sample_records import CALLER, FILTERS, MEMORIES, MOMENTS, NOON, act, episode, fact, request, rule
from tests.support.store_samples import flush_index, put, refs

LATER = NOON + timedelta(hours=1)
LIMITS = st.integers(-1, 8) | st.just(1 << 31)
SCOPES = st.sampled_from(["aide", "global", "pool:team"])
TEAM = Caller(agent="aide", pools=("team",))


def weighed(memory):
    return 5.0 if memory.kind == "rule" else memory.importance


def newest(memories):
    return sorted(memories, key=lambda each: (each.happened_at, each.id), reverse=True)


def most_important(memories):
    return sorted(memories, key=lambda each: (weighed(each), each.happened_at, each.id), reverse=True)


def placed(memory, scope, importance):
    """In one of several scopes, as important as another or not; each fact in a place of its own."""
    changes = {"scope": scope}
    if memory.kind != "rule":
        changes["importance"] = importance
    if memory.kind == "fact":
        changes["predicate"] = memory.id
    return replace(memory, **changes)


ANY = st.builds(placed, MEMORIES, SCOPES, st.sampled_from([0.0, 5.0, 5.5, 10.0]))


@settings(max_examples=60)
@given(st.lists(ANY, max_size=12), FILTERS, LIMITS, MOMENTS)
def test_what_passes_a_filter_comes_in_its_order(backend, memories, filter_, limit, now):
    """By happened_at, then id; or by importance before that; what is left of them where the limit says so."""
    with backend.fresh() as store:
        stored = put(store, memories, by=TEAM)
        known = refs(store, TEAM)
        asked = Request(caller=TEAM, filter=filter_, now=now)
        passing = [each for each in stored if matches(filter_, each, now)]
        most = max(limit, 0)
        found = [(known[each.ref], each.raw) for each in store.newest(asked, limit)]
        assert found == [(each.id, each.happened_at.timestamp()) for each in newest(passing)[:most]]
        found = [(known[each.ref], each.raw) for each in store.important(asked, limit)]
        assert found == [(each.id, weighed(each)) for each in most_important(passing)[:most]]


@pytest.mark.parametrize("verb", ["newest", "important"])
def test_others_memories_are_not_among_them_whatever_the_limit(store, verb):
    mine = put(store, [episode("Mine.", importance=1.0), fact("Everybody's", importance=1.0)])
    later = {"importance": 9.0, "created_at": LATER}
    put(store, [episode("Theirs.", scope="other", event_time=LATER, **later)])
    put(store, [fact("Theirs", scope="pool:team", **later), rule("Theirs.", scope="pool:team")])
    put(store, [episode("Theirs.", tenant_id="other", event_time=LATER, **later)])
    known = refs(store)
    for limit in (2, 9, 1 << 31):
        assert {known[each.ref] for each in getattr(store, verb)(request(), limit)} == {each.id for each in mine}
    assert getattr(store, verb)(request(Caller(agent="nobody", tenant_id="third")), 9) == []


@pytest.mark.parametrize("verb", ["newest", "important"])
def test_what_was_just_said_is_found_before_anything_is_settled(store, verb):
    """The first memory of a scope too, which no search has a place for yet."""
    [said] = put(store, [episode("Said just now.")])
    [found] = getattr(store, verb)(request(), 9)
    assert store.load(request(), [found.ref]) == {found.ref: said}
    flush_index(store)
    assert getattr(store, verb)(request(), 9) == [found]


@pytest.mark.parametrize("verb", ["newest", "important"])
def test_what_is_gone_is_found_by_questions_about_the_past_alone(store, verb):
    stored = put(store, [episode("One."), fact("Two"), rule("Three.")])
    known = refs(store)
    for each in stored:
        store.forget(act(LATER), each.id)

    def found(**asked):
        return {known[each.ref] for each in getattr(store, verb)(request(**asked), 9)}

    assert found() == found(as_of=LATER) == set()
    everything = {each.id for each in stored}
    assert found(as_of=NOON) == set()
    assert found(as_of=NOON, include_inactive=True) == found(include_inactive=True) == everything


def test_those_of_many_pools_are_merged(store):
    """One order over more scopes than a statement can name at once."""
    pools = tuple(f"team {place}" for place in range(300))
    crowd = Caller(agent="aide", pools=pools)
    everywhere = [
        episode("x", scope=f"pool:{pool}", event_time=NOON - timedelta(minutes=place % 7), importance=place % 3 * 1.0)
        for place, pool in enumerate(pools)
    ]
    stored = put(store, everywhere, by=crowd)
    asked = request(crowd)
    loaded = store.load(asked, [each.ref for each in store.newest(asked, 1_000)])
    assert [loaded[each.ref].id for each in store.newest(asked, 20)] == [each.id for each in newest(stored)[:20]]
    found = [loaded[each.ref].id for each in store.important(asked, 1_000)]
    assert found == [each.id for each in most_important(stored)]
    assert store.recent(asked, 20) == newest(stored)[:20]
    assert store.newest(request(CALLER), 9) == []
