"""Whom facts are about, and what a memory may name."""

from dataclasses import replace

import pytest

from engrain.domain.records import ENTITY_TYPES, Caller
from engrain.errors import InvalidInput
from tests.support.sample_records import CALLER, FOREIGN, act, author, entity, episode, fact, request, rule
from tests.support.store_samples import put


def test_entities_come_in_the_order_asked_and_once(store):
    ana, ben, club = (store.put_entity(act(), entity(name)) for name in ("Ana", "Ben", "Club"))
    assert store.entities(CALLER, [club.id, "nobody", ana.id, ben.id, club.id]) == [club, ana, ben]
    assert store.entities(CALLER, []) == []


def test_an_id_is_taken_once(store):
    ana = store.put_entity(act(), entity("Ana"))
    with pytest.raises(InvalidInput):
        store.put_entity(act(), entity("Ben", id=ana.id))
    assert store.entities(CALLER, [ana.id]) == [ana]


def test_a_name_is_taken_once_for_each_type(store):
    stored = [store.put_entity(act(), entity("Lisbon", entity_type=each)) for each in ENTITY_TYPES]
    with pytest.raises(InvalidInput, match="Lisbon"):
        store.put_entity(act(), entity("Lisbon", entity_type="place"))
    assert store.entities(CALLER, [each.id for each in stored]) == stored


def test_names_that_differ_in_case_are_different(store):
    assert [store.put_entity(act(), entity(name)).canonical_name for name in ("Ana", "ana")] == ["Ana", "ana"]


def test_each_tenant_has_its_own_registry(store):
    ana = store.put_entity(act(), entity())
    theirs = replace(ana, tenant_id="other", mention_count=7)
    assert store.put_entity(act(caller=FOREIGN), theirs) == theirs
    assert store.entities(CALLER, [ana.id]) == [ana]
    assert store.entities(FOREIGN, [ana.id]) == [theirs]
    with pytest.raises(InvalidInput):
        store.put_entity(act(), entity("Ben", tenant_id="other"))


@pytest.mark.req("B05.3")
def test_a_fact_about_nobody_known_is_refused(store):
    with pytest.raises(InvalidInput, match="nobody"):
        store.put(act(), [fact(entity_id="nobody")])
    assert store.recent(request(), 9) == store.events(CALLER) == []


@pytest.mark.req("B05.3")
def test_a_fact_about_somebody_of_another_tenant_is_refused(store):
    ana = store.put_entity(act(), entity())
    with pytest.raises(InvalidInput, match=ana.id):
        store.put(act(caller=FOREIGN), [fact(entity_id=ana.id, tenant_id="other")])
    [stored] = put(store, [fact(entity_id=ana.id)])
    assert stored.entity_id == ana.id


@pytest.mark.parametrize("made", [fact, rule])
def test_the_episode_a_memory_comes_from_must_be_there(store, made):
    mine, stated = put(store, [episode("Said."), fact("Stated", subject="Ben")])
    [theirs] = put(store, [episode("Secret.", scope="other")])
    for source in ("nothing", stated.id, theirs.id):
        with pytest.raises(InvalidInput, match=source):
            store.put(act(), [made("x", source_episode_id=source)])
    [stored] = put(store, [made("x", source_episode_id=mine.id)])
    assert stored.source_episode_id == mine.id


def test_the_fact_another_says_it_supersedes_must_be_there(store):
    [said] = put(store, [episode("Said.")])
    for old in ("nothing", said.id):
        with pytest.raises(InvalidInput, match=old):
            store.put(act(), [fact(supersedes_id=old)])


def test_a_source_may_come_in_the_same_call_but_not_after_what_names_it(store):
    said = episode("Said.")
    derived = rule("Ask.", source_episode_id=said.id)
    with pytest.raises(InvalidInput, match=said.id):
        store.put(act(), [derived, said])
    assert store.put(act(), [said, derived]) == [said, derived]


def test_a_source_that_has_expired_or_was_forgotten_is_still_a_source(store):
    [said] = put(store, [episode("Said.")])
    store.forget(act(), said.id)
    [derived] = put(store, [fact("Stated", source_episode_id=said.id)])
    assert derived.source_episode_id == said.id


def test_what_is_there_already_may_name_anything(store):
    """A repeat is left as it is, so nothing it says is looked at."""
    [stored] = put(store, [fact("Lisbon")])
    again = replace(stored, entity_id="nobody", source_episode_id="nothing")
    assert store.put(act(caller=author(again)), [again]) == []
    assert store.get(CALLER, [stored.id]) == [stored]


def test_an_entity_is_no_memory(store):
    ana = store.put_entity(act(), entity())
    assert store.get(CALLER, [ana.id]) == []
    assert store.forget(act(), ana.id) is None
    assert store.stats(CALLER, ana.created_at).facts.live == 0
    assert [each.event_type for each in store.events(Caller(agent="other"))] == ["entity_created"]
