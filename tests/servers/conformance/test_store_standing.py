"""What is done to one memory afterwards: it is looked at, stood by, or forgotten."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engrain.domain.records import Caller
from engrain.errors import InvalidInput
from tests.support.sample_records import CALLER, LATER, MEMORIES, NOON, act, episode, fact, request, rule
from tests.support.store_samples import axis, embed_all, keyword, nearest, put

LATEST = LATER + timedelta(hours=1)
STRANGERS = [Caller(agent="other"), Caller(tenant_id="other", agent="aide")]
ONE_OF_EACH = [episode("One.", scope="aide"), fact("Two", scope="aide"), rule("Three.", scope="aide")]


@pytest.mark.req("B05.6")
@settings(max_examples=30)
@given(st.lists(MEMORIES, min_size=1, max_size=5), st.lists(st.integers(0, 4), max_size=6))
def test_a_look_counts_once_for_each_memory_and_changes_nothing_else(backend, memories, places):
    memories = [replace(each, predicate=each.id) if each.kind == "fact" else each for each in memories]
    with backend.fresh() as store:
        stored = put(store, [replace(each, scope="aide") for each in memories])
        ids = [stored[place % len(stored)].id for place in places]
        touched = {
            each.id: replace(each, reference_count=each.reference_count + 1, last_referenced_at=LATER)
            for each in stored
            if each.id in ids
        }
        assert store.touch(act(LATER), ["nothing", *ids]) == [touched[id_] for id_ in dict.fromkeys(ids)]
        assert store.get(CALLER, [each.id for each in stored]) == [touched.get(each.id, each) for each in stored]


@pytest.mark.req("B05.6")
def test_looks_add_up_from_what_was_there(store):
    [stored] = put(store, [fact(reference_count=40)])
    for at in (LATER, LATEST):
        store.touch(act(at), [stored.id])
    assert store.get(CALLER, [stored.id]) == [replace(stored, reference_count=42, last_referenced_at=LATEST)]


@pytest.mark.req("B05.6")
def test_references_of_several_answers_add_up_at_the_time_of_the_last(store):
    stored = put(store, [replace(each, scope="aide") for each in ONE_OF_EACH])
    first, second, third = ((each.kind, each.id) for each in stored)
    references = [(*first, LATER), (*second, LATER), (*first, LATEST), (*first, LATEST), ("rule", "nothing", LATER)]
    store.count_references(act(LATEST), references)
    for stranger in STRANGERS:
        store.count_references(act(LATEST, caller=stranger), [(*third, LATER)])
    counted = {first[1]: (3, LATEST), second[1]: (1, LATER), third[1]: (0, None)}
    found = store.get(CALLER, [each.id for each in stored])
    assert {each.id: (each.reference_count, each.last_referenced_at) for each in found} == counted


@pytest.mark.req("B05.6")
def test_what_is_not_there_is_not_looked_at(store):
    put(store, ONE_OF_EACH)
    assert store.touch(act(LATER), ["nothing"]) == store.touch(act(LATER), []) == []


def test_a_look_at_a_memory_leaves_it_where_it_is_found(store):
    stored = put(store, ONE_OF_EACH)
    known = embed_all(store, {each.id: axis(0) for each in stored})
    before = keyword(store, "one", "two", "three")
    store.touch(act(LATER), [each.id for each in stored])
    assert keyword(store, "one", "two", "three") == before
    assert len(nearest(store, axis(0), known)) == 3
    assert store.health().problems == ()


@pytest.mark.req("B05.7")
@pytest.mark.parametrize("memory", [fact("x", last_confirmed_at=NOON), rule("x")], ids=["fact", "rule"])
def test_to_confirm_is_to_move_the_confirmation_to_now(store, memory):
    [stored] = put(store, [memory])
    assert store.confirm(act(LATER), stored.id) == replace(stored, last_confirmed_at=LATER)
    assert store.confirm(act(LATEST), stored.id) == replace(stored, last_confirmed_at=LATEST)
    assert store.get(CALLER, [stored.id]) == [replace(stored, last_confirmed_at=LATEST)]


@pytest.mark.req("B05.7")
@pytest.mark.parametrize("made", [fact, rule])
def test_what_is_confirmed_fades_no_longer_and_keeps_the_rest_of_its_metadata(store, made):
    fading, other = put(
        store,
        [
            made("x", metadata={"status": "fading", "source": "chat", "deep": {"status": "fading"}}),
            made("y", metadata={"status": "draft"}, **({"predicate": "likes"} if made is fact else {})),
        ],
    )
    assert store.confirm(act(LATER), fading.id).metadata == {"source": "chat", "deep": {"status": "fading"}}
    assert store.confirm(act(LATER), other.id).metadata == {"status": "draft"}
    assert [each.metadata for each in store.get(CALLER, [fading.id, other.id])] == [
        {"source": "chat", "deep": {"status": "fading"}},
        {"status": "draft"},
    ]


@pytest.mark.req("B05.7")
def test_an_episode_is_not_confirmed(store):
    [stored] = put(store, [episode("Said.")])
    with pytest.raises(InvalidInput, match=stored.id):
        store.confirm(act(LATER), stored.id)
    assert store.get(CALLER, [stored.id]) == [stored]


@pytest.mark.parametrize(
    "memory",
    [*(fact(validity=state) for state in ("superseded", "expired", "retracted")), rule(metadata={"forgotten": True})],
    ids=["superseded", "expired", "retracted", "forgotten"],
)
def test_what_is_no_longer_active_is_not_confirmed(store, memory):
    [stored] = put(store, [memory])
    with pytest.raises(InvalidInput, match=stored.id):
        store.confirm(act(LATER), stored.id)
    assert store.get(CALLER, [stored.id]) == [stored]


@pytest.mark.req("B02.3")
def test_a_fact_forgotten_is_retracted(store):
    [stored] = put(store, [fact("Lisbon")])
    gone = store.forget(act(LATER), stored.id)
    assert (gone.validity, gone.state, gone.invalidated_at) == ("retracted", "retracted", LATER)
    assert gone == replace(stored, validity="retracted", invalidated_at=LATER, metadata={"hidden": True})


@pytest.mark.req("B05.8")
def test_an_episode_forgotten_expires_now(store):
    [stored] = put(store, [episode("Said.", expires_at=LATEST)])
    assert store.forget(act(LATER), stored.id) == replace(stored, expires_at=LATER, metadata={"hidden": True})


@pytest.mark.req("B05.9")
@pytest.mark.parametrize("metadata", [{}, {"forgotten": False, "source": "chat"}], ids=["bare", "told"])
def test_a_rule_forgotten_says_so_in_its_metadata(store, metadata):
    [stored] = put(store, [rule("Ask.", metadata=metadata)])
    gone = store.forget(act(LATER), stored.id)
    assert gone == replace(stored, metadata={**metadata, "hidden": True, "forgotten": True}, invalidated_at=LATER)
    assert gone.is_forgotten


@pytest.mark.req("B05.9")
def test_only_a_rule_that_is_forgotten_is_forgotten(store):
    """`forgotten` is a flag: a word or a number in its place is somebody's own metadata."""
    values = [False, None, "true", 1, [True]]
    stored = put(store, [rule(f"Rule {place}.", metadata={"forgotten": each}) for place, each in enumerate(values)])
    assert {each.id for each in store.recent(request(), 9)} == {each.id for each in stored}
    assert set(keyword(store, "rule")) == {each.id for each in stored}


@pytest.mark.req("B02.3")
@pytest.mark.parametrize("state", ["superseded", "expired"])
def test_a_fact_that_was_gone_already_is_retracted_too(store, state):
    [stored] = put(store, [fact("Lisbon", validity=state, invalidated_at=NOON)])
    gone = replace(stored, validity="retracted", metadata={"hidden": True})
    assert store.forget(act(LATER), stored.id) == gone


def test_what_is_forgotten_can_be_looked_at_but_is_no_longer_stood_by(store):
    for stored in put(store, ONE_OF_EACH):
        gone = store.forget(act(LATER), stored.id)
        touched = replace(gone, reference_count=1, last_referenced_at=LATEST)
        assert store.touch(act(LATEST), [stored.id]) == [touched]
        with pytest.raises(InvalidInput):
            store.confirm(act(LATEST), stored.id)
        assert store.get(CALLER, [stored.id]) == [touched]


@pytest.mark.req("B29.2", "N12")
@pytest.mark.parametrize("stranger", STRANGERS, ids=["agent", "tenant"])
def test_strangers_touch_confirm_forget_and_erase_nothing(store, stranger):
    stored = put(store, ONE_OF_EACH)
    ids = [each.id for each in stored]
    theirs = act(LATER, stranger)
    assert store.touch(theirs, ids) == store.erase(theirs, ids) == []
    for id_ in ids:
        assert store.confirm(theirs, id_) is store.forget(theirs, id_) is None
    assert store.get(CALLER, ids) == stored


def test_nobody_confirms_what_is_not_there(store):
    assert store.confirm(act(), "nothing") is None
