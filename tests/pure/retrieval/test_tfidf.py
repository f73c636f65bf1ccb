import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engrain.domain.text.analysis import STOP_WORDS
from engrain.retrieval.tfidf import IdfCorpus, cosine, dense_cosine, term_frequencies, tokenize

TOKENS = st.lists(st.sampled_from("tram river coffee guitar walk".split()), max_size=8)
TEXTS = st.lists(TOKENS, max_size=6)
VECTORS = st.dictionaries(st.sampled_from("abcdef"), st.floats(-10, 10))


@pytest.mark.req("C05")
@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", []),
        ("The API-key, of GitHub!", ["api", "key", "github"]),
        ("a I x 7 42", ["42"]),
        ("Tram tram TRAM", ["tram", "tram", "tram"]),
        ("is it the?", []),
        ("Élan vital", ["élan", "vital"]),
    ],
)
def test_a_text_as_tokens(text, tokens):
    assert tokenize(text) == tokens


@pytest.mark.req("C05")
@given(st.text())
def test_no_token_is_short_a_stop_word_or_in_capitals(text):
    for token in tokenize(text):
        assert len(token) >= 2
        assert token not in STOP_WORDS
        assert token == token.casefold()


@pytest.mark.req("C06")
def test_a_term_counts_as_its_share_of_the_text():
    assert term_frequencies(["tram", "river", "tram", "late"]) == {"tram": 0.5, "river": 0.25, "late": 0.25}
    assert term_frequencies([]) == {}


@pytest.mark.req("C06")
def test_rare_terms_weigh_more_by_hand():
    corpus = IdfCorpus([["tram", "late"], ["tram", "river"], ["tram"]])
    assert corpus.size == 3
    assert corpus.idf("tram") == math.log(4 / 4)
    assert corpus.idf("late") == math.log(4 / 2)
    assert corpus.idf("zeppelin") == math.log(4 / 1)
    assert corpus.vector(["late", "tram"]) == {"late": 0.5 * math.log(2), "tram": 0.0}
    assert corpus.vocabulary == ["late", "river", "tram"]


@pytest.mark.req("C06")
@given(TEXTS, TOKENS)
def test_a_text_removed_was_never_added(texts, extra):
    corpus, other = IdfCorpus(texts), IdfCorpus(texts)
    other.add(extra)
    other.remove(extra)
    assert (other.size, other.vocabulary) == (corpus.size, corpus.vocabulary)
    assert all(other.idf(term) == corpus.idf(term) for term in ("tram", "river", "zeppelin"))


def test_what_was_never_added_takes_nothing_below_zero():
    corpus = IdfCorpus()
    corpus.remove(["tram"])
    assert (corpus.size, corpus.vocabulary, corpus.idf("tram")) == (0, [], 0.0)


@pytest.mark.req("C07")
@given(VECTORS)
def test_a_zero_vector_is_like_nothing(vector):
    zero = dict.fromkeys(vector, 0.0)
    for nothing in ({}, zero):
        assert cosine(vector, nothing) == cosine(nothing, vector) == 0.0
    assert dense_cosine(list(vector.values()), list(zero.values())) == 0.0
    assert dense_cosine([], []) == 0.0


@pytest.mark.req("C07")
@given(VECTORS, VECTORS)
def test_sparse_and_dense_vectors_are_alike_to_the_same_degree_within_one(one, other):
    terms = sorted({*one, *other})
    dense = [[each.get(term, 0.0) for term in terms] for each in (one, other)]
    assert cosine(one, other) == pytest.approx(dense_cosine(*dense), abs=1e-9)
    assert -1 <= cosine(one, other) <= 1
    assert -1 <= dense_cosine(*dense) <= 1
    assert cosine(one, other) == pytest.approx(cosine(other, one), abs=1e-12)


def test_the_cosine_by_hand():
    assert cosine({"a": 3.0, "b": 4.0}, {"a": 4.0, "c": 3.0}) == pytest.approx(12 / 25)
    assert dense_cosine([3.0, 4.0, 0.0], [4.0, 0.0, 3.0]) == pytest.approx(12 / 25)


@pytest.mark.req("C07")
@pytest.mark.parametrize("size", [1e-320, 1e-200, 0.1, 1e200, 1.7e308])
def test_a_vector_of_any_length_is_like_itself(size):
    assert cosine(dict.fromkeys("abc", size), dict.fromkeys("abc", size)) == pytest.approx(1.0)
    assert 1 - 1e-9 <= dense_cosine([size] * 3, [size] * 3) <= 1
    assert dense_cosine([size] * 3, [-size] * 3) >= -1


@pytest.mark.req("C06")
@given(TEXTS, TOKENS, TOKENS)
def test_a_dense_vector_has_a_number_for_each_term_of_the_vocabulary(texts, one, other):
    corpus = IdfCorpus(texts)
    vocabulary = sorted({*corpus.vocabulary, *one, *other})
    dense = [corpus.dense_vector(tokens, vocabulary) for tokens in (one, other)]
    assert dense[0] == [corpus.vector(one).get(term, 0.0) for term in vocabulary]
    assert dense_cosine(*dense) == pytest.approx(cosine(corpus.vector(one), corpus.vector(other)), abs=1e-9)
    assert corpus.dense_vector(one, ["no such term"]) == [0.0]
