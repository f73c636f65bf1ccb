"""Common words of a large namespace are read only as far as they can decide, and the answer is the same."""

import random
from contextlib import closing

import pytest

from engrain.domain.text.analysis import terms
from tests.support.sample_records import act, episode, request
from tests.support.sqlite_statements import statements
from tests.support.store_samples import put
from tests.support.stores import SqliteStore

RARE, SELDOM, COMMON = "zeppelin", "harbour", "tram"
WORDS = [COMMON] * 400 + ["river"] * 90 + ["coffee"] * 30 + [SELDOM] * 12 + [RARE]
NEVER = 10**9
QUERIES = ["tram river", "zeppelin tram", "harbour coffee river tram", "tram", "zeppelin harbour", "nothing tram"]


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    """One file with two thousand turns, some forgotten, read in whole, as far as needed, and in the process."""
    path = str(tmp_path_factory.mktemp("words") / "agent.db")
    draw = random.Random(7)
    turns = [
        episode(" ".join(draw.choices(WORDS, k=6)), session=f"day {place // 20}", turn=None) for place in range(2_000)
    ]
    with (
        closing(SqliteStore(path, read_all=10_000, fewest_searches=NEVER)) as whole,
        closing(SqliteStore(path, read_all=0, fewest_searches=NEVER)) as pruned,
        closing(SqliteStore(path, fewest_searches=0)) as cached,
    ):
        stored = put(whole, turns)
        whole.flush_index()
        for turn in stored[::37]:
            whole.forget(act(), turn.id)
        cached.keyword(request(), {COMMON}, 1)
        yield whole, pruned, cached


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("limit", [1, 20, 150])
def test_reading_less_finds_the_same(stores, query, limit):
    whole, pruned, cached = (store.keyword(request(), set(terms(query)), limit) for store in stores)
    assert pruned == cached == whole
    assert len(whole) == min(limit, len(stores[0].keyword(request(), set(terms(query)), 10_000)))


def test_of_a_common_word_the_docs_of_rarer_ones_are_read(stores):
    _, pruned, _ = stores
    query = set(terms("harbour coffee tram"))
    pruned.keyword(request(), query, 1)
    with statements(pruned) as ran:
        pruned.keyword(request(), query, 1)
    postings = [statement for statement in ran if "memory_words MATCH" in statement]
    assert len(postings) == 2, "\n".join(ran)


def test_words_in_the_process_take_no_statement_of_their_own(stores):
    *_, cached = stores
    with statements(cached) as ran:
        assert len(cached.keyword(request(), {COMMON, RARE}, 150)) == 150
    assert not any("memory_words" in statement or "packed" in statement for statement in ran), "\n".join(ran)
