import uuid
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engrain.domain.ids import IdSource, derived_id, is_id, moment_of
from tests.support.races import run_together

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# What 48 bits of milliseconds hold and a datetime can say; earlier times count as 1970.
MOMENTS = st.datetimes(min_value=datetime(1970, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001  # hypothesis adds the zone
ANY_MOMENTS = st.datetimes(timezones=st.timezones())
PARTS = st.lists(st.text(st.characters(exclude_categories=()), max_size=8), max_size=5)


def milliseconds(id_):
    """What RFC 9562 §5.7 puts into the first 48 bits."""
    return uuid.UUID(id_).int >> 80


def clock_of(moments):
    """A clock that shows these moments in turn."""
    remaining = iter(moments)
    return lambda: next(remaining)


@given(st.lists(ANY_MOMENTS, min_size=2, max_size=12))
def test_ids_increase_strictly_whatever_the_clock_does(moments):
    source = IdSource(clock_of(moments))
    made = [source() for _ in moments]
    assert all(earlier < later for earlier, later in pairwise(made))


def test_ids_increase_strictly_while_the_clock_stands_still():
    source = IdSource(lambda: datetime(2024, 5, 7, tzinfo=UTC))
    made = [source() for _ in range(5_000)]
    assert all(earlier < later for earlier, later in pairwise(made))


def test_each_of_four_threads_sees_increasing_ids_and_no_two_share_one():
    source = IdSource(lambda: datetime(2024, 5, 7, tzinfo=UTC))
    made = run_together(lambda _: [source() for _ in range(1_000)], range(4))
    assert all(earlier < later for mine in made for earlier, later in pairwise(mine))
    assert len({id_ for mine in made for id_ in mine}) == 4_000


@given(ANY_MOMENTS, PARTS)
def test_every_id_is_a_uuid_of_version_7_and_the_rfc_variant_in_canonical_form(moment, parts):
    for id_ in (IdSource(lambda: moment)(), derived_id(*parts, at=moment), derived_id(*parts, at=None)):
        read = uuid.UUID(id_)
        assert read.version == 7
        assert read.variant == uuid.RFC_4122
        assert len(id_) == 36
        assert is_id(id_)


@given(MOMENTS)
@example(datetime(2004, 10, 22, 14, 0, 51, 748000, UTC))  # a float of seconds loses this millisecond
@example(datetime.max.replace(tzinfo=UTC))
def test_the_millisecond_of_an_id_is_that_of_its_time(moment):
    expected = (moment - EPOCH) // timedelta(milliseconds=1)
    assert milliseconds(IdSource(lambda: moment)()) == expected
    assert milliseconds(derived_id("a", at=moment)) == expected


@given(st.datetimes(max_value=datetime(1970, 1, 1), timezones=st.just(UTC)))  # noqa: DTZ001  # hypothesis adds the zone
def test_times_before_1970_count_as_1970(moment):
    assert milliseconds(derived_id("a", at=moment)) == 0


def test_ids_of_two_sources_at_one_moment_differ():
    moment = datetime(2024, 5, 7, tzinfo=UTC)
    assert len({IdSource(lambda: moment)() for _ in range(1_000)}) == 1_000


def test_a_derived_id_is_the_same_in_every_process_and_release():
    """Importing a file again must find what it added before, so this value never changes."""
    moment = datetime(2024, 5, 7, 13, 56, tzinfo=UTC)
    assert derived_id("locomo", "session_1", "D1:3", at=moment) == "018f5356-f980-7a4f-9561-e55e062f88f6"
    assert derived_id(at=None) == "00000000-0000-7e3b-8311-0a63f070526b"


@given(PARTS, st.none() | MOMENTS)
def test_the_same_parts_and_time_give_the_same_derived_id(parts, moment):
    assert derived_id(*parts, at=moment) == derived_id(*parts, at=moment)


@given(PARTS, PARTS, st.none() | MOMENTS)
def test_other_parts_give_another_derived_id(parts, others, moment):
    assert (derived_id(*parts, at=moment) == derived_id(*others, at=moment)) == (parts == others)


@given(st.lists(st.text(max_size=8), min_size=1, max_size=5), st.data())
def test_where_the_text_is_split_into_parts_matters(parts, data):
    text = "".join(parts)
    cut = data.draw(st.integers(0, len(text)))
    resplit = [text[:cut], text[cut:]]
    assert (derived_id(*parts, at=None) == derived_id(*resplit, at=None)) == (parts == resplit)


@pytest.mark.parametrize("text", ["", "tea-1", "ffffffff-ffff-7fff-bfff-ffffffffffff", str(uuid.UUID(int=0))])
def test_a_text_without_a_time_has_none(text):
    assert moment_of(text) is None


def test_an_id_is_lower_case_and_hyphenated():
    written = "018f5356-f980-7a4f-9561-e55e062f88f6"
    assert is_id(written)
    for other in (written.upper(), written.replace("-", ""), f"{{{written}}}", f"urn:uuid:{written}", "", "x", " "):
        assert not is_id(other)


@given(MOMENTS, st.integers(1, 300))
def test_several_ids_are_the_next_ones_of_their_moment(moment, count):
    source = IdSource(lambda: moment)
    made = [source(), *source.several(count), source()]
    assert len(made) == count + 2
    assert all(earlier < later for earlier, later in pairwise(made))
    assert {milliseconds(id_) for id_ in made[:-1]} == {milliseconds(made[0])}
    assert all(is_id(id_) for id_ in made)


def test_several_ids_begin_anew_where_the_digits_after_the_last_hyphen_do_not_suffice():
    """As if what the source gave out last ended on the last but two that twelve hexadecimal digits hold."""
    source = IdSource(lambda: EPOCH + timedelta(days=1))
    first = source()
    source._tail = (1 << 48) - 3
    made = [first, source(), *source.several(5), source()]
    assert made[1][-12:] == "fffffffffffe"
    assert all(earlier < later for earlier, later in pairwise(made))
    assert all(is_id(id_) for id_ in made)
