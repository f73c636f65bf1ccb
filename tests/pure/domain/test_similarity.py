"""Similarity by trigrams is pg_trgm's."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engrain.domain.text.similarity import similarity, trigrams

TEXTS = st.text(alphabet="abcABC12 .-_'éß", max_size=20)


def test_a_word_has_two_blanks_before_it_and_one_after():
    """The example of the pg_trgm manual."""
    assert trigrams("cat") == {"  c", " ca", "cat", "at "}
    assert trigrams("foo|bar") == {"  f", " fo", "foo", "oo ", "  b", " ba", "bar", "ar "}


@pytest.mark.parametrize(
    ("one", "two", "expected"),
    [("word", "two words", 4 / 11), ("Ana", "ANA", 1.0), ("", "", 0.0), ("...", "Ana", 0.0), ("ab ab", "ab", 1.0)],
)
def test_similarity_is_the_share_of_what_both_have(one, two, expected):
    assert similarity(one, two) == pytest.approx(expected)


@given(TEXTS, TEXTS)
def test_similarity_is_symmetric_and_whole_for_itself(one, two):
    assert similarity(one, two) == similarity(two, one)
    assert 0.0 <= similarity(one, two) <= 1.0
    assert similarity(one, one) == (1.0 if trigrams(one) else 0.0)


@given(TEXTS)
def test_every_trigram_has_three_characters_and_stands_in_a_padded_word(text):
    padded = "|".join(f"  {word} " for word in "".join(c if c.isalnum() else " " for c in text.lower()).split())
    assert all(len(trigram) == 3 and trigram in padded for trigram in trigrams(text))
    assert len(trigrams(text)) <= len(padded)
