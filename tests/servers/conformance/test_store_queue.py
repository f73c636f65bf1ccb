"""What waits: for its neighbours' words (`flush_index`), and for a vector (`waiting`, `unembedded`, `attach`)."""

import numpy as np
import pytest

from engrain.domain.records import Caller
from tests.support.sample_records import CALLER, episode, fact, request, rule
from tests.support.store_samples import DIMS, EMBEDDER, axis, conversation, embed_all, flush_index, keyword, put, refs


def test_settling_ends_with_nothing_left(store):
    for turn in conversation("One.", "Two.", "Three."):
        put(store, [turn])
    flush_index(store)
    assert store.flush_index() == 0
    assert len(store.unembedded(9)) == 3


def test_settling_takes_every_tenants_memories(store):
    put(store, [episode("Mine.")])
    put(store, [episode("Theirs.", tenant_id="other", agent="someone", scope="someone")])
    flush_index(store)
    assert sorted(each.text for each in store.unembedded(9)) == ["Mine.", "Theirs."]


def test_settling_takes_a_thousand_at_most_and_the_oldest_first(store):
    for place in range(1_001):
        put(store, [episode(f"Number {place}.")])
    left = 1_001 - len(store.unembedded(2_000))
    first = store.flush_index()
    assert first == min(left, 1_000)
    if first < left:
        assert "Number 1000." not in {each.text for each in store.unembedded(2_000)}
    flush_index(store)
    assert [each.text for each in store.unembedded(2_000)] == [f"Number {place}." for place in range(1_001)]


def test_what_is_not_settled_is_found_once_and_by_its_own_words_however_much_it_is(store):
    turns = [put(store, [turn])[0] for turn in conversation(*(f"Number {place}." for place in range(1_003)))]
    assert turns[1_002].id in keyword(store, "1002")
    store.flush_index()
    assert turns[1_002].id in keyword(store, "1002")
    assert set(keyword(store, "1000")) >= {turns[place].id for place in (998, 999, 1_000)}
    assert set(keyword(store, "number", limit=2_000)) == {turn.id for turn in turns}
    flush_index(store)
    assert set(keyword(store, "1002")) == {turns[place].id for place in (1_000, 1_001, 1_002)}


def test_a_call_of_more_than_a_thousand_is_settled_whole(store):
    turns = put(store, conversation(*(f"Number {place}." for place in range(1_003))))
    assert set(keyword(store, "999")) == {turn.id for turn in turns[997:1_002]}


@pytest.mark.parametrize("grouped", [True, False], ids=["together", "one by one"])
def test_every_kind_is_embedded_as_what_it_says(store, grouped):
    memories = [episode("One.", speaker="Ana"), fact("Lisbon"), rule("Ask first.")]
    for each in [memories] if grouped else [[memory] for memory in memories]:
        put(store, each)
    flush_index(store)
    assert [each.text for each in store.unembedded(9)] == ["Ana: One.", "Ana lives in: Lisbon", "Ask first."]


def test_what_was_embedded_is_not_handed_out_again(store):
    stored = put(store, [episode(f"Number {place}.") for place in range(5)])
    embed_all(store, {each.id: axis(0) for each in stored[:3]})
    assert {each.text for each in store.unembedded(9)} == {"Number 3.", "Number 4."}
    assert len(store.unembedded(1)) == 1
    assert store.unembedded(0) == []


def test_what_waits_is_counted_settled_or_not(store):
    put(store, conversation("One.", "Two."))
    put(store, [episode("Three.", session="monday")])
    put(store, [fact("Four")])
    put(store, [rule("Five.")])
    put(store, [episode("Six.")])
    assert store.waiting(CALLER) == 6
    flush_index(store)
    assert store.waiting(CALLER) == 6


def test_what_waits_is_counted_up_to_a_thousand(store):
    put(store, [episode(f"Number {place}.") for place in range(1_000)])
    put(store, [episode("One more.")])
    assert store.waiting(CALLER) == 1_000
    assert store.waiting(Caller(agent="other")) == 0


def test_a_store_takes_the_first_embedder_and_names_it_to_others(store):
    assert store.use_embedder("test:one", 3) is None
    assert store.use_embedder("test:one", 3) is None
    assert store.use_embedder("test:two", 3) == "test:one"
    assert store.use_embedder("test:one", 4) == "test:one"
    assert store.use_embedder("test:one", 3) is None
    assert store.health().embedder == "test:one"


def test_a_batch_is_attached_in_any_order(store):
    stored = put(store, [episode(f"Number {place}.") for place in range(4)])
    flush_index(store)
    store.use_embedder(EMBEDDER, DIMS)
    known = refs(store)
    ids = [each.id for each in stored]
    backwards = sorted(known, key=lambda ref: known[ref], reverse=True)
    store.attach(backwards, np.array([axis(ids.index(known[ref])) for ref in backwards]))
    for place, id_ in enumerate(ids):
        assert known[store.nearest(request(), axis(place), 1)[0].ref] == id_
