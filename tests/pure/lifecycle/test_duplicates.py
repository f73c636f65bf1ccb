from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engrain.domain.text.similarity import jaccard
from engrain.lifecycle.duplicates import (
    LEAST_COSINE,
    LEAST_JACCARD,
    build_sketch,
    find_duplicates,
    find_near_duplicates,
    measure_repetition,
)
from tests.support.sample_records import episode, fact, rule

TRAMS = "The early tram to the old harbour leaves from platform nine every morning"
STEMS = st.sampled_from("tram harbour bridge coffee river garden market violin ladder copper".split())
SAYINGS = st.lists(STEMS, min_size=1, max_size=9, unique=True).map(" ".join)


def direction(angle):
    return np.array([np.cos(angle), np.sin(angle)], np.float32)


def alike(*memories, vectors=None):
    pairs = find_near_duplicates(map(build_sketch, memories), vectors or {})
    return {(pair.first, pair.second) for pair in pairs}


@pytest.mark.parametrize("copy", [TRAMS.upper(), f"  {TRAMS.replace(' ', '  ')}.", f"{TRAMS}!"])
def test_case_spaces_and_the_last_stop_make_no_difference(copy):
    one, other = rule(TRAMS), rule(copy)
    assert find_duplicates(map(build_sketch, [one, other])) == [tuple(sorted([one.id, other.id]))]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (fact("Lisbon"), fact("Lisbon", subject="Ben")),
        (fact("Lisbon"), fact("Lisbon", predicate="was born in")),
        (fact("C"), fact("C++")),
        (rule(TRAMS), episode(TRAMS)),
        (episode("Thank you!"), episode("Thank you!")),
        (episode(TRAMS, speaker="Ana"), episode(TRAMS, speaker="Ben")),
        (episode(TRAMS, role="user"), episode(TRAMS, role="assistant")),
    ],
)
def test_what_says_something_else_is_no_duplicate(one, other):
    assert find_duplicates(map(build_sketch, [one, other])) == []
    assert alike(one, other) == set()


def test_one_word_more_is_nearly_the_same():
    one, other = rule(TRAMS), rule(f"{TRAMS} sharp")
    assert alike(one, other) == {(one.id, other.id)}
    assert alike(other, one) == alike(one, other)


@pytest.mark.parametrize(
    "other",
    [
        TRAMS.replace("leaves", "never leaves"),
        TRAMS.replace("leaves", "doesn't leave"),
        TRAMS.replace("nine", "9"),
        f"{TRAMS} at 7",
    ],
)
def test_numbers_and_denials_tell_memories_apart(other):
    assert alike(rule(TRAMS), rule(other)) == set()


def test_few_words_resemble_each_other_by_chance():
    assert alike(episode("see you soon at the tram"), episode("see you very soon at the tram")) == set()


def test_vectors_find_what_shares_fewer_words():
    one = rule("Ask Ana before booking early flights to distant cities")
    other = rule("Always ask Ana before booking early flights to remote cities")
    assert jaccard(build_sketch(one).stems, build_sketch(other).stems) < LEAST_JACCARD
    assert alike(one, other) == set()
    near = {one.id: direction(0.0), other.id: direction(np.arccos(LEAST_COSINE) - 0.01)}
    far = {one.id: direction(0.0), other.id: direction(np.arccos(LEAST_COSINE) + 0.01)}
    assert alike(one, other, vectors=near) == {(one.id, other.id)}
    assert alike(one, other, vectors=far) == set()


def test_vectors_alone_say_nothing():
    one, other = rule("The tram to the harbour is late"), rule("Ben plays violin in the market hall")
    assert alike(one, other, vectors={one.id: direction(0), other.id: direction(0)}) == set()


@given(st.lists(SAYINGS, max_size=9))
def test_no_pair_is_missed_by_words(sayings):
    memories = [rule(said) for said in sayings]
    sketches = {memory.id: build_sketch(memory) for memory in memories}
    expected = {
        tuple(sorted((one.id, other.id)))
        for one, other in combinations(sketches.values(), 2)
        if one.is_long and other.is_long and one.same != other.same and jaccard(one.stems, other.stems) >= LEAST_JACCARD
    }
    assert alike(*memories) == expected


@given(st.sets(STEMS), st.sets(STEMS))
def test_jaccard_is_a_share_and_knows_no_order(one, other):
    assert 0 <= jaccard(one, other) == jaccard(other, one) <= 1
    assert jaccard(one, one) == (1 if one else 0)


def test_repeating_counts_the_words_of_the_earlier_one():
    earlier, later = (
        build_sketch(rule(TRAMS)),
        build_sketch(episode(f"As I said: {TRAMS}, and the coffee there is good")),
    )
    assert measure_repetition(later, earlier) == 1
    assert measure_repetition(earlier, later) < 1
    assert measure_repetition(build_sketch(rule(TRAMS)), build_sketch(rule(f"{TRAMS} at 7"))) == 0


def test_what_a_thousand_share_tells_nothing_and_costs_nothing():
    memories = [rule(f"{TRAMS} {'sharp ' * (number % 2)}") for number in range(1_000)]
    assert [len(ids) for ids in find_duplicates(map(build_sketch, memories))] == [500, 500]
    assert alike(*memories) == set()
