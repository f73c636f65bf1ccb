"""What a filter lets through, by every read that takes one: exactly what `domain.filters.matches` says."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engrain.domain.filters import Filter
from engrain.domain.records import KINDS, ROLES, VALIDITIES
from engrain.domain.requests import Request
from tests.support.reference_filters import matches
from tests.support.sample_records import (
    CALLER,
    FILTERS,
    MEMORIES,
    MOMENTS,
    NOON,
    act,
    entity,
    episode,
    fact,
    request,
    rule,
    several,
)
from tests.support.store_samples import DIMS, LONG_AGO, axis, embed_all, keyword, put, refs

ODD_NAMES = [
    "",
    " ",
    "Zoë",
    "Zoe\u0308",
    "ZOË",
    "null",
    "0",
    "00",
    "1e3",
    "9" * 40,
    "'; --",
    '["a"]',
    "东京",
    "😀",
    "%",
    "_",
]
NAMES = st.sampled_from(ODD_NAMES) | st.text(
    st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=4
)
ZONES = st.sampled_from([UTC, timezone(timedelta(hours=14)), timezone(timedelta(hours=-12, minutes=-30))])
INSTANTS = st.one_of(
    st.sampled_from([0, 1, -1, 10**6]).map(lambda step: NOON + timedelta(microseconds=step)),
    st.datetimes(timezones=st.just(UTC)),
)
# The years 1 and 9999 have no neighbours for another zone to reach into.
ZONED = st.builds(
    lambda instant, zone: instant if instant.year in (1, 9999) else instant.astimezone(zone), INSTANTS, ZONES
)
ODD_MEMORIES = st.one_of(
    st.builds(
        episode,
        session=st.none() | NAMES,
        role=st.sampled_from(ROLES),
        speaker=st.none() | NAMES,
        event_time=INSTANTS,
        expires_at=st.none() | INSTANTS,
        tags=several(NAMES),
    ),
    st.builds(
        fact,
        subject=NAMES,
        predicate=NAMES,
        validity=st.sampled_from(VALIDITIES),
        valid_from=st.none() | INSTANTS,
        created_at=INSTANTS,
        invalidated_at=st.none() | INSTANTS,
        tags=several(NAMES),
    ),
    st.builds(rule, created_at=INSTANTS, invalidated_at=st.none() | INSTANTS, tags=several(NAMES)),
)
ODD_FILTERS = st.builds(
    Filter,
    kinds=several(st.sampled_from(KINDS), min_size=1),
    sessions=several(NAMES),
    exclude_sessions=several(NAMES),
    exclude_from_turn=st.integers(0, 3),
    speakers=several(NAMES),
    subjects=several(NAMES),
    predicates=several(NAMES),
    tags=several(NAMES),
    since=st.none() | ZONED,
    until=st.none() | ZONED,
    as_of=st.none() | ZONED,
    valid_at=st.none() | ZONED,
    include_inactive=st.booleans(),
    period=st.sampled_from(["any", "open", "current"]),
    after=st.none() | st.tuples(ZONED, NAMES),
)
COMMON = "tram"


def with_common_word(memory, place):
    """Found by the same word, and no fact supersedes another."""
    if memory.kind == "fact":
        return replace(memory, content=COMMON, scope="aide", entity_id=f"e{place}")
    return replace(memory, content=COMMON, scope="aide")


def check_every_read(store, memories, asked, retiring=()):
    """Every read that takes a filter finds exactly the memories that match it, some of them `retiring` before `now`."""
    for place in range(len(memories)):
        store.put_entity(act(), entity(f"Somebody {place}", id=f"e{place}"))
    stored = put(store, [with_common_word(memory, place) for place, memory in enumerate(memories)])
    embed_all(store, {each.id: axis(0) for each in stored})
    known = refs(store, words={COMMON})
    for place in retiring:
        store.forget(act(asked.now - timedelta(hours=1)), stored[place].id)
    embedded = {each.id for each in stored if each.is_active(LONG_AGO)}
    stored = store.get(CALLER, [each.id for each in stored])
    expected = {each.id for each in stored if matches(asked.filter, each, asked.now)}
    near = expected & embedded
    assert {each.id for each in store.recent(asked, 1_000)} == expected
    assert set(keyword(store, COMMON, asked=asked)) == expected
    assert {known[each.ref] for each in store.nearest(asked, axis(0), 1_000)} == near
    assert {known[each.ref] for each in store.nearest(asked, axis(0), 0, also=list(known))} == near
    assert {memory.id for memory in store.load(asked, list(known)).values()} == expected
    assert len(store.keyword(asked, {COMMON}, max(len(expected) - 1, 0))) == max(len(expected) - 1, 0)
    assert len(store.nearest(asked, axis(0), max(len(near) - 1, 0))) == max(len(near) - 1, 0)
    for each in stored:
        expected_neighbours = [
            other.id
            for other in stored
            if each.kind == other.kind == "episode"
            and each.session is not None
            and other.session == each.session
            and 0 < abs(other.turn - each.turn) <= 2
            and other.id in expected
        ]
        assert [other.id for other in store.neighbours(asked, each, 2)] == expected_neighbours


@settings(max_examples=30)
@given(st.lists(MEMORIES, min_size=1, max_size=12), FILTERS, st.sets(st.integers(0, 11), max_size=4))
def test_what_is_found_is_what_matches(backend, memories, filter_, retiring):
    with backend.fresh() as store:
        asked = Request(caller=CALLER, filter=filter_, now=NOON)
        check_every_read(store, memories, asked, [place for place in retiring if place < len(memories)])


@settings(max_examples=30)
@given(
    st.lists(MEMORIES, min_size=1, max_size=12),
    st.builds(Filter, as_of=st.none() | MOMENTS, valid_at=st.none() | MOMENTS, include_inactive=st.booleans()),
    st.sets(st.integers(0, 11), max_size=4),
)
def test_what_is_found_of_the_past_is_what_was_believed_then(backend, memories, filter_, retiring):
    """Narrow filters seldom let anything of the past through; these ask for nothing else."""
    with backend.fresh() as store:
        asked = Request(caller=CALLER, filter=filter_, now=NOON)
        check_every_read(store, memories, asked, [place for place in retiring if place < len(memories)])


@settings(max_examples=30)
@given(st.lists(ODD_MEMORIES, min_size=1, max_size=8), ODD_FILTERS, ZONED)
def test_what_is_found_is_what_matches_for_odd_names_and_times(backend, memories, filter_, now):
    with backend.fresh() as store:
        check_every_read(store, memories, Request(caller=CALLER, filter=filter_, now=now))


@settings(max_examples=25)
@given(st.lists(ODD_MEMORIES, min_size=2, max_size=8), st.data())
def test_a_filter_made_of_what_a_memory_is_finds_it(backend, memories, data):
    """Random filters mostly find nothing; these always ask for something that is there."""
    model = data.draw(st.sampled_from(memories))
    conditions = {"kinds": (model.kind,), "tags": model.tags, "since": model.happened_at}
    if model.kind == "episode":
        conditions |= {
            "roles": (model.role,),
            "sessions": () if model.session is None else (model.session,),
            "speakers": () if model.speaker is None else (model.speaker,),
        }
    if model.kind == "fact":
        conditions |= {"subjects": (model.subject,), "predicates": (model.predicate,)}
    chosen = data.draw(st.sets(st.sampled_from(sorted(conditions))))
    filter_ = Filter(**{name: conditions[name] for name in chosen}, include_inactive=data.draw(st.booleans()))
    with backend.fresh() as store:
        check_every_read(store, memories, Request(caller=CALLER, filter=filter_, now=NOON))


@pytest.mark.parametrize("kind", ["episode", "fact"])
def test_since_is_included_and_until_is_not(store, kind):
    tick = timedelta(microseconds=1)
    moments = [NOON - tick, NOON, NOON + tick]
    if kind == "episode":
        stored = put(store, [episode(event_time=moment) for moment in moments])
    else:
        stored = put(store, [fact(predicate=str(moment), valid_from=moment) for moment in moments])
    assert store.recent(request(since=NOON), 9) == [stored[2], stored[1]]
    assert store.recent(request(until=NOON), 9) == [stored[0]]
    assert store.recent(request(since=NOON, until=NOON + tick), 9) == [stored[1]]
    assert store.recent(request(since=NOON, until=NOON), 9) == []


@pytest.mark.parametrize("zone", [timezone(timedelta(hours=14)), timezone(timedelta(hours=-12))], ids=["east", "west"])
def test_a_bound_is_an_instant_whatever_its_zone(store, zone):
    [stored] = put(store, [episode(event_time=NOON)])
    local = NOON.astimezone(zone)
    assert store.recent(request(since=local, until=local + timedelta(microseconds=1)), 9) == [stored]
    assert store.recent(request(until=local), 9) == []


def test_an_episode_that_expires_exactly_now_is_gone(store):
    [stored] = put(store, [episode(expires_at=NOON)])
    assert store.recent(request(now=NOON), 9) == []
    assert store.recent(request(now=NOON - timedelta(microseconds=1)), 9) == [stored]
    assert store.recent(request(now=NOON.astimezone(timezone(timedelta(hours=9)))), 9) == []


def test_the_ends_of_time_bound_nothing(store):
    first, last = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
    early, late = put(store, [episode(event_time=first), episode(event_time=last)])
    assert store.recent(request(since=first), 9) == [late, early]
    assert store.recent(request(until=last), 9) == [early]
    assert store.recent(request(since=last), 9) == [late]


def test_a_fact_of_no_known_beginning_is_as_old_as_its_record(store):
    [stored] = put(store, [fact(created_at=NOON)])
    assert store.recent(request(since=NOON), 9) == [stored]
    assert store.recent(request(until=NOON), 9) == []


@pytest.mark.parametrize("name", ODD_NAMES)
def test_a_name_matches_itself_and_nothing_like_it(store, name):
    others = [other for other in ODD_NAMES if other != name]
    stored = put(
        store,
        [episode(session=each, speaker=each, tags=(each,)) for each in [name, *others]]
        + [episode(), episode(tags=(f"{name}x", f"x{name}"))],
    )
    for conditions in ({"sessions": (name,)}, {"speakers": (name,)}, {"tags": (name,)}):
        assert store.recent(request(**conditions), 99) == [stored[0]]
    assert store.recent(request(exclude_sessions=(name,)), 99) == sorted(
        stored[1:], key=lambda each: (each.happened_at, each.id), reverse=True
    )


def test_all_tags_asked_for_must_be_there(store):
    both, one, _ = put(store, [episode(tags=("a", "b")), episode(tags=("a",)), episode()])
    assert store.recent(request(tags=("a",)), 9) == [one, both]
    assert store.recent(request(tags=("b", "a")), 9) == [both]
    assert store.recent(request(tags=("a", "b", "c")), 9) == []


def test_a_filter_that_few_of_many_pass_still_fills_the_limit(store):
    """300 good matches that do not pass stand before the ones that do."""
    noise = [episode(f"{COMMON} {COMMON} {COMMON}", session="noise") for _ in range(300)]
    wanted = [episode(f"{COMMON} and some more words", session="wanted") for _ in range(5)]
    stored = put(store, [*wanted, *noise])
    vectors = {each.id: axis(0) if each.session == "noise" else axis(1) for each in stored}
    known = embed_all(store, vectors)
    asked = request(sessions=("wanted",))
    query = np.full(DIMS, 0.5, np.float32)
    query[1] = -0.5
    expected = {each.id for each in stored[:5]}
    assert set(keyword(store, COMMON, asked=asked, limit=5)) == expected
    assert {known[each.ref] for each in store.nearest(asked, query, 5)} == expected


@pytest.mark.parametrize("name", ODD_NAMES)
def test_a_subject_or_predicate_matches_its_other_spellings_and_nothing_else_like_it(store, name):
    names = [name, *(other for other in ODD_NAMES if other != name)]
    told = put(store, [fact(subject=each, predicate=f"number {place}") for place, each in enumerate(names)])
    doing = put(store, [fact(subject=f"Number {place}", predicate=each) for place, each in enumerate(names)])
    put(store, [episode(f"{name}."), rule(f"{name}.")])
    same_subject = {each.id for each in told if each.key.subject == told[0].key.subject}
    same_predicate = {each.id for each in doing if each.key.predicate == doing[0].key.predicate}
    for asked in (name,), (name, "nobody"):
        assert {each.id for each in store.recent(request(subjects=asked), 99)} == same_subject
        assert {each.id for each in store.recent(request(predicates=asked), 99)} == same_predicate


def test_of_what_is_gone_the_newest_five_thousand_are_found(store):
    """Asking for the past has a price that does not grow with it; what is live is found whatever there is of it."""
    [live] = put(store, [fact(COMMON, predicate="live")])
    gone = put(store, [fact(COMMON, predicate=str(place), validity="retracted") for place in range(5_001)])
    newest = {each.id for each in gone[1:]}
    found = keyword(store, COMMON, asked=request(include_inactive=True), limit=10_000)
    assert set(found) == newest | {live.id}
    asked = request(include_inactive=True)
    assert len(store.recent(asked, 10_000)) == 5_002
