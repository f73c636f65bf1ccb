import math
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engrain.domain.filters import Filter
from engrain.domain.records import Caller, Episode
from engrain.domain.requests import Request
from engrain.domain.text.analysis import terms
from engrain.domain.text.bm25 import K1, NEAR_WEIGHT, B
from engrain.domain.text.indexing import NEIGHBOURS, near_terms, own_terms
from tests.support.sample_records import CALLER, NOON, episode, fact, request, rule
from tests.support.store_samples import conversation, flush_index, keyword, put

VOCABULARY = ["lisbon", "tram", "river", "bread", "late", "blue", "Zürich", "東京都", "x2", "café"]
SAYINGS = st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=6).map(" ".join)
SCOPES = st.sampled_from(["global", "aide", "pool:team", "other"])
EPISODES = st.builds(
    episode, SAYINGS, scope=SCOPES, session=st.sampled_from([None, "monday"]), speaker=st.sampled_from([None, "Bread"])
)
FACTS = st.builds(fact, SAYINGS, scope=SCOPES, subject=st.sampled_from(["Ana", "tram"]))
RULES = st.builds(rule, SAYINGS, scope=SCOPES)
MEMORIES = st.lists(EPISODES | FACTS | RULES, min_size=1, max_size=14)
QUERIES = st.sets(st.sampled_from(VOCABULARY), min_size=1).map(lambda words: set(terms(" ".join(sorted(words)))))


def words_of(memory, session):
    """A memory's own words with their weights in full, and its neighbours' with theirs."""
    near = [each for each in session if 0 < abs(each.turn - memory.turn) <= NEIGHBOURS] if session else []
    return Counter(own_terms(memory)), Counter(near_terms(each.content for each in near))


def slow_bm25(memories, query):
    """Scores by id from the contents alone; the formula of domain.text.bm25, written out once more."""
    sessions = {}
    for memory in memories:
        if isinstance(memory, Episode) and memory.session is not None:
            sessions.setdefault((memory.scope, memory.session), []).append(memory)
    words = {
        memory.id: words_of(memory, sessions.get((memory.scope, getattr(memory, "session", None))))
        for memory in memories
    }
    lengths = {id_: own.total() + near.total() for id_, (own, near) in words.items()}
    average = sum(lengths.values()) / len(lengths) if lengths else 1
    found = {}
    for id_, (own, near) in words.items():
        score = 0.0
        for term in query:
            holders = sum(term in one or term in other for one, other in words.values())
            idf = math.log1p((len(words) - holders + 0.5) / (holders + 0.5))
            frequency = own[term] + NEAR_WEIGHT * near[term]
            score += idf * frequency * (K1 + 1) / (frequency + K1 * (1 - B + B * lengths[id_] / average))
        if score > 0:
            found[id_] = score
    return found


@settings(max_examples=30)
@given(MEMORIES, QUERIES, st.booleans())
def test_scores_are_bm25_over_what_the_caller_can_see(backend, memories, query, in_team):
    caller = replace(CALLER, pools=("team",) if in_team else ())
    with backend.fresh() as store:
        stored = put(store, memories)
        flush_index(store)
        now_stored = store.get(replace(CALLER, pools=("team",)), [each.id for each in stored])
        visible = [each for each in now_stored if each.scope in caller.scopes and each.is_live(NOON)]
        found = keyword(store, *query, asked=Request(caller=caller, filter=Filter(), now=NOON))
        assert found == pytest.approx(slow_bm25(visible, query))


@settings(max_examples=20)
@given(MEMORIES, MEMORIES, QUERIES)
def test_what_others_keep_changes_no_score(backend, memories, others, query):
    """Neither another tenant's memories nor another agent's, with the same words in the same sessions."""
    strangers = [
        replace(memory, **wall)
        for memory in others
        for wall in ({"tenant_id": "other", "id": f"{memory.id}t"}, {"scope": "other", "id": f"{memory.id}a"})
    ]
    with backend.fresh() as alone, backend.fresh() as crowded:
        put(alone, memories)
        put(crowded, strangers[::2])
        put(crowded, memories)
        put(crowded, strangers[1::2])
        flush_index(alone)
        flush_index(crowded)
        assert keyword(crowded, *query) == keyword(alone, *query)


@settings(max_examples=20)
@given(MEMORIES, QUERIES, st.integers(0, 5))
def test_the_best_come_first_and_a_limit_keeps_them(backend, memories, query, limit):
    with backend.fresh() as store:
        put(store, memories)
        everything = store.keyword(request(), query, 1_000)
        assert [each.raw for each in everything] == sorted((each.raw for each in everything), reverse=True)
        assert all(each.raw > 0 for each in everything)
        assert store.keyword(request(), query, limit) == everything[:limit]


def test_equals_come_newest_first(store):
    stored = put(store, [episode("Bread.", event_time=NOON) for _ in range(7)])
    assert list(keyword(store, "bread")) == [each.id for each in reversed(stored)]
    assert list(keyword(store, "bread", limit=3)) == [each.id for each in stored[:3:-1]]


def test_nothing_is_found_by_no_terms_or_with_no_room(store):
    put(store, [episode("Bread.")])
    assert store.keyword(request(), set(), 9) == []
    assert store.keyword(request(), {"bread"}, 0) == []
    assert store.keyword(request(), {"cake"}, 9) == []


def test_an_empty_store_and_an_unknown_caller_find_nothing(store):
    assert store.keyword(request(), {"bread"}, 9) == []
    put(store, [episode("Bread.")])
    assert store.keyword(request(caller=Caller(agent="nobody")), {"bread"}, 9) == []


def test_a_repeated_term_counts_once(store):
    put(store, conversation("Bread and tram.", "Bread."))
    once = store.keyword(request(), ["bread"], 9)
    assert store.keyword(request(), ["bread", "bread"], 9) == once


def test_what_a_filter_leaves_out_still_counts_in_what_words_weigh(store):
    put(store, [episode("Bread.", session="monday"), episode("Bread.", session="friday"), fact("bread")])
    everything = keyword(store, "bread")
    for conditions in ({"sessions": ("monday",)}, {"since": NOON}):
        found = keyword(store, "bread", asked=request(**conditions))
        assert found == {id_: everything[id_] for id_ in found}
        assert found


@pytest.mark.parametrize("word", ['"', "''", "a OR b", "own:", "near*", "^", "NOT", "-", "(", "n1xbread", "\\", "*"])
def test_a_term_is_a_word_and_never_an_operator(store, word):
    put(store, [episode("Bread and a tram, n1x.")])
    assert store.keyword(request(), {word}, 9) == []
    assert len(store.keyword(request(), {word, "bread"}, 9)) == 1


@pytest.mark.parametrize(
    "word",
    [
        "naïve",
        "ΣΊΣΥΦΟΣ",
        "İstanbul",
        "straße",
        "हिन्दी",
        "東京都",
        "ﬁn",
        "\U0001d41b\U0001d428\U0001d425\U0001d41d",
        "привет",
        "9007199254740993",
    ],
)
def test_a_word_of_any_script_finds_what_said_it_and_nothing_else(store, word):
    said, _ = put(store, [episode(f"They said {word}."), episode("Bread.")])
    assert set(keyword(store, *terms(word))) == {said.id}


def test_words_that_differ_in_one_character_are_different(store):
    words = ["grün", "résumé", "йод", "иод", "が", "か", "1", "2", "𐐨", "𐑀"]
    stored = put(store, [episode(word) for word in words])
    for word, memory in zip(words, stored, strict=True):
        assert set(keyword(store, *terms(word))) == {memory.id}


def test_a_word_without_its_accents_finds_the_one_that_has_them_behind_its_own(store):
    with_accent, without = put(store, [episode("The résumé lay there."), episode("The resume lay there.")])
    assert set(keyword(store, *terms("resume"))) == {with_accent.id, without.id}
    assert next(iter(keyword(store, *terms("résumé")))) == with_accent.id


def test_a_question_as_long_as_a_book_is_answered(store):
    """5,000 distinct words: a full-text engine's cost must not grow with their square."""
    [first, second] = put(store, [episode("Bread."), episode("Cake.")])
    words = [f"word{place}" for place in range(5_000)]
    assert list(keyword(store, *words, "bread")) == [first.id]
    assert set(keyword(store, *words, "bread", "cake")) == {first.id, second.id}


def test_more_matches_than_a_backend_ranks_at_once_are_ranked_exactly(store):
    """One rare word among 1,200 memories that all share a common one."""
    fillers = ["one", "one two", "one two three", "one two three four five six"]
    contents = [f"Bread {fillers[place % 4]} {'tram' if place % 97 == 0 else ''}" for place in range(1_200)]
    stored = put(store, [episode(content) for content in contents])
    expected = slow_bm25(stored, {"bread", "tram"})
    order = sorted(expected, key=lambda id_: (round(expected[id_], 9), id_), reverse=True)
    found = keyword(store, "bread", "tram", limit=50)
    assert list(found) == order[:50]
    assert found == pytest.approx({id_: expected[id_] for id_ in found})


@pytest.mark.req("B11.2")
@pytest.mark.parametrize("space", [" ", "   ", "\t", "\n", "\r\n", "\n\n \t", "\u00a0", "\u2003"])
def test_words_are_words_whatever_space_stands_between_them(store, space):
    """The text is kept as it was said; what is searched is its words."""
    said = f"bread{space}tram{space}river"
    [stored] = put(store, [rule(said)])
    assert store.get(CALLER, [stored.id])[0].content == said
    for asked in (said, "bread tram river", "  river\ttram\n\nbread "):
        assert set(terms(asked)) == {"bread", "tram", "river"}
        assert set(keyword(store, *terms(asked))) == {stored.id}
    assert keyword(store, *terms("breadtram tramriver")) == {}
