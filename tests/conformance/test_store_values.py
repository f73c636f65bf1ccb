"""What was put is what comes back: every field of every record, at the ends of what it may hold."""

import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engrain.domain.analysis import terms
from engrain.domain.records import DECAY_RATES, ROLES
from tests.sample_records import CALLER, NOON, episode, fact, request
from tests.store_samples import keyword

TEXTS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=30)
NAMES = TEXTS.filter(bool)
INSTANTS = st.datetimes(timezones=st.just(UTC))
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
SHARED = {
    "importance": NUMBERS,
    "reference_count": st.integers(0, 2**62),
    "last_referenced_at": st.none() | INSTANTS,
    "created_at": INSTANTS,
    "tags": st.lists(NAMES, max_size=3).map(tuple),
    "metadata": st.dictionaries(TEXTS, JSON, max_size=3),
}
EPISODES = st.builds(
    episode,
    TEXTS,
    role=st.sampled_from(ROLES),
    speaker=st.none() | TEXTS,
    event_time=INSTANTS,
    expires_at=st.none() | INSTANTS,
    consolidation_status=NAMES,
    **SHARED,
)
FACTS = st.builds(
    fact,
    TEXTS,
    subject=TEXTS,
    predicate=TEXTS,
    confidence=NUMBERS,
    permanence=st.sampled_from(sorted(DECAY_RATES)),
    decay_rate=NUMBERS,
    validity=st.sampled_from(["active", "superseded", "expired", "retracted"]),
    valid_from=st.none() | INSTANTS,
    valid_to=st.none() | INSTANTS,
    superseded_at=st.none() | INSTANTS,
    supersedes_id=st.none() | NAMES,
    source_episode_id=st.none() | NAMES,
    last_confirmed_at=st.none() | INSTANTS,
    **SHARED,
)


@settings(max_examples=60)
@given(EPISODES | FACTS)
def test_every_field_comes_back_as_it_was_put(backend, memory):
    with backend.fresh() as store:
        assert store.put([memory]) == [memory]
        assert store.get(CALLER, [memory.id]) == [memory]
        assert [each.to_dict() for each in store.get(CALLER, [memory.id])] == [memory.to_dict()]


@settings(max_examples=30)
@given(NAMES, NAMES, NAMES)
def test_ids_agents_sessions_and_scopes_are_any_text(backend, id_, session, agent):
    caller = replace(CALLER, agent=agent)
    with backend.fresh() as store:
        one, two = store.put([episode("x", id=f"{id_}{n}", session=session, agent=agent, scope=agent) for n in (1, 2)])
        assert store.get(caller, [one.id, two.id]) == [one, two]
        assert store.neighbours(request(caller=caller), one, 1) == [two]
        assert store.retire(caller, one.id, at=NOON).id == one.id


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
    [said, stated] = store.put(
        [episode("x", event_time=moment, created_at=moment, expires_at=moment), fact("y", valid_from=moment)]
    )
    back = store.get(CALLER, [said.id, stated.id])
    assert [back[0].event_time, back[0].created_at, back[0].expires_at, back[1].valid_from] == [moment] * 4


def test_a_time_of_another_zone_comes_back_as_the_same_instant(store):
    local = datetime(2024, 5, 8, 1, 30, tzinfo=timezone(timedelta(hours=5, minutes=45)))
    [stored] = store.put([episode("x", event_time=local)])
    assert store.get(CALLER, [stored.id])[0].event_time == local


@pytest.mark.parametrize("number", [0.0, 0.1 + 0.2, 5e-324, sys.float_info.max, -1.5, 2**53 + 0.0])
def test_a_number_is_kept_to_the_last_bit(store, number):
    [stored] = store.put([fact("x", importance=number, metadata={"n": number})])
    [back] = store.get(CALLER, [stored.id])
    assert [back.importance.hex(), back.metadata["n"].hex()] == [number.hex()] * 2


def test_metadata_keeps_its_shape(store):
    metadata = {"text": "1", "number": 1, "float": 1.0, "yes": True, "no": None, "deep": {"": [[], {}, "é😀\u2028"]}}
    metadata |= {"huge": 10**40, "order": {"b": 1, "a": 2}}
    [stored] = store.put([episode("x", metadata=metadata)])
    [back] = store.get(CALLER, [stored.id])
    assert back.metadata == metadata
    assert [type(value) for value in back.metadata.values()] == [type(value) for value in metadata.values()]
    assert list(back.metadata["order"]) == ["b", "a"]


@pytest.mark.parametrize(
    "text", ["", " ", "'", '"; DROP TABLE episodes; --', "%s", ":content", "?", "\\0", "\ufeff", "\u202e"]
)
def test_text_is_data(store, text):
    [stored] = store.put([episode(text, session=text, speaker=text)])
    assert store.get(CALLER, [stored.id]) == [stored]
    assert store.recent(request(sessions=(text,), speakers=(text,)), 9) == [stored]


def test_a_very_long_content_is_kept_whole_and_found_by_its_first_words(store):
    content = "Needle " + "hay " * 400_000
    [stored] = store.put([episode(content)])
    assert store.get(CALLER, [stored.id])[0].content == content
    assert set(keyword(store, *terms("needle"))) == {stored.id}


def test_a_memory_of_no_words_is_kept_and_shown(store):
    stored = store.put([episode("..."), fact("!", subject="?", predicate="-")])
    assert store.get(CALLER, [each.id for each in stored]) == stored
    assert len(store.recent(request(), 9)) == 2
    assert store.health().problems == ()
