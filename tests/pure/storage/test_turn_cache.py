"""The cache of turns finds what it was given in the scopes it is asked for, and keeps to its bound."""

import numpy as np
import pytest

from engrain.storage.search.traits import TRAITS
from engrain.storage.search.turn_cache import TurnCache
from tests.support.sample_search import traits
from tests.support.traits import as_table, from_table

HERE, THERE, ELSEWHERE = ("a", "aide"), ("a", "global"), ("b", "aide")


def turns(*docs, scope="aide"):
    return as_table({doc: traits(id=f"turn {doc}", scope=scope) for doc in docs})


def found(cache, owners, *docs):
    rows = cache.find(owners, np.array(docs))
    return sorted(doc for part in rows for doc in from_table(part))


def test_turns_are_found_in_their_own_scope_and_tenant_alone():
    cache = TurnCache()
    cache.add(HERE, turns(1, 2, 5))
    cache.add(THERE, turns(3, scope="global"))
    assert found(cache, [HERE], 1, 2, 3, 4) == [1, 2]
    assert found(cache, [HERE, THERE], 1, 2, 3, 4) == [1, 2, 3]
    assert found(cache, [ELSEWHERE], 1, 2, 3, 4) == []


def test_what_is_found_is_what_was_added():
    cache = TurnCache()
    rows = turns(*range(1, 60))
    cache.add(HERE, rows[:7])
    cache.add(HERE, rows)
    [known] = cache.find([HERE], np.arange(1, 60))
    assert from_table(known) == from_table(rows)
    assert known.dtype == TRAITS
    assert len(cache) == 59


def test_the_scope_that_was_not_searched_for_longest_leaves_first():
    cache = TurnCache(most=6)
    cache.add(HERE, turns(1, 2))
    cache.add(THERE, turns(3, 4))
    assert found(cache, [HERE], 1) == [1]
    cache.add(ELSEWHERE, turns(5, 6, 7))
    assert found(cache, [HERE, THERE, ELSEWHERE], *range(1, 9)) == [1, 2, 5, 6, 7]
    assert len(cache) == 5


def test_a_turn_that_is_erased_leaves_nothing():
    cache = TurnCache()
    cache.add(HERE, turns(1, 2, 5))
    cache.add(THERE, turns(3, scope="global"))
    cache.drop([2, 3, 9])
    assert found(cache, [HERE, THERE], *range(1, 10)) == [1, 5]
    assert len(cache) == 2
    kept = [row["id"] for of in cache._owners.values() for row in of.rows]
    assert "turn 2" not in kept
    cache.add(HERE, turns(2, 7))
    assert found(cache, [HERE], *range(1, 10)) == [1, 2, 5, 7]


@pytest.mark.parametrize("count", [7, 8, 100])
def test_more_than_the_bound_at_once_stay_out(count):
    cache = TurnCache(most=6)
    cache.add(HERE, turns(*range(1, count + 1)))
    assert (len(cache), found(cache, [HERE], 1)) == (0, [])
