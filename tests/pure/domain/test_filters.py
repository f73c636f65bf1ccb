from dataclasses import fields, replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engrain.domain.filters import Filter, is_hidden
from tests.support.reference_filters import matches
from tests.support.sample_records import EPISODES, FACTS, FILTERS, MEMORIES, MOMENTS, NOON, RULES, episode, fact, rule

CONDITIONS = [field.name for field in fields(Filter)]
OF_EPISODES_ALONE = ["sessions", "roles", "speakers"]
# Each condition by itself, together with those that say which memories are there at all.
PRESENCE = ("as_of", "valid_at", "include_inactive", "period")
APART = [(name, *PRESENCE) for name in CONDITIONS if name not in PRESENCE]


def only(filter_, *names):
    """The filter with these conditions and no others."""
    return Filter(**{name: getattr(filter_, name) for name in names})


@given(MEMORIES, MOMENTS)
def test_an_empty_filter_lets_every_live_memory_through_and_no_other(memory, now):
    assert matches(Filter(period="current"), memory, now) == memory.is_live(now)


@given(FILTERS, MEMORIES, MOMENTS)
def test_a_filter_is_all_of_its_conditions(filter_, memory, now):
    each_alone = [matches(only(filter_, *names), memory, now) for names in APART]
    assert matches(filter_, memory, now) == all(each_alone)


@given(FILTERS, MEMORIES, MOMENTS, st.sampled_from(CONDITIONS))
def test_dropping_a_condition_loses_nothing(filter_, memory, now, name):
    wider = replace(filter_, **{name: getattr(Filter(), name)})
    assert matches(wider, memory, now) >= matches(filter_, memory, now)


@given(FILTERS, MEMORIES, MOMENTS)
def test_asking_for_what_is_inactive_too_loses_nothing(filter_, memory, now):
    wider = replace(filter_, include_inactive=True)
    assert matches(wider, memory, now) >= matches(filter_, memory, now)


@given(MEMORIES, MOMENTS)
def test_all_there_ever_was_is_let_through_where_somebody_asks_for_it(memory, now):
    assert matches(Filter(include_inactive=True), memory, now)


@given(FILTERS, MEMORIES, MOMENTS, MOMENTS, MOMENTS)
def test_what_was_believed_then_depends_not_on_now_and_on_what_is_inactive_only_where_it_was_forgotten(
    filter_, memory, then, now, later
):
    filter_ = replace(filter_, as_of=then, include_inactive=False)
    result = matches(filter_, memory, now)
    assert matches(filter_, memory, later) == result
    assert not (is_hidden(memory) and result)
    if result:
        assert matches(replace(filter_, include_inactive=True), memory, now)


@given(MEMORIES, MOMENTS, MOMENTS)
def test_of_a_moment_what_was_believed_at_it_is_let_through(memory, then, now):
    assert matches(Filter(as_of=then, include_inactive=True), memory, now) == memory.was_believed(then)


@given(FILTERS, FACTS | RULES, MOMENTS)
def test_a_fact_or_rule_passes_only_where_nothing_is_asked_that_only_episodes_have(filter_, memory, now):
    if any(getattr(filter_, name) for name in OF_EPISODES_ALONE):
        assert not matches(filter_, memory, now)


@given(FILTERS, EPISODES | RULES, MOMENTS)
def test_only_a_fact_passes_where_a_subject_is_asked_for(filter_, memory, now):
    if filter_.subjects:
        assert not matches(filter_, memory, now)


@given(FACTS, MOMENTS)
def test_of_subjects_one_is_enough(memory, now):
    live = matches(Filter(), memory, now)
    assert matches(Filter(subjects=("Nobody", memory.subject)), memory, now) == live
    assert not matches(Filter(subjects=("Nobody",)), memory, now)


@given(MEMORIES, MOMENTS, MOMENTS)
def test_time_is_half_open(memory, since, until):
    alive = NOON - timedelta(days=99)
    found = matches(Filter(since=since, until=until, period="current"), memory, alive)
    assert found == (memory.is_live(alive) and since <= memory.happened_at < until)


@given(EPISODES, MOMENTS)
def test_the_first_moment_is_in_and_the_last_is_not(memory, now):
    happened = memory.event_time
    assert matches(Filter(since=happened), memory, now) == memory.is_live(now)
    assert not matches(Filter(until=happened), memory, now)


@pytest.mark.parametrize(
    ("tags", "passes"), [((), True), (("travel",), True), (("work", "travel"), True), (("travel", "food"), False)]
)
def test_all_tags_must_be_there(tags, passes):
    for memory in (made(tags=("travel", "work")) for made in (episode, fact, rule)):
        assert matches(Filter(tags=tags), memory, NOON) == passes


def test_of_sessions_roles_and_speakers_one_is_enough():
    turn = episode(session="monday", role="tool", speaker="Ana")
    assert matches(Filter(sessions=("friday", "monday")), turn, NOON)
    assert matches(Filter(roles=("user", "tool")), turn, NOON)
    assert matches(Filter(speakers=("Ben", "Ana")), turn, NOON)
    assert not matches(Filter(sessions=("monday",), speakers=("Ben",)), turn, NOON)


def test_of_subjects_and_predicates_one_is_enough_and_only_facts_have_them():
    stated = fact(subject="Ana", predicate="lives in")
    assert matches(Filter(subjects=("Ben", "Ana")), stated, NOON)
    assert matches(Filter(predicates=("works in", "lives in")), stated, NOON)
    assert not matches(Filter(subjects=("Ana",), predicates=("works in",)), stated, NOON)
    for other in (episode(speaker="Ana"), rule()):
        assert not matches(Filter(subjects=("Ana",)), other, NOON)
        assert not matches(Filter(predicates=("lives in",)), other, NOON)


def test_excluding_a_session_keeps_what_has_none():
    without_monday = Filter(exclude_sessions=("monday",))
    assert not matches(without_monday, episode(session="monday"), NOON)
    assert matches(without_monday, episode(session="friday"), NOON)
    assert matches(without_monday, episode(session=None), NOON)
    assert matches(without_monday, fact(), NOON)
    early = Filter(exclude_sessions=("monday",), exclude_from_turn=3)
    assert [matches(early, episode(session="monday", turn=turn), NOON) for turn in (2, 3, 4)] == [True, False, False]
    assert matches(early, episode(session="friday", turn=4), NOON)


def test_a_memory_is_gone_at_the_moment_it_expires():
    turn = episode(expires_at=NOON)
    assert matches(Filter(), turn, NOON - timedelta(microseconds=1))
    assert not matches(Filter(), turn, NOON)


@given(FILTERS)
def test_a_filter_is_narrow_when_it_asks_for_more_than_a_kind_and_a_scope(filter_):
    assert filter_.is_narrow == any(getattr(filter_, name) for name in CONDITIONS if name not in {"kinds", "scopes"})
