from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engrain.domain.records import Caller
from engrain.errors import InvalidInput
from engrain.storage.search.candidates import NONE
from engrain.storage.write import removal
from tests.support.sample_records import CALLER, LATER, NOON, act, episode, fact, request, rule
from tests.support.store_samples import DIMS, EMBEDDER, axis, embed_all, flush_index, nearest, put, refs

BAND = 1e-5  # what two ways of adding up a cosine may differ by


def unit(rows) -> np.ndarray:
    return (rows / np.linalg.norm(rows, axis=-1, keepdims=True)).astype(np.float32)


def random_rows(seed: int, count: int) -> np.ndarray:
    return unit(np.random.default_rng(seed).standard_normal((count, DIMS)))


@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1), st.integers(1, 60), st.integers(0, 70))
def test_the_nearest_come_first_with_their_exact_cosines(backend, seed, count, limit):
    """Of the vectors as they are stored, in half precision."""
    rows, query = random_rows(seed, count).astype(np.float16).astype(np.float32), random_rows(seed + 1, 1)[0]
    with backend.fresh() as store:
        stored = put(store, [episode(f"Number {place}.") for place in range(count)])
        vectors = dict(zip([each.id for each in stored], rows, strict=True))
        found = nearest(store, query, embed_all(store, vectors), limit=limit)
        best = sorted(rows.astype(np.float64) @ query.astype(np.float64), reverse=True)[:limit]
        assert list(found.values()) == pytest.approx(best, abs=BAND)
        assert found == pytest.approx({id_: float(vectors[id_] @ query) for id_ in found}, abs=BAND)
        assert list(found.values()) == sorted(found.values(), reverse=True)


def test_equals_come_newest_first(store):
    stored = put(store, [episode(f"Number {place}.") for place in range(50)])
    known = embed_all(store, {each.id: axis(place % 2) for place, each in enumerate(stored)})
    newest = [each.id for each in stored[1::2]][::-1]
    assert list(nearest(store, axis(1), known)) == newest + [each.id for each in stored[::2]][::-1]
    assert list(nearest(store, axis(1), known, limit=7)) == newest[:7]


@pytest.mark.parametrize("limit", [0, 1, 5])
def test_equals_come_newest_first_whether_they_were_found_or_asked_for(store, limit):
    """A cosine is the same number whichever way a memory came into the answer."""
    stored = put(store, [episode(f"Number {place}.") for place in range(40)])
    row = random_rows(3, 1)[0]
    known = embed_all(store, {each.id: row for each in stored})
    found = store.nearest(request(), random_rows(4, 1)[0], limit, also=list(known))
    assert [known[each.ref] for each in found] == [each.id for each in reversed(stored)]
    assert len({each.raw for each in found}) == 1


def test_others_asked_for_are_added_to_the_best(store):
    stored = put(store, [episode(f"Number {place}.") for place in range(4)])
    known = embed_all(store, {each.id: axis(place) for place, each in enumerate(stored[:3])})
    place = {id_: ref for ref, id_ in known.items()}
    asked = [place[stored[2].id], place[stored[0].id], place[stored[3].id]]
    found = store.nearest(request(), unit(np.array([3.0, 2.0, 1.0, 0.0])), 1, also=asked)
    assert [known[each.ref] for each in found] == [stored[0].id, stored[2].id]
    assert [each.raw for each in found] == pytest.approx([3 / 14**0.5, 1 / 14**0.5])


def test_others_asked_for_must_match_the_filter_and_be_visible(store):
    mine, theirs, elsewhere = put(
        store,
        [episode("Mine.", session="monday"), episode("Theirs.", scope="other"), episode("Mine.", session="friday")],
    )
    known = {**embed_all(store, {mine.id: axis(0), elsewhere.id: axis(0)}), **refs(store, Caller(agent="other"))}
    embed_all(store, {theirs.id: axis(0)}, Caller(agent="other"))
    assert set(known.values()) == {mine.id, theirs.id, elsewhere.id}
    found = store.nearest(request(sessions=("monday",)), axis(0), 9, also=list(known))
    assert [known[each.ref] for each in found] == [mine.id]


def test_a_memory_without_a_vector_is_absent(store):
    waiting, embedded = put(store, [episode("Waiting."), episode("Embedded.")])
    known = embed_all(store, {embedded.id: axis(0)})
    assert set(known.values()) == {waiting.id, embedded.id}
    assert store.nearest(request(), axis(0), 9, also=list(known)) == store.nearest(request(), axis(0), 9)
    assert set(nearest(store, axis(0), known)) == {embedded.id}


def test_an_expired_memory_is_absent_and_leaves_room_for_others(store):
    stored = put(store, [episode(f"Number {place}.", expires_at=LATER if place else None) for place in range(30)])
    known = embed_all(store, {each.id: axis(0) for each in stored})
    assert list(nearest(store, axis(0), known, limit=2, now=LATER)) == [stored[0].id]
    assert len(nearest(store, axis(0), known, now=LATER - timedelta(microseconds=1))) == 30


def test_an_empty_store_and_an_unknown_caller_find_nothing(store):
    assert store.nearest(request(), axis(0), 9) == []
    [stored] = put(store, [episode("Mine.")])
    known = embed_all(store, {stored.id: axis(0)})
    assert store.nearest(request(caller=Caller(agent="nobody")), axis(0), 9, also=list(known)) == []


def test_every_scope_and_kind_of_the_caller_is_searched_together(store):
    memories = [episode("One."), episode("Two.", scope="pool:team"), fact("Three"), fact("Four", scope="aide")]
    stored = put(store, [*memories, episode("Theirs.", scope="other")])
    member = replace(CALLER, pools=("team",))
    known = embed_all(store, {each.id: axis(place % DIMS) for place, each in enumerate(stored)}, member)
    found = store.nearest(request(caller=member), unit(np.array([4.0, 3.0, 2.0, 1.0])), 9)
    assert [known[each.ref] for each in found] == [each.id for each in stored[:4]]
    facts = store.nearest(request(caller=member, kinds=("fact",)), axis(0), 9)
    assert {known[each.ref] for each in facts} == {stored[2].id, stored[3].id}


def test_no_embedder_no_vectors(store):
    put(store, [episode("One."), episode("Two.")])
    flush_index(store)
    place = next(iter(refs(store)))
    with pytest.raises(InvalidInput, match="use_embedder"):
        store.attach([place], axis(0)[None, :])
    assert store.waiting(CALLER) == 2


@pytest.mark.parametrize(
    "vectors",
    [
        np.zeros((1, DIMS), np.float32),
        np.zeros((2, DIMS + 1), np.float32),
        np.zeros((2, DIMS, 1), np.float32),
        np.zeros(2 * DIMS, np.float32),
        np.array([axis(0), axis(0) * np.nan], np.float32),
        np.array([axis(0), axis(0) + np.inf], np.float32),
    ],
    ids=["too few", "too wide", "too deep", "flat", "NaN", "infinite"],
)
def test_vectors_of_the_wrong_shape_or_no_numbers_are_refused_whole(store, vectors):
    put(store, [episode("One."), episode("Two.")])
    flush_index(store)
    store.use_embedder(EMBEDDER, DIMS)
    with pytest.raises(InvalidInput):
        store.attach(list(refs(store)), vectors)
    assert store.waiting(CALLER) == 2
    assert store.nearest(request(), axis(0), 9) == []


def test_no_vectors_for_no_memories_is_nothing(store):
    store.use_embedder(EMBEDDER, DIMS)
    store.attach([], np.zeros((0, DIMS), np.float32))
    assert store.nearest(request(), axis(0), 9) == []


def test_float64_vectors_are_taken_as_float32(store):
    [stored] = put(store, [episode("One.")])
    known = embed_all(store, {stored.id: axis(2).astype(np.float64)})
    assert nearest(store, axis(2), known) == {stored.id: 1.0}


def test_a_memory_keeps_its_first_vector(store):
    [stored] = put(store, [episode("One.")])
    known = embed_all(store, {stored.id: axis(0)})
    store.attach(list(known), axis(1)[None, :])
    assert nearest(store, axis(0), known) == {stored.id: 1.0}


def test_a_memory_named_twice_keeps_its_first_vector(store):
    put(store, [episode("One."), episode("Two.")])
    flush_index(store)
    store.use_embedder(EMBEDDER, DIMS)
    known = refs(store)
    place = next(iter(known))
    store.attach([place, place], np.array([axis(0), axis(1)]))
    assert nearest(store, axis(0), known) == {known[place]: 1.0}


@pytest.mark.parametrize("forgotten", [episode("Gone."), fact("Gone"), rule("Gone.")], ids=["episode", "fact", "rule"])
def test_a_vector_that_comes_too_late_is_passed_over(store, forgotten):
    gone, kept = put(store, [forgotten, episode("Kept.")])
    flush_index(store)
    store.use_embedder(EMBEDDER, DIMS)
    known = refs(store)
    store.forget(act(LATER), gone.id)
    store.attach(list(known), np.array([axis(0)] * 2))
    assert set(nearest(store, axis(0), known, now=NOON)) == {kept.id}
    assert store.waiting(CALLER) == 0


def test_a_superseded_fact_takes_its_vector_with_it(store):
    [old] = put(store, [fact("Lisbon")])
    known = embed_all(store, {old.id: axis(0)})
    [new] = put(store, [fact("Porto", created_at=LATER)])
    assert store.nearest(request(), axis(0), 9, also=list(known)) == []
    assert [each.text for each in store.unembedded(9)] == ["Ana lives in: Porto"]
    known = embed_all(store, {new.id: axis(0)})
    assert set(nearest(store, axis(0), known)) == {new.id}


def test_vectors_that_come_and_go_are_seen_at_once(store):
    """The same answers from a store that searched after every step as from the plain rule."""
    rng = np.random.default_rng(5)
    living: dict[str, np.ndarray] = {}
    known: dict = {}
    for step in range(12):
        stored = put(store, [episode(f"Step {step}, {place}.") for place in range(rng.integers(1, 5))])
        fresh = {each.id: axis(int(rng.integers(DIMS))) for each in stored}
        known |= embed_all(store, fresh)
        living |= fresh
        for id_ in [id_ for id_ in living if rng.random() < 0.3]:
            store.forget(act(NOON), id_)
            del living[id_]
        query = axis(int(rng.integers(DIMS)))
        expected = sorted(living, key=lambda id_: (living[id_] @ query, id_), reverse=True)
        assert list(nearest(store, query, known)) == expected


def test_a_unit_that_searched_what_it_wrote_and_failed_leaves_the_searches_as_they_were(store):
    stored = put(store, [fact("Lisbon"), fact("tea", subject="Ben", predicate="drinks")])
    refs_ = embed_all(store, {memory.id: axis(place) for place, memory in enumerate(stored)})
    before = nearest(store, axis(0), refs_)

    def forget_and_search(work):
        removal.forget(work, stored[0].id)
        assert len(work.search_vectors(request(), axis(0), 9, also=NONE.docs)) == 1
        raise InvalidInput("on second thoughts")

    with pytest.raises(InvalidInput):
        store.store.write(act(), forget_and_search)
    assert nearest(store, axis(0), refs_) == before
    store.forget(act(), stored[1].id)
    assert list(nearest(store, axis(0), refs_)) == [stored[0].id]
