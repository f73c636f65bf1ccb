import math
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engrain.domain.memories.decay import age_multiplier, days_between, effective_confidence, recency
from tests.support.sample_records import NOON

DAYS = st.floats(-1_000, 10_000)
AHEAD = st.floats(0, 1_000)


def ago(days):
    return NOON - timedelta(days=days)


@pytest.mark.req("B09.1")
@given(st.floats(0, 1), DAYS)
def test_what_has_no_rate_never_fades(confidence, days):
    assert effective_confidence(confidence, 0.0, ago(days), now=NOON) == confidence


@pytest.mark.req("B09.2")
@given(st.floats(0, 1), st.floats(0, 1))
def test_what_nobody_confirmed_counts_nothing(confidence, rate):
    assert effective_confidence(confidence, rate, None, now=NOON) == 0.0


@pytest.mark.parametrize(
    ("confidence", "rate", "days", "left"),
    [(1.0, 0.008, 100, math.exp(-0.8)), (0.5, 0.1, 10, 0.5 * math.exp(-1)), (1.0, 0.03, 0.5, math.exp(-0.015))],
)
def test_confidence_fades_by_the_day(confidence, rate, days, left):
    assert effective_confidence(confidence, rate, ago(days), now=NOON) == pytest.approx(left)


@given(st.floats(0, 1), st.floats(0, 1), DAYS, AHEAD)
def test_confidence_only_falls_and_stays_within_what_it_was(confidence, rate, days, more):
    earlier = effective_confidence(confidence, rate, ago(days), now=NOON)
    later = effective_confidence(confidence, rate, ago(days), now=NOON + timedelta(days=more))
    assert 0 <= later <= earlier <= confidence


@pytest.mark.req("B08.2")
@pytest.mark.parametrize(("days", "left"), [(0, 1.0), (7, 0.5), (14, 0.25), (3.5, 2**-0.5), (-3, 1.0)])
def test_recency_halves_every_week(days, left):
    assert recency(ago(days), now=NOON) == pytest.approx(left)


@pytest.mark.req("B08.2")
@given(DAYS)
def test_recency_lies_between_nothing_and_one(days):
    assert 0 <= recency(ago(days), now=NOON) <= 1
    assert recency(None, now=NOON) == 0.0


@pytest.mark.req("C08")
@pytest.mark.parametrize(
    ("days", "left"), [(0, 1.0), (6.99, 1.0), (7, 0.8), (29.99, 0.8), (30, 0.6), (89.99, 0.6), (90, 0.4), (9_999, 0.4)]
)
def test_age_counts_in_steps_and_never_below_the_last(days, left):
    assert age_multiplier(ago(days), now=NOON) == left


def test_days_have_fractions_and_a_sign():
    assert days_between(NOON, NOON + timedelta(hours=36)) == 1.5
    assert days_between(NOON + timedelta(hours=36), NOON) == -1.5
