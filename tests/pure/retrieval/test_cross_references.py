import math
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engrain.domain.text.similarity import jaccard
from engrain.retrieval.cross_references import note_text, rank_related, similar_notes, tfidf_weights, tokenize_notes
from engrain.retrieval.tfidf import tokenize
from tests.support.sample_records import CALLER, NOON, fact
from tests.support.store_samples import put
from tests.support.stores import InMemoryStore

WORDS = st.sets(st.sampled_from("tram river coffee garden bread late".split()))


def note(key, content, **changes):
    return fact(content, **{"subject": "aide", "scope": "aide", "predicate": key, **changes})


@given(WORDS, WORDS)
def test_jaccard_is_a_symmetric_share(one, other):
    assert jaccard(one, other) == jaccard(other, one)
    assert 0 <= jaccard(one, other) <= 1
    assert (jaccard(one, other) == 1) == (one == other != set())


@pytest.mark.req("C13")
def test_only_notes_above_the_threshold_are_related():
    nineteen = " ".join(f"word{place}" for place in range(19))
    twenty = " ".join(f"word{place}" for place in range(1, 20))
    near, far = note("tram", nineteen), note("tram", twenty)
    assert rank_related(["tram"], tokenize_notes([near, far])) == {}  # 1 word of 20 is a twentieth, and no more
    nearer = note("tram", " ".join(f"word{place}" for place in range(18)))
    assert rank_related(["tram"], tokenize_notes([nearer])) == {nearer.id: 1 / 19}


@pytest.mark.req("C13")
def test_the_ten_most_alike_are_related_best_first_and_of_equals_the_newest():
    best = note("best", "tram river")
    equals = [note("x", "tram", created_at=NOON + timedelta(days=day)) for day in range(12)]
    found = rank_related(tokenize("tram river best"), tokenize_notes([*equals, best]))
    assert list(found) == [best.id, *[equal.id for equal in reversed(equals)][:9]]


@pytest.mark.req("C04")
def test_the_vocabulary_holds_the_heaviest_terms_with_their_weights():
    others = [note("a", "tram coffee"), note("b", "tram garden"), note("c", "tram")]
    weights = tfidf_weights(tokenize("tram river river"), tokenize_notes(others))
    assert weights == {"river": pytest.approx(2 / 3 * math.log(5 / 2), abs=1e-6), "tram": 0.0}
    assert list(weights) == ["river", "tram"]


@pytest.mark.req("C04")
def test_the_vocabulary_is_of_fifty_terms_at_most():
    text = " ".join(f"word{place:03}" for place in range(80))
    assert list(tfidf_weights(tokenize(text), tokenize_notes([note("a", "tram")]))) == [
        f"word{place:03}" for place in range(50)
    ]
    assert tfidf_weights([], {}) == {}


def test_only_the_agents_own_notes_are_compared_those_with_most_of_the_words_first():
    store = InMemoryStore()
    two, one, *_ = put(
        store,
        [
            note("a", "tram river"),
            note("b", "tram coffee"),
            note("c", "tram river", subject="Ana"),
            note("d", "tram river", scope="global"),
            note("e", "tram river", agent="ben", subject="ben", scope="ben"),
            note("f", "garden"),
            fact("tram river"),
        ],
    )
    assert store.read(CALLER, similar_notes, "tram river", NOON) == [two, one]
    assert store.read(CALLER, similar_notes, "", NOON) == []


def test_fifty_notes_are_compared_however_many_there_are():
    store = InMemoryStore()
    put(store, [note(str(place), f"tram number{place}") for place in range(60)])
    assert len(store.read(CALLER, similar_notes, "tram", NOON)) == 50


def test_a_book_is_compared_by_its_beginning():
    assert len(note_text("key", "word " * 1_000_000)) < 21_000
