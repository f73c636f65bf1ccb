"""What outcomes make of a rule: every mark counts, is written down, and the worst rules become warnings."""

from collections import Counter
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engrain.domain.records import Caller
from engrain.domain.rules import maturity
from engrain.domain.rules.maturity import OUTCOMES
from engrain.domain.text.analysis import terms
from engrain.errors import InvalidInput
from tests.support.races import run_together
from tests.support.sample_records import CALLER, NOON, act, episode, fact, link, rule
from tests.support.store_samples import axis, embed_all, keyword, nearest, put, refs

LATER = NOON + timedelta(days=40)


@pytest.mark.req("B21.1", "B21.2", "B03.1", "B03.3")
@settings(max_examples=20)
@given(
    st.lists(st.tuples(st.sampled_from(OUTCOMES), st.none() | st.sampled_from(["slow", "dear"])), max_size=12),
    st.builds(maturity.Thresholds, established_successes=st.integers(1, 6), warning_harms=st.integers(1, 4)),
)
def test_marks_make_of_a_rule_what_the_pure_function_makes_of_it(backend, marks, thresholds):
    with backend.fresh() as store:
        [expected] = put(store, [rule("Book early.", tags=("travel",))])
        for place, (outcome, reason) in enumerate(marks):
            at = LATER + timedelta(minutes=place)
            expected = maturity.apply_outcome(expected, outcome, reason=reason, at=at, thresholds=thresholds)
            assert store.mark(act(at), expected.id, outcome, reason=reason, thresholds=thresholds) == expected
        assert store.get(CALLER, [expected.id]) == [expected]
        assert store.health().problems == ()


@pytest.mark.req("B30.1")
def test_each_mark_is_an_application_with_its_outcome_time_and_context(store):
    [stored, other] = put(store, [rule("Book early."), rule("Ask.")])
    store.mark(act(NOON), stored.id, "helpful")
    store.mark(act(LATER, Caller(agent="ben")), stored.id, "harmful", reason="missed the train")
    newest, oldest = store.applications(CALLER, stored.id, 9)
    assert (newest.rule_id, newest.outcome, newest.context) == (stored.id, "harmful", "missed the train")
    assert (newest.agent, newest.tenant_id, newest.created_at) == ("ben", "default", LATER)
    assert (oldest.outcome, oldest.context, oldest.agent, oldest.created_at) == ("helpful", None, "aide", NOON)
    assert store.applications(CALLER, stored.id, 1) == [newest]
    assert store.applications(CALLER, other.id, 9) == store.applications(CALLER, stored.id, 0) == []


@pytest.mark.req("N13")
def test_each_mark_is_an_event_that_says_what_it_changed_and_no_reason(store):
    [stored] = put(store, [rule("Book early.")])
    marked = store.mark(act(LATER), stored.id, "harmful", reason="secret")
    [event] = store.events(CALLER, event_type="rule_marked_harmful")
    assert (event.memory_id, event.actor, event.created_at) == (stored.id, "aide", LATER)
    assert event.payload == {
        "effectiveness_score": [0.0, marked.effectiveness_score],
        "maturity": ["candidate", "candidate"],
        "applied_count": 1,
        "success_count": 0,
        "harmful_count": 1,
    }


@pytest.mark.req("B03.5", "B21.3", "N17")
def test_a_warning_is_found_by_its_new_words_and_waits_for_a_vector_of_them(store):
    kept, stored = put(store, [rule("Bread."), rule("Book early.")])
    known = embed_all(store, {kept.id: axis(0), stored.id: axis(0)})
    for reason in ("slow", "dear"):
        store.mark(act(LATER), stored.id, "harmful", reason=reason)
    assert len(nearest(store, axis(0), known)) == 2
    warning = store.mark(act(LATER), stored.id, "harmful", reason="crowded")
    assert warning.content == ("ANTI-PATTERN: Do NOT Book early. This caused problems because: slow; dear; crowded")
    assert set(keyword(store, *terms("crowded"))) == set(keyword(store, *terms("early"))) == {stored.id}
    assert [each.text for each in store.unembedded(9)] == [warning.content]
    assert set(nearest(store, axis(0), known)) == {kept.id}
    again = embed_all(store, {stored.id: axis(1)})
    assert set(nearest(store, axis(1), again | known)) == {stored.id, kept.id}
    assert [each.memory_id for each in store.events(CALLER, event_type="rule_inverted")] == [stored.id]
    assert store.health().problems == ()


def test_a_vector_of_the_old_words_that_arrives_late_is_left(store):
    [stored] = put(store, [rule("Book early.")])
    store.use_embedder("test:axes", 4)
    [waiting] = store.unembedded(9)
    for _ in range(3):
        store.mark(act(LATER), stored.id, "harmful")
    store.attach([waiting.ref], axis(0)[None, :])
    [still] = store.unembedded(9)
    assert still.text.startswith("ANTI-PATTERN: ")


def test_a_warning_keeps_its_links_its_record_and_whatever_named_it(store):
    [stored, other] = put(store, [rule("Book early."), fact("bread")])
    store.link(act(), link(other, stored, "supports"))
    for _ in range(3):
        store.mark(act(LATER), stored.id, "harmful")
    assert [each.source_id for each in store.links(CALLER, stored.id)] == [other.id]
    assert len(store.applications(CALLER, stored.id, 9)) == 3
    assert store.erase(act(LATER), [stored.id]) == [stored.id]
    assert store.applications(CALLER, stored.id, 9) == []
    assert store.health().problems == ()


@pytest.mark.parametrize("outcome", OUTCOMES)
@pytest.mark.parametrize(
    "made",
    [episode("Said."), fact("bread"), rule("Gone.", metadata={"forgotten": True}, invalidated_at=NOON)],
    ids=["episode", "fact", "forgotten"],
)
def test_only_a_rule_that_is_there_is_marked(store, made, outcome):
    [stored] = put(store, [made])
    before = store.events(CALLER)
    with pytest.raises(InvalidInput, match=stored.id):
        store.mark(act(LATER), stored.id, outcome)
    assert (store.get(CALLER, [stored.id]), store.events(CALLER)) == ([stored], before)
    assert store.applications(CALLER, stored.id, 9) == []


@pytest.mark.req("B29.2", "N12")
@pytest.mark.parametrize("stranger", [Caller(agent="other"), Caller(tenant_id="other", agent="aide")])
def test_a_stranger_marks_nothing_and_reads_no_record(store, stranger):
    [stored] = put(store, [rule("Mine.", scope="aide")])
    assert store.mark(act(LATER, stranger), stored.id, "harmful") is None
    marked = store.mark(act(LATER), stored.id, "helpful")
    assert store.applications(stranger, stored.id, 9) == []
    assert store.get(CALLER, [stored.id]) == [marked]


def test_of_marks_that_meet_in_threads_none_is_lost(store):
    [stored] = put(store, [rule("Book early.")])

    def mark(outcome):
        for _ in range(15):
            store.mark(act(LATER), stored.id, outcome)

    run_together(mark, OUTCOMES * 2)
    [found] = store.get(CALLER, [stored.id])
    assert (found.applied_count, found.success_count, found.harmful_count) == (60, 30, 30)
    outcomes = Counter(each.outcome for each in store.applications(CALLER, stored.id, 100))
    assert outcomes == {"helpful": 30, "harmful": 30}


def test_a_rule_that_is_only_marked_keeps_its_ref(store):
    """What a search has just found can be loaded."""
    [stored] = put(store, [rule("Book early.")])
    known = refs(store)
    store.mark(act(LATER), stored.id, "helpful")
    assert refs(store) == known
