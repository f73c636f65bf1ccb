"""Equivalence of texts and predicates: the same said otherwise, and the opposite in nearly the same words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engrain.learning.consolidation.equivalence import are_equivalent, are_similar_predicates


@pytest.mark.req("Y09")
@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("green tea in the morning", "In the morning, green tea!", True),
        ("works as a senior engineer for Acme", "senior engineer working for Acme", True),
        ("plays the cello in an orchestra downtown", "plays cello in the city orchestra downtown", True),  # 4 of 5
        ("plays the cello in an orchestra", "plays the cello at home", False),  # 2 of 4
        ("Lisbon", "Porto", False),
        ("likes coffee", "does not like coffee", False),
        ("likes coffee with milk and sugar", "likes coffee with milk and sugar no longer", False),
        ("has 2 cats, both grey and old", "has 3 cats, both grey and old", False),
        (
            "meets the team every Monday morning at the office",
            "meets the team every Friday morning at the office",
            False,
        ),
        ("\u6211\u4f4f\u5728\u91cc\u65af\u672c", "\u6211\u4f4f\u5728\u91cc\u65af\u672c\u3002", True),
        ("", "", True),
    ],
)
def test_two_texts_say_the_same_where_they_share_three_quarters_and_nothing_turns_one_around(one, other, same):
    assert are_equivalent(one, other) is same
    assert are_equivalent(other, one) is same


@pytest.mark.req("Y10")
@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("lives in", "is living in", True),
        ("lives_in", "currently lives in", True),
        ("favourite colour", "favorite color", False),
        ("favourite colour", "favourite colours", True),
        ("lives in", "lives with", False),
        ("works at", "works on", False),
        ("likes", "dislikes", False),
        ("father", "grandfather", False),
        ("is", "has", False),  # nothing is left to compare
    ],
)
def test_predicates_are_alike_where_they_name_one_relation(one, other, alike):
    assert are_similar_predicates(one, other) is alike
    assert are_similar_predicates(other, one) is alike


@given(st.text())
def test_everything_says_the_same_as_itself(text):
    assert are_equivalent(text, f"  {text}\n")
