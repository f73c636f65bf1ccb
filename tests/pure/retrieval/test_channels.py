import pytest
from hypothesis import given
from hypothesis import strategies as st

from engrain.domain.text.names import name_key
from engrain.retrieval.channels import CHANNELS, candidate_names


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Where does Ana live?", {"ana"}),
        ("What is Ana Maria's job?", {"ana maria", "ana"}),
        ("Did \u201cNew York\u201d call?", {"new york"}),
        ("mail ana@example.org.", {"ana@example.org"}),
        ("James' boat", {"james"}),
        ("the University of São Paulo", {"university of são paulo"}),
        ("", set()),
        ("?!", set()),
    ],
)
def test_the_names_a_question_holds(text, named):
    assert named <= set(candidate_names(text))


@given(st.text())
def test_a_name_found_is_as_names_are_compared_and_no_longer_than_four_words(text):
    for name in candidate_names(text):
        assert name == name_key(name) != ""
        assert len(name.split()) <= 4


def test_a_pasted_book_names_a_bounded_number():
    assert len(candidate_names(" ".join(f"word{number}" for number in range(100_000)))) <= 200 * 4 * 2


def test_what_judges_others_proposals_is_asked_after_them():
    order = [*CHANNELS]
    assert order.index("vector") > max(order.index(each) for each in ("keyword", "entity", "newest", "important"))
    assert order[-1] == "tfidf"
