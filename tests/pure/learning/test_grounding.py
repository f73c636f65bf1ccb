"""What a derived text says beyond its quotes: found in one reading, however long its words are."""

import pytest

from engrain.learning.grounding import Words, find_unsupported
from tests.support.sample_records import NOON


def unsupported(text, quote):
    return find_unsupported(text, [Words(quote, NOON)], names="Ana")


@pytest.mark.parametrize("text", ["a" * 200_000, "a-" * 60_000, "a." * 60_000, "1a" * 60_000, "@" * 100_000])
def test_a_long_word_is_read_in_one_go(text):
    """A pattern that tries again from every place would not come back."""
    assert unsupported(f"Ana: {text}", text) is None


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Ana writes to (ana.b@foo.example).", None),
        ("Ana reads docs.foo-bar.example.", None),
        ("Ana writes to ana@foo.example.", "unsupported_name"),
        ("Ana reads baz.example.", "unsupported_name"),
        ("Ana has 12,500 and v2.", None),
        ("Ana has 2,500.", "unsupported_number"),
    ],
)
def test_addresses_and_numbers_are_told_whole(text, found):
    assert unsupported(text, "ana.b@foo.example and docs.foo-bar.example are mine, 12,500 of them, v2") == found
