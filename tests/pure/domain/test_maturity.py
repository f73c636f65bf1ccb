"""What outcomes make of a rule: helps raise it, harms weigh four times as much, and the worst become warnings."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engrain.config.tree import Maturity
from engrain.domain.records import MATURITIES
from engrain.domain.rules.maturity import (
    DEFAULT_THRESHOLDS,
    OUTCOMES,
    Thresholds,
    apply_outcome,
    demote,
    effectiveness_after_harm,
    effectiveness_after_help,
    is_warning,
    promote,
)
from tests.support.sample_records import NOON, rule

COUNTS = st.integers(0, 10_000)
LATER = NOON + timedelta(days=40)
ORDER = ("candidate", "established", "proven")
TRUSTED = st.sampled_from(ORDER)
SHARES = st.floats(0, 1)


def after(outcomes, made=None, at=LATER, reason=None, thresholds=DEFAULT_THRESHOLDS):
    found = made or rule("Book early.")
    for outcome in outcomes:
        found = apply_outcome(found, outcome, reason=reason, at=at, thresholds=thresholds)
    return found


@pytest.mark.req("B21.1")
@given(COUNTS, COUNTS)
def test_after_a_help_effectiveness_is_the_share_that_helped(successes, others):
    found = effectiveness_after_help(successes + 1, successes + 1 + others)
    assert found == (successes + 1) / (successes + 1 + others)
    assert 0 < found <= 1
    assert effectiveness_after_help(successes + 2, successes + 2 + others) >= found


@pytest.mark.req("B21.2", "N09")
@given(COUNTS, COUNTS)
def test_after_a_harm_effectiveness_is_bounded_rises_with_helps_and_falls_with_harms(successes, harms):
    found = effectiveness_after_harm(successes, harms)
    assert found == successes / (successes + 4 * harms + 0.01)
    assert 0 <= found < 1
    assert effectiveness_after_harm(successes + 1, harms) >= found >= effectiveness_after_harm(successes, harms + 1)


@pytest.mark.req("N09")
@given(st.integers(1, 10_000), st.integers(1, 10_000))
def test_one_harm_weighs_as_much_as_four_helps(helps, harms):
    assert effectiveness_after_harm(4 * helps * harms, helps * harms) == pytest.approx(0.5, abs=0.01)


@pytest.mark.req("B03.1", "B03.2")
@given(TRUSTED, *[st.tuples(COUNTS, SHARES, st.floats(0, 100))] * 2)
def test_more_help_never_earns_less(maturity, one, other):
    def earned(successes, share, days):
        return promote(maturity, success_count=successes, effectiveness=share, age_days=days)

    less, most = (earned(*map(choose, one, other)) for choose in (min, max))
    assert ORDER.index(maturity) <= ORDER.index(less) <= ORDER.index(most) <= ORDER.index(maturity) + 1


@pytest.mark.req("B03.3", "B03.4")
@given(TRUSTED, SHARES, SHARES)
def test_less_effect_never_keeps_more(maturity, share, other):
    low, high = sorted((share, other))
    upper, lower = demote(maturity, effectiveness=high), demote(maturity, effectiveness=low)
    assert ORDER.index(lower) <= ORDER.index(upper) <= ORDER.index(maturity)


@pytest.mark.req("B03.1")
@pytest.mark.parametrize(
    ("successes", "share", "expected"), [(5, 0.6, "established"), (4, 1.0, "candidate"), (5, 0.599, "candidate")]
)
def test_a_candidate_is_established_by_five_successes_that_mostly_help(successes, share, expected):
    assert promote("candidate", success_count=successes, effectiveness=share, age_days=0) == expected


@pytest.mark.req("B03.2")
@pytest.mark.parametrize(
    ("successes", "share", "days", "expected"),
    [
        (15, 0.8, 30, "proven"),
        (14, 1.0, 99, "established"),
        (15, 0.799, 99, "established"),
        (99, 1.0, 29.9, "established"),
    ],
)
def test_an_established_rule_is_proven_by_fifteen_successes_in_a_month(successes, share, days, expected):
    assert promote("established", success_count=successes, effectiveness=share, age_days=days) == expected


@pytest.mark.req("B03.3", "B03.4")
@pytest.mark.parametrize(
    ("maturity", "share", "expected"),
    [
        ("established", 0.6, "established"),
        ("established", 0.599, "candidate"),
        ("proven", 0.8, "proven"),
        ("proven", 0.799, "established"),
        ("proven", 0.1, "established"),
    ],
)
def test_who_falls_below_what_it_earned_goes_one_step_down(maturity, share, expected):
    assert demote(maturity, effectiveness=share) == expected


@pytest.mark.req("N18")
def test_what_a_rule_has_to_show_can_be_said():
    found = Thresholds(
        established_successes=2,
        established_effectiveness=0.5,
        proven_successes=3,
        proven_effectiveness=0.7,
        proven_days=1,
        warning_harms=2,
        warning_effectiveness=0.5,
    )
    young = NOON + timedelta(days=0.9)
    assert after(["helpful"] * 2, thresholds=found).maturity == "established"
    assert after(["helpful"], thresholds=found).maturity == "candidate"
    assert after(["helpful"] * 3, thresholds=found).maturity == "proven"
    assert after(["helpful"] * 3, at=young, thresholds=found).maturity == "established"
    assert after([*["helpful"] * 10, "harmful"], thresholds=found).maturity == "proven"  # 0.71
    assert after([*["helpful"] * 9, "harmful"], thresholds=found).maturity == "established"  # 0.69
    assert after([*["helpful"] * 3, "harmful"], thresholds=found).maturity == "established"  # proven until 0.43
    assert after(["harmful"] * 2, thresholds=found).maturity == "anti_pattern"
    assert after([*["helpful"] * 3, "harmful"], at=young, thresholds=found).maturity == "candidate"  # 0.43


def test_the_settings_begin_where_the_rules_do():
    assert Thresholds(**Maturity().to_dict()) == Thresholds()


@given(st.sampled_from(["anti_pattern"]), COUNTS, SHARES)
def test_a_warning_stays_one(maturity, successes, share):
    assert promote(maturity, success_count=successes, effectiveness=share, age_days=999) == maturity
    assert demote(maturity, effectiveness=share) == maturity


@pytest.mark.req("B21.1", "B03.1")
def test_helps_are_counted_and_promote():
    found = after(["helpful"] * 5)
    assert (found.applied_count, found.success_count, found.harmful_count) == (5, 5, 0)
    assert (found.effectiveness_score, found.maturity) == (1.0, "established")
    assert found.last_applied_at == found.last_evaluated_at == LATER
    assert after(["helpful"] * 15).maturity == "proven"
    assert after(["helpful"] * 15, at=NOON + timedelta(days=29)).maturity == "established"


@pytest.mark.req("B21.2", "B03.3")
def test_a_harm_is_counted_fourfold_and_demotes():
    found = after([*["helpful"] * 5, "harmful"], reason="missed the train")
    assert (found.applied_count, found.success_count, found.harmful_count) == (6, 5, 1)
    assert (found.effectiveness_score, found.maturity) == (5 / 9.01, "candidate")
    assert found.metadata == {"harmful_reasons": ["missed the train"]}


@pytest.mark.req("B03.4")
def test_a_proven_rule_that_harms_is_established_again():
    assert after(["harmful"] * 2, after(["helpful"] * 24)).maturity == "established"


@pytest.mark.req("B03.5", "B21.3", "N17")
def test_the_third_harm_of_a_rule_that_never_helps_makes_it_a_warning():
    two = after(["harmful"] * 2, reason="slow")
    assert (two.maturity, two.content, "needs_inversion" in two.metadata) == ("candidate", "Book early.", False)
    three = apply_outcome(two, "harmful", reason="dear", at=LATER)
    assert three.maturity == "anti_pattern"
    assert three.content == "ANTI-PATTERN: Do NOT Book early. This caused problems because: slow; dear"
    assert three.metadata == {
        "harmful_reasons": ["slow", "slow", "dear"],
        "needs_inversion": True,
        "original_content": "Book early.",
    }


@pytest.mark.parametrize(
    ("content", "warned"),
    [
        ("Book early", "Do NOT Book early."),
        ("Book early!", "Do NOT Book early."),
        ("Nevertheless book early.", "Do NOT Nevertheless book early."),
        ("Never fly early.", 'Do NOT follow "Never fly early".'),
        ("Don't use tabs.", 'Do NOT follow "Don\'t use tabs".'),
        ("Do not use tabs", 'Do NOT follow "Do not use tabs".'),
        ("always book an aisle seat.", 'Do NOT follow "always book an aisle seat".'),
    ],
)
def test_a_warning_reads_as_a_sentence_whatever_the_rule_begins_with(content, warned):
    warning = after(["harmful"] * 3, rule(content), reason="It was slow.")
    assert warning.content == f"ANTI-PATTERN: {warned} This caused problems because: It was slow"
    assert warning.metadata["original_content"] == content


@pytest.mark.req("B21.3")
@pytest.mark.parametrize(
    ("harms", "share", "expected"), [(3, 0.299, True), (3, 0.3, False), (2, 0.0, False), (9, 0.0, True)]
)
def test_three_harms_and_little_effect_are_needed_for_that(harms, share, expected):
    assert is_warning(harms, share) is expected


@pytest.mark.req("B03.5")
def test_a_warning_is_counted_on_and_says_what_it_said():
    warning = after(["harmful"] * 3)
    assert warning.content.endswith("because: no reason was given")
    on = after(["harmful", "helpful"], warning, reason="again")
    assert (on.content, on.maturity, on.applied_count) == (warning.content, "anti_pattern", 5)
    assert on.metadata["original_content"] == "Book early."


@pytest.mark.parametrize("reasons", ["slow", 7, {"a": 1}])
def test_whatever_somebody_keeps_under_the_name_stays_beside_the_reasons(reasons):
    marked = apply_outcome(rule(metadata={"harmful_reasons": reasons}), "harmful", reason="dear", at=LATER)
    assert marked.metadata["harmful_reasons"] == [reasons, "dear"]


@pytest.mark.req("B21.1", "B21.2", "N09")
@given(st.lists(st.sampled_from(OUTCOMES), max_size=40))
def test_counts_add_up_and_only_what_outcomes_decide_changes(outcomes):
    made = rule("Book early.", confidence=0.4, tags=("travel",))
    found = after(outcomes, made)
    assert found.applied_count == len(outcomes) == found.success_count + found.harmful_count
    assert found.success_count == outcomes.count("helpful")
    assert 0 <= found.effectiveness_score <= 1
    assert found.maturity in MATURITIES
    unchanged = {
        name: getattr(made, name) for name in ("id", "scope", "confidence", "decay_rate", "tags", "created_at")
    }
    assert replace(found, **unchanged) == found
