from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engrain.domain.memories import importance
from tests.support.sample_records import NOON, episode, rule

PHRASES = st.sampled_from([phrase for _, phrases in importance.SIGNALS for phrase in phrases])
TEXTS = st.text(max_size=40) | st.lists(PHRASES | st.text(max_size=10), max_size=6).map(" ".join)
ROLES = st.sampled_from(["user", "assistant", "tool", "system"])
DAYS = st.floats(-1_000, 10_000)


def heard(content, *, role="user", days_ago=30, **changes):
    at = NOON - timedelta(days=days_ago)
    return episode(content, role=role, event_time=at, created_at=at, **changes)


@pytest.mark.req("G12")
@pytest.mark.parametrize(
    ("content", "role", "worth"),
    [
        ("The tram was late.", "user", 5.0),
        ("My name is Ana.", "user", 8.0),
        ("I prefer trams; remember that.", "user", 8.0),
        ("I will call.", "user", 7.0),
        ("LET\N{RIGHT SINGLE QUOTATION MARK}S DO it.", "user", 7.0),
        ("I prefer the early one, so we decided.", "user", 10.0),
        ("exit status 1", "tool", 6.0),
        ("I prefer the early one, so we decided.", "tool", 10.0),
        ("Undecided: Hawaii will do.", "user", 5.0),
    ],
)
def test_what_is_said_decides_what_it_is_worth(content, role, worth):
    assert importance.importance_of(content, role=role) == worth


@pytest.mark.req("G12")
@pytest.mark.parametrize(
    ("days_ago", "references", "worth"),
    [(0, 0, 7.0), (1, 0, 6.0), (1.5, 0, 5.5), (2, 0, 5.0), (400, 0, 5.0), (30, 1, 5.2), (30, 5, 6.0), (30, 900, 6.0)],
)
def test_what_is_new_or_asked_for_is_worth_more_now(days_ago, references, worth):
    memory = heard("The tram was late.", days_ago=days_ago, reference_count=references)
    assert importance.current(memory, NOON) == pytest.approx(worth)


def test_a_rule_is_worth_what_the_middle_is():
    assert importance.current(rule(created_at=NOON - timedelta(days=30)), NOON) == importance.PLAIN


@given(TEXTS, ROLES, st.floats(0, 10), st.integers(0, 10**9), DAYS)
def test_it_stays_on_the_scale(content, role, given_, references, days_ago):
    assert 0 <= importance.importance_of(content, role=role) <= 10
    memory = heard(content, role=role, importance=given_, reference_count=references, days_ago=days_ago)
    assert 0 <= importance.current(memory, NOON) <= 10


@given(TEXTS, PHRASES, ROLES)
def test_one_more_signal_never_makes_it_worth_less(content, phrase, role):
    assert importance.importance_of(f"{content} {phrase}", role=role) >= importance.importance_of(content, role=role)
    assert importance.importance_of(content, role="tool") >= importance.importance_of(content, role=role)


@given(DAYS, st.floats(0, 1_000), st.integers(0, 100), st.integers(0, 100))
def test_age_takes_away_and_references_add(days_ago, older, references, more):
    def worth(days, count):
        return importance.current(heard("x", days_ago=days, reference_count=count), NOON)

    assert worth(days_ago + older, references) <= worth(days_ago, references) <= worth(days_ago, references + more)
