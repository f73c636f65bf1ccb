"""Batches: whole sessions in the order of their turns, and a long one up to a topic pause."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engrain.domain.runs.batches import choose_batch, find_pause
from tests.support.sample_records import NOON, episode

MUSIC = "I play the cello in an orchestra."
TRAMS = "The tram to Sintra leaves at nine."


def session(name, *contents, hours=0, minutes=1):
    """Turns that arrived at once, as an import stores them, a minute apart in the world."""
    at = NOON + timedelta(hours=hours)
    return [
        episode(content, session=name, turn=turn, event_time=at + timedelta(minutes=minutes * turn))
        for turn, content in enumerate(contents, 1)
    ]


def test_turns_that_arrived_at_once_stand_in_the_order_of_their_session():
    turns = session("s1", "Who are you?", "I am Ana.", "From where?", "From Porto.", minutes=0)
    assert choose_batch(sorted(turns, key=lambda turn: turn.content), 4) == turns


def test_sessions_are_whole_and_the_one_that_began_first_comes_first():
    first, second, third = (session(name, "a", "b", "c", hours=hour) for hour, name in enumerate("zyx"))
    assert choose_batch([*third, *second, *first], 9) == [*first, *second, *third]
    assert choose_batch([*third, *second, *first], 8) == [*first, *second]
    assert choose_batch([*third, *second, *first], 5) == first


def test_the_same_session_name_in_another_scope_is_another_session():
    mine = session("s", "a", "b")
    pools = [episode("c", session="s", scope="pool:team", turn=1, event_time=NOON)]
    assert choose_batch([*mine, *pools], 2) == pools


@pytest.mark.parametrize(
    ("turns", "most", "place"),
    [
        ([MUSIC] * 5 + [TRAMS] * 5, 6, 5),
        ([MUSIC] * 4 + [TRAMS] * 5, 8, 4),
        ([MUSIC] + [TRAMS] * 9, 8, 8),  # not so early: half of a batch at least
        ([MUSIC] * 9, 6, 6),
        (["Do you play?", "Yes."] * 5, 5, 4),  # a question stays with its answer
    ],
)
def test_a_long_session_is_cut_where_its_topic_changes(turns, most, place):
    assert find_pause(session("s", *turns), most) == place


def test_a_long_pause_is_a_better_place_than_any_change_of_words():
    turns = [*session("s", *[MUSIC] * 3), *session("s", MUSIC, TRAMS, TRAMS, TRAMS, hours=2)]
    assert find_pause(turns, 5) == 3


@given(
    st.lists(
        st.builds(
            episode,
            st.sampled_from([MUSIC, TRAMS, "Really?"]),
            session=st.none() | st.sampled_from("ab"),
            turn=st.integers(0, 30),
            created_at=st.integers(0, 3).map(lambda hours: NOON + timedelta(hours=hours)),
        ),
        min_size=1,
    ),
    st.integers(1, 9),
)
def test_all_that_waits_comes_to_its_turn_once_and_no_batch_is_too_long(due, limit):
    waiting, batches = list(due), []
    while waiting:
        batches.append(choose_batch(waiting, limit))
        assert 1 <= len(batches[-1]) <= limit
        waiting = [each for each in waiting if each not in batches[-1]]
    assert sorted(each.id for batch in batches for each in batch) == sorted(each.id for each in due)
