"""What an audit reads: everything the caller sees once, page by page, and what hangs off it."""

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from engrain.domain.filters import Filter
from engrain.domain.records import Caller
from engrain.domain.requests import Request
from tests.support.reference_filters import matches
from tests.support.sample_records import CALLER, LATER, MEMORIES, act, entity, episode, fact, link, request, rule
from tests.support.store_samples import axis, embed_all, put

TEAM = replace(CALLER, pools=("team",))
OTHER = Caller(agent="other")


def pages(store, asked, limit):
    found, before = [], None
    while page := store.page(asked, before=before, limit=limit):
        assert len(page) <= limit
        found.append(page)
        before = page[-1].id
    return found


@settings(max_examples=30)
@given(st.lists(MEMORIES, max_size=12), st.integers(1, 5), st.booleans())
def test_pages_hold_everything_once_by_id_from_the_largest(backend, memories, limit, inactive):
    memories = [replace(each, predicate=each.id) if each.kind == "fact" else each for each in memories]
    asked = Request(caller=CALLER, filter=Filter(include_inactive=inactive), now=LATER)
    with backend.fresh() as store:
        stored = put(store, memories)
        expected = [each for each in stored if matches(asked.filter, each, LATER) and each.scope in CALLER.scopes]
        found = [memory for page in pages(store, asked, limit) for memory in page]
        assert found == sorted(expected, key=lambda each: each.id, reverse=True)
        assert store.page(asked, before=None, limit=0) == []


def test_pages_are_of_the_kinds_and_scopes_asked(store):
    kept = [kind(scope=scope) for kind in (episode, fact, rule) for scope in ("aide", "pool:team", "other", "global")]
    put(store, kept)
    for caller in (CALLER, TEAM, OTHER):
        for kind in ("episode", "fact", "rule"):
            page = store.page(request(caller=caller, kinds=(kind,)), before=None, limit=9)
            assert {each.scope for each in page} == set(caller.scopes)
            assert {each.kind for each in page} == {kind}
    assert store.page(request(caller=Caller(agent="aide", tenant_id="other")), before=None, limit=9) == []


def test_links_leave_the_memories_named_and_both_ends_are_seen(store):
    one, other, hidden = put(store, [fact("One"), rule("Other"), fact("Hidden", scope="other", subject="Ben")])
    edges = [link(one, other, "contradicts"), link(one, other, "supports"), link(other, one, "derived_from")]
    for each in edges:
        store.link(act(), each)
    both = replace(CALLER, pools=(), agent="other")
    store.link(act(caller=both), link(hidden, one, "contradicts"))
    wanted = ("contradicts", "derived_from")
    assert store.links_from(CALLER, [one.id, other.id, hidden.id], wanted) == sorted(
        [edges[0], edges[2]], key=lambda each: each.source_id
    )
    assert store.links_from(CALLER, [one.id], ("related_to",)) == store.links_from(CALLER, [one.id], ()) == []
    assert store.links_from(CALLER, [], wanted) == store.links_from(OTHER, [other.id], ("supports",)) == []
    assert [each.target_id for each in store.links_from(OTHER, [hidden.id], wanted)] == [one.id]


def test_vectors_are_those_of_what_the_caller_sees(store):
    memories = [fact("One"), episode("Two", scope="aide"), rule("Three", scope="other")]
    assert store.vectors_of(CALLER, [each.id for each in memories]) == {}
    put(store, memories)
    ids = [each.id for each in memories]
    assert store.vectors_of(CALLER, ids) == {}
    embed_all(store, {id_: axis(3) for id_ in ids}, replace(CALLER, pools=("team",)))
    embed_all(store, {ids[2]: axis(2)}, OTHER)
    found = store.vectors_of(CALLER, [*ids, "nothing"])
    assert set(found) == set(ids[:2])
    for vector in found.values():
        assert vector.dtype == np.float32
        np.testing.assert_array_equal(vector, axis(3))
    assert store.vectors_of(CALLER, []) == {}


def test_entities_that_nothing_seen_is_about_or_mentions(store):
    names = ("Ana", "Ben", "Cleo", "Dora", "Eve")
    ana, ben, cleo, dora, eve = (store.put_entity(act(), entity(name)) for name in names)
    store.put_entity(act(caller=Caller(agent="aide", tenant_id="other")), entity("Far", tenant_id="other"))
    said = put(store, [fact(entity_id=ana.id), episode("Hello Ben", scope="aide"), fact("x", subject="E")])
    put(store, [fact("x", scope="other", entity_id=cleo.id)])
    store.mention(act(), said[1].id, [ben.id])
    store.forget(act(), said[0].id)
    gina = store.put_entity(act(), entity("Gina"))
    store.merge_entities(act(), gina.id, ana.id)  # a tombstone stands for Ana, and nothing is ever about it
    alone = sorted([cleo, dora, eve], key=lambda each: each.id)
    assert store.unmentioned(CALLER, after=None, limit=9) == alone
    assert store.unmentioned(CALLER, after=None, limit=2) == alone[:2]
    assert store.unmentioned(CALLER, after=alone[1].id, limit=2) == alone[2:]
    assert store.unmentioned(CALLER, after=None, limit=0) == []
    assert store.unmentioned(OTHER, after=None, limit=9) == sorted([ben, dora, eve], key=lambda each: each.id)
