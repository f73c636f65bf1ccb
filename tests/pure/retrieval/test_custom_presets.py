import math

import pytest

from engrain.errors import InvalidInput
from engrain.retrieval.custom_presets import add_custom, apply_weights
from engrain.retrieval.presets import ENGRAIN, PRESETS


def str_of(value):
    return f"{value!r}"[:20] if not isinstance(value, int) or value < 10 else "huge"


def mine(**value):
    return add_custom({"mine": value})["mine"]


def test_without_settings_there_are_those_that_ship():
    assert add_custom({}) == PRESETS


def test_a_preset_of_ones_own_is_its_base_with_other_weights():
    found = mine(base="engrain", weights={"keyword": 1.2, "session": 0, "entity": 0.1})
    kept = {name: weight for name, weight in ENGRAIN.weights.items() if name != "session"}
    assert found.weights == {**kept, "keyword": 1.2, "entity": 0.1}
    assert (found.name, found.fusion, found.depth) == ("mine", ENGRAIN.fusion, ENGRAIN.depth)
    assert add_custom({"mine": {}}).keys() == {*PRESETS, "mine"}


@pytest.mark.req("B23.1", "G15")
def test_the_weights_that_other_systems_have_by_default_are_those_that_ship():
    score = {"relevance": 0.4, "importance": 0.3, "recency": 0.2, "confidence": 0.1}
    assert apply_weights(score=score, hybrid={"recency": 0.3, "similarity": 0.5, "importance": 0.2}) == PRESETS


def test_their_weights_are_for_two_rankings_and_for_what_is_based_on_them():
    score = {"relevance": 0.8, "importance": 0.0, "recency": 0.5, "confidence": 0.1}
    shipped = apply_weights(score=score, hybrid={"recency": 0.0, "similarity": 2.0, "importance": 0.0})
    assert shipped["recall"].weights == {"vector": 0.4, "keyword": 0.4, "recency": 0.5, "confidence": 0.1}
    assert shipped["weighted"].weights == {"vector": 2.0}
    assert {**shipped, "recall": PRESETS["recall"], "weighted": PRESETS["weighted"]} == PRESETS
    based = add_custom({"mine": {"base": "recall", "weights": {"recency": 0}}}, shipped)["mine"]
    assert based.weights == {"vector": 0.4, "keyword": 0.4, "confidence": 0.1}


def test_weights_that_leave_nothing_to_find_are_refused():
    nothing = {"recency": 0.0, "similarity": 0.0, "importance": 0.0}
    score = {"relevance": 0.4, "importance": 0.3, "recency": 0.2, "confidence": 0.1}
    with pytest.raises(InvalidInput, match="preset weighted finds nothing"):
        apply_weights(score=score, hybrid=nothing)


def test_the_default_base_is_the_default_ranking():
    assert mine().weights == ENGRAIN.weights


@pytest.mark.req("B08.1")
def test_the_composite_score_takes_other_weights():
    found = mine(base="recall", weights={"importance": 0.1, "recency": 0.4}, min_confidence=0.5)
    assert found.weights == {"vector": 0.2, "keyword": 0.2, "importance": 0.1, "recency": 0.4, "confidence": 0.1}
    assert found.min_confidence == 0.5


@pytest.mark.parametrize(
    "weight", [-0.1, math.nan, math.inf, -math.inf, True, "1", None, [1], 10**400, 10**5_000], ids=str_of
)
def test_a_weight_that_is_none_is_refused_with_its_preset_and_channel(weight):
    with pytest.raises(
        InvalidInput, match=r"preset mine: the weight of keyword (must be a finite number|is .*; it must lie in \[0)"
    ):
        mine(weights={"keyword": weight})


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"base": "engrian"}, "base of preset mine 'engrian' is unknown; did you mean engrain?"),
        ({"base": 7}, "base of preset mine must be text, not int; known are: engrain, semantic"),
        ({"weights": {"keywords": 1}}, "channel of preset mine 'keywords' is unknown; did you mean keyword?"),
        ({"weight": {}}, "key of preset mine 'weight' is unknown; did you mean weights?"),
        ({"weights": [1]}, "weights of preset mine must map channels to numbers, not list"),
        ({"weights": {"vector": 0, "keyword": 0}}, "preset mine finds nothing: give one of these a weight above 0"),
        ({"base": "notes", "weights": {"keyword": 0}}, "preset mine finds nothing"),
        ({"min_confidence": 2}, r"min_confidence of preset mine is 2; it must lie in \[0, 1\]"),
        ("engrain", "preset mine must be a mapping"),
    ],
)
def test_what_makes_no_preset_is_refused(value, said):
    with pytest.raises(InvalidInput, match=said):
        add_custom({"mine": value})


def test_the_name_of_one_that_ships_is_taken():
    with pytest.raises(InvalidInput, match="preset engrain is one that ships; choose another name"):
        add_custom({"engrain": {"weights": {"session": 0}}})
