"""Removed for good: what is left of a memory is a tombstone, and nothing of what it said."""

from dataclasses import replace
from datetime import timedelta

import pytest

from engrain.domain import events
from engrain.domain.text.analysis import terms
from tests.support.sample_records import CALLER, FOREIGN, LATER, NOON, act, entity, episode, fact, link, request, rule
from tests.support.store_samples import axis, embed_all, keyword, nearest, put, refs

LATEST = LATER + timedelta(hours=1)
EVERYTHING = {"include_inactive": True, "now": LATEST}
ONE_OF_EACH = {
    "episode": lambda: episode("Secret.", speaker="Zora", session="monday"),
    "fact": lambda: fact("secret", subject="Zora", valid_from=NOON),
    "rule": lambda: rule("Secret."),
}


@pytest.mark.parametrize("kind", ONE_OF_EACH)
@pytest.mark.parametrize("settled", [True, False], ids=["embedded", "fresh"])
@pytest.mark.parametrize("forgotten", [True, False], ids=["forgotten", "live"])
def test_nothing_of_an_erased_memory_is_ever_read_again(store, kind, settled, forgotten):
    kept, gone = (put(store, [each])[0] for each in (episode("Bread.", session="monday"), ONE_OF_EACH[kind]()))
    known = embed_all(store, {kept.id: axis(0), gone.id: axis(0)}) if settled else {}
    if forgotten:
        store.forget(act(LATER), gone.id)
    known = known or refs(store, words={"secret"})
    assert store.erase(act(LATER), [gone.id]) == [gone.id]
    everything = request(**EVERYTHING)
    assert store.get(CALLER, [gone.id]) == store.touch(act(LATER), [gone.id]) == store.history(CALLER, gone.id) == []
    assert store.confirm(act(LATER), gone.id) is store.forget(act(LATER), gone.id) is None
    assert store.recent(everything, 9) == store.recent(request(as_of=NOON), 9) == [kept]
    assert keyword(store, *terms("secret Zora"), asked=everything) == {}
    assert set(keyword(store, *terms("bread 2024"), asked=everything)) == {kept.id}
    found = store.nearest(everything, axis(0), 9, also=list(known))
    assert {known[each.ref] for each in found} <= {kept.id}
    assert {each.id for each in store.load(everything, list(known)).values()} == {kept.id}
    assert {each.id for each in store.traits(everything, list(known)).values()} == {kept.id}
    assert {known[each.ref] for each in store.newest(everything, 9)} == {kept.id}
    assert {known[each.ref] for each in store.important(everything, 9)} == {kept.id}
    assert store.neighbours(everything, kept, 9) == []
    assert store.speakers(everything) == []
    assert {each.text for each in store.unembedded(9)} <= {"Bread."}
    stats = store.stats(CALLER, NOON)
    assert (stats.episodes.total, stats.episodes.speakers) == (1, 0)
    assert {*stats.facts.to_dict().values(), *stats.rules.to_dict().values()} == {0}
    health = store.health()
    assert (health.memories, health.problems) == (1, ())


@pytest.mark.parametrize("kind", ONE_OF_EACH)
def test_an_erased_id_is_never_taken_again(store, kind):
    [gone] = put(store, [ONE_OF_EACH[kind]()])
    store.erase(act(LATER), [gone.id])
    for again in (gone, episode("x", id=gone.id), fact("x", id=gone.id), rule("x", id=gone.id)):
        assert store.put(act(LATEST), [again]) == []
    assert store.put(act(LATEST), [gone, episode("Another.")])[0].content == "Another."
    assert store.get(CALLER, [gone.id]) == []
    assert len(store.put(act(LATEST, FOREIGN), [replace(gone, tenant_id="other")])) == 1


@pytest.mark.parametrize("kind", ONE_OF_EACH)
def test_what_is_told_of_an_erased_memory_is_that_it_was_and_a_digest(store, kind):
    [gone] = put(store, [ONE_OF_EACH[kind]()])
    if kind != "episode":
        store.confirm(act(LATER), gone.id)
    [as_erased] = store.get(CALLER, [gone.id])
    store.erase(act(LATEST), [gone.id])
    last, *before = store.events(CALLER, memory_id=gone.id)
    assert replace(last, id="") == events.memory_erased(act(LATEST), as_erased, lambda: "")
    assert [each.event_type for each in before][-1] == f"{kind}_created"
    assert [each.payload for each in before] == [{}] * len(before)
    assert len(before) == (1 if kind == "episode" else 2)
    told = repr([each.to_dict() for each in store.events(CALLER)])
    assert "Zora" not in told
    assert "secret" not in told.lower()


def test_events_of_others_say_what_they_said(store):
    gone, kept = put(store, [fact("secret", subject="Zora"), fact("Lisbon")])
    before = store.events(CALLER, memory_id=kept.id)
    store.erase(act(LATER), [gone.id])
    assert store.events(CALLER, memory_id=kept.id) == before
    assert before[0].payload["subject"] == "Ana"


def test_edges_of_an_erased_memory_go_with_it(store):
    gone, one, other = put(store, [episode("Secret."), fact("One"), fact("Other", subject="Ben")])
    for edge in (link(one, gone, "derived_from"), link(gone, other), link(one, other)):
        store.link(act(), edge)
    store.erase(act(LATER), [gone.id])
    assert store.links(CALLER, gone.id) == []
    assert store.links(CALLER, one.id) == store.links(CALLER, other.id) == [link(one, other)]


@pytest.mark.req("B01.2")
@pytest.mark.parametrize("made", [fact, rule])
def test_what_came_from_an_erased_episode_stays_without_its_source(store, made):
    [source] = put(store, [episode("Secret.")])
    [derived] = put(store, [made("Derived", source_episode_id=source.id)])
    store.erase(act(LATER), [source.id])
    assert store.get(CALLER, [derived.id]) == [replace(derived, source_episode_id=None)]


@pytest.mark.req("B01.2")
def test_a_fact_stays_when_the_one_it_superseded_is_erased(store):
    old, new = (put(store, [fact(city, created_at=at)])[0] for city, at in (("Lisbon", NOON), ("Porto", LATER)))
    store.erase(act(LATEST), [old.id])
    assert store.get(CALLER, [new.id]) == [replace(new, supersedes_id=None)]
    assert store.history(CALLER, new.id) == [replace(new, supersedes_id=None)]
    assert store.links(CALLER, new.id) == []
    assert store.health().problems == ()


def test_an_erased_fact_gives_its_place_back_and_what_it_superseded_stays_superseded(store):
    old, new = (put(store, [fact(city, created_at=at)])[0] for city, at in (("Lisbon", NOON), ("Porto", LATER)))
    store.erase(act(LATEST), [new.id])
    assert store.get(CALLER, [old.id])[0].validity == "superseded"
    [next_] = put(store, [fact("Faro", created_at=LATEST)])
    assert (next_.validity, next_.supersedes_id) == ("active", None)


def test_several_are_erased_at_once_and_only_those_that_were_there(store):
    one, two, three, kept = put(store, [episode("One."), fact("Two"), rule("Three."), episode("Kept.")])
    [theirs] = put(store, [episode("Theirs.", scope="other")])
    asked = [three.id, "nothing", one.id, theirs.id, two.id, one.id]
    assert sorted(store.erase(act(LATER), asked)) == sorted([one.id, two.id, three.id])
    assert store.erase(act(LATEST), asked) == []
    assert store.recent(request(**EVERYTHING), 9) == [kept]
    assert [each.event_type for each in store.events(CALLER)].count("memory_erased") == 3


def test_erasing_nothing_is_nothing(store):
    [kept] = put(store, [episode("Kept.")])
    assert store.erase(act(LATER), []) == []
    assert store.get(CALLER, [kept.id]) == [kept]


def test_an_erased_vector_is_gone_from_the_past_too(store):
    gone, kept = put(store, [fact("secret"), fact("bread", predicate="eats")])
    known = embed_all(store, {gone.id: axis(0), kept.id: axis(0)})
    for each in (gone, kept):
        store.forget(act(LATER), each.id)
    assert set(nearest(store, axis(0), known, as_of=NOON, include_inactive=True)) == {gone.id, kept.id}
    store.erase(act(LATEST), [gone.id])
    assert set(nearest(store, axis(0), known, as_of=NOON, include_inactive=True)) == {kept.id}


def test_a_vector_that_comes_after_erasure_is_passed_over(store):
    gone, kept = put(store, [episode("Secret."), episode("Kept.")])
    store.use_embedder("test:axes", 4)
    known = refs(store)
    store.erase(act(LATER), [gone.id])
    store.attach(list(known), [axis(0)] * 2)
    assert set(nearest(store, axis(0), known, include_inactive=True)) == {kept.id}
    assert store.waiting(CALLER) == 0


def test_an_entity_outlives_what_was_said_of_it(store):
    ana = store.put_entity(act(), entity())
    [gone] = put(store, [fact("secret", entity_id=ana.id)])
    store.erase(act(LATER), [gone.id])
    assert store.entities(CALLER, [ana.id]) == [ana]
