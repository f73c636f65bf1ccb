from dataclasses import fields, replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engrain.domain.query import Filter, matches
from tests.sample_records import EPISODES, FACTS, FILTERS, MEMORIES, MOMENTS, NOON, episode, fact

CONDITIONS = [each.name for each in fields(Filter)]
OF_EPISODES_ALONE = ["sessions", "roles", "speakers"]


def only(filter_, *names):
    """The filter with these conditions and no others."""
    return Filter(**{name: getattr(filter_, name) for name in names})


@given(MEMORIES, MOMENTS)
def test_an_empty_filter_lets_every_live_memory_through_and_no_other(memory, now):
    assert matches(Filter(), memory, now) == memory.is_live(now)


@given(FILTERS, MEMORIES, MOMENTS)
def test_a_filter_is_all_of_its_conditions(filter_, memory, now):
    each_alone = [matches(only(filter_, name), memory, now) for name in CONDITIONS]
    assert matches(filter_, memory, now) == all(each_alone)


@given(FILTERS, MEMORIES, MOMENTS, st.sampled_from(CONDITIONS))
def test_dropping_a_condition_loses_nothing(filter_, memory, now, name):
    wider = replace(filter_, **{name: getattr(Filter(), name)})
    assert matches(wider, memory, now) >= matches(filter_, memory, now)


@given(FILTERS, FACTS, MOMENTS)
def test_a_fact_passes_only_where_nothing_is_asked_that_only_episodes_have(filter_, memory, now):
    if any(getattr(filter_, name) for name in OF_EPISODES_ALONE):
        assert not matches(filter_, memory, now)


@given(MEMORIES, MOMENTS, MOMENTS)
def test_time_is_half_open(memory, since, until):
    alive = NOON - timedelta(days=99)
    found = matches(Filter(since=since, until=until), memory, alive)
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
    for memory in (episode(tags=("travel", "work")), fact(tags=("travel", "work"))):
        assert matches(Filter(tags=tags), memory, NOON) == passes


def test_of_sessions_roles_and_speakers_one_is_enough():
    turn = episode(session="monday", role="tool", speaker="Ana")
    assert matches(Filter(sessions=("friday", "monday")), turn, NOON)
    assert matches(Filter(roles=("user", "tool")), turn, NOON)
    assert matches(Filter(speakers=("Ben", "Ana")), turn, NOON)
    assert not matches(Filter(sessions=("monday",), speakers=("Ben",)), turn, NOON)


def test_excluding_a_session_keeps_what_has_none():
    without_monday = Filter(exclude_sessions=("monday",))
    assert not matches(without_monday, episode(session="monday"), NOON)
    assert matches(without_monday, episode(session="friday"), NOON)
    assert matches(without_monday, episode(session=None), NOON)
    assert matches(without_monday, fact(), NOON)


def test_a_memory_is_gone_at_the_moment_it_expires():
    turn = episode(expires_at=NOON)
    assert matches(Filter(), turn, NOON - timedelta(microseconds=1))
    assert not matches(Filter(), turn, NOON)


@given(FILTERS)
def test_a_filter_is_narrow_when_it_asks_for_more_than_a_kind(filter_):
    assert filter_.is_narrow == any(getattr(filter_, name) for name in CONDITIONS if name != "kinds")
