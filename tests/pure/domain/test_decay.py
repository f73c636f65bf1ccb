"""Worth only falls with time, and where a memory should stand follows from it alone."""

import math
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engrain.domain.memories.decay import (
    ANCHORS,
    CURVES,
    DecayPolicy,
    age_multiplier,
    decayed_confidence,
    due_standing,
    standing,
)
from engrain.errors import InvalidInput
from tests.support.aging import with_standing
from tests.support.sample_records import NOON, fact, rule

POLICIES = st.builds(DecayPolicy, curve=st.sampled_from(CURVES), anchor=st.sampled_from(ANCHORS))
BY_CONFIRMATION, BY_ACCESS, BY_STEPS = DecayPolicy(), DecayPolicy(anchor="access"), DecayPolicy(curve="steps")
MOMENTS = st.none() | st.floats(-500, 5_000).map(lambda days: NOON - timedelta(days=days))


def aging(made):
    return st.builds(
        made,
        confidence=st.floats(0, 1),
        decay_rate=st.sampled_from([0.0, 0.002, 0.008, 0.03, 0.1]) | st.floats(0, 1),
        last_confirmed_at=MOMENTS,
        last_referenced_at=MOMENTS,
        metadata=st.sampled_from([{}, {"status": "fading"}, {"status": "draft"}, {"forgotten": True}]),
    )


AGING = aging(fact) | aging(rule)


def ago(days):
    return NOON - timedelta(days=days)


@given(AGING, POLICIES, st.floats(0, 1_000))
def test_worth_only_falls_and_lies_between_nothing_and_the_confidence(memory, policy, days):
    now, later = (
        decayed_confidence(memory, policy, now=NOON),
        decayed_confidence(memory, policy, now=NOON + timedelta(days=days)),
    )
    assert 0 <= later <= now <= memory.confidence


@pytest.mark.req("B09.1", "Y11")
@given(AGING, POLICIES)
def test_what_has_no_rate_is_never_due(memory, policy):
    assert due_standing(replace(memory, decay_rate=0.0), policy, now=NOON) is None


@given(AGING, POLICIES)
def test_a_memory_that_stands_as_it_should_is_not_due_again(memory, policy):
    """A second sweep changes nothing."""
    to = due_standing(memory, policy, now=NOON)
    if to is not None:
        assert standing(memory, NOON) != to
        assert due_standing(with_standing(memory, to, NOON), policy, now=NOON) is None


@pytest.mark.req("B02.4", "B02.5", "B09.3", "N17")
@pytest.mark.parametrize("made", [fact, rule])
@pytest.mark.parametrize(
    ("left", "was", "to"),
    [
        (0.21, "active", None),
        (0.21, "fading", "active"),
        (0.19, "active", "fading"),
        (0.19, "fading", None),
        (0.051, "active", "fading"),
        (0.049, "active", "expired"),
        (0.049, "fading", "expired"),
    ],
)
def test_thresholds_part_active_from_fading_and_fading_from_expired(made, left, was, to):
    metadata = {"status": "fading"} if was == "fading" else {}
    memory = made(confidence=1.0, decay_rate=0.1, last_confirmed_at=ago(-math.log(left) / 0.1), metadata=metadata)
    assert due_standing(memory, BY_CONFIRMATION, now=NOON) == to


@pytest.mark.req("B02.5")
@pytest.mark.parametrize("to", ["active", "expired"])
@pytest.mark.parametrize("made", [fact, rule])
def test_a_status_of_its_host_comes_back_when_a_memory_fades_no_more(made, to):
    memory = made(metadata={"by": "Ana", "status": "draft"})
    fading = with_standing(memory, "fading", NOON)
    assert fading.metadata["status"] == "fading"
    assert with_standing(fading, "fading", NOON) == fading
    after = with_standing(fading, to, NOON).metadata
    assert {key: after[key] for key in memory.metadata} == memory.metadata
    assert set(after) <= {"by", "status", "forgotten"}


@pytest.mark.req("B09.3")
@pytest.mark.parametrize(("confidence", "to"), [(0.2, None), (0.05, "fading")])
def test_a_threshold_itself_is_not_below_it(confidence, to):
    memory = fact(confidence=confidence, last_confirmed_at=NOON)
    assert due_standing(memory, BY_CONFIRMATION, now=NOON) == to


@pytest.mark.req("B09.2")
@given(POLICIES)
def test_what_nobody_ever_stood_by_is_worth_nothing(policy):
    assert decayed_confidence(fact(), policy, now=NOON) == 0.0
    assert due_standing(fact(), policy, now=NOON) == "expired"


@pytest.mark.parametrize(
    "memory", [fact(validity="superseded"), fact(validity="retracted"), rule(metadata={"forgotten": True})]
)
def test_what_is_no_longer_live_is_not_due(memory):
    assert due_standing(memory, BY_CONFIRMATION, now=NOON) is None


@given(st.floats(0, 1), st.floats(0.001, 1), st.floats(0, 1_000))
def test_a_clock_that_goes_backwards_takes_nothing(confidence, rate, days):
    memory = fact(confidence=confidence, decay_rate=rate, last_confirmed_at=NOON + timedelta(days=days))
    assert decayed_confidence(memory, BY_CONFIRMATION, now=NOON) == confidence


@pytest.mark.req("Y11")
@given(st.floats(0, 1), st.floats(0.001, 1), st.floats(0, 400), st.floats(0, 400))
def test_by_access_days_count_from_the_last_use(confidence, rate, confirmed, referenced):
    memory = fact(
        confidence=confidence, decay_rate=rate, last_confirmed_at=ago(confirmed), last_referenced_at=ago(referenced)
    )
    expected = confidence * math.exp(-rate * min(confirmed, referenced))
    assert decayed_confidence(memory, BY_ACCESS, now=NOON) == pytest.approx(expected, abs=1e-9)
    assert decayed_confidence(replace(memory, last_referenced_at=None), BY_ACCESS, now=NOON) == decayed_confidence(
        memory, BY_CONFIRMATION, now=NOON
    )


@pytest.mark.req("C08")
@given(st.floats(0, 1), st.floats(0, 400))
def test_in_steps_worth_follows_the_age_and_keeps_two_fifths(confidence, days):
    memory = fact(confidence=confidence, last_confirmed_at=ago(days))
    left = decayed_confidence(memory, BY_STEPS, now=NOON)
    assert left == confidence * age_multiplier(ago(days), now=NOON)
    assert left >= 0.4 * confidence
    assert decayed_confidence(replace(memory, decay_rate=0.0), BY_STEPS, now=NOON) == confidence


@pytest.mark.parametrize(
    ("fading", "expired"), [(0.05, 0.2), (0.2, 0.2), (0.2, -0.1), (1.1, 0.05), (math.nan, 0.05), (0.2, math.nan)]
)
def test_thresholds_that_leave_nothing_to_fade_are_refused(fading, expired):
    with pytest.raises(InvalidInput, match=r"decay.expired_below must be less than decay.fading_below"):
        DecayPolicy(fading_below=fading, expired_below=expired)
