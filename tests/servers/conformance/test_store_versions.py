"""One embedder after another: the new vectors are made beside the old, and searches change over at once."""

from datetime import timedelta

import numpy as np
import pytest

from engrain.errors import EngineUnavailable, InvalidInput
from tests.support.sample_records import CALLER, LATER, act, episode, fact, request, rule
from tests.support.store_samples import DIMS, EMBEDDER, axis, embed_all, flush_index, nearest, put, refs

NEXT, NEXT_DIMS = "test:next", 3


def pointing(place: int) -> np.ndarray:
    """A vector of the next embedder."""
    return np.eye(NEXT_DIMS, dtype=np.float32)[place]


def build(store, version, place=0):
    """Vectors of a version for all that lack one."""
    flush_index(store)
    missing = [each.ref for each in store.unembedded(1_000, version=version)]
    rows = np.array([pointing(place)] * len(missing), np.float32).reshape(-1, NEXT_DIMS)
    store.attach(missing, rows, version=version)


def switch(store, version, name=NEXT, dims=NEXT_DIMS):
    """Switch, and search with the new embedder from now on."""
    switched = store.switch_version(act(LATER), version)
    assert store.use_embedder(name, dims) is None
    return switched


def described(store):
    return [(each.version, each.name, each.dims, each.state) for each in store.embedding_versions()]


@pytest.mark.req("N10")
def test_the_first_embedder_is_the_first_version_and_active(store):
    assert store.embedding_versions() == []
    store.use_embedder(EMBEDDER, DIMS)
    store.use_embedder(EMBEDDER, DIMS)
    store.use_embedder(NEXT, NEXT_DIMS)
    assert described(store) == [(1, EMBEDDER, DIMS, "active")]
    [first] = store.embedding_versions()
    assert first.activated_at is not None
    assert first.created_at.utcoffset() == timedelta(0)


@pytest.mark.req("N10")
def test_a_version_is_begun_once_and_taken_up_where_it_was_left(store):
    store.use_embedder(EMBEDDER, DIMS)
    begun = store.begin_version(NEXT, NEXT_DIMS)
    assert (begun.version, begun.name, begun.dims, begun.state) == (2, NEXT, NEXT_DIMS, "building")
    assert begun.activated_at is None
    assert store.begin_version(NEXT, NEXT_DIMS) == begun
    assert store.embedding_versions()[1:] == [begun]


@pytest.mark.parametrize(("name", "dims"), [(EMBEDDER, DIMS), ("test:third", 3), (NEXT, NEXT_DIMS + 1)])
def test_the_active_embedder_is_not_built_nor_a_second_one_beside_another(store, name, dims):
    store.use_embedder(EMBEDDER, DIMS)
    store.begin_version(NEXT, NEXT_DIMS)
    with pytest.raises(InvalidInput):
        store.begin_version(name, dims)
    assert len(store.embedding_versions()) == 2


def test_nothing_is_built_where_no_embedder_was(store):
    with pytest.raises(InvalidInput):
        store.begin_version(NEXT, NEXT_DIMS)
    assert store.embedding_versions() == []


@pytest.mark.req("N10")
def test_searches_are_served_from_the_old_vectors_until_the_switch_and_from_the_new_after(store):
    one, two = put(store, [episode("One."), fact("Two")])
    known = embed_all(store, {one.id: axis(0), two.id: axis(1)})
    version = store.begin_version(NEXT, NEXT_DIMS).version
    missing = {known[each.ref]: each for each in store.unembedded(9, version=version)}
    assert {id_: each.text for id_, each in missing.items()} == {one.id: "One.", two.id: "Ana lives in: Two"}
    handles = [missing[one.id].ref, missing[two.id].ref]
    store.attach(handles, np.array([pointing(1), pointing(0)]), version=version)
    assert nearest(store, axis(0), known) == {one.id: 1.0, two.id: 0.0}
    assert store.unembedded(9, version=version) == store.unembedded(9) == []
    assert switch(store, version) is True
    assert nearest(store, pointing(0), known) == {two.id: 1.0, one.id: 0.0}
    assert described(store) == [(1, EMBEDDER, DIMS, "retired"), (2, NEXT, NEXT_DIMS, "active")]
    assert store.embedding_versions()[1].activated_at == LATER
    assert store.use_embedder(EMBEDDER, DIMS) == NEXT
    assert store.use_embedder(NEXT, NEXT_DIMS) is None
    assert store.health().embedder == NEXT
    assert store.health().problems == ()


@pytest.mark.req("N10")
def test_whoever_still_asks_with_the_old_embedder_is_told_so(store):
    """Two models may give vectors of one length: what one says of the other's means nothing."""
    [one] = put(store, [episode("One.")])
    known = embed_all(store, {one.id: axis(0)})
    version = store.begin_version("test:like", DIMS).version
    store.attach(list(known), axis(1)[None, :], version=version)
    assert store.use_embedder("test:like", DIMS) == EMBEDDER
    assert nearest(store, axis(0), known) == {one.id: 1.0}
    store.switch_version(act(LATER), version)
    [late] = put(store, [episode("Late.")])
    flush_index(store)
    missing = [each.ref for each in store.unembedded(9)]
    with pytest.raises(EngineUnavailable, match="test:like"):
        store.attach(missing, axis(0)[None, :])
    assert [each.id for each in store.unembedded(9)] == [late.id]
    for limit, also in ((9, ()), (0, list(known))):
        with pytest.raises(EngineUnavailable, match="test:like"):
            store.nearest(request(), axis(0), limit, also=also)
    assert store.use_embedder(EMBEDDER, DIMS) == "test:like"
    with pytest.raises(EngineUnavailable):
        store.nearest(request(), axis(0), 9)
    assert store.use_embedder("test:like", DIMS) is None
    assert nearest(store, axis(1), known) == {one.id: 1.0}


@pytest.mark.parametrize("memory", [episode("Late."), fact("Late"), rule("Late.")], ids=["episode", "fact", "rule"])
@pytest.mark.parametrize("settled", [True, False], ids=["settled", "fresh"])
def test_no_switch_while_one_memory_lacks_its_vector(store, memory, settled):
    """One that arrived while the others were being embedded is embedded by both."""
    [early] = put(store, [episode("Early.")])
    embed_all(store, {early.id: axis(0)})
    version = store.begin_version(NEXT, NEXT_DIMS).version
    build(store, version)
    [late] = put(store, [memory])
    if settled:
        flush_index(store)
    before = store.events(CALLER)
    assert store.switch_version(act(LATER), version) is False
    assert (store.events(CALLER), described(store)[0][3]) == (before, "active")
    known = embed_all(store, {late.id: axis(1)})
    assert set(nearest(store, axis(1), known)) == {early.id, late.id}
    assert store.switch_version(act(LATER), version) is False
    build(store, version)
    assert switch(store, version) is True
    assert set(nearest(store, pointing(0), known)) == {early.id, late.id}


def test_what_is_gone_holds_up_no_switch(store):
    expired, forgotten, inactive, erased = put(
        store,
        [episode("One."), episode("Two."), fact("Three", validity="expired"), rule("Four.")],
    )
    embed_all(store, {each.id: axis(0) for each in (expired, forgotten, erased)})
    store.forget(act(LATER), forgotten.id)
    store.forget(act(LATER), expired.id)
    store.erase(act(LATER), [erased.id])
    version = store.begin_version(NEXT, NEXT_DIMS).version
    assert store.unembedded(9, version=version) == []
    assert store.switch_version(act(LATER), version) is True
    assert store.get(CALLER, [inactive.id]) == [inactive]


def test_what_was_gone_before_the_switch_is_found_by_its_words_alone_after_it(store):
    [gone] = put(store, [fact("bread")])
    known = embed_all(store, {gone.id: axis(0)})
    store.forget(act(LATER), gone.id)
    version = store.begin_version(NEXT, NEXT_DIMS).version
    switch(store, version)
    asked = request(include_inactive=True)
    assert store.nearest(asked, pointing(0), 9, also=list(known)) == []
    assert [known[each.ref] for each in store.keyword(asked, {"bread"}, 9)] == [gone.id]


def test_a_new_memory_waits_for_the_active_version_alone(store):
    store.use_embedder(EMBEDDER, DIMS)
    version = store.begin_version(NEXT, NEXT_DIMS).version
    [late] = put(store, [episode("Late.")])
    known = refs(store)
    build(store, version)
    assert store.waiting(CALLER) == 1
    assert [each.text for each in store.unembedded(9)] == ["Late."]
    assert switch(store, version) is True
    assert store.waiting(CALLER) == 0
    assert nearest(store, pointing(0), known) == {late.id: 1.0}


def test_a_vector_is_kept_once_in_each_version(store):
    [one] = put(store, [episode("One.")])
    known = embed_all(store, {one.id: axis(0)})
    version = store.begin_version(NEXT, NEXT_DIMS).version
    for place in (1, 2):
        store.attach(list(known), pointing(place)[None, :], version=version)
    store.attach(list(known), axis(3)[None, :], version=1)
    assert nearest(store, axis(0), known) == {one.id: 1.0}
    switch(store, version)
    assert nearest(store, pointing(1), known) == {one.id: 1.0}


def test_vectors_must_be_as_long_as_their_version_says(store):
    put(store, [episode("One.")])
    store.use_embedder(EMBEDDER, DIMS)
    version = store.begin_version(NEXT, NEXT_DIMS).version
    known = list(refs(store))
    for number, row in ((version, axis(0)), (None, pointing(0)), (1, pointing(0))):
        with pytest.raises(InvalidInput):
            store.attach(known, row[None, :], version=number)
    assert len(store.unembedded(9)) == len(store.unembedded(9, version=version)) == 1


@pytest.mark.parametrize("version", [0, 3, 99])
def test_a_version_that_is_not_there_is_refused(store, version):
    put(store, [episode("One.")])
    store.use_embedder(EMBEDDER, DIMS)
    store.begin_version(NEXT, NEXT_DIMS)
    known = list(refs(store))
    for ask in (
        lambda: store.unembedded(9, version=version),
        lambda: store.attach(known, axis(0)[None, :], version=version),
        lambda: store.switch_version(act(), version),
    ):
        with pytest.raises(InvalidInput):
            ask()


def test_only_what_is_being_built_is_switched_to(store):
    store.use_embedder(EMBEDDER, DIMS)
    version = store.begin_version(NEXT, NEXT_DIMS).version
    with pytest.raises(InvalidInput):
        store.switch_version(act(LATER), 1)
    store.switch_version(act(LATER), version)
    for number in (1, version):
        with pytest.raises(InvalidInput):
            store.switch_version(act(LATER), number)


def test_vectors_of_retired_versions_are_removed_bit_by_bit_and_no_others(store):
    stored = put(store, [episode(f"Number {place}.") for place in range(5)])
    known = embed_all(store, {each.id: axis(0) for each in stored})
    version = store.begin_version(NEXT, NEXT_DIMS).version
    build(store, version)
    assert store.prune_vectors(100) == 0
    switch(store, version)
    assert [store.prune_vectors(0), store.prune_vectors(3)] == [0, 3]
    assert [store.prune_vectors(3), store.prune_vectors(3)] == [2, 0]
    assert len(nearest(store, pointing(0), known)) == 5
    assert store.unembedded(9) == []
    assert store.health().problems == ()


def test_a_vector_that_comes_too_late_for_its_version_is_passed_over(store):
    [one] = put(store, [episode("One.")])
    store.use_embedder(EMBEDDER, DIMS)
    version = store.begin_version(NEXT, NEXT_DIMS).version
    known = refs(store)
    build(store, version)
    switch(store, version)
    store.attach(list(known), axis(0)[None, :], version=1)
    assert store.prune_vectors(9) == 0
    assert nearest(store, pointing(0), known) == {one.id: 1.0}


def test_one_may_go_back_to_an_embedder_and_begins_anew(store):
    [one] = put(store, [episode("One.")])
    known = embed_all(store, {one.id: axis(0)})
    second = store.begin_version(NEXT, NEXT_DIMS).version
    build(store, second)
    switch(store, second)
    third = store.begin_version(EMBEDDER, DIMS)
    assert (third.version, third.state) == (3, "building")
    assert [each.text for each in store.unembedded(9, version=3)] == ["One."]
    store.attach(list(known), axis(2)[None, :], version=3)
    assert switch(store, 3, EMBEDDER, DIMS) is True
    assert nearest(store, axis(2), known) == {one.id: 1.0}
    assert [each.state for each in store.embedding_versions()] == ["retired", "retired", "active"]
