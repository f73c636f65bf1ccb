"""What is written down of each mutation, with it and never without it."""

from dataclasses import replace
from datetime import timedelta

import pytest

from engrain.domain import events
from engrain.domain.records import Caller
from engrain.errors import EngrainError
from tests.support.sample_records import CALLER, LATER, NOON, act, entity, episode, fact, link, request, rule
from tests.support.store_samples import EMBEDDER, conversation, put

ASKED = Caller(agent="aide", request_id="req-7", session="monday")


def written(store, caller=CALLER, **conditions):
    """Events as they are told, without the ids that each store gives them."""
    return [replace(each, id="") for each in store.events(caller, **conditions)]


def nameless():
    return ""


@pytest.mark.req("B33.1", "N10")
@pytest.mark.parametrize("memory", [episode(session="monday"), fact(), rule()], ids=["episode", "fact", "rule"])
def test_a_memory_stored_is_an_event(store, memory):
    [stored] = store.put(act(LATER), [memory])
    assert written(store) == [events.memory_created(act(LATER), stored, nameless)]
    assert store.events(CALLER)[0].event_type == f"{memory.kind}_created"


def test_each_of_several_memories_is_an_event_and_a_repeat_is_none(store):
    stored = store.put(act(LATER), conversation("One.", "Two.", "Three."))
    store.put(act(LATER), stored)
    assert {each.memory_id for each in store.events(CALLER)} == {each.id for each in stored}
    assert len(store.events(CALLER)) == 3


@pytest.mark.req("N10")
def test_a_supersession_is_an_event_of_the_old_fact_beside_that_of_the_new(store):
    [old] = put(store, [fact("Lisbon")])
    [new] = store.put(act(LATER), [fact("Porto", created_at=LATER)])
    superseded = events.fact_superseded(act(LATER), old, new, nameless, end=LATER)
    expected = [superseded, events.memory_created(act(LATER), new, nameless)]
    told = written(store)[:2]
    assert sorted(told, key=lambda event: event.event_type, reverse=True) == expected
    assert told[0].payload or told[1].payload
    assert len(store.events(CALLER)) == 3


@pytest.mark.req("B33.2", "N10")
@pytest.mark.parametrize(
    ("memory", "event_type"),
    [
        (episode(expires_at=LATER + timedelta(days=7)), "episode_forgotten"),
        (fact(), "fact_retracted"),
        (rule(), "rule_forgotten"),
    ],
    ids=["episode", "fact", "rule"],
)
def test_a_memory_forgotten_is_an_event_and_twice_is_once(store, memory, event_type):
    [stored] = put(store, [memory])
    store.forget(act(LATER, ASKED), stored.id)
    store.forget(act(LATER, ASKED), stored.id)
    assert written(store)[:1] == [events.memory_forgotten(act(LATER, ASKED), stored, nameless)]
    assert [each.event_type for each in store.events(CALLER)] == [event_type, f"{stored.kind}_created"]


@pytest.mark.req("N10")
@pytest.mark.parametrize("memory", [fact(last_confirmed_at=NOON), rule()], ids=["fact", "rule"])
def test_a_confirmation_is_an_event_and_a_look_is_none(store, memory):
    [stored] = put(store, [memory])
    store.touch(act(LATER), [stored.id])
    assert len(store.events(CALLER)) == 1
    [before] = store.get(CALLER, [stored.id])
    store.confirm(act(LATER), stored.id)
    assert written(store)[:1] == [events.memory_confirmed(act(LATER), before, nameless)]
    assert len(store.events(CALLER)) == 2


@pytest.mark.req("N10")
def test_an_edge_and_an_entity_are_events(store):
    source, target = put(store, [fact("One", scope="aide"), rule("Two.")])
    edge, ana = link(source, target, weight=0.5), entity()
    store.link(act(LATER), edge)
    store.put_entity(act(LATER + timedelta(hours=1)), ana)
    assert written(store)[:2] == [
        events.entity_created(act(LATER + timedelta(hours=1)), ana, nameless),
        events.link_created(act(LATER), edge, nameless, ends=(source, target)),
    ]


@pytest.mark.req("N10")
def test_a_change_of_embedder_is_an_event(store):
    store.use_embedder(EMBEDDER, 4)
    building = store.begin_version("test:next", 3)
    assert store.events(CALLER) == []
    store.switch_version(act(LATER), building.version)
    assert written(store) == [events.embeddings_switched(act(LATER), building, nameless)]


@pytest.mark.req("N20")
def test_an_event_says_who_did_it_when_and_on_which_request(store):
    somebody = Caller(agent="other", pools=("team",), request_id="req-9")
    [shared] = store.put(act(LATER, somebody), [fact("Shared", scope="pool:team", agent="aide")])
    [event] = store.events(replace(CALLER, pools=("team",)))
    assert (event.actor, event.request_id, event.created_at) == ("other", "req-9", LATER)
    assert (event.tenant_id, event.scope, event.memory_id) == ("default", "pool:team", shared.id)


@pytest.mark.req("N20")
def test_every_mutation_keeps_the_request_it_came_from(store):
    one, two, three = store.put(act(NOON, ASKED), [fact("One"), fact("Two"), rule("Three.")])
    store.confirm(act(NOON, ASKED), two.id)
    store.link(act(NOON, ASKED), link(two, three))
    store.put_entity(act(NOON, ASKED), entity())
    store.forget(act(NOON, ASKED), two.id)
    store.erase(act(NOON, ASKED), [one.id])
    told = store.events(CALLER)
    assert len({each.event_type for each in told}) == 8
    assert {(each.request_id, each.actor) for each in told} == {("req-7", "aide")}


def test_events_come_newest_first_and_each_has_an_id_of_its_own(store):
    moments = [NOON + timedelta(seconds=seconds) for seconds in (3, 1, 2, 1, 3)]
    for at in moments:
        store.put(act(at), [episode("x", created_at=at)])
    told = store.events(CALLER)
    assert [each.created_at for each in told] == sorted(moments, reverse=True)
    assert [(each.created_at, each.id) for each in told] == sorted(
        ((each.created_at, each.id) for each in told), reverse=True
    )
    assert len({each.id for each in told}) == 5
    assert store.events(CALLER, limit=2) == told[:2]
    assert store.events(CALLER, limit=0) == []


def test_events_are_a_thousand_unless_more_are_asked_for(store):
    put(store, [episode("x") for _ in range(1_001)])
    assert len(store.events(CALLER)) == 1_000
    assert len(store.events(CALLER, limit=2_000)) == 1_001


def test_events_are_asked_for_by_memory_and_by_type(store):
    one, two = put(store, [fact("One"), rule("Two.")])
    for each in (one, two):
        store.confirm(act(LATER), each.id)
    assert {each.event_type for each in store.events(CALLER, memory_id=one.id)} == {"fact_created", "fact_confirmed"}
    assert [each.memory_id for each in store.events(CALLER, event_type="rule_confirmed")] == [two.id]
    assert store.events(CALLER, memory_id=one.id, event_type="rule_confirmed") == []
    assert store.events(CALLER, memory_id="nothing") == []


@pytest.mark.req("B29.2", "N12")
def test_events_are_told_in_the_scopes_they_happened_in(store):
    for scope in ("global", "aide", "other", "pool:team"):
        put(store, [fact("x", scope=scope)])
    put(store, [fact("x", tenant_id="other")])

    def told(who):
        return {each.scope for each in store.events(who)}

    assert told(CALLER) == {"global", "aide"}
    assert told(replace(CALLER, pools=("team",))) == {"global", "aide", "pool:team"}
    assert told(Caller(agent="other")) == {"global", "other"}
    assert [each.tenant_id for each in store.events(replace(CALLER, tenant_id="other"))] == ["other"]
    assert store.events(replace(CALLER, tenant_id="third")) == []


@pytest.mark.parametrize(
    "fails",
    [
        lambda store, _: store.put(act(), [episode("x"), episode("x", scope="other")]),
        lambda store, _: store.put(act(), [fact(entity_id="nobody")]),
        lambda store, said: store.confirm(act(), said.id),
        lambda store, said: store.link(act(), link(said, fact())),
        lambda store, _: store.put_entity(act(), entity(tenant_id="other")),
        lambda store, _: store.switch_version(act(), 7),
    ],
    ids=["put", "reference", "confirm", "link", "entity", "version"],
)
def test_what_failed_is_no_event(store, fails):
    [said] = put(store, [episode("Said.")])
    before = store.events(CALLER)
    with pytest.raises(EngrainError):
        fails(store, said)
    assert store.events(CALLER) == before
    assert store.recent(request(), 9) == [said]


def test_what_did_nothing_is_no_event(store):
    [said] = put(store, [episode("Said.", expires_at=NOON, metadata={"hidden": True})])
    before = store.events(CALLER)
    store.forget(act(LATER), said.id)
    store.forget(act(LATER), "nothing")
    store.confirm(act(LATER), "nothing")
    store.touch(act(LATER), ["nothing"])
    store.erase(act(LATER), ["nothing"])
    store.put(act(LATER), [said])
    assert store.events(CALLER) == before


def test_no_event_is_ever_changed(store):
    """Whatever happens later, what was told before is told again word for word; erasure apart."""
    [said, stated] = put(store, [episode("Said."), fact("Lisbon")])
    told = store.events(CALLER)
    store.confirm(act(LATER), stated.id)
    [new] = store.put(act(LATER), [fact("Porto", created_at=LATER)])
    store.touch(act(LATER), [said.id, new.id])
    store.forget(act(LATER), said.id)
    assert [each for each in store.events(CALLER) if each.created_at == NOON] == told
