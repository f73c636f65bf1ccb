"""Common words of a large namespace on PostgreSQL are read only where they can decide, and the answer is the same."""

import random
from contextlib import closing

import pytest

from engrain.domain.text.analysis import terms
from tests.support.postgres import server
from tests.support.recorded import recorded
from tests.support.sample_records import act, episode, request
from tests.support.store_samples import put
from tests.support.stores import PostgresStore

RARE, SELDOM, COMMON = "zeppelin", "harbour", "tram"
WORDS = [COMMON] * 400 + ["river"] * 90 + ["coffee"] * 30 + [SELDOM] * 12 + [RARE]
QUERIES = ["tram river", "zeppelin tram", "harbour coffee river tram", "tram", "zeppelin harbour", "nothing tram"]
PRUNED = {"read_all": 0, "common": 300}


@pytest.fixture(scope="module")
def url():
    """A database with 1,200 turns less some that were erased."""
    made = server().new_database(has_schema=True)
    draw = random.Random(7)
    turns = [
        episode(" ".join(draw.choices(WORDS, k=6)), session=f"day {place // 20}", turn=None) for place in range(1_200)
    ]
    with closing(PostgresStore(made)) as store:
        stored = put(store, turns)
        store.erase(act(), [turn.id for turn in stored[::37]])
    yield made
    server().drop_database(made)


@pytest.fixture(scope="module")
def whole(url):
    """A store that reads all of each word."""
    with closing(PostgresStore(url, read_all=0)) as store:
        yield store


@pytest.fixture
def pruned(url):
    """A store that knows of no word yet."""
    with closing(PostgresStore(url, **PRUNED)) as store:
        yield store


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("limit", [1, 20, 150])
@pytest.mark.parametrize("wanted", [{}, {"sessions": ("day 3", "day 4")}], ids=["all", "two sessions"])
def test_reading_less_finds_the_same(whole, pruned, query, limit, wanted):
    asked, searched = request(**wanted), set(terms(query))
    expected = whole.keyword(asked, searched, limit)
    assert [pruned.keyword(asked, searched, limit) for _ in range(3)] == [expected] * 3
    assert len(expected) == min(limit, len(whole.keyword(asked, searched, 10_000)))


def count_terms(store, query):
    """Count the terms whose postings a search reads, statement by statement."""
    with recorded(store) as seen:
        store.keyword(request(), set(terms(query)), 1)
    asked = zip(seen.statements, seen.values, strict=True)
    return [len(values["owns"]) for statement, values in asked if "asked.own" in statement]


def test_of_common_words_no_posting_is_read_once_they_were_counted(pruned):
    assert count_terms(pruned, "harbour coffee tram") == [3]
    assert count_terms(pruned, "harbour coffee tram") == [1]
    assert count_terms(pruned, "tram") == [1]  # it alone decides
