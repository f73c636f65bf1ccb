"""What waits: for its neighbours' words (`settle`), and for a vector (`waiting`, `unembedded`, `attach`)."""

import numpy as np

from engrain.domain.records import Caller
from tests.sample_records import CALLER, episode, fact, request
from tests.store_samples import DIMS, EMBEDDER, axis, conversation, embed_all, keyword, refs


def test_settling_says_how_many_were_left_and_leaves_none(store):
    for turn in conversation("One.", "Two.", "Three."):
        store.put([turn])
    assert [store.settle(), store.settle()] == [3, 0]


def test_several_memories_and_facts_leave_nothing_to_settle(store):
    store.put(conversation("One.", "Two."))
    store.put([fact("Three")])
    assert store.settle() == 0


def test_settling_takes_every_tenants_memories(store):
    store.put([episode("Mine.")])
    store.put([episode("Theirs.", tenant_id="other", agent="someone", scope="someone")])
    assert store.settle() == 2
    assert sorted(each.text for each in store.unembedded(9)) == ["Mine.", "Theirs."]


def test_settling_takes_a_thousand_at_most_and_the_oldest_first(store):
    for place in range(1_001):
        store.put([episode(f"Number {place}.")])
    assert store.settle() == 1_000
    assert "Number 1000." not in {each.text for each in store.unembedded(2_000)}
    assert store.settle() == 1
    assert len(store.unembedded(2_000)) == 1_001


def test_what_is_not_settled_is_found_once_and_by_its_own_words_however_much_it_is(store):
    turns = [store.put([turn])[0] for turn in conversation(*(f"Number {place}." for place in range(1_003)))]
    assert set(keyword(store, "1002")) == {turns[1_002].id}
    assert store.settle() == 1_000
    assert set(keyword(store, "1002")) == {turns[1_002].id}
    assert set(keyword(store, "1000")) == {turns[place].id for place in (998, 999, 1_000)}
    assert set(keyword(store, "number", limit=2_000)) == {turn.id for turn in turns}
    assert store.settle() == 3
    assert set(keyword(store, "1002")) == {turns[place].id for place in (1_000, 1_001, 1_002)}


def test_a_call_of_more_than_a_thousand_is_settled_whole(store):
    turns = store.put(conversation(*(f"Number {place}." for place in range(1_003))))
    assert store.settle() == 0
    assert set(keyword(store, "999")) == {turn.id for turn in turns[997:1_002]}


def test_only_settled_memories_are_handed_out_for_embedding(store):
    store.put([episode("One.", speaker="Ana")])
    assert store.unembedded(9) == []
    store.settle()
    assert [each.text for each in store.unembedded(9)] == ["Ana: One."]


def test_a_fact_is_embedded_as_its_statement(store):
    store.put([fact("Lisbon")])
    assert [each.text for each in store.unembedded(9)] == ["Ana lives in: Lisbon"]


def test_what_was_embedded_is_not_handed_out_again(store):
    stored = store.put([episode(f"Number {place}.") for place in range(5)])
    embed_all(store, {each.id: axis(0) for each in stored[:3]})
    assert {each.text for each in store.unembedded(9)} == {"Number 3.", "Number 4."}
    assert len(store.unembedded(1)) == 1
    assert store.unembedded(0) == []


def test_what_waits_is_counted_settled_or_not(store):
    store.put(conversation("One.", "Two."))
    store.put([episode("Three.", session="monday")])
    store.put([fact("Four")])
    store.put([episode("Five.")])
    assert store.waiting(CALLER) == 5
    store.settle()
    assert store.waiting(CALLER) == 5


def test_what_waits_is_counted_up_to_a_thousand(store):
    store.put([episode(f"Number {place}.") for place in range(1_000)])
    store.put([episode("One more.")])
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
    stored = store.put([episode(f"Number {place}.") for place in range(4)])
    store.use_embedder(EMBEDDER, DIMS)
    known = refs(store)
    ids = [each.id for each in stored]
    backwards = sorted(known, key=lambda ref: known[ref], reverse=True)
    store.attach(backwards, np.array([axis(ids.index(known[ref])) for ref in backwards]))
    for place, id_ in enumerate(ids):
        assert known[store.nearest(request(), axis(place), 1)[0].ref] == id_
