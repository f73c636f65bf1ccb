"""What was put is what comes back: every field of every record, at the ends of what it may hold."""

import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engrain.domain import events
from engrain.domain.records import (
    CONSOLIDATION_STATUSES,
    DECAY_RATES,
    ENTITY_TYPES,
    MATURITIES,
    RELATIONS,
    ROLES,
    VALIDITIES,
    Caller,
)
from engrain.domain.text.analysis import terms
from tests.support.sample_records import CALLER, NOON, act, entity, episode, fact, link, request, rule
from tests.support.store_samples import keyword, put

TEXTS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=30)
NAMES = TEXTS.filter(bool)
INSTANTS = st.datetimes(timezones=st.just(UTC))
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
COUNTS = st.integers(0, 2**62)
SHARED = {
    "agent": NAMES,
    "created_at": INSTANTS,
    "reference_count": COUNTS,
    "last_referenced_at": st.none() | INSTANTS,
    "tags": st.lists(NAMES, max_size=3).map(tuple),
    "metadata": st.dictionaries(TEXTS, JSON, max_size=3),
}
DECAYING = {
    "confidence": NUMBERS,
    "permanence": st.sampled_from(sorted(DECAY_RATES)),
    "decay_rate": NUMBERS,
    "invalidated_at": st.none() | INSTANTS,
    "last_confirmed_at": st.none() | INSTANTS,
}
EPISODES = st.builds(
    episode,
    TEXTS,
    role=st.sampled_from(ROLES),
    speaker=st.none() | TEXTS,
    event_time=INSTANTS,
    expires_at=st.none() | INSTANTS,
    importance=NUMBERS,
    tokens=st.none() | COUNTS,
    model=st.none() | TEXTS,
    tool_calls=st.lists(JSON, max_size=2).map(tuple),
    consolidation_status=st.sampled_from(CONSOLIDATION_STATUSES),
    consolidation_attempts=st.integers(0, 2**31 - 1),
    last_consolidation_error=st.none() | TEXTS,
    next_consolidation_retry_at=st.none() | INSTANTS,
    **SHARED,
)
FACTS = st.builds(
    fact,
    TEXTS,
    subject=TEXTS,
    predicate=TEXTS,
    category=NAMES,
    source=st.none() | TEXTS,
    importance=NUMBERS,
    validity=st.sampled_from(VALIDITIES),
    valid_from=st.none() | INSTANTS,
    valid_to=st.none() | INSTANTS,
    **DECAYING,
    **SHARED,
)
RULES = st.builds(
    rule,
    TEXTS,
    maturity=st.sampled_from(MATURITIES),
    effectiveness_score=NUMBERS,
    applied_count=st.integers(0, 2**31 - 1),
    success_count=st.integers(0, 2**31 - 1),
    harmful_count=st.integers(0, 2**31 - 1),
    last_applied_at=st.none() | INSTANTS,
    last_evaluated_at=st.none() | INSTANTS,
    **DECAYING,
    **SHARED,
)


def check_round_trip(store, memory):
    assert put(store, [memory]) == [memory]
    assert store.get(CALLER, [memory.id]) == [memory]
    assert [each.to_dict() for each in store.get(CALLER, [memory.id])] == [memory.to_dict()]


@pytest.mark.req("B01.1", "N06", "G03", "Y01")
@settings(max_examples=40)
@given(EPISODES)
def test_every_field_of_an_episode_comes_back_as_it_was_put(backend, memory):
    with backend.fresh() as store:
        check_round_trip(store, memory)


@pytest.mark.req("B01.2", "G04", "Y01")
@settings(max_examples=40)
@given(FACTS, st.booleans(), st.booleans(), st.booleans())
def test_every_field_of_a_fact_comes_back_as_it_was_put(backend, memory, known, sourced, superseding):
    with backend.fresh() as store:
        who = store.put_entity(act(), entity())
        source, old = put(store, [episode("Said."), fact("Old", validity="retracted")])
        changes = {"entity_id": who.id} if known else {}
        changes |= {"source_episode_id": source.id} if sourced else {}
        changes |= {"supersedes_id": old.id} if superseding else {}
        check_round_trip(store, replace(memory, **changes))


@pytest.mark.req("B01.3", "N09")
@settings(max_examples=40)
@given(RULES, st.booleans())
def test_every_field_of_a_rule_comes_back_as_it_was_put(backend, memory, sourced):
    with backend.fresh() as store:
        [source] = put(store, [episode("Said.")])
        check_round_trip(store, replace(memory, source_episode_id=source.id if sourced else None))


@pytest.mark.req("B01.1", "B01.2", "B01.3", "B05.4", "N09")
@pytest.mark.parametrize("memory", [episode(), fact(), rule()], ids=["episode", "fact", "rule"])
def test_what_nobody_says_is_the_default(store, memory):
    """The databases' own defaults must never speak in place of the records'."""
    check_round_trip(store, memory)


@settings(max_examples=30)
@given(
    st.builds(
        entity,
        NAMES,
        id=NAMES,
        entity_type=st.sampled_from(ENTITY_TYPES),
        aliases=st.lists(NAMES, max_size=3).map(tuple),
        mention_count=COUNTS,
        created_at=INSTANTS,
        updated_at=INSTANTS,
        metadata=st.dictionaries(TEXTS, JSON, max_size=3),
    )
)
def test_every_field_of_an_entity_comes_back_as_it_was_put(backend, somebody):
    with backend.fresh() as store:
        assert store.put_entity(act(), somebody) == somebody
        assert store.entities(CALLER, [somebody.id]) == [somebody]


@settings(max_examples=30)
@given(st.sampled_from(RELATIONS), st.floats(0, 1), INSTANTS)
def test_every_field_of_a_link_comes_back_as_it_was_put(backend, relation, weight, created_at):
    with backend.fresh() as store:
        one, other = put(store, [episode("One."), fact("Other")])
        edge = link(one, other, relation, weight=weight, created_at=created_at)
        assert store.link(act(), edge)
        assert store.links(CALLER, one.id) == [edge]


@settings(max_examples=30)
@given(FACTS, NAMES, NAMES, INSTANTS)
def test_every_field_of_an_event_comes_back_as_it_was_written(backend, memory, agent, request_id, at):
    who = Caller(agent=agent, request_id=request_id)
    with backend.fresh() as store:
        [stored] = store.put(act(at, who), [memory])
        [event] = store.events(CALLER)
        assert event == events.memory_created(act(at, who), stored, lambda: event.id)


@settings(max_examples=30)
@given(NAMES, NAMES, NAMES)
def test_ids_agents_sessions_and_scopes_are_any_text(backend, id_, session, agent):
    caller = replace(CALLER, agent=agent)
    with backend.fresh() as store:
        turns = [episode("x", id=f"{id_}{n}", session=session, agent=agent, scope=agent) for n in (1, 2)]
        one, two = store.put(act(NOON, caller), turns)
        assert store.get(caller, [one.id, two.id]) == [one, two]
        assert store.neighbours(request(caller=caller), one, 1) == [two]
        assert store.forget(act(NOON, caller), one.id).id == one.id


@pytest.mark.parametrize(
    "moment",
    [
        datetime(1, 1, 1, tzinfo=UTC),
        datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
        datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
        datetime(1970, 1, 1, tzinfo=UTC),
        datetime(2038, 1, 19, 3, 14, 8, 1, tzinfo=UTC),
        datetime(2024, 2, 29, 12, 0, 0, 123_457, tzinfo=UTC),
    ],
    ids=lambda moment: moment.isoformat(),
)
def test_a_time_is_kept_to_the_microsecond(store, moment):
    [said, stated] = put(
        store, [episode("x", event_time=moment, created_at=moment, expires_at=moment), fact("y", valid_from=moment)]
    )
    back = store.get(CALLER, [said.id, stated.id])
    assert [back[0].event_time, back[0].created_at, back[0].expires_at, back[1].valid_from] == [moment] * 4


def test_a_time_of_another_zone_comes_back_as_the_same_instant(store):
    local = datetime(2024, 5, 8, 1, 30, tzinfo=timezone(timedelta(hours=5, minutes=45)))
    [stored] = put(store, [episode("x", event_time=local)])
    assert store.get(CALLER, [stored.id])[0].event_time == local


@pytest.mark.parametrize("number", [0.0, 0.1 + 0.2, 5e-324, sys.float_info.max, -1.5, 2**53 + 0.0])
def test_a_number_is_kept_to_the_last_bit(store, number):
    [stored] = put(store, [fact("x", importance=number, metadata={"n": number})])
    [back] = store.get(CALLER, [stored.id])
    assert [back.importance.hex(), back.metadata["n"].hex()] == [number.hex()] * 2


def test_metadata_keeps_its_shape(store):
    metadata = {"text": "1", "number": 1, "float": 1.0, "yes": True, "no": None, "deep": {"": [[], {}, "é😀\u2028"]}}
    metadata |= {"huge": 10**40, "order": {"b": 1, "a": 2}}
    [stored] = put(store, [episode("x", metadata=metadata)])
    [back] = store.get(CALLER, [stored.id])
    assert back.metadata == metadata
    assert [type(value) for value in back.metadata.values()] == [type(value) for value in metadata.values()]
    assert list(back.metadata["order"]) == ["b", "a"]


@pytest.mark.parametrize(
    "text", ["", " ", "'", '"; DROP TABLE episodes; --', "%s", ":content", "?", "\\0", "\ufeff", "\u202e"]
)
def test_text_is_data(store, text):
    [stored] = put(store, [episode(text, session=text, speaker=text)])
    assert store.get(CALLER, [stored.id]) == [stored]
    assert store.recent(request(sessions=(text,), speakers=(text,)), 9) == [stored]


def test_a_very_long_content_is_kept_whole_and_found_by_its_first_words(store):
    content = "Needle " + "hay " * 400_000
    [stored] = put(store, [episode(content)])
    assert store.get(CALLER, [stored.id])[0].content == content
    assert set(keyword(store, *terms("needle"))) == {stored.id}


def test_a_memory_of_no_words_is_kept_and_shown(store):
    stored = put(store, [episode("..."), fact("!", subject="?", predicate="-"), rule("?!")])
    assert store.get(CALLER, [each.id for each in stored]) == stored
    assert len(store.recent(request(), 9)) == 3
    assert store.health().problems == ()
