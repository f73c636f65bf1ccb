"""Entities that come with memories, and entities that leave the registry, alike on every database."""

from dataclasses import replace
from datetime import timedelta

import pytest

from engrain.domain.records import Caller
from engrain.errors import InvalidInput, NotFound
from tests.support.sample_records import CALLER, FOREIGN, LATER, act, entity, episode, fact, request
from tests.support.store_samples import keyword, know, put

OTHER = Caller(agent="other")
DAY = timedelta(days=1)


def named(store, *asked):
    return {each.id for each in store.entities_named(CALLER, asked)}


def test_entities_come_with_what_is_said_of_them_or_not_at_all(store):
    ana, ben = entity("Ana"), entity("Ben")
    told = [fact("tea", entity_id=ana.id, predicate="likes"), fact("coffee", subject="Ben", entity_id=ben.id)]
    assert store.introduce(act(), [ana, ben], told) == told
    assert store.entities(CALLER, [ana.id, ben.id]) == [ana, ben]
    cleo = entity("Cleo")
    for taken, said in (([cleo, entity("Ana")], []), ([cleo], [fact("x", entity_id="nobody")])):
        with pytest.raises(InvalidInput):
            store.introduce(act(LATER), taken, said)
    assert named(store, "Cleo") == set()
    assert store.introduce(act(LATER), [], []) == []


def test_one_that_leaves_is_known_by_no_name_and_mentioned_by_nothing(store):
    ana, ben = know(store, "Ana", "Ben", aliases=("A.",))
    [turn, liked] = put(store, [episode("Ana came."), fact("tea", entity_id=ana.id)])
    store.mention(act(), turn.id, [ana.id, ben.id])
    assert store.remove_entities(act(LATER), [ana.id, "nobody"], forgetting=[liked.id]) == [ana]
    assert store.entities(CALLER, [ana.id]) == []
    assert named(store, "Ana", "A.") == {ben.id}
    assert store.resembling(CALLER, "Anna", fuzzy=True, limit=9) == []
    [left] = store.get(CALLER, [liked.id])
    assert (left.validity, left.entity_id, left.subject) == ("retracted", None, "Ana")
    assert keyword(store, "tea") == {}
    assert store.mentions_of(request(), ben.id, 9).mentions == {turn.id: (ben.id,)}
    [event] = store.events(CALLER, event_type="entity_removed")
    assert event.payload == {"canonical_name": "Ana", "entity_type": "person", "facts": [liked.id]}
    assert store.health().problems == ()
    [again] = know(store, "Ana")
    assert named(store, "ana") == {again.id}


def test_what_others_say_of_one_that_leaves_stays_said_of_its_name(store):
    [ana] = know(store, "Ana")
    [secret] = put(store, [fact("42", entity_id=ana.id, scope="other")], by=OTHER)
    assert store.remove_entities(act(LATER), [ana.id], forgetting=[secret.id]) == [ana]
    assert store.get(OTHER, [secret.id]) == [replace(secret, entity_id=None)]
    told = {each.scope: each.payload["facts"] for each in store.events(OTHER, event_type="entity_removed")}
    assert told == {"global": [], "other": [secret.id]}
    assert [each.scope for each in store.events(CALLER, event_type="entity_removed")] == ["global"]


@pytest.mark.parametrize(("of_entity", "of_name"), [(0.9, 0.5), (0.5, 0.9), (0.7, 0.7)])
def test_of_two_facts_that_then_hold_one_place_the_one_of_lower_confidence_is_superseded(store, of_entity, of_name):
    [ana] = know(store, "Ana")
    about, said = put(
        store,
        [
            fact("Lisbon", subject="She", entity_id=ana.id, confidence=of_entity),
            fact("Porto", subject="She", confidence=of_name),
        ],
    )
    store.remove_entities(act(LATER), [ana.id])
    winner, loser = (about, said) if of_entity > of_name else (said, about)
    [wins, loses] = store.get(CALLER, [winner.id, loser.id])
    assert (wins.validity, wins.entity_id, loses.validity, loses.invalidated_at) == (
        "active",
        None,
        "superseded",
        LATER,
    )
    assert store.find_active_fact(CALLER, scope="global", subject="She", predicate="lives in") == wins
    assert [(each.source_id, each.relation) for each in store.links(CALLER, loser.id)] == [(winner.id, "supersedes")]
    assert store.health().problems == ()


def test_those_it_had_taken_in_leave_with_it(store):
    ana, annie, mimi = know(store, "Ana", "Annie", "Mimi")
    store.merge_entities(act(), mimi.id, annie.id)
    store.merge_entities(act(), annie.id, ana.id)
    assert store.remove_entities(act(LATER), [annie.id]) == []  # a tombstone is nobody
    [whole] = store.entities(CALLER, [ana.id])
    assert store.remove_entities(act(LATER), [ana.id]) == [whole]
    assert store.entities(CALLER, [ana.id, annie.id, mimi.id]) == []
    know(store, "Annie", "Mimi")
    with pytest.raises(NotFound):
        store.unmerge_entities(act(LATER), annie.id)


def test_nobody_removes_what_is_another_tenants(store):
    [ana] = know(store, "Ana")
    assert store.remove_entities(act(LATER, FOREIGN), [ana.id]) == []
    assert store.entities(CALLER, [ana.id]) == [ana]
    assert store.events(FOREIGN) == []


def test_what_was_said_of_one_that_leaves_ends_where_a_plan_of_its_name_begins(store):
    [annie] = know(store, "Annie")
    now = fact("Porto", subject="Ana", predicate="lives in", scope="other")
    plan = fact("Faro", subject="Ana", predicate="lives in", scope="other", entity_id=annie.id, valid_from=LATER + DAY)
    put(store, [now, plan], by=OTHER)
    store.remove_entities(act(LATER), [annie.id])
    assert [each.valid_to for each in store.get(OTHER, [now.id, plan.id])] == [plan.valid_from, None]


def test_two_that_leave_together_leave_one_fact_of_their_name(store):
    known = [*know(store, "Ana", entity_type="person"), *know(store, "Ana", entity_type="place")]
    about = {"subject": "Ana", "predicate": "lives in", "scope": "other"}
    said = [fact(each.entity_type, entity_id=each.id, **about) for each in known]
    put(store, said, by=OTHER)
    store.remove_entities(act(LATER), [each.id for each in known])
    assert sorted(each.validity for each in store.get(OTHER, [told.id for told in said])) == ["active", "superseded"]
