import itertools
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engrain.domain.records import Caller
from engrain.domain.text.analysis import terms
from tests.support.sample_records import CALLER, LATER, NOON, act, episode, fact, request, rule
from tests.support.store_samples import conversation, flush_index, keyword, put


def test_nothing_to_put_adds_nothing(store):
    assert store.put(act(), []) == []
    assert store.events(CALLER) == []
    assert store.recent(request(), 10) == []


def test_what_was_put_comes_back_as_stored(store):
    [stored] = put(store, [episode("We met in Lisbon.", session="monday", speaker="Ana")])
    assert store.get(CALLER, [stored.id]) == [stored]
    assert stored.turn == 1


@pytest.mark.parametrize("memory", [episode("Once."), fact("Once"), rule("Once.")], ids=["episode", "fact", "rule"])
def test_putting_twice_adds_nothing(store, memory):
    [stored] = put(store, [memory])
    assert put(store, [memory]) == []
    assert put(store, [replace(memory, content="Twice")]) == []
    assert store.recent(request(), 10) == [stored]


@pytest.mark.parametrize("memory", [episode("Once."), fact("Once"), rule("Once.")], ids=["episode", "fact", "rule"])
def test_an_id_repeated_in_one_call_is_put_once(store, memory):
    other = episode("Something else.")
    added = put(store, [memory, replace(memory, content="Twice"), other])
    assert [each.id for each in added] == [memory.id, other.id]
    assert [each.content for each in store.get(CALLER, [memory.id])] == [memory.content]


@pytest.mark.parametrize(("first", "second"), [(episode, fact), (fact, rule), (rule, episode)])
def test_an_id_of_the_other_kind_is_taken_too(store, first, second):
    [stored] = put(store, [first("The first.")])
    assert put(store, [second("The second.", id=stored.id)]) == []
    assert put(store, [second("The second.", id=stored.id), episode("Another.")])[0].content == "Another."
    assert store.get(CALLER, [stored.id]) == [stored]


def test_only_what_is_new_in_a_call_is_returned_in_order(store):
    one, two, three = conversation("One.", "Two.", "Three.")
    put(store, [two])
    assert [each.id for each in put(store, [one, two, three])] == [one.id, three.id]


def test_the_same_id_in_another_tenant_is_another_memory(store):
    mine = episode("Mine.")
    theirs = replace(mine, tenant_id="other", content="Theirs.")
    assert len(put(store, [mine])) == len(put(store, [theirs])) == 1
    assert [each.content for each in store.get(CALLER, [mine.id])] == ["Mine."]
    assert [each.content for each in store.get(replace(CALLER, tenant_id="other"), [mine.id])] == ["Theirs."]


def test_turns_count_up_in_each_session_of_each_scope_and_tenant(store):
    def turn(**changes):
        return put(store, [episode("Hello.", **{"session": "monday", **changes})])[0].turn

    assert [turn(), turn(), turn()] == [1, 2, 3]
    assert [turn(session="friday"), turn(scope="global"), turn(tenant_id="other")] == [1, 1, 1]
    assert turn() == 4


def test_a_turn_is_numbered_by_arrival_whatever_the_record_says(store):
    early, late = episode("Early.", session="monday", turn=7), episode("Late.", session="monday", turn=7)
    late, early = put(store, [replace(late, event_time=LATER), early])
    assert (late.turn, early.turn) == (1, 2)


def test_what_belongs_to_no_session_has_no_turn(store):
    assert [each.turn for each in put(store, [episode("One."), episode("Two.", turn=3)])] == [0, 0]


def test_a_forgotten_turn_keeps_its_number(store):
    first, last = put(store, conversation("First.", "Last."))
    store.forget(act(LATER), last.id)
    [next_] = put(store, [episode("Next.", session="monday")])
    assert [first.turn, last.turn, next_.turn] == [1, 2, 3]


WORDS = st.sampled_from(["lisbon", "tram", "river", "bread", "late", "blue"])
SAYINGS = st.lists(WORDS, min_size=1, max_size=4).map(" ".join)
ARRIVALS = st.lists(st.tuples(st.sampled_from([None, "monday", "friday"]), SAYINGS), min_size=1, max_size=12)


@settings(max_examples=25)
@given(ARRIVALS, st.data())
def test_how_memories_are_grouped_into_puts_changes_nothing_once_settled(backend, arrivals, data):
    turns = [episode(content, session=session) for session, content in arrivals]
    cuts = sorted(data.draw(st.sets(st.integers(0, len(turns)))) | {0, len(turns)})
    with backend.fresh() as grouped, backend.fresh() as single:
        together = [each for start, end in itertools.pairwise(cuts) for each in put(grouped, turns[start:end])]
        apart = [stored for turn in turns for stored in put(single, [turn])]
        assert together == apart
        flush_index(grouped)
        flush_index(single)
        for word in ("lisbon", "tram", "river", "bread", "late", "blue"):
            assert keyword(grouped, *terms(word)) == pytest.approx(keyword(single, *terms(word)))


PLACES = st.integers(0, 4)
STATED = st.lists(st.tuples(st.sampled_from(["turn", "fact", "rule"]), PLACES, PLACES, PLACES), min_size=1, max_size=10)


@settings(max_examples=40)
@given(STATED, st.data())
def test_what_is_stated_together_is_stored_as_one_after_the_other(backend, stated, data):
    """Ids and slots clash, facts and rules name turns of the same call as their sources, facts what they supersede."""
    ids = [episode("").id for _ in range(5)]
    turns = [episode(f"Turn {place}.", session="monday") for place in range(5)]
    memories = []
    for kind, id_, subject, source in stated:
        known = [turn.id for turn in memories if turn.id == turns[source].id]
        named = {"source_episode_id": known[0] if known else None}
        match kind:
            case "turn":
                memories.append(turns[id_])
            case "fact":
                validity = data.draw(st.sampled_from(["active", "retracted"]))
                memories.append(fact(f"Said {id_}", id=ids[id_], subject=f"Ana {subject}", validity=validity, **named))
            case "rule":
                memories.append(rule(f"Mind {subject}", id=ids[id_], **named))
    with backend.fresh() as grouped, backend.fresh() as single:
        put(grouped, memories)
        for memory in memories:
            put(single, [memory])
        names = [memory.id for memory in memories]
        assert grouped.get(CALLER, names) == single.get(CALLER, names)
        apart, together = ([replace(each, id="") for each in one.events(CALLER)] for one in (single, grouped))
        assert together == apart
        flush_index(grouped)
        flush_index(single)
        for word in ("turn", "said", "mind", "ana"):
            assert keyword(grouped, *terms(word)) == pytest.approx(keyword(single, *terms(word)))


def test_several_turns_lend_each_other_their_words_at_once(store):
    near, _, far = put(store, conversation("Bread.", "Tram.", "River."))
    assert set(keyword(store, "bread")) == {near.id, _.id, far.id}


def test_a_single_turn_is_found_by_its_own_words_at_once_and_by_its_neighbours_once_settled(store):
    first, second = (put(store, [turn])[0] for turn in conversation("Bread.", "Tram."))
    assert first.id in keyword(store, "bread")
    assert second.id in keyword(store, "tram")
    flush_index(store)
    assert set(keyword(store, "bread")) == set(keyword(store, "tram")) == {first.id, second.id}


def test_words_are_lent_two_turns_far_within_one_session_and_scope_alone(store):
    put(store, conversation("Bread.", "One.", "Two.", "Three."))
    put(store, [episode("Elsewhere.", session="friday"), episode("Elsewhere.", session="monday", scope="global")])
    put(store, [episode("Nowhere."), episode("Nowhere.")])
    found = [memory.content for memory in store.get(CALLER, list(keyword(store, "bread")))]
    assert sorted(found) == ["Bread.", "One.", "Two."]


@pytest.mark.parametrize("grouped", [True, False], ids=["together", "one by one"])
def test_what_had_expired_before_it_was_put_is_kept_and_lends_no_words(store, grouped):
    turns = conversation("Bread.", "Tram.")
    turns[0] = replace(turns[0], expires_at=NOON - timedelta(days=1))
    expired, live = put(store, turns) if grouped else [put(store, [turn])[0] for turn in turns]
    flush_index(store)
    assert store.get(CALLER, [expired.id]) == [expired]
    assert keyword(store, "bread") == {}
    assert set(keyword(store, "tram")) == {live.id}
    assert store.health().problems == ()


def test_another_agents_memories_are_put_in_the_same_store_and_not_seen(store):
    [theirs] = put(store, [episode("A secret.", agent="other", scope="other")])
    assert store.get(CALLER, [theirs.id]) == []
    assert store.get(Caller(agent="other"), [theirs.id]) == [theirs]
