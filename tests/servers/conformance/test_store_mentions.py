"""Whom memories mention: noted once, told once, and found by any of their names."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engrain.domain.records import Caller
from engrain.domain.text.names import name_key
from engrain.errors import InvalidInput, NotFound
from tests.support.sample_records import CALLER, FOREIGN, LATER, NOON, act, entity, episode, fact, link, request, rule
from tests.support.store_samples import flush_index, know, put, refs

TEAM = Caller(agent="aide", pools=("team",))
OTHER = Caller(agent="other", pools=("team",))


def mentioned(store, *names, by=CALLER, limit=1_000, **asked):
    """What is found by names: numbers by id, best first."""
    asking = request(by, **asked)
    found = store.mentioning(asking, names, limit)
    assert len({each.ref for each in found}) == len(found)
    traits = store.traits(asking, [each.ref for each in found])
    return {traits[each.ref].id: each.raw for each in found}


def test_who_is_new_to_a_memory_is_told_of_once_and_counted(store):
    ana, ben, cleo = know(store, "Ana", "Ben", "Cleo")
    [said] = put(store, [episode("Ana met Ben.")])
    assert store.mention(act(LATER), said.id, [ben.id, ana.id, ben.id]) == sorted([ana.id, ben.id])
    assert store.mention(act(LATER), said.id, [ana.id]) == store.mention(act(LATER), said.id, []) == []
    assert store.mention(act(LATER), said.id, [cleo.id, ana.id]) == [cleo.id]
    told = store.events(CALLER, event_type="entities_mentioned")
    assert {tuple(each.payload["entity_ids"]) for each in told} == {tuple(sorted([ana.id, ben.id])), (cleo.id,)}
    assert {(each.memory_id, each.scope, each.actor, each.created_at) for each in told} == {
        (said.id, "aide", "aide", LATER)
    }
    assert [each.mention_count for each in store.entities(CALLER, [ana.id, ben.id, cleo.id])] == [1, 1, 1]
    [again] = put(store, [fact("tea")])
    store.mention(act(LATER), again.id, [ana.id])
    assert [each.mention_count for each in store.entities(CALLER, [ana.id, ben.id])] == [2, 1]
    assert store.health().problems == ()


def test_mentions_are_counted_on_from_what_an_entity_came_with_by_who_sees_them(store):
    """How often others' memories mention somebody is theirs to know."""
    [ana] = know(store, "Ana", mention_count=7)
    mine, shared = put(store, [episode("Mine."), episode("Shared.", scope="pool:team")], by=TEAM)
    for each in (mine, shared):
        store.mention(act(LATER, TEAM), each.id, [ana.id])
    counts = [store.entities(who, [ana.id])[0].mention_count for who in (TEAM, CALLER, OTHER, Caller(agent="nobody"))]
    assert counts == [9, 8, 8, 7]
    store.erase(act(LATER, TEAM), [mine.id])
    assert [store.entities(who, [ana.id])[0].mention_count for who in (TEAM, CALLER)] == [8, 7]


@pytest.mark.parametrize("made", [episode, fact, rule])
def test_a_memory_of_any_kind_is_found_by_whom_it_mentions(store, made):
    [ana] = know(store, "Ana")
    [said, other] = put(store, [made("One."), episode("Two.")])
    store.mention(act(LATER), said.id, [ana.id])
    assert mentioned(store, "Ana") == {said.id: 1.0}
    assert mentioned(store, "Ben") == mentioned(store) == mentioned(store, "", "  ") == {}
    assert mentioned(store, "Ana", limit=0) == mentioned(store, "Ana", limit=-1) == {}
    assert mentioned(store, "Ana", limit=1 << 31) == {said.id: 1.0}
    assert other.id


def test_what_nobody_may_mention_is_refused_and_nothing_is_noted(store):
    [ana] = know(store, "Ana")
    store.put_entity(act(caller=FOREIGN), entity("Zoe", id="zoe", tenant_id="other"))
    [said] = put(store, [episode("One.")])
    [theirs] = put(store, [episode("Theirs.", scope="other")])
    before = store.events(CALLER)
    for id_ in ("nothing", theirs.id, ana.id):
        with pytest.raises(NotFound, match=id_):
            store.mention(act(LATER), id_, [ana.id])
    for unknown in ("nobody", "zoe", said.id):
        with pytest.raises(InvalidInput, match=unknown):
            store.mention(act(LATER), said.id, [ana.id, unknown])
    assert store.events(CALLER) == before
    assert mentioned(store, "Ana") == mentioned(store, "Ana", by=OTHER) == {}
    assert store.entities(CALLER, [ana.id]) == [ana]


@pytest.mark.parametrize(
    "name",
    [
        "Ana María",
        "  ANA  María ",
        "ana maría",
        "ANA\tMARI\u0301A",
        "\uff21\uff4e\uff41 maría",
        "\u2003ana\u00a0María\n",
    ],
)
def test_a_name_is_known_however_it_is_written(store, name):
    [ana] = know(store, "Ana María")
    [said] = put(store, [episode("One.")])
    store.mention(act(LATER), said.id, [ana.id])
    assert mentioned(store, name) == {said.id: 1.0}
    assert mentioned(store, "Ana", "María", "Ana Maria") == {}


def test_an_alias_names_as_well_as_the_canonical_name(store):
    [ana] = know(store, "Ana María López", aliases=("Ana", "ANA", "the Boss", " "))
    [said] = put(store, [episode("One.")])
    store.mention(act(LATER), said.id, [ana.id])
    for name in ("ana", "THE  BOSS", "ana maría lópez"):
        assert mentioned(store, name) == {said.id: 1.0}
    assert mentioned(store, "ana", "the boss") == {said.id: 1.0}
    assert store.health().problems == ()


def test_a_name_of_several_names_them_all(store):
    """Lisbon the place and Lisbon the project, and whom else they call so."""
    place, project = (know(store, "Lisbon", entity_type=each)[0] for each in ("place", "project"))
    [portugal] = know(store, "Portugal", aliases=("lisbon",))
    both, one, other = put(store, [episode("Both."), episode("One."), episode("Other.")])
    store.mention(act(LATER), both.id, [place.id, project.id])
    store.mention(act(LATER), one.id, [project.id])
    store.mention(act(LATER), other.id, [portugal.id])
    assert mentioned(store, "LISBON") == {both.id: 2.0, one.id: 1.0, other.id: 1.0}


def test_who_mentions_most_comes_first_then_the_newest(store):
    ana, ben = know(store, "Ana", "Ben")
    times = [NOON, NOON + timedelta(minutes=1), NOON, NOON - timedelta(minutes=1)]
    stored = put(store, [episode(f"Turn {place}.", event_time=at) for place, at in enumerate(times)])
    for place, whom in enumerate([[ana], [ben], [ana], [ana, ben]]):
        store.mention(act(LATER), stored[place].id, [each.id for each in whom])
    order = [stored[place].id for place in (3, 1, 2, 0)]
    assert stored[2].id > stored[0].id
    assert list(mentioned(store, "Ben", "Ana")) == order
    for limit in range(1, 5):
        assert list(mentioned(store, "Ana", "Ben", limit=limit)) == order[:limit]


def test_a_fact_mentions_whom_it_is_about(store):
    ana, ben = know(store, "Ana", "Ben")
    about, both = put(store, [fact("tea", entity_id=ana.id), fact("cake", predicate="eats", entity_id=ana.id)])
    store.mention(act(LATER), both.id, [ana.id, ben.id])
    assert mentioned(store, "Ana") == {both.id: 1.0, about.id: 1.0}
    assert mentioned(store, "Ana", "Ben") == {both.id: 2.0, about.id: 1.0}
    assert store.entities(CALLER, [ana.id])[0].mention_count == 1


@pytest.mark.parametrize("outgoing", [True, False], ids=["outgoing", "incoming"])
def test_what_is_linked_to_a_mention_is_found_after_it_and_no_further(store, outgoing):
    [ana] = know(store, "Ana")
    said, near, far = put(store, [episode("One."), fact("Near", valid_from=LATER), rule("Far.")])
    for one, two in ((said, near), (near, far)):
        store.link(act(), link(one, two) if outgoing else link(two, one, "derived_from"))
    store.mention(act(LATER), said.id, [ana.id])
    assert list(mentioned(store, "Ana").items()) == [(said.id, 1.0), (near.id, 0.5)]
    assert mentioned(store, "Ana", limit=1) == {said.id: 1.0}
    store.mention(act(LATER), near.id, [ana.id])
    assert mentioned(store, "Ana") == {near.id: 1.0, said.id: 1.0, far.id: 0.5}


def test_a_link_leads_from_what_a_filter_leaves_out_to_what_it_lets_through(store):
    """What mentions has to be seen, not to be asked for."""
    [ana] = know(store, "Ana")
    said, stated = put(store, [episode("Said."), fact("Stated")])
    store.link(act(), link(stated, said, "derived_from"))
    store.mention(act(LATER), said.id, [ana.id])
    assert mentioned(store, "Ana", kinds=("fact",)) == {stated.id: 0.5}
    store.forget(act(LATER), said.id)
    assert mentioned(store, "Ana") == {stated.id: 0.5}
    assert mentioned(store, "Ana", as_of=NOON, include_inactive=True) == {said.id: 1.0, stated.id: 0.5}


def test_others_mentions_are_neither_found_nor_a_way_to_anything(store):
    [ana] = know(store, "Ana")
    hidden, mine, beyond = put(store, [episode("Hidden.", scope="other")]) + put(
        store, [fact("Mine"), fact("Beyond", predicate="is", scope="pool:team")], by=TEAM
    )
    both = Caller(agent="other", pools=("team",))
    store.mention(act(LATER, both), hidden.id, [ana.id])
    store.link(act(LATER, both), link(hidden, mine))
    assert mentioned(store, "Ana", by=both) == {hidden.id: 1.0, mine.id: 0.5}
    assert mentioned(store, "Ana") == mentioned(store, "Ana", by=TEAM) == {}
    store.mention(act(LATER), mine.id, [ana.id])
    store.link(act(LATER, TEAM), link(mine, beyond))
    assert mentioned(store, "Ana") == {mine.id: 1.0}
    assert mentioned(store, "Ana", by=TEAM) == {mine.id: 1.0, beyond.id: 0.5}
    assert mentioned(store, "Ana", by=FOREIGN) == {}


def test_each_tenant_has_its_own_names_and_mentions(store):
    [ana] = know(store, "Ana")
    theirs = store.put_entity(act(caller=FOREIGN), replace(ana, tenant_id="other", aliases=("Annie",)))
    mine = put(store, [episode("Mine.")])[0]
    [same] = store.put(act(caller=FOREIGN), [replace(mine, tenant_id="other")])
    store.mention(act(LATER, FOREIGN), same.id, [theirs.id])
    assert mentioned(store, "Ana", "Annie") == {}
    assert mentioned(store, "Annie", by=FOREIGN) == {same.id: 1.0}


def test_only_what_passes_the_filter_is_found(store):
    [ana] = know(store, "Ana")
    stored = put(store, [episode("One.", session="monday"), fact("Two", tags=("x",)), rule("Three.")])
    for each in stored:
        store.mention(act(LATER), each.id, [ana.id])
    assert set(mentioned(store, "Ana", kinds=("fact", "rule"))) == {stored[1].id, stored[2].id}
    assert set(mentioned(store, "Ana", sessions=("monday",))) == {stored[0].id}
    assert set(mentioned(store, "Ana", tags=("x",))) == {stored[1].id}
    store.forget(act(LATER), stored[2].id)
    assert set(mentioned(store, "Ana")) == {stored[0].id, stored[1].id}
    assert set(mentioned(store, "Ana", include_inactive=True)) == {each.id for each in stored}
    assert set(mentioned(store, "Ana", as_of=NOON)) == {stored[0].id, stored[1].id}


def test_an_erased_memory_mentions_nobody(store):
    [ana] = know(store, "Ana")
    gone, kept = put(store, [episode("Gone."), episode("Kept.")])
    for each in (gone, kept):
        store.mention(act(LATER), each.id, [ana.id])
    store.erase(act(LATER), [gone.id])
    assert mentioned(store, "Ana", include_inactive=True) == {kept.id: 1.0}
    assert store.entities(CALLER, [ana.id])[0].mention_count == 1
    [event] = store.events(CALLER, memory_id=gone.id, event_type="entities_mentioned")
    assert event.payload == {}
    with pytest.raises(NotFound):
        store.mention(act(LATER), gone.id, [ana.id])
    assert store.health().problems == ()


def test_a_turn_is_found_by_whom_it_mentions_before_it_is_settled(store):
    [ana] = know(store, "Ana")
    [said] = put(store, [episode("The first of all.")])
    store.mention(act(LATER), said.id, [ana.id])
    assert mentioned(store, "Ana") == {said.id: 1.0}
    flush_index(store)
    assert mentioned(store, "Ana") == {said.id: 1.0}


WORLDS = st.lists(
    st.tuples(st.sampled_from(["Ana", "Ben", "Cleo"]), st.integers(0, 5), st.integers(0, 5), st.booleans()), max_size=12
)


@settings(max_examples=40)
@given(WORLDS, st.sets(st.sampled_from(["ana", "BEN", " Cleo", "Dora"])), st.integers(0, 7))
def test_any_web_of_mentions_and_links_answers_as_it_is_drawn(backend, drawn, names, limit):
    """Six memories in three scopes, who mentions whom, and what is linked to what: read off the drawing."""
    scopes = ["aide", "global", "pool:team", "other", "aide", "other"]
    every = Caller(agent="aide", pools=("team",))
    with backend.fresh() as store:
        people = dict(zip(["Ana", "Ben", "Cleo"], know(store, "Ana", "Ben", "Cleo"), strict=True))
        memories = [
            put(store, [episode(f"Turn {place}.", scope=scope, event_time=NOON + timedelta(minutes=place % 3))])[0]
            for place, scope in enumerate(scopes)
        ]
        owners = [OTHER if scope == "other" else every for scope in scopes]
        whom = {place: set() for place in range(6)}
        edges = set()
        for name, place, other, is_link in drawn:
            if not is_link:
                store.mention(act(LATER, owners[place]), memories[place].id, [people[name].id])
                whom[place].add(name_key(name))
            elif place != other and (scopes[place] == "other") == (scopes[other] == "other"):
                store.link(act(LATER, owners[place]), link(memories[place], memories[other]))
                edges |= {(place, other), (other, place)}
        asked = {name_key(name) for name in names}
        known = refs(store, every)
        for caller in (CALLER, every):
            seen = [place for place in range(6) if scopes[place] in caller.scopes]
            raws = {place: float(len(asked & whom[place])) for place in seen if asked & whom[place]}
            near = {there: 0.5 for place in raws for here, there in edges if here == place and there in seen}
            expected = sorted(
                ((raw, memories[place].happened_at, memories[place].id) for place, raw in {**near, **raws}.items()),
                reverse=True,
            )
            found = store.mentioning(request(caller), names, limit)
            assert [(each.raw, known[each.ref]) for each in found] == [(raw, id_) for raw, _, id_ in expected][:limit]


@pytest.mark.req("Y02")
def test_a_memory_comes_with_whom_it_mentions_or_not_at_all(store):
    """The choice is made inside the transaction, from whom the names name; a repeat and a refusal note nobody."""
    ana, ben = know(store, "Ana", "Ben", aliases=("benny",))
    asked, turn = [], episode("Ana met Benny.", session="monday")

    def whom(known):
        asked.append([each.id for each in known])
        return {turn.id: [*asked[-1], "nobody"], "another": [ana.id]}

    for expected in ([turn.id], []):
        assert [each.id for each in store.put_mentioning(act(LATER), [turn], ["ana", "BENNY"], whom)] == expected
    assert asked == [sorted([ana.id, ben.id])] * 2
    [told] = store.events(CALLER, event_type="entities_mentioned")
    assert (told.memory_id, tuple(told.payload["entity_ids"])) == (turn.id, tuple(sorted([ana.id, ben.id])))
    assert mentioned(store, "Ana") == mentioned(store, "Ben") == {turn.id: 1.0}
    foreign = episode("Ana.", scope="pool:nobody")
    with pytest.raises(InvalidInput):
        store.put_mentioning(act(LATER), [foreign], ["Ana"], lambda known: {foreign.id: [each.id for each in known]})
    assert mentioned(store, "Ana") == {turn.id: 1.0}


def test_a_memory_mentions_nobody_who_was_merged(store):
    source, target = know(store, "Ana", "Anna")
    store.merge_entities(act(LATER), source.id, target.id)
    turn = episode("Ana.")
    store.put_mentioning(act(LATER), [turn], ["Ana"], lambda _: {turn.id: [source.id, target.id]})
    assert mentioned(store, "Anna") == {turn.id: 1.0}
    [told] = store.events(CALLER, event_type="entities_mentioned")
    assert tuple(told.payload["entity_ids"]) == (target.id,)
