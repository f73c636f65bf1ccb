"""One truth at a time: what a new fact does to the one that held its place, and what was believed when."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engrain.domain.records import Caller, Link
from engrain.domain.text.analysis import terms
from tests.support.sample_records import CALLER, LATER, MOMENTS, NOON, act, entity, episode, fact, request, rule
from tests.support.store_samples import axis, embed_all, keyword, nearest, put, refs

LATEST = LATER + timedelta(hours=1)


@pytest.mark.req("B02.2", "B05.2")
def test_a_new_fact_closes_the_one_it_supersedes(store):
    [old] = put(store, [fact("Lisbon", valid_from=NOON - timedelta(days=9))])
    [new] = store.put(act(LATER), [fact("Porto", created_at=LATER, valid_from=NOON)])
    assert (old.validity, new.validity, new.supersedes_id) == ("active", "active", old.id)
    closed = replace(old, validity="superseded", invalidated_at=LATER, valid_to=NOON)
    assert store.get(CALLER, [old.id, new.id]) == [closed, new]


@pytest.mark.req("B02.2", "B05.2")
def test_a_new_fact_is_linked_to_the_one_it_supersedes(store):
    [old] = put(store, [fact("Lisbon")])
    [new] = store.put(act(LATER), [fact("Porto")])
    edge = Link(source_id=new.id, target_id=old.id, relation="supersedes", created_at=LATER)
    assert store.links(CALLER, new.id) == store.links(CALLER, old.id) == [edge]


def test_it_is_the_act_that_says_when_a_fact_is_no_longer_believed(store):
    """A record may be made, or begin to be true, long before somebody stores it."""
    [old] = put(store, [fact("Lisbon", created_at=NOON - timedelta(days=9))])
    store.put(act(LATEST), [fact("Porto", created_at=NOON - timedelta(days=3))])
    [closed] = store.get(CALLER, [old.id])
    assert (closed.invalidated_at, closed.valid_to) == (LATEST, NOON - timedelta(days=3))


def test_a_fact_that_already_ended_keeps_its_end(store):
    ended = NOON - timedelta(days=30)
    [old] = put(store, [fact("Lisbon", valid_to=ended)])
    put(store, [fact("Porto", created_at=LATER)])
    assert store.get(CALLER, [old.id])[0].valid_to == ended


def test_a_fact_that_was_to_end_later_ends_where_the_new_one_begins(store):
    [old] = put(store, [fact("Lisbon", valid_to=LATEST)])
    [new] = store.put(act(LATER), [fact("Porto", created_at=LATER)])
    assert store.get(CALLER, [old.id])[0].valid_to == LATER
    assert store.recent(request(valid_at=LATER, kinds=("fact",)), 9) == [new]


def test_no_fact_ends_before_it_began(store):
    [old] = put(store, [fact("Lisbon", valid_from=NOON)])
    put(store, [fact("Porto", valid_from=NOON - timedelta(days=9))])
    assert store.get(CALLER, [old.id])[0].valid_to == NOON


def test_a_fact_that_begins_later_waits_and_the_one_before_it_ends_there(store):
    [now] = put(store, [fact("Lisbon")])
    [next_] = put(store, [fact("Porto", valid_from=LATEST)])
    ending, waiting = store.get(CALLER, [now.id, next_.id])
    assert (ending.validity, ending.valid_to, waiting.validity) == ("active", LATEST, "active")
    [between] = put(store, [fact("Faro", valid_from=LATER)])
    assert between.valid_to == LATEST
    assert store.get(CALLER, [now.id])[0].valid_to == LATER
    store.forget(act(NOON), between.id)
    assert store.get(CALLER, [now.id])[0].valid_to == LATEST
    [after] = store.put(act(LATEST), [fact("Braga", created_at=LATEST)])
    assert {each.validity for each in store.get(CALLER, [now.id, next_.id])} == {"superseded"}
    assert after.supersedes_id == next_.id


def test_a_fact_that_was_over_before_it_was_stored_supersedes_nothing(store):
    [now] = put(store, [fact("Lisbon")])
    [past] = put(store, [fact("Porto", valid_from=NOON - timedelta(days=9), valid_to=NOON - timedelta(days=2))])
    assert {each.validity for each in store.get(CALLER, [now.id, past.id])} == {"active"}


def test_a_superseded_fact_is_gone_from_searches_but_not_from_get(store):
    [old] = put(store, [fact("Lisbon")])
    [new] = put(store, [fact("Porto", created_at=LATER)])
    assert set(keyword(store, *terms("lives Lisbon Porto"))) == {new.id}
    assert keyword(store, *terms("Lisbon")) == {}
    assert store.recent(request(), 10) == [new]
    assert [each.id for each in store.get(CALLER, [old.id])] == [old.id]


def test_facts_of_one_call_supersede_each_other_in_order(store):
    one, two, three = put(store, [fact("Lisbon"), fact("Porto"), fact("Faro")])
    assert (one.supersedes_id, two.supersedes_id, three.supersedes_id) == (None, one.id, two.id)
    assert store.get(CALLER, [one.id, two.id, three.id]) == [one, two, three]
    assert [each.validity for each in (one, two, three)] == ["superseded", "superseded", "active"]
    assert store.recent(request(), 10) == [three]
    assert set(keyword(store, *terms("lives Lisbon Porto Faro"))) == {three.id}


@pytest.mark.req("B25.4", "N08")
@pytest.mark.parametrize(
    "change",
    [{"subject": "Ben"}, {"predicate": "works in"}, {"scope": "aide"}, {"tenant_id": "other"}],
    ids=["subject", "predicate", "scope", "tenant"],
)
def test_only_the_same_subject_predicate_and_scope_is_superseded(store, change):
    [one] = put(store, [fact("Lisbon")])
    [other] = put(store, [fact("Porto", **change)])
    assert other.supersedes_id is None
    assert store.get(CALLER, [one.id]) == [one]


@pytest.mark.req("B02.2", "B25.4")
@pytest.mark.parametrize("predicate", ["port", "likes"])
def test_a_fact_of_one_project_neither_ends_nor_repeats_that_of_another(store, predicate):
    said = {"subject": "API", "predicate": predicate}
    shop, blog = {"tags": ("project:shop",)}, {"tags": ("project:blog",)}
    first = put(store, [fact("8443", **said, **tags) for tags in (shop, blog, {})])
    together = put(store, [fact("8443", **{**said, "subject": name}, **tags) for name in "AB" for tags in (shop, blog)])
    [newer] = put(store, [fact("8443" if predicate == "likes" else "9000", **said, **shop)])
    validity = [item.validity for item in store.get(CALLER, [item.id for item in (*first, newer, *together)])]
    assert validity == ["superseded", *["active"] * 7]
    assert newer.supersedes_id == first[0].id
    assert [item.id for item in store.history(CALLER, newer.id)] == [first[0].id, newer.id]


def test_of_somebody_known_it_is_the_entity_that_counts_whatever_the_subject_says(store):
    """A fact that says the name of somebody known, and no entity, is about the one of that name."""
    ana, ben = (store.put_entity(act(), entity(name)) for name in ("Ana", "Ben"))
    unknown, one, other = put(
        store, [fact("Lisbon"), fact("Faro", entity_id=ana.id), fact("Bonn", entity_id=ben.id, subject="Ana")]
    )
    assert (unknown.validity, one.validity, other.validity) == ("superseded", "active", "active")
    [new] = put(store, [fact("Porto", entity_id=ana.id, subject="Ana Reyes")])
    assert new.supersedes_id == one.id
    stored = store.get(CALLER, [unknown.id, one.id, other.id, new.id])
    assert [each.validity for each in stored] == ["superseded", "superseded", "active", "active"]


@pytest.mark.parametrize("validity", ["superseded", "expired", "retracted"])
def test_an_inactive_fact_supersedes_nothing_and_is_never_searched(store, validity):
    [active] = put(store, [fact("Lisbon")])
    [inactive] = put(store, [fact("Porto", validity=validity)])
    assert inactive.supersedes_id is None
    assert store.get(CALLER, [active.id, inactive.id]) == [active, inactive]
    assert keyword(store, *terms("Porto")) == {}
    assert store.recent(request(), 10) == [active]
    assert [each.text for each in store.unembedded(10)] == ["Ana lives in: Lisbon"]


def test_a_retracted_fact_can_be_stated_again(store):
    [old] = put(store, [fact("Lisbon")])
    store.forget(act(LATER), old.id)
    [new] = put(store, [fact("Lisbon", created_at=LATER)])
    assert new.supersedes_id is None
    assert store.recent(request(), 10) == [new]


def test_what_a_fact_says_it_supersedes_stays_where_its_place_was_free(store):
    [old] = put(store, [fact("Lisbon", validity="retracted")])
    [new] = put(store, [fact("Porto", supersedes_id=old.id)])
    assert new.supersedes_id == old.id
    assert store.get(CALLER, [old.id, new.id]) == [old, new]


@pytest.mark.req("B25.4", "N08")
@settings(max_examples=30)
@given(st.lists(st.tuples(st.sampled_from(["Ana", "Ben"]), st.sampled_from(["active", "retracted"])), max_size=8))
def test_of_one_place_at_most_one_fact_is_active_and_it_is_the_last(backend, statements):
    with backend.fresh() as store:
        stored = [put(store, [fact(subject=subject, validity=state)])[0] for subject, state in statements]
        now = store.get(CALLER, [each.id for each in stored])
        for subject in ("Ana", "Ben"):
            stated = [each.id for each in stored if (each.subject, each.validity) == (subject, "active")]
            assert [each.id for each in now if (each.subject, each.validity) == (subject, "active")] == stated[-1:]


@pytest.mark.req("B25.4", "N08")
def test_many_who_state_the_same_at_once_leave_one_truth(store):
    facts = [fact(f"Number {place}") for place in range(24)]
    with ThreadPoolExecutor(4) as pool:
        stored = [each for [each] in pool.map(lambda one: put(store, [one]), facts)]
    now = store.get(CALLER, [each.id for each in stored])
    assert [each.validity for each in now].count("active") == 1
    superseded = {each.supersedes_id for each in now} - {None}
    assert superseded == {each.id for each in now if each.validity == "superseded"}
    assert len(superseded) == len(facts) - 1
    assert store.health().problems == ()


def test_the_history_of_a_fact_is_all_that_held_its_place_oldest_first(store):
    first, second = (put(store, [fact(city, created_at=at)])[0] for city, at in (("Lisbon", NOON), ("Porto", LATER)))
    store.forget(act(LATEST), second.id)
    [third] = put(store, [fact("Faro", created_at=LATEST)])
    put(store, [fact("tea", predicate="drinks"), fact("Bonn", subject="Ben"), fact("Rome", scope="aide")])
    expected = store.get(CALLER, [first.id, second.id, third.id])
    assert [each.validity for each in expected] == ["superseded", "retracted", "active"]
    for each in expected:
        assert store.history(CALLER, each.id) == expected


def test_history_is_in_order_of_the_records_and_then_of_their_ids(store):
    stored = put(store, [fact("Porto", created_at=LATER), fact("Lisbon"), fact("Faro")])
    ids = [each.id for each in store.history(CALLER, stored[0].id)]
    assert ids == [*sorted([stored[1].id, stored[2].id]), stored[0].id]


def test_the_history_of_an_entity_follows_it_through_its_names(store):
    ana = store.put_entity(act(), entity())
    names = ("Ana", "Ana Reyes", "A. Reyes")
    stored = [put(store, [fact(name, subject=name, entity_id=ana.id)])[0] for name in names]
    assert [each.subject for each in store.history(CALLER, stored[1].id)] == list(names)


@pytest.mark.parametrize("stranger", [Caller(agent="other"), Caller(tenant_id="other", agent="aide")])
def test_strangers_learn_no_history_and_other_memories_have_none(store, stranger):
    [mine, said, guidance] = put(store, [fact("Lisbon", scope="aide"), episode("Porto."), rule("Ask.")])
    assert store.history(CALLER, mine.id) == [mine]
    for who, id_ in ((stranger, mine.id), (CALLER, said.id), (CALLER, guidance.id), (CALLER, "nothing")):
        assert store.history(who, id_) == []


@settings(max_examples=30)
@given(st.lists(st.tuples(st.sampled_from(["Ana", "Ben"]), st.none() | MOMENTS), max_size=6), MOMENTS)
def test_at_any_moment_what_is_believed_of_a_place_is_one_fact(backend, statements, moment):
    """Arrivals a day apart, true since whenever: what was believed at a moment is what had arrived last."""
    with backend.fresh() as store:
        stored = []
        for day, (subject, since) in enumerate(statements):
            at = NOON + timedelta(days=day - 3)
            begun = None if since is None else min(since, at)
            stored += store.put(act(at), [fact(f"City {day}", subject=subject, valid_from=begun, created_at=at)])
        found = {each.id for each in store.recent(request(as_of=moment), 99)}
        latest = {each.subject: each.id for each in stored if each.created_at <= moment}
        assert found == set(latest.values())


def test_what_was_believed_then_is_found_by_its_words_and_its_vector(store):
    [old] = put(store, [fact("Lisbon bread")])
    known = embed_all(store, {old.id: axis(0)})
    [new] = store.put(act(LATER), [fact("Porto bread", created_at=LATER)])
    known |= embed_all(store, {new.id: axis(1)})
    before, after = {"as_of": NOON}, {"as_of": LATER}
    assert set(keyword(store, "bread", asked=request(**before))) == {old.id}
    assert set(keyword(store, "bread", asked=request(**after))) == {new.id}
    assert nearest(store, axis(0), known, **before) == {old.id: 1.0}
    assert nearest(store, axis(1), known, **after) == {new.id: 1.0}
    place = next(ref for ref, id_ in known.items() if id_ == old.id)
    assert [each.ref for each in store.nearest(request(**before), axis(1), 0, also=list(known))] == [place]
    assert [each.id for each in store.load(request(**before), list(known)).values()] == [old.id]


def test_what_is_gone_is_weighed_by_what_is_held_and_lends_and_borrows_nothing(store):
    """The score of a forgotten memory is that of a memory of its words, by the words of what is still held."""
    turns = put(store, [episode(content, session="monday") for content in ("Bread.", "Tram.", "River.")])
    refs(store)
    store.forget(act(LATER), turns[1].id)
    everything = request(now=LATEST, include_inactive=True)
    assert set(keyword(store, "tram", asked=everything)) == {turns[1].id}
    assert set(keyword(store, "bread", asked=everything)) == {turns[0].id, turns[2].id}
    assert set(keyword(store, "tram", asked=request(as_of=NOON, include_inactive=True))) == {turns[1].id}
    assert keyword(store, "tram", asked=request(as_of=NOON)) == {}
    held = keyword(store, "bread", asked=request(now=LATEST))
    assert keyword(store, "bread", asked=everything) == pytest.approx(held)


def test_all_there_ever_was_is_found_where_somebody_asks_for_it(store):
    memories = [episode("Bread."), fact("bread"), rule("Bread."), episode("Bread.", expires_at=LATER)]
    stored = put(store, memories)
    for each in stored[:3]:
        store.forget(act(LATER), each.id)
    assert store.recent(request(now=LATEST), 9) == []
    everything = request(now=LATEST, include_inactive=True)
    ids = {each.id for each in stored}
    assert {each.id for each in store.recent(everything, 9)} == ids
    assert set(keyword(store, "bread", asked=everything)) == ids
    assert {each.id for each in store.recent(request(now=LATEST, as_of=NOON, include_inactive=True), 9)} == ids
    assert [each.id for each in store.recent(request(now=LATEST, as_of=NOON), 9)] == [stored[3].id]


@pytest.mark.parametrize("include", [True, False])
def test_the_past_is_behind_the_same_walls(store, include):
    [theirs] = put(store, [fact("bread", scope="other")])
    store.forget(act(LATER, Caller(agent="other")), theirs.id)
    asked = request(as_of=NOON, include_inactive=include)
    assert store.recent(asked, 9) == store.keyword(asked, {"bread"}, 9) == []
    owner = replace(asked, caller=Caller(agent="other"))
    assert len(store.recent(owner, 9)) == len(store.keyword(owner, {"bread"}, 9)) == include
