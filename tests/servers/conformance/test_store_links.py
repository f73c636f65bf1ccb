"""Edges between memories: who may draw and see them, in which direction and order."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engrain.domain.records import RELATIONS, Caller
from engrain.errors import NotFound
from tests.support.sample_records import CALLER, FOREIGN, LATER, NOON, act, episode, fact, link, rule
from tests.support.store_samples import put

OTHER = Caller(agent="other")
MEMBER = replace(CALLER, pools=("team",))


@pytest.mark.req("B05.5", "B26.2")
@pytest.mark.parametrize("relation", RELATIONS)
def test_an_edge_is_drawn_once(store, relation):
    said, stated = put(store, [episode("Said."), fact("Stated")])
    edge = link(stated, said, relation)
    assert store.link(act(), edge) is True
    assert store.link(act(), edge) is False
    assert store.link(act(LATER), replace(edge, weight=0.25, created_at=LATER)) is False
    assert store.links(CALLER, said.id) == [edge]
    assert [each.event_type for each in store.events(CALLER)].count("link_created") == 1


@pytest.mark.req("B05.5")
def test_memories_of_every_kind_are_linked_to_every_kind(store):
    memories = put(store, [episode("Said."), fact("Stated"), rule("Ask.")])
    edges = [link(one, other) for one in memories for other in memories if one is not other]
    assert [store.link(act(), edge) for edge in edges] == [True] * 6
    for memory in memories:
        assert len(store.links(CALLER, memory.id)) == 4


def test_two_memories_may_hang_together_in_several_ways(store):
    one, other = put(store, [fact("One"), fact("Other", predicate="likes")])
    edges = [link(one, other, relation) for relation in RELATIONS]
    assert all(store.link(act(), each) for each in [*edges, link(other, one)])
    assert len(store.links(CALLER, one.id)) == len(RELATIONS) + 1


@pytest.mark.req("B26.1")
def test_edges_are_asked_for_by_direction_and_both_is_the_default(store):
    before, here, after = put(store, [episode("Before."), episode("Here."), episode("After.")])
    incoming, outgoing = link(before, here), link(here, after)
    for edge in (incoming, outgoing):
        store.link(act(), edge)
    assert store.links(CALLER, here.id, direction="incoming") == [incoming]
    assert store.links(CALLER, here.id, direction="outgoing") == [outgoing]
    both = sorted([incoming, outgoing], key=lambda edge: edge.source_id)
    assert store.links(CALLER, here.id) == store.links(CALLER, here.id, direction="both") == both


@pytest.mark.req("B26.1")
@settings(max_examples=30)
@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.integers(0, 3), st.sampled_from(RELATIONS), st.integers(0, 2)), max_size=10
    ),
    st.sampled_from(["outgoing", "incoming", "both"]),
    st.none() | st.sampled_from(RELATIONS),
)
def test_edges_come_by_creation_then_source_target_and_relation(backend, drawn, direction, relation):
    with backend.fresh() as store:
        memories = put(store, [episode("One."), fact("Two"), rule("Three."), episode("Four.", scope="global")])
        edges = {}
        for source, target, kind, hours in drawn:
            if source != target:
                edge = link(memories[source], memories[target], kind, created_at=NOON + timedelta(hours=hours))
                edges.setdefault((source, target, kind), edge)
                store.link(act(), edge)
        expected = [
            edge
            for edge in edges.values()
            if relation in (None, edge.relation)
            and memories[0].id
            in {"outgoing": [edge.source_id], "incoming": [edge.target_id]}.get(
                direction, [edge.source_id, edge.target_id]
            )
        ]
        expected.sort(key=lambda edge: (edge.created_at, edge.source_id, edge.target_id, edge.relation))
        assert store.links(CALLER, memories[0].id, direction=direction, relation=relation) == expected


def test_only_memories_that_are_seen_are_linked(store):
    [mine] = put(store, [fact("Mine", scope="aide")])
    [theirs] = put(store, [fact("Theirs", scope="other")])
    [foreign] = put(store, [fact("Foreign", tenant_id="other")])
    for target in (theirs, foreign, fact("Nothing")):
        for edge in (link(mine, target), link(target, mine)):
            with pytest.raises(NotFound, match=target.id):
                store.link(act(), edge)
    assert store.links(CALLER, mine.id) == []
    assert "link_created" not in {each.event_type for each in store.events(CALLER)}


def test_an_edge_is_seen_by_those_who_see_both_ends(store):
    shared, ours = put(store, [fact("Shared"), fact("Ours", scope="pool:team", predicate="likes")])
    edge = link(shared, ours)
    assert store.link(act(caller=MEMBER), edge)
    for id_ in (shared.id, ours.id):
        assert store.links(MEMBER, id_) == [edge]
        for stranger in (CALLER, OTHER, replace(MEMBER, tenant_id="other")):
            assert store.links(stranger, id_) == []


def test_an_edge_of_one_tenant_is_none_of_another_with_the_same_ids(store):
    one, other = fact("One"), fact("Other", predicate="likes")
    for tenant_id in ("default", "other"):
        put(store, [replace(each, tenant_id=tenant_id) for each in (one, other)])
    store.link(act(), link(one, other))
    assert store.links(FOREIGN, one.id) == []
    assert store.link(act(caller=FOREIGN), link(one, other)) is True


def test_edges_outlive_what_is_forgotten_and_may_still_be_drawn(store):
    said, stated = put(store, [episode("Said."), fact("Stated")])
    for each in (said, stated):
        store.forget(act(LATER), each.id)
    edge = link(stated, said, "derived_from")
    assert store.link(act(LATER), edge)
    assert store.links(CALLER, said.id) == [edge]


def test_what_has_no_edges_and_what_is_not_there_have_none(store):
    [alone] = put(store, [episode("Alone.")])
    assert store.links(CALLER, alone.id) == store.links(CALLER, "nothing") == []
