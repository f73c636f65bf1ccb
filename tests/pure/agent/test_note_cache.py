from dataclasses import replace
from itertools import product

import pytest

from engrain.agent.wiring.note_cache import NoteCache
from engrain.domain.memories.notes import note_of
from engrain.domain.records import Caller
from tests.support.clock import Clock
from tests.support.sample_records import fact

ANA, BEN = Caller(agent="ana"), Caller(agent="ben")


def note(caller=ANA, key="editor", content="vim"):
    own = {"tenant_id": caller.tenant_id, "agent": caller.agent, "scope": caller.agent, "subject": caller.agent}
    return fact(content, predicate=key, **own)


class Database:
    """Answers with one note, and counts how often it was asked."""

    def __init__(self, found):
        self.found = found
        self.asked = 0

    def __call__(self):
        self.asked += 1
        return None if self.found is None else note_of(self.found)


def active(_id):
    """Whether a fact is active: every one, as far as most tests go."""
    return True


@pytest.fixture
def clock():
    return Clock(0.0)


@pytest.fixture
def cache(clock):
    return NoteCache(10, ttl_s=300, clock=clock)


@pytest.mark.req("C16")
def test_what_was_read_is_not_asked_for_again(cache):
    database = Database(note())
    assert [cache.read(ANA, "editor", database, active).content for _ in range(3)] == ["vim"] * 3
    assert database.asked == 1
    assert cache.stats(ANA).to_dict() == {"size": 1, "hits": 2, "misses": 1}


def test_what_is_not_there_is_asked_for_each_time(cache):
    database = Database(None)
    assert [cache.read(ANA, "editor", database, active) for _ in range(2)] == [None, None]
    assert database.asked == 2


@pytest.mark.req("C16")
def test_a_note_that_is_no_longer_active_is_read_anew(cache):
    database = Database(note())
    first = cache.read(ANA, "editor", database, active)
    database.found = note(content="emacs")
    asked = []
    assert cache.read(ANA, "editor", database, asked.append).content == "emacs"
    assert asked == [first.id]
    database.found = None
    assert cache.read(ANA, "editor", database, lambda _: False) is None
    assert cache.stats(ANA).size == 0


@pytest.mark.req("C16")
def test_a_note_is_read_anew_after_the_time_to_live(cache, clock):
    database = Database(note())
    for clock.now, asked in ((0.0, 1), (299.0, 1), (300.0, 2)):
        cache.read(ANA, "editor", database, active)
        assert database.asked == asked


def test_what_is_written_while_it_is_read_is_not_hidden_by_what_was_read(cache):
    """The reader saw the note before; the writer had nothing to drop yet."""
    old, new = note(), note(content="emacs")

    def read_before_the_write():
        cache.drop(new)
        return note_of(old)

    assert cache.read(ANA, "editor", read_before_the_write, active).content == "vim"
    assert cache.read(ANA, "editor", Database(new), active).content == "emacs"


@pytest.mark.req("C16", "C18")
def test_no_name_of_an_agent_or_tenant_reaches_into_anothers_notes(cache):
    """The seed's `{agent}:{key}` alone would make one of ana's "b:c" and ana:b's "c"."""
    callers = [
        Caller(tenant_id=tenant, agent=agent)
        for tenant, agent in product(["default", "other", "a/b"], ["ana", "ana:b", "b/ana", "a%3Ab", "ana%3Ab"])
    ]
    asked = [(caller, key) for caller in callers for key in ["c", "b:c", "b/ana:c"]]
    for caller, key in asked:
        cache = NoteCache(100, ttl_s=300)
        cache.read(caller, key, Database(note(caller, key)), active)
        found = [other for other in asked if cache.read(*other, Database(None), active) is not None]
        assert found == [(caller, key)]


@pytest.mark.req("C16")
def test_an_agents_notes_go_without_those_of_others(cache):
    for caller, key in product([ANA, BEN], ["editor", "shell"]):
        cache.read(caller, key, Database(note(caller, key)), active)
    assert cache.drop_agent(ANA) == 2
    assert (cache.stats(ANA).size, cache.stats(BEN).size) == (0, 2)
    cache.clear()
    assert cache.stats(BEN).size == 0


@pytest.mark.req("C18")
def test_an_agent_learns_nothing_of_how_others_fare(cache):
    before = cache.stats(BEN)
    cache.read(ANA, "editor", Database(note()), active)
    assert cache.stats(BEN) == before


def test_dropping_one_note_leaves_the_rest(cache):
    for key in ("editor", "shell"):
        cache.read(ANA, key, Database(note(key=key)), active)
    cache.drop(note(key="editor"))
    cache.drop(replace(note(key="shell"), scope="global"))  # no note
    assert cache.stats(ANA).size == 1


def test_none_are_held_where_there_is_room_for_none():
    cache, database = NoteCache(0, ttl_s=300), Database(note())
    assert [cache.read(ANA, "editor", database, active).content for _ in range(2)] == ["vim"] * 2
    assert database.asked == 2


def reflection(caller=ANA):
    return replace(note(caller, key="reflection 2026-11-22"), category="reflection")


class Latest:
    """Answers with the latest reflection there is, and counts how often it was asked."""

    def __init__(self, found=None):
        self.found = found
        self.asked = 0

    def __call__(self):
        self.asked += 1
        return self.found


@pytest.mark.req("Y20")
@pytest.mark.parametrize("found", [None, fact("Looking back", category="reflection")])
def test_the_latest_reflection_is_asked_for_once_be_it_that_there_is_none(cache, clock, found):
    latest = Latest(found)
    assert [cache.latest_reflection(ANA, latest, active) for _ in range(3)] == [found] * 3
    assert latest.asked == 1
    clock.now = 299.9
    cache.latest_reflection(ANA, latest, active)
    assert latest.asked == 1
    clock.now = 300.1
    cache.latest_reflection(ANA, latest, active)
    assert latest.asked == 2


@pytest.mark.req("Y20")
@pytest.mark.parametrize(
    ("write", "is_dropped"),
    [
        (lambda cache: cache.drop(reflection()), True),
        (lambda cache: cache.drop(replace(reflection(), scope="global")), True),
        (lambda cache: cache.drop(replace(reflection(BEN), scope="global")), True),
        (lambda cache: cache.drop_agent(BEN), True),
        (lambda cache: cache.drop_agent(ANA), True),
        (lambda cache: cache.clear(), True),
        (lambda cache: cache.drop(note(BEN)), False),
        (lambda cache: cache.drop(reflection(replace(ANA, tenant_id="other"))), False),
        (lambda cache: cache.drop_agent(replace(ANA, tenant_id="other")), False),
        (lambda cache: cache.drop(fact("Ana likes tea.")), False),
    ],
)
def test_a_write_drops_the_reflection_it_may_have_changed_and_no_other(cache, write, is_dropped):
    latest = Latest()
    cache.latest_reflection(ANA, latest, active)
    write(cache)
    latest.found = reflection()
    assert cache.latest_reflection(ANA, latest, active) == (latest.found if is_dropped else None)


@pytest.mark.req("Y20")
def test_a_reflection_that_was_read_while_another_was_written_is_not_held(cache):
    old, new = reflection(), replace(reflection(), id="new")

    def slow():
        cache.drop(new)  # saved while the database was asked
        return old

    assert cache.latest_reflection(ANA, slow, active) == old
    assert cache.latest_reflection(ANA, Latest(new), active) == new


def test_a_reflection_that_is_no_longer_active_is_read_anew(cache):
    latest = Latest(reflection())
    cache.latest_reflection(ANA, latest, active)
    latest.found = None
    assert cache.latest_reflection(ANA, latest, lambda _: False) is None
    assert latest.asked == 2


def test_a_cache_that_is_off_holds_no_reflection(clock):
    cache, latest = NoteCache(0, ttl_s=300, clock=clock), Latest()
    assert [cache.latest_reflection(ANA, latest, active) for _ in range(2)] == [None, None]
    assert latest.asked == 2
