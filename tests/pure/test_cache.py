"""The least recently used goes first, and everything grows old."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engrain.cache import DEFAULT_TTL_S, LruCache
from tests.support.models import FakeTime
from tests.support.races import run_together


@pytest.fixture
def passing():
    return FakeTime()


@pytest.fixture
def cache(passing):
    return LruCache(3, ttl_s=10, clock=passing.clock)


def fill(cache, keys="abc"):
    for key in keys:
        cache.set(key, key.upper())


def present_keys(cache, keys="abcde"):
    return "".join(key for key in keys if cache.get(key) is not None)


@pytest.mark.req("C15")
def test_at_capacity_the_least_recently_used_goes(cache):
    fill(cache, "abc")
    cache.set("d", "D")
    assert present_keys(cache) == "bcd"
    assert len(cache) == 3


@pytest.mark.req("C15")
def test_reading_promotes(cache):
    fill(cache, "abc")
    assert cache.get("a") == "A"
    cache.set("d", "D")
    assert present_keys(cache) == "acd"


@pytest.mark.req("C15")
def test_setting_again_promotes_and_replaces(cache):
    fill(cache, "abc")
    cache.set("a", "new")
    cache.set("d", "D")
    assert cache.get("a") == "new"
    assert present_keys(cache) == "acd"


@pytest.mark.req("C15")
def test_an_entry_that_is_too_old_is_not_returned_and_goes(cache, passing):
    fill(cache, "ab")
    passing.now += 9.9
    assert cache.get("a") == "A"
    passing.now += 0.1
    assert cache.get("a") is None
    assert len(cache) == 0
    assert cache.prune() == 0


@pytest.mark.req("C15")
def test_five_minutes_is_the_age_unless_somebody_says_otherwise(passing):
    cache = LruCache(3, clock=passing.clock)
    cache.set("a", "A")
    assert DEFAULT_TTL_S == 300
    passing.now += 299.9
    assert cache.get("a") == "A"
    passing.now += 0.1
    assert cache.get("a") is None


def test_setting_again_starts_the_time_anew_and_reading_does_not(cache, passing):
    fill(cache, "ab")
    passing.now += 6
    cache.set("a", "A")
    assert cache.get("b") == "B"
    passing.now += 6
    assert present_keys(cache) == "a"


@pytest.mark.req("C15")
def test_the_old_makes_room_before_the_least_recently_used(cache, passing):
    fill(cache, "a")
    passing.now += 6
    fill(cache, "bc")
    assert cache.get("a") == "A"
    passing.now += 5
    cache.set("d", "D")
    assert present_keys(cache) == "bcd"


@pytest.mark.req("C15")
def test_delete_says_whether_it_was_there(cache, passing):
    fill(cache, "ab")
    cache.set("c", None)
    assert [cache.delete(key) for key in "aacx"] == [True, False, True, False]
    passing.now += 10
    assert cache.delete("b") is False
    assert len(cache) == 0


@pytest.mark.req("C15")
def test_a_prefix_takes_all_that_begin_with_it_and_says_how_many(passing):
    cache = LruCache(9, ttl_s=10, clock=passing.clock)
    cache.set("ana:old", 0)
    passing.now += 10
    for key in ("ana:a", "ana:b", "anabel:a", "ben:ana:a"):
        cache.set(key, key)
    assert cache.invalidate_prefix("ana:") == 2
    assert cache.invalidate_prefix("ana:") == 0
    assert present_keys(cache, ["ana:a", "ana:b", "anabel:a", "ben:ana:a"]) == "anabel:aben:ana:a"
    assert cache.invalidate_prefix("") == 2


@pytest.mark.req("C15")
def test_clear_takes_all(cache):
    fill(cache)
    cache.clear()
    assert (len(cache), present_keys(cache)) == (0, "")


@pytest.mark.req("C15")
def test_prune_takes_what_is_too_old_and_says_how_many(cache, passing):
    fill(cache, "ab")
    passing.now += 6
    fill(cache, "c")
    passing.now += 4
    assert cache.prune() == 2
    assert cache.prune() == 0
    assert present_keys(cache) == "c"


@given(st.lists(st.sampled_from("abcdef")))
def test_what_is_held_are_the_last_used(keys):
    cache = LruCache(3)
    for key in keys:
        if cache.get(key) is None:
            cache.set(key, key)
    last = list(dict.fromkeys(reversed(keys)))[:3]
    assert [key for key in "abcdef" if cache.get(key)] == sorted(last)


def test_threads_never_see_more_than_there_is_room_for_nor_another_keys_value():
    cache, wrong = LruCache(8), []

    def work(seed):
        for step in range(2_000):
            key = f"{(seed * 7 + step) % 24}"
            found = cache.get(key)
            if found not in {None, key}:
                wrong.append((key, found))
            cache.set(key, key)
            if step % 50 == 0:
                cache.invalidate_prefix("1")
                cache.delete(key)
            if len(cache) > 8:
                wrong.append(len(cache))

    run_together(work, range(4))
    assert wrong == []


def test_a_prefix_beyond_its_share_loses_what_it_used_least(passing):
    cache = LruCache(4, ttl_s=10, clock=passing.clock)
    fill(cache, ["a1", "a2", "a3", "b1"])
    assert cache.get("a1") == "A1"
    cache.set("a4", "A4", prefix="a", most=2)
    assert present_keys(cache, ["a1", "a2", "a3", "a4", "b1"]) == "a1a3a4b1"
    cache.set("b2", "B2", prefix="b", most=2)  # has less than its share: the least used of all goes
    assert present_keys(cache, ["a1", "a3", "a4", "b1", "b2"]) == "a3a4b1b2"
