"""Lists page by page: what stands after a place is what the whole list has after it, ties of time included."""

from datetime import timedelta

import pytest

from engrain.domain.records import Caller
from engrain.domain.runs.plans import Plan
from engrain.domain.runs.runs import Claim
from tests.support.sample_records import CALLER, NOON, act, episode, fact, request, rule
from tests.support.store_samples import put

ALL = 1000


def stored(store):
    """Facts of few times, so that most of them tie."""
    return put(store, [fact(f"{n}", subject=f"s{n}", created_at=NOON + timedelta(minutes=n % 3)) for n in range(7)])


def newest_facts(store):
    stored(store)
    return lambda limit, after: store.recent(request(after=after), limit), lambda each: each.happened_at


def events(store):
    stored(store)
    return lambda limit, after: store.events(CALLER, limit=limit, after=after), lambda each: each.created_at


def events_of_one_memory(store):
    [memory] = put(store, [fact()])
    for n in range(5):
        store.confirm(act(NOON + timedelta(minutes=n // 2)), memory.id)
    told = {"memory_id": memory.id, "event_type": "fact_confirmed"}
    return lambda limit, after: store.events(CALLER, **told, limit=limit, after=after), lambda each: each.created_at


def applications(store):
    [kept] = put(store, [rule()])
    for n in range(7):
        store.mark(act(NOON + timedelta(minutes=n // 3)), kept.id, "helpful")
    return lambda limit, after: store.applications(CALLER, kept.id, limit, after=after), lambda each: each.created_at


def runs(store):
    for _ in range(5):
        put(store, [episode()])
        batch = store.claim(act(NOON), Claim(kind="consolidation", worker="one", lease_s=60))
        store.carry_out(act(NOON), batch.run.id, Plan(episode_ids=tuple(each.id for each in batch.episodes)), {})
    listed = {"kind": "consolidation"}
    return lambda limit, after: store.runs(CALLER, **listed, limit=limit, after=after), lambda each: each.started_at


@pytest.mark.parametrize("listing", [newest_facts, events, events_of_one_memory, applications, runs])
@pytest.mark.parametrize("limit", [1, 2, 3])
def test_pages_are_the_list(store, listing, limit):
    page, at = listing(store)
    whole, found, after = page(ALL, None), [], None
    assert len(whole) >= 5
    while step := page(limit, after):
        found += step
        after = (at(step[-1]), step[-1].id)
    assert found == whole


def test_a_place_that_nothing_holds_any_more_is_a_place_all_the_same(store):
    facts = stored(store)
    whole = store.recent(request(), ALL)
    gone = whole[2]
    store.erase(act(NOON), [gone.id])
    assert store.recent(request(after=(gone.happened_at, gone.id)), ALL) == whole[3:]
    assert len(facts) == 7


def test_a_page_shows_no_more_than_the_list(store):
    stored(store)
    other = Caller(tenant_id="other", agent="aide")
    late = (NOON + timedelta(days=1), "z")
    assert store.events(other, after=late) == []
    assert store.runs(other, after=late) == []
    assert store.recent(request(caller=other, after=late), ALL) == []
