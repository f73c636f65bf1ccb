"""Each measure against a value worked out by hand, and what holds for every ranking."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.retrieval import measures

RANKED = list("abcdefghijkl")  # a is first, l is twelfth

rankings = st.lists(st.integers(0, 60), unique=True, max_size=60)
golds = st.sets(st.integers(0, 60), min_size=1, max_size=8)


@pytest.mark.parametrize(
    ("gold", "k", "recall", "any_", "all_"),
    [
        ({"b", "k"}, 5, 0.5, 1, 0),  # b is second, k eleventh
        ({"b", "k"}, 10, 0.5, 1, 0),
        ({"b", "k"}, 20, 1, 1, 1),
        ({"e"}, 5, 1, 1, 1),  # the last place that counts
        ({"f"}, 5, 0, 0, 0),  # the first that does not
        ({"a", "b", "z"}, 5, 2 / 3, 1, 0),  # z was not found at all
    ],
)
def test_recall_of_a_share_of_any_and_of_all(gold, k, recall, any_, all_):
    assert measures.recall(RANKED, gold, k) == pytest.approx(recall)
    assert measures.recall_any(RANKED, gold, k) == any_
    assert measures.recall_all(RANKED, gold, k) == all_


@pytest.mark.parametrize(("gold", "expected"), [({"a"}, 1), ({"d", "g"}, 1 / 4), ({"l"}, 1 / 12), ({"z"}, 0)])
def test_reciprocal_rank_is_of_the_first_of_the_gold(gold, expected):
    assert measures.reciprocal_rank(RANKED, gold) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("gold", "expected"),
    [
        ({"a"}, 1),
        ({"c"}, 0.5),  # 1 / log2(4), and the best is 1 / log2(2)
        ({"a", "b"}, 1),
        ({"b", "g"}, (0.6309297535714575 + 1 / 3) / (1 + 0.6309297535714575)),  # places 2 and 7 for places 1 and 2
        ({"a", "k"}, 1 / (1 + 0.6309297535714575)),  # eleventh is past ten
        ({"z"}, 0),
    ],
)
def test_ndcg_is_gain_over_the_best_gain(gold, expected):
    assert measures.ndcg(RANKED, gold, 10) == pytest.approx(expected)


def test_ndcg_of_more_gold_than_places_can_be_perfect():
    assert measures.ndcg(RANKED, set(RANKED), 10) == pytest.approx(1)


def test_an_empty_ranking_finds_nothing():
    assert set(measures.judge([], {"a"}).values()) == {0}


def test_a_judgement_has_every_measure_at_every_depth():
    assert list(measures.judge(RANKED, {"b"})) == [
        *(f"{name}@{k}" for name in ("recall", "recall_any", "recall_all") for k in (5, 10, 20, 50)),
        "mrr",
        "ndcg@10",
    ]


def test_every_question_counts_the_same_in_the_mean():
    one, other = measures.judge(["a"], {"a"}), measures.judge(["a"], {"a", "b", "c", "d"})
    assert measures.mean([one, other])["recall@5"] == pytest.approx((1 + 0.25) / 2)
    assert measures.mean([one, one, other])["recall@5"] == pytest.approx((1 + 1 + 0.25) / 3)
    assert measures.mean([]) == {}


@pytest.mark.parametrize(("share", "expected"), [(0.5, 3), (0.95, 5), (0.8, 4), (0.81, 5), (0, 1), (1, 5)])
def test_percentile_is_a_value_that_was_there(share, expected):
    assert measures.percentile([5, 1, 3, 2, 4], share) == expected


def test_a_session_stands_where_its_best_turn_does():
    found = [("s2", 4), ("s1", 1), ("s2", 1), ("s3", 9), ("s1", 2)]
    assert measures.first_appearances(session for session, _ in found) == ["s2", "s1", "s3"]


@given(rankings, golds)
def test_measures_stay_within_bounds_and_grow_with_depth(ranked, gold):
    judged = measures.judge(ranked, gold)
    assert all(0 <= value <= 1 + 1e-12 for value in judged.values())
    for name in ("recall", "recall_any", "recall_all"):
        by_depth = [judged[f"{name}@{k}"] for k in measures.DEPTHS]
        assert by_depth == sorted(by_depth)
    for k in measures.DEPTHS:
        assert judged[f"recall_all@{k}"] <= judged[f"recall@{k}"] <= judged[f"recall_any@{k}"]


@given(rankings, golds)
def test_gold_first_is_the_best_order_there_is(ranked, gold):
    best = sorted(ranked, key=lambda each: each not in gold)
    judged, ideal = measures.judge(ranked, gold), measures.judge(best, gold)
    assert all(ideal[name] >= judged[name] - 1e-12 for name in judged)
    if gold <= set(ranked):
        assert ideal["mrr"] == 1
        assert ideal["ndcg@10"] == pytest.approx(1)


@given(rankings, golds, st.integers(1, 59))
def test_moving_a_piece_of_gold_up_never_lowers_a_measure(ranked, gold, place):
    if place >= len(ranked) or ranked[place] not in gold:
        return
    moved = [*ranked[: place - 1], ranked[place], ranked[place - 1], *ranked[place + 1 :]]
    before, after = measures.judge(ranked, gold), measures.judge(moved, gold)
    assert all(after[name] >= before[name] - 1e-12 for name in before)


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=50))
def test_half_of_the_values_do_not_exceed_the_median(values):
    middle = measures.percentile(values, 0.5)
    assert sum(value <= middle for value in values) >= math.ceil(len(values) / 2)
    assert sum(value < middle for value in values) < len(values) / 2 + 1e-9
