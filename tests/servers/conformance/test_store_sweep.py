"""A sweep makes every fact and rule of a tenant stand as its worth says, once, with an event for each that moved."""

import math
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engrain.domain.access.scopes import GLOBAL_SCOPE
from engrain.domain.memories import decay
from engrain.domain.memories.decay import AGING_KINDS, ANCHORS, CURVES, DecayPolicy
from engrain.domain.records import Caller
from engrain.domain.requests import Act
from tests.support.aging import with_standing
from tests.support.sample_records import CALLER, NOON, act, entity, episode, fact, request, rule
from tests.support.store_samples import axis, embed_all, keyword, nearest, put

POLICY = DecayPolicy()
POLICIES = st.builds(DecayPolicy, curve=st.sampled_from(CURVES), anchor=st.sampled_from(ANCHORS))
NIGHT = NOON + timedelta(days=100)
MOMENTS = st.none() | st.floats(-50, 400).map(lambda days: NIGHT - timedelta(days=days))
UPKEEP = Caller(agent="upkeep")


def made_of(make, **more):
    return st.builds(
        make,
        confidence=st.floats(0, 1),
        decay_rate=st.sampled_from([0.0, 0.002, 0.008, 0.03, 0.1, 50.0]) | st.floats(0, 1),
        last_confirmed_at=MOMENTS,
        last_referenced_at=MOMENTS,
        metadata=st.sampled_from([{}, {"status": "fading", "kept": 1.5}, {"status": ["fading"]}, {"forgotten": 1}]),
        **more,
    )


AGING = made_of(fact, validity=st.sampled_from(["active"] * 5 + ["retracted"])) | made_of(rule)


def test_those_who_stored_a_fact_since_a_moment_are_the_learners(store):
    moment, blink = NOON, timedelta(microseconds=1)
    for agent, memory, at in (
        ("early", fact("Old", agent="early"), moment - blink),
        ("late", fact("New", agent="late", subject="Ben"), moment),
        ("late", fact("Newer", agent="late", subject="Cas"), moment + blink),
        ("\u00e9mile", fact("Newest", agent="\u00e9mile", subject="Dan"), moment + blink),
        ("listener", episode(agent="listener", scope="listener"), moment),
        ("follower", rule(agent="follower"), moment),
    ):
        store.put(Act(caller=Caller(agent=agent), at=at), [memory])
    assert store.learners("default", since=moment) == [("late", None), ("\u00e9mile", None)]
    assert store.learners("default", since=moment - blink) == [("early", None), ("late", None), ("\u00e9mile", None)]
    assert store.learners("default", since=moment + blink + blink) == []
    assert store.learners("other", since=moment - blink) == []


def sweep(store, *, at=NIGHT, policy=POLICY, limit=1_000, dry_run=False, caller=UPKEEP):
    """Every batch of both kinds."""
    found = []
    for kind in AGING_KINDS:
        after = ""
        while after is not None:
            batch = store.sweep(Act(caller=caller, at=at), kind, policy, after=after, limit=limit, dry_run=dry_run)
            found.append(batch)
            after = batch.last
    return found


def swept(memories, policy=POLICY, at=NIGHT):
    """Memories as a sweep should leave them."""
    dues = [(memory, decay.due_standing(memory, policy, now=at)) for memory in memories]
    return [memory if to is None else with_standing(memory, to, at) for memory, to in dues]


def faded(days, left=1.0, make=fact, **changes):
    """Something whose worth was 1 so many days before the night, and is `left` of it then."""
    rate = -math.log(left) / days
    return make(confidence=1.0, decay_rate=rate, last_confirmed_at=NIGHT - timedelta(days=days), **changes)


def known(store, memories):
    return store.get(CALLER, [each.id for each in memories])


@pytest.mark.req("B02.4", "B02.5", "B09.3", "N04", "N17")
@settings(max_examples=40)
@given(st.lists(AGING, max_size=8), POLICIES, st.integers(1, 5))
def test_a_sweep_does_what_the_pure_function_says_in_batches_of_any_size(backend, memories, policy, limit):
    memories = [replace(each, predicate=each.id) if each.kind == "fact" else each for each in memories]
    with backend.fresh() as store:
        stored = put(store, memories) if memories else []
        told = sweep(store, policy=policy, limit=limit, dry_run=True)
        assert known(store, stored) == stored
        batches = sweep(store, policy=policy, limit=limit)
        assert batches == told
        assert all(batch.looked_at <= limit for batch in batches)
        assert known(store, stored) == swept(stored, policy)
        moved = sum(batch.active + batch.fading + batch.expired for batch in batches)
        assert moved == len(store.events(CALLER)) - len(stored)
        again = sweep(store, policy=policy, limit=limit)
        assert all(batch.active == batch.fading == batch.expired == 0 for batch in again)
        assert store.health().problems == ()


@pytest.mark.req("B02.4", "B02.5", "B09.3", "B33.3")
@pytest.mark.parametrize("make", [fact, rule])
@pytest.mark.parametrize(("left", "to"), [(0.3, None), (0.19, "fading"), (0.049, "expired")])
def test_each_transition_is_what_age_does_with_the_same_event(store, make, left, to):
    [stored] = put(store, [faded(30, left, make, metadata={"kept": 1})])
    sweep(store)
    [found] = known(store, [stored])
    moved = [each for each in store.events(CALLER) if not each.event_type.endswith("_created")]
    if to is None:
        assert (found, moved) == (stored, [])
        return
    assert found == with_standing(stored, to, NIGHT)
    assert [(each.event_type, each.memory_id, each.actor) for each in moved] == [
        (f"{make().kind}_{to}", stored.id, "upkeep")
    ]
    assert moved[0].payload == {"standing": ["active", to]}
    assert moved[0].created_at == NIGHT
    if make is fact:
        assert found.validity == ("expired" if to == "expired" else "active")
    assert found.metadata.get("forgotten", False) is (make is rule and to == "expired")


@pytest.mark.req("B09.3")
@pytest.mark.parametrize("make", [fact, rule])
def test_what_recovers_fades_no_more(store, make):
    [stored] = put(store, [faded(30, 0.19, make)])
    sweep(store)
    assert known(store, [stored])[0].metadata == {"status": "fading"}
    earlier = NIGHT - timedelta(days=29)  # or a longer-lasting policy, or a raised confidence
    assert sum(batch.active for batch in sweep(store, at=earlier)) == 1
    assert known(store, [stored]) == [stored]


@pytest.mark.req("Y11", "B02.4")
def test_what_expires_is_out_of_every_search_and_readable(store):
    store.put_entity(act(), ana := entity("Ana"))
    gone, kept = put(
        store, [faded(90, 0.01, predicate="ate", content="bread", entity_id=ana.id), fact("bread", decay_rate=0.0)]
    )
    refs = embed_all(store, {gone.id: axis(0), kept.id: axis(0)})
    store.mention(act(), gone.id, [ana.id])
    sweep(store)
    assert set(keyword(store, "bread")) == set(nearest(store, axis(0), refs)) == {kept.id}
    assert store.mentioning(request(), ["Ana"], 9) == []
    assert [each.validity for each in known(store, [gone, kept])] == ["expired", "active"]
    assert store.mentioning(request(include_inactive=True), ["Ana"], 9) != []
    [again] = put(store, [fact("butter", predicate="ate", entity_id=ana.id)])
    assert again.supersedes_id is None
    assert store.health().problems == ()


@pytest.mark.req("B09.1")
def test_what_never_decays_is_not_looked_at(store):
    put(store, [fact("bread", decay_rate=0.0), rule("bread", decay_rate=0.0), episode("bread")])
    assert [batch.looked_at for batch in sweep(store)] == [0, 0]


@pytest.mark.req("N12", "B29.2")
def test_a_sweep_is_of_one_tenant_and_of_all_its_scopes(store):
    mine, private, pooled = (
        faded(30, 0.1, scope=scope, predicate=scope) for scope in (GLOBAL_SCOPE, "ben", "pool:team")
    )
    strange = faded(30, 0.1, tenant_id="other")
    put(store, [mine])
    put(store, [private])
    put(store, [pooled], by=Caller(agent="ben", pools=("team",)))
    put(store, [strange])
    assert store.tenants() == ["default", "other"]
    sweep(store)
    ben = Caller(agent="ben", pools=("team",))
    found = store.get(ben, [mine.id, private.id, pooled.id])
    assert [each.state for each in found] == ["fading"] * 3
    assert store.get(Caller(tenant_id="other", agent="aide"), [strange.id]) == [strange]
    assert store.events(Caller(agent="eve"), event_type="fact_fading")[0].memory_id == mine.id
    assert len(store.events(Caller(agent="eve"), event_type="fact_fading")) == 1


def test_a_confirmation_that_comes_meanwhile_wins(store):
    """A sweep that looks at a memory as of before: what was confirmed after its moment does not expire."""
    [stored] = put(store, [faded(90, 0.01)])
    confirmed = store.confirm(act(NIGHT + timedelta(minutes=1)), stored.id)
    assert sum(batch.expired + batch.fading for batch in sweep(store)) == 0
    assert known(store, [stored]) == [confirmed]


@pytest.mark.req("N04")
def test_a_sweep_that_was_stopped_anywhere_is_finished_by_another(store):
    stored = put(store, [faded(30, 0.1, predicate=str(place)) for place in range(7)])
    first = store.sweep(Act(caller=UPKEEP, at=NIGHT), "fact", POLICY, after="", limit=3)
    assert (first.looked_at, first.fading) == (3, 3)
    assert first.last == sorted(each.id for each in stored)[2]
    assert sum(batch.fading for batch in sweep(store)) == 4
    assert known(store, stored) == swept(stored)
    assert len(store.events(CALLER, event_type="fact_fading")) == 7


def test_decay_of_any_rate_and_length_is_nothing_to_fall_over(store):
    """PostgreSQL calls the exponential of a very negative number an error."""
    long_ago = NOON - timedelta(days=700_000)
    [stored] = put(store, [fact("bread", decay_rate=50_000.0, last_confirmed_at=long_ago, created_at=NOON)])
    assert sum(batch.expired for batch in sweep(store)) == 1
    assert known(store, [stored])[0].validity == "expired"


def test_a_plan_that_expires_before_it_begins_leaves_what_is_true_without_an_end(store):
    begins = NIGHT + timedelta(days=100)
    about = {"subject": "Ana", "predicate": "lives in"}
    now = fact("Porto", **about, decay_rate=0.0)
    plan = fact("Faro", **about, valid_from=begins, decay_rate=50.0, last_confirmed_at=NOON)
    put(store, [now, plan])
    assert store.get(CALLER, [now.id])[0].valid_to == begins
    sweep(store)
    assert [(each.validity, each.valid_to) for each in store.get(CALLER, [now.id, plan.id])] == [
        ("active", None),
        ("expired", None),
    ]
