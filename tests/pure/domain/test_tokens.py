from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engrain.domain.text.tokens import approximate_tokens, check_counter, piece_weight
from engrain.errors import EngineUnavailable


@pytest.mark.req("B20.2")
def test_a_token_is_about_four_characters_and_a_rest_counts_as_one():
    assert [approximate_tokens("x" * length) for length in range(6)] == [0, 1, 1, 1, 1, 2]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("\u6211\u4f4f\u5728\u6210\u90fd", 5),
        ("\u0e09\u0e31\u0e19", 3),
        ("\u041a\u0430\u0437\u0430\u043d\u044c", 3),
        ("caf\u00e9", 2),
        ("\U0001f389\U0001f389", 3),
        ("\ud83d", 1),
    ],
)
def test_a_character_of_a_script_that_vocabularies_lack_counts_for_more(text, tokens):
    assert approximate_tokens(text) == tokens


@given(st.text(), st.text())
def test_more_text_is_never_fewer_tokens(text, more):
    sizes = [approximate_tokens(part) for part in ("", text, text + more)]
    assert all(fewer <= rest for fewer, rest in pairwise(sizes))


@given(st.lists(st.text(max_size=9)))
def test_the_weights_of_characters_add_up_to_what_is_counted(pieces):
    weigh = piece_weight(approximate_tokens)
    assert approximate_tokens("".join(pieces)) == -(-sum(map(weigh, pieces)) // 1)


def test_what_an_engine_says_of_itself_is_let_through():
    def counter(_):
        raise EngineUnavailable("no vocabulary; fetch it")

    with pytest.raises(EngineUnavailable, match="fetch it"):
        check_counter(counter)("text")
