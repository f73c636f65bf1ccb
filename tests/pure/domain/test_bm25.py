import math
from collections import Counter

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from engrain.domain.text.bm25 import K1, NEAR_WEIGHT, B, Corpus, IndexedWords, encode, pack, pack_all, scores

VOCABULARY = "tram river coffee guitar dog é 東京 07".split()
WORDS = st.lists(st.sampled_from(VOCABULARY), max_size=6)
MEMORIES = st.lists(st.tuples(WORDS, WORDS), max_size=5)
QUERIES = st.sets(st.sampled_from([*VOCABULARY, "nowhere"]), max_size=5)


def corpus_of(memories):
    """What memories, given as (own, near) words, add up to."""
    frequencies = Counter(term for own, near in memories for term in {*own, *near})
    words = sum(len(own) + len(near) for own, near in memories)
    return Corpus(memories=len(memories), words=words, frequencies=frequencies)


def packed(memories):
    return [pack(own, near) for own, near in memories]


def scored(memories, query, corpus=None):
    return scores(packed(memories), query, corpus or corpus_of(memories)).tolist()


def by_the_book(own, near, query, corpus):
    """Okapi BM25 of one memory, a neighbour's word counting NEAR_WEIGHT of an own one, in plain Python."""
    average = max(corpus.words / max(corpus.memories, 1), 1.0)
    penalty = K1 * (1 - B + B * (len(own) + len(near)) / average)
    total = 0.0
    for term in query:
        frequency = own.count(term) + NEAR_WEIGHT * near.count(term)
        holding = corpus.frequencies.get(term, 0)
        idf = math.log(1 + (corpus.memories - holding + 0.5) / (holding + 0.5))
        total += idf * frequency * (K1 + 1) / (frequency + penalty)
    return total


@given(MEMORIES, QUERIES)
def test_scores_are_those_of_the_textbook(memories, query):
    corpus = corpus_of(memories)
    expected = [by_the_book(own, near, query, corpus) for own, near in memories]
    assert scored(memories, query) == pytest.approx(expected, rel=1e-12, abs=1e-12)


@given(MEMORIES, QUERIES)
def test_a_score_is_positive_exactly_where_a_term_occurs(memories, query):
    for (own, near), score in zip(memories, scored(memories, query), strict=True):
        assert (score > 0) == bool(query & {*own, *near})
        assert score >= 0


@given(MEMORIES, QUERIES)
def test_repeated_terms_and_their_order_change_nothing(memories, query):
    ordered = sorted(query)
    assert scored(memories, ordered * 2) == scored(memories, ordered[::-1]) == scored(memories, ordered)


@given(MEMORIES, QUERIES, st.randoms(use_true_random=False))
def test_a_score_does_not_depend_on_which_memories_are_ranked_with_it(memories, query, random):
    corpus = corpus_of(memories)
    alone = [score for memory in memories for score in scored([memory], query, corpus)]
    places = random.sample(range(len(memories)), len(memories))
    shuffled = scored([memories[place] for place in places], query, corpus)
    assert scored(memories, query) == alone
    assert shuffled == [alone[place] for place in places]


@given(WORDS, WORDS, st.sampled_from(VOCABULARY), MEMORIES)
def test_saying_a_word_once_more_in_place_of_another_counts_for_more(own, near, term, others):
    others_words = [word for word in own if word != term]
    assume(others_words)
    more = [*own, term]
    more.remove(others_words[0])
    corpus = corpus_of([(own, near), *others])
    [less_often, more_often] = scored([(own, near), (more, near)], {term}, corpus)
    assert more_often > less_often


@given(WORDS, WORDS, st.sampled_from(VOCABULARY), MEMORIES)
def test_an_own_word_counts_for_more_than_a_neighbours(own, near, term, others):
    corpus = corpus_of([([*own, term], near), *others])
    [own_score, near_score] = scored([([*own, term], near), (own, [*near, term])], {term}, corpus)
    assert own_score > near_score > 0


@given(st.integers(1, 10_000), st.data())
def test_a_rarer_word_weighs_more_and_the_most_common_still_something(memories, data):
    common = data.draw(st.integers(1, memories))
    rarer = data.draw(st.integers(0, common - 1))
    corpus = Corpus(
        memories=memories, words=memories, frequencies={"common": common, "rare": rarer, "always": memories}
    )
    assert corpus.idf("rare") > corpus.idf("common") > 0
    assert corpus.idf("always") > 0
    assert corpus.idf("never seen") >= corpus.idf("rare")


def test_a_word_that_counts_of_memories_not_yet_settled_hold_still_weighs_something():
    """Their words are found before their number is counted, so a frequency may exceed the memories."""
    corpus = Corpus(memories=2, words=10, frequencies={"tram": 5})
    assert corpus.idf("tram") > 0


@given(MEMORIES, QUERIES)
def test_what_other_tenants_keep_changes_no_score(memories, query):
    """A score is made of one caller's corpus alone: terms nobody asks for, and so whoever holds them, play no part."""
    corpus = corpus_of(memories)
    strangers = {**corpus.frequencies, "strangers": 1_000_000}
    with_strangers = Corpus(memories=corpus.memories, words=corpus.words, frequencies=strangers)
    assert scored(memories, query, with_strangers) == scored(memories, query)


def test_a_memory_packs_its_totals_and_eight_bytes_for_each_distinct_word():
    indexed = pack(["tram", "river", "tram"], ["dog", "tram"])
    assert (indexed.own, indexed.near, indexed.length) == (3, 2, 5)
    assert len(indexed.packed) == 3 * 8


@given(MEMORIES)
def test_many_memories_are_packed_as_each_of_them_is(memories):
    assert pack_all([([encode(own[:1]), encode(own[1:])], [encode(near)]) for own, near in memories]) == packed(
        memories
    )


@given(WORDS, WORDS, st.randoms(use_true_random=False))
def test_packing_does_not_depend_on_the_order_of_words(own, near, random):
    shuffled = pack(random.sample(own, len(own)), random.sample(near, len(near)))
    assert shuffled == pack(own, near)


def test_a_word_said_more_often_than_can_be_counted_stays_at_the_most():
    most = 65_535
    corpus = Corpus(memories=1, words=2 * most, frequencies={"tram": 1})
    often, oftener = pack(["tram"] * most, ["tram"] * most), pack(["tram"] * (most + 10), ["tram"] * (most + 10))
    assert oftener.packed == often.packed
    assert oftener.length == often.length + 20
    assert scores([oftener], {"tram"}, corpus)[0] > 0


@pytest.mark.parametrize("corpus", [Corpus(memories=0, words=0, frequencies={}), corpus_of([(["tram"], [])])])
def test_nothing_to_rank_and_nothing_to_rank_by_are_no_error(corpus):
    assert scores([], {"tram"}, corpus).tolist() == []
    assert scores([pack([], []), pack(["tram"], [])], set(), corpus).tolist() == [0, 0]
    assert scores([pack([], [])], {"tram"}, corpus).tolist() == [0]
    assert scores([IndexedWords(0, 0, b"")], {"tram"}, corpus).tolist() == [0]
