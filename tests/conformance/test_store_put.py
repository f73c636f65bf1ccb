import itertools
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engrain.domain.analysis import terms
from engrain.domain.records import Caller
from tests.sample_records import CALLER, NOON, episode, fact, request
from tests.store_samples import conversation, keyword

LATER = NOON + timedelta(hours=1)


def test_nothing_to_put_adds_nothing(store):
    assert store.put([]) == []
    assert store.recent(request(), 10) == []


def test_what_was_put_comes_back_as_stored(store):
    [stored] = store.put([episode("We met in Lisbon.", session="monday", speaker="Ana")])
    assert store.get(CALLER, [stored.id]) == [stored]
    assert stored.turn == 1


@pytest.mark.parametrize("memory", [episode("Once."), fact("Once")], ids=["episode", "fact"])
def test_putting_twice_adds_nothing(store, memory):
    [stored] = store.put([memory])
    assert store.put([memory]) == []
    assert store.put([replace(memory, content="Twice")]) == []
    assert store.recent(request(), 10) == [stored]


@pytest.mark.parametrize("memory", [episode("Once."), fact("Once")], ids=["episode", "fact"])
def test_an_id_repeated_in_one_call_is_put_once(store, memory):
    other = episode("Something else.")
    added = store.put([memory, replace(memory, content="Twice"), other])
    assert [each.id for each in added] == [memory.id, other.id]
    assert [each.content for each in store.get(CALLER, [memory.id])] == [memory.content]


@pytest.mark.parametrize(("first", "second"), [(episode, fact), (fact, episode)], ids=["fact", "episode"])
def test_an_id_of_the_other_kind_is_taken_too(store, first, second):
    [stored] = store.put([first("The first.")])
    assert store.put([second("The second.", id=stored.id)]) == []
    assert store.put([second("The second.", id=stored.id), episode("Another.")])[0].content == "Another."
    assert store.get(CALLER, [stored.id]) == [stored]


def test_only_what_is_new_in_a_call_is_returned_in_order(store):
    one, two, three = conversation("One.", "Two.", "Three.")
    store.put([two])
    assert [each.id for each in store.put([one, two, three])] == [one.id, three.id]


def test_the_same_id_in_another_tenant_is_another_memory(store):
    mine = episode("Mine.")
    theirs = replace(mine, tenant_id="other", content="Theirs.")
    assert len(store.put([mine])) == len(store.put([theirs])) == 1
    assert [each.content for each in store.get(CALLER, [mine.id])] == ["Mine."]
    assert [each.content for each in store.get(replace(CALLER, tenant_id="other"), [mine.id])] == ["Theirs."]


def test_turns_count_up_in_each_session_of_each_scope_and_tenant(store):
    def turn(**changes):
        return store.put([episode("Hello.", **{"session": "monday", **changes})])[0].turn

    assert [turn(), turn(), turn()] == [1, 2, 3]
    assert [turn(session="friday"), turn(scope="global"), turn(tenant_id="other")] == [1, 1, 1]
    assert turn() == 4


def test_a_turn_is_numbered_by_arrival_whatever_the_record_says(store):
    early, late = episode("Early.", session="monday", turn=7), episode("Late.", session="monday", turn=7)
    late, early = store.put([replace(late, event_time=LATER), early])
    assert (late.turn, early.turn) == (1, 2)


def test_what_belongs_to_no_session_has_no_turn(store):
    assert [each.turn for each in store.put([episode("One."), episode("Two.", turn=3)])] == [0, 0]


def test_a_forgotten_turn_keeps_its_number(store):
    first, last = store.put(conversation("First.", "Last."))
    store.retire(CALLER, last.id, at=LATER)
    [next_] = store.put([episode("Next.", session="monday")])
    assert [first.turn, last.turn, next_.turn] == [1, 2, 3]


WORDS = st.sampled_from(["lisbon", "tram", "river", "bread", "late", "blue"])
SAYINGS = st.lists(WORDS, min_size=1, max_size=4).map(" ".join)
ARRIVALS = st.lists(st.tuples(st.sampled_from([None, "monday", "friday"]), SAYINGS), min_size=1, max_size=12)


@given(ARRIVALS, st.data())
def test_how_memories_are_grouped_into_puts_changes_nothing_once_settled(backend, arrivals, data):
    turns = [episode(content, session=session) for session, content in arrivals]
    cuts = sorted(data.draw(st.sets(st.integers(0, len(turns)))) | {0, len(turns)})
    with backend.fresh() as grouped, backend.fresh() as single:
        together = [each for start, end in itertools.pairwise(cuts) for each in grouped.put(turns[start:end])]
        apart = [stored for turn in turns for stored in single.put([turn])]
        assert together == apart
        while grouped.settle() + single.settle():
            pass
        for word in ("lisbon", "tram", "river", "bread", "late", "blue"):
            assert keyword(grouped, *terms(word)) == pytest.approx(keyword(single, *terms(word)))


def test_several_turns_lend_each_other_their_words_at_once(store):
    near, _, far = store.put(conversation("Bread.", "Tram.", "River."))
    assert set(keyword(store, "bread")) == {near.id, _.id, far.id}


def test_a_single_turn_is_found_by_its_own_words_at_once_and_by_its_neighbours_once_settled(store):
    first, second = (store.put([turn])[0] for turn in conversation("Bread.", "Tram."))
    assert set(keyword(store, "bread")) == {first.id}
    assert set(keyword(store, "tram")) == {second.id}
    assert store.settle() == 2
    assert set(keyword(store, "bread")) == set(keyword(store, "tram")) == {first.id, second.id}


def test_words_are_lent_two_turns_far_within_one_session_and_scope_alone(store):
    store.put(conversation("Bread.", "One.", "Two.", "Three."))
    store.put([episode("Elsewhere.", session="friday"), episode("Elsewhere.", session="monday", scope="global")])
    store.put([episode("Nowhere."), episode("Nowhere.")])
    found = [memory.content for memory in store.get(CALLER, list(keyword(store, "bread")))]
    assert sorted(found) == ["Bread.", "One.", "Two."]


@pytest.mark.parametrize("grouped", [True, False], ids=["together", "one by one"])
def test_what_had_expired_before_it_was_put_is_kept_and_lends_no_words(store, grouped):
    turns = conversation("Bread.", "Tram.")
    turns[0] = replace(turns[0], expires_at=NOON - timedelta(days=1))
    expired, live = store.put(turns) if grouped else [store.put([turn])[0] for turn in turns]
    store.settle()
    assert store.get(CALLER, [expired.id]) == [expired]
    assert keyword(store, "bread") == {}
    assert set(keyword(store, "tram")) == {live.id}
    assert store.health().problems == ()


def test_a_new_fact_closes_the_one_it_supersedes(store):
    [old] = store.put([fact("Lisbon", valid_from=NOON - timedelta(days=9))])
    [new] = store.put([fact("Porto", created_at=LATER, valid_from=NOON)])
    assert (new.validity, new.supersedes_id) == ("active", old.id)
    closed = replace(old, validity="superseded", superseded_at=LATER, valid_to=NOON)
    assert store.get(CALLER, [old.id, new.id]) == [closed, new]


def test_a_fact_that_already_ended_keeps_its_end(store):
    ended = NOON - timedelta(days=30)
    [old] = store.put([fact("Lisbon", valid_to=ended)])
    store.put([fact("Porto", created_at=LATER)])
    assert store.get(CALLER, [old.id])[0].valid_to == ended


def test_a_superseded_fact_is_gone_from_searches_but_not_from_get(store):
    [old] = store.put([fact("Lisbon")])
    [new] = store.put([fact("Porto", created_at=LATER)])
    assert set(keyword(store, *terms("lives Lisbon Porto"))) == {new.id}
    assert keyword(store, *terms("Lisbon")) == {}
    assert store.recent(request(), 10) == [new]
    assert [each.id for each in store.get(CALLER, [old.id])] == [old.id]


def test_facts_of_one_call_supersede_each_other_in_order(store):
    one, two, three = store.put([fact("Lisbon"), fact("Porto"), fact("Faro")])
    assert (one.supersedes_id, two.supersedes_id, three.supersedes_id) == (None, one.id, two.id)
    stored = store.get(CALLER, [one.id, two.id, three.id])
    assert [each.validity for each in stored] == ["superseded", "superseded", "active"]
    assert store.recent(request(), 10) == [three]
    assert set(keyword(store, *terms("lives Lisbon Porto Faro"))) == {three.id}


@pytest.mark.parametrize(
    "change",
    [{"subject": "Ben"}, {"predicate": "works in"}, {"scope": "aide"}, {"tenant_id": "other"}],
    ids=["subject", "predicate", "scope", "tenant"],
)
def test_only_the_same_subject_predicate_and_scope_is_superseded(store, change):
    [one] = store.put([fact("Lisbon")])
    [other] = store.put([fact("Porto", **change)])
    assert other.supersedes_id is None
    assert store.get(CALLER, [one.id]) == [one]


@pytest.mark.parametrize("validity", ["superseded", "expired", "retracted"])
def test_an_inactive_fact_supersedes_nothing_and_is_never_searched(store, validity):
    [active] = store.put([fact("Lisbon")])
    [inactive] = store.put([fact("Porto", validity=validity)])
    assert inactive.supersedes_id is None
    assert store.get(CALLER, [active.id, inactive.id]) == [active, inactive]
    assert keyword(store, *terms("Porto")) == {}
    assert store.recent(request(), 10) == [active]
    assert [each.text for each in store.unembedded(10)] == ["Ana lives in: Lisbon"]


def test_a_retracted_fact_can_be_stated_again(store):
    [old] = store.put([fact("Lisbon")])
    store.retire(CALLER, old.id, at=LATER)
    [new] = store.put([fact("Lisbon", created_at=LATER)])
    assert new.supersedes_id is None
    assert store.recent(request(), 10) == [new]


def test_another_agents_memories_are_put_in_the_same_store_and_not_seen(store):
    [theirs] = store.put([episode("A secret.", agent="other", scope="other")])
    assert store.get(CALLER, [theirs.id]) == []
    assert store.get(Caller(agent="other"), [theirs.id]) == [theirs]
