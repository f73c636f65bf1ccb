"""Facts and rules fade, recover and expire; each step is an event, and none of them loses anything."""

from datetime import timedelta

import pytest

from engrain.domain.memories.decay import STANDINGS
from engrain.errors import InvalidInput
from tests.support.reference_records import aged_event
from tests.support.sample_records import CALLER, LATER, act, episode, fact, rule
from tests.support.store_samples import keyword, put


@pytest.mark.req("B33.3")
@pytest.mark.parametrize("made", [fact, rule])
@pytest.mark.parametrize("to", ["fading", "expired"])
def test_each_transition_is_an_event_written_with_it(store, made, to):
    [memory] = put(store, [made("bread", metadata={"kept": 1})])
    aged = store.age(act(LATER), memory.id, to)
    assert [aged] == store.get(CALLER, [memory.id])
    [event, _] = store.events(CALLER)
    assert event == aged_event(act(LATER), memory, to, lambda: event.id)
    assert event.event_type == f"{memory.kind}_{to}"
    assert event.payload == {"standing": ["active", to]}
    assert aged.metadata["kept"] == 1


@pytest.mark.parametrize("made", [fact, rule])
def test_what_fades_is_found_and_what_recovers_fades_no_more(store, made):
    [memory] = put(store, [made("bread", metadata={"status": "draft"})])
    fading = {"status": "fading", "status_before_fading": "draft"}
    assert store.age(act(LATER), memory.id, "fading").metadata == fading
    assert set(keyword(store, "bread")) == {memory.id}
    assert store.age(act(LATER), memory.id, "active").metadata == {"status": "draft"}
    assert set(keyword(store, "bread")) == {memory.id}


def test_what_expired_is_out_of_the_searches_and_readable(store):
    one, two = put(store, [fact("bread"), rule("bread")])
    assert store.age(act(LATER), one.id, "expired").validity == "expired"
    assert store.age(act(LATER), two.id, "expired").metadata == {"forgotten": True}
    assert keyword(store, "bread") == {}
    assert [each.invalidated_at for each in store.get(CALLER, [one.id, two.id])] == [LATER, LATER]
    [again] = put(store, [fact("butter")])
    assert again.supersedes_id is None


@pytest.mark.parametrize("made", [fact, rule])
@pytest.mark.parametrize("to", STANDINGS)
def test_once_is_enough_and_what_is_gone_stays_as_it_is(store, made, to):
    [memory] = put(store, [made("bread")])
    first = store.age(act(LATER), memory.id, to)
    before = store.events(CALLER)
    assert store.age(act(LATER + timedelta(hours=1)), memory.id, to) == first
    assert store.events(CALLER) == before
    forgotten = store.forget(act(LATER), memory.id)
    assert store.age(act(LATER), memory.id, "active") == forgotten


def test_an_episode_does_not_age_and_a_stranger_is_not_there(store):
    [memory] = put(store, [episode("bread")])
    with pytest.raises(InvalidInput):
        store.age(act(LATER), memory.id, "fading")
    assert store.age(act(LATER), "nobody", "fading") is None
