import json
import math
import re
import time
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from enum import StrEnum
from types import MappingProxyType

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engrain.domain import checks
from engrain.domain.records import DECAY_RATES, ROLES, VALIDITIES
from engrain.errors import InvalidInput

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=30)
NOT_TEXT = st.one_of(st.none(), st.integers(), st.floats(), st.binary(), st.lists(st.text()), st.booleans())
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)
TOO_LONG_TO_PRINT = 10**5_000


@pytest.fixture
def far_from_utc(monkeypatch):
    """The machine's own zone is nowhere near UTC."""
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "Asia/Kathmandu")
        time.tzset()
        yield
    time.tzset()


def nested(depth):
    """An object inside an object, so many levels in all."""
    value = {}
    for _ in range(depth - 1):
        value = {"a": value}
    return value


@pytest.mark.req("B11.1")
@given(ANY_TEXT)
def test_cleaning_leaves_neither_nul_nor_lone_surrogate_and_is_idempotent(text):
    cleaned = checks.clean(text)
    assert "\x00" not in cleaned
    assert cleaned.encode().decode() == cleaned
    assert cleaned == cleaned.strip()
    assert checks.clean(cleaned) == cleaned


@given(st.text(st.characters(exclude_characters="\x00")))
def test_cleaning_changes_nothing_but_the_ends_of_ordinary_text(text):
    assert checks.clean(text) == text.strip()


@given(ANY_TEXT)
def test_content_is_cleaned_text_and_refused_only_where_nothing_is_left(text):
    if checks.clean(text):
        assert checks.content(text) == checks.clean(text)
    else:
        with pytest.raises(InvalidInput, match="content is empty"):
            checks.content(text)


@given(NOT_TEXT)
def test_what_is_no_text_is_refused_by_its_type(value):
    for check in (checks.content, checks.query, lambda item: checks.name(item, name="agent")):
        with pytest.raises(InvalidInput, match=rf"must be text, not {type(value).__name__} .*pass a str"):
            check(value)


@pytest.mark.parametrize("letter", ["a", "é", "語", "😀"])
def test_content_holds_up_to_ten_megabytes_of_utf_8(letter):
    most = checks.MAX_CONTENT_BYTES // len(letter.encode())
    assert len(checks.content(letter * most)) == most
    with pytest.raises(InvalidInput, match=r"content has 10,000,00\d bytes; the most is 10,000,000"):
        checks.content(letter * most + "a" * 4)


def test_a_megabyte_of_text_is_content():
    text = "All work and no play makes Jack a dull boy. " * 25_000
    assert checks.content(text) == text.strip()


@pytest.mark.req("B11.3")
@given(ANY_TEXT)
def test_any_text_is_a_query(text):
    assert checks.query(text) == checks.clean(text)


@pytest.mark.req("B11.3")
def test_a_query_loses_nul_and_the_space_around_it_and_is_never_cut():
    assert checks.query("\x00 tram\x00s ") == "trams"
    assert checks.query(" \n\t\x00") == ""
    assert len(checks.query("tram " * 3_000_000)) == 15_000_000 - 1


def test_a_name_has_at_most_512_characters():
    assert checks.name("語" * 512, name="session") == "語" * 512
    with pytest.raises(InvalidInput, match=r"session 'aaaa.* has 513 characters; the most is 512"):
        checks.name("a" * 513, name="session")


def test_only_an_optional_name_may_be_none():
    assert checks.optional_name(None, name="speaker") is None
    assert checks.optional_name(" Ana ", name="speaker") == "Ana"
    with pytest.raises(InvalidInput, match="speaker must be text, not NoneType"):
        checks.name(None, name="speaker")


@given(st.lists(st.sampled_from(["a", " a", "b", "c\x00"])))
def test_names_are_cleaned_and_keep_their_first_places_without_repeats(given_names):
    cleaned = [checks.clean(name) for name in given_names]
    assert checks.names(iter(given_names), name="tag") == tuple(dict.fromkeys(cleaned))


def test_one_name_stands_for_itself_and_none_for_no_names():
    assert checks.names("travel", name="tag") == ("travel",)
    assert checks.names(None, name="tag") == ()


@pytest.mark.parametrize("value", [5, 1.5, True, object()])
def test_names_that_are_neither_text_nor_several_are_refused(value):
    with pytest.raises(InvalidInput, match="tag must be a name or several"):
        checks.names(value, name="tag")


def test_a_name_among_several_is_refused_like_a_single_one():
    with pytest.raises(InvalidInput, match="tag must be text, not int"):
        checks.names(["a", 5], name="tag")
    with pytest.raises(InvalidInput, match="tag must be text, not int"):
        checks.names(b"bytes are no text", name="tag")


@given(st.one_of(NOT_TEXT, st.text()))
@example(["user"])
@example("User")
def test_a_choice_is_one_of_the_known_words_or_is_refused_with_them(value):
    if value in ROLES:
        assert checks.choice(value, ROLES, name="role") == value
    else:
        with pytest.raises(InvalidInput, match=r"^role .* is unknown; choose one of: user, assistant, tool, system$"):
            checks.choice(value, ROLES, name="role")


def test_a_member_of_the_callers_own_enumeration_becomes_the_plain_word():
    side = StrEnum("Side", {"USER": "user"})
    assert type(checks.choice(side.USER, ROLES, name="role")) is str


@pytest.mark.req("N07")
def test_what_older_records_call_forgotten_is_retracted():
    assert [checks.validity(word) for word in (*VALIDITIES, "forgotten")] == [*VALIDITIES, "retracted"]
    for value in ("fading", "Forgotten", "", None, 3):
        with pytest.raises(InvalidInput, match="active, superseded, expired, retracted"):
            checks.validity(value)


@pytest.mark.req("B04.2")
@pytest.mark.parametrize("value", ["eternal", "Standard", "", None, 0.008])
def test_an_unknown_permanence_is_refused_with_those_there_are(value):
    with pytest.raises(ValueError, match="permanent, stable, standard, volatile, ephemeral"):
        checks.choice(value, DECAY_RATES, name="permanence")


def test_choices_are_none_one_or_several():
    assert checks.choices(None, ROLES, name="role") == ()
    assert checks.choices("tool", ROLES, name="role") == ("tool",)
    assert checks.choices(["tool", "user", "tool"], ROLES, name="role") == ("tool", "user")
    with pytest.raises(InvalidInput, match="role 'butler' is unknown"):
        checks.choices(["tool", "butler"], ROLES, name="role")


@given(st.floats() | st.integers())
@example(10**400)
@example(TOO_LONG_TO_PRINT)
@example(-0.0)
def test_a_number_is_finite_and_in_range_or_is_refused(value):
    is_fine = 0 <= value <= 10  # False for NaN
    if is_fine:
        assert checks.number(value, name="importance", low=0, high=10) == value
        assert type(checks.number(value, name="importance", low=0, high=10)) is float
    else:
        with pytest.raises(InvalidInput, match=r"^importance "):
            checks.number(value, name="importance", low=0, high=10)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, True, False, "5", None, [5], 5j])
def test_what_is_no_finite_number_is_refused_as_such(value):
    with pytest.raises(InvalidInput, match=rf"importance must be a finite number, not {re.escape(repr(value))}"):
        checks.number(value, name="importance", low=0, high=10)


@given(st.integers())
@example(TOO_LONG_TO_PRINT)
def test_a_count_is_whole_and_in_range_or_is_refused(value):
    if 0 <= value <= checks.MAX_LIMIT:
        assert checks.count(value, name="limit") == value
    else:
        with pytest.raises(InvalidInput, match=r"^limit is .*; it must lie in \[0, 1,000\]$"):
            checks.count(value, name="limit")


@pytest.mark.parametrize("value", [True, 5.0, "5", None, math.nan])
def test_what_is_no_whole_number_is_refused_as_such(value):
    with pytest.raises(InvalidInput, match=rf"limit must be a whole number, not {re.escape(repr(value))}"):
        checks.count(value, name="limit")


@given(st.datetimes(timezones=st.none() | st.timezones()))
@example(datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=14))))
@example(datetime(9999, 12, 31, 23, tzinfo=timezone(timedelta(hours=-12))))
def test_any_datetime_is_the_same_moment_in_utc_or_is_refused(moment):
    """Naive means UTC; a moment that UTC puts outside the years 1 to 9999 is refused, and never an OverflowError."""
    try:
        expected = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except OverflowError:
        with pytest.raises(InvalidInput, match="outside the years 1 to 9999"):
            checks.moment(moment, name="since")
        return
    found = checks.moment(moment, name="since")
    assert found == expected
    assert found.utcoffset() == timedelta(0)


@given(st.datetimes(timezones=st.none() | st.just(UTC) | st.just(timezone(timedelta(hours=-9, minutes=-30)))))
def test_a_time_as_iso_8601_text_is_the_time_itself(moment):
    written = f" {moment.isoformat()}\n"
    try:
        expected = checks.moment(moment, name="since")
    except InvalidInput:
        with pytest.raises(InvalidInput, match="outside the years"):
            checks.moment(written, name="since")
        return
    assert checks.moment(written, name="since") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-05-01", datetime(2026, 5, 1, tzinfo=UTC)),
        ("2026-05-01T09:30:00+02:00", datetime(2026, 5, 1, 7, 30, tzinfo=UTC)),
        ("2026-05-01 09:30", datetime(2026, 5, 1, 9, 30, tzinfo=UTC)),
        ("2026-05-01T09:30:00Z", datetime(2026, 5, 1, 9, 30, tzinfo=UTC)),
    ],
)
def test_the_forms_of_a_time_a_caller_writes(text, expected):
    assert checks.moment(text, name="since") == expected


@pytest.mark.usefixtures("far_from_utc")
def test_a_datetime_whose_zone_says_nothing_is_naive_and_so_utc():
    """Python would take it for the time of the machine's own zone."""

    class Unknown(tzinfo):
        def utcoffset(self, _moment):
            return None

    moment = datetime(2026, 5, 1, tzinfo=Unknown())
    assert checks.moment(moment, name="since") == datetime(2026, 5, 1, tzinfo=UTC)


@given(st.text())
def test_text_that_is_no_time_is_refused_with_an_example_of_one(text):
    try:
        datetime.fromisoformat(text.strip())
    except ValueError:
        with pytest.raises(InvalidInput, match="is no time, such as 2026-05-01"):
            checks.moment(text, name="since")


@pytest.mark.parametrize("value", [1714521600, 1.5, True, date(2026, 5, 1), ["2026-05-01"]])
def test_what_is_no_time_is_refused_as_such(value):
    with pytest.raises(InvalidInput, match=r"^since must be a datetime or ISO 8601 text, not "):
        checks.moment(value, name="since")


def test_no_time_is_none():
    assert checks.moment(None, name="since") is None


@given(st.dictionaries(st.text(), JSON, max_size=4))
def test_metadata_of_ordinary_text_is_kept_as_given(value):
    has_nul = "\\u0000" in json.dumps(value)
    if not has_nul:
        assert checks.metadata(value) == value
        assert checks.metadata(MappingProxyType(value)) == value


@given(
    st.dictionaries(
        ANY_TEXT,
        ANY_TEXT | st.lists(ANY_TEXT | st.dictionaries(ANY_TEXT, ANY_TEXT, max_size=2), max_size=2),
        max_size=2,
    )
)
def test_metadata_comes_back_from_utf_8_json_as_it_was_kept(value):
    stored = checks.metadata(value)
    written = json.dumps(stored, ensure_ascii=False).encode()
    assert json.loads(written) == stored
    assert b"\\u0000" not in written
    assert checks.metadata(stored) == stored


@pytest.mark.parametrize("entry", [{"hidden": True}, {"forgotten": True}, {"status": "fading"}])
def test_a_host_marks_no_memory_as_forgotten_or_fading(entry):
    with pytest.raises(InvalidInput, match=re.escape(str(entry))):
        checks.host_metadata({"by": "Ana", **entry})


@pytest.mark.parametrize(
    "metadata", [{"hidden": 1}, {"hidden": "yes"}, {"forgotten": False}, {"status": "draft"}, {"status": ["fading"]}]
)
def test_other_values_of_reserved_keys_are_the_hosts_own(metadata):
    assert checks.host_metadata(metadata) == metadata


def test_no_metadata_is_an_empty_object():
    assert checks.metadata(None) == {}


@pytest.mark.parametrize("value", [[("a", 1)], "text", 5, True])
def test_metadata_that_is_no_mapping_is_refused(value):
    with pytest.raises(InvalidInput, match=f"metadata must be a mapping, not {type(value).__name__}"):
        checks.metadata(value)


@pytest.mark.parametrize(
    "value",
    [math.nan, math.inf, {1, 2}, b"bytes", object(), datetime(2026, 5, 1, tzinfo=UTC), {(1, 2): 3}],
)
def test_metadata_that_json_cannot_say_is_refused(value):
    with pytest.raises(InvalidInput, match=r"^metadata .* is not JSON: "):
        checks.metadata({"a": [value]})


def test_a_value_too_long_to_print_is_refused_without_being_printed():
    with pytest.raises(InvalidInput, match="since must be a datetime or ISO 8601 text, not <int>"):
        checks.moment(TOO_LONG_TO_PRINT, name="since")
    with pytest.raises(InvalidInput, match="metadata <dict> is not JSON"):
        checks.metadata({"a": TOO_LONG_TO_PRINT})


def test_metadata_that_holds_itself_is_refused():
    value = {}
    value["a"] = value
    with pytest.raises(InvalidInput, match="is not JSON: Circular reference"):
        checks.metadata(value)


@pytest.mark.parametrize("depth", [101, 300, 480, 900, 5_000])
def test_metadata_nested_deeper_than_any_reader_can_follow_is_refused(depth):
    with pytest.raises(InvalidInput, match="metadata nests deeper than 100 levels"):
        checks.metadata(nested(depth))


def test_metadata_may_nest_a_hundred_levels():
    assert checks.metadata(nested(100)) == nested(100)


@given(st.lists(JSON, max_size=3))
def test_json_values_are_kept_as_given(values):
    if "\\u0000" not in json.dumps(values):
        assert checks.json_values(values, name="tool_calls") == tuple(values)
        assert checks.json_values(iter(values), name="tool_calls") == tuple(values)


def test_no_json_values_are_none():
    assert checks.json_values(None, name="tool_calls") == ()


@pytest.mark.parametrize("value", ["text", b"bytes", {"a": 1}, 5, True])
def test_one_json_value_where_several_belong_is_refused(value):
    with pytest.raises(InvalidInput, match=f"tool_calls must be a list, not {type(value).__name__}"):
        checks.json_values(value, name="tool_calls")


def test_json_values_that_json_cannot_say_or_nobody_can_follow_are_refused():
    with pytest.raises(InvalidInput, match=r"^tool_calls .* is not JSON: "):
        checks.json_values([{"a": math.nan}], name="tool_calls")
    with pytest.raises(InvalidInput, match="tool_calls nests deeper than 100 levels"):
        checks.json_values([nested(100)], name="tool_calls")
    assert checks.json_values([nested(99)], name="tool_calls") == (nested(99),)


@pytest.mark.parametrize("value", [True, False])
def test_a_flag_is_true_or_false(value):
    assert checks.flag(value, name="strict") is value


@pytest.mark.parametrize("value", [None, 0, 1, "yes", b"true", [True], math.nan])
def test_a_flag_is_nothing_that_merely_counts_as_one(value):
    with pytest.raises(InvalidInput, match=f"strict must be true or false, not {re.escape(repr(value))}"):
        checks.flag(value, name="strict")


REFUSALS = {
    "content of another type": lambda: checks.content(42),
    "empty content": lambda: checks.content("  "),
    "huge content": lambda: checks.content("a" * 10_000_001),
    "query of another type": lambda: checks.query(42),
    "long name": lambda: checks.name("a" * 600, name="session"),
    "names of another type": lambda: checks.names(42, name="session"),
    "unknown choice": lambda: checks.choice("butler", ROLES, name="role"),
    "number of another type": lambda: checks.number("42", name="confidence", low=0, high=1),
    "number out of range": lambda: checks.number(42, name="confidence", low=0, high=1),
    "count of another type": lambda: checks.count("42", name="limit"),
    "count out of range": lambda: checks.count(4242, name="limit"),
    "time in no known form": lambda: checks.moment("yesterday", name="since"),
    "time of another type": lambda: checks.moment(42, name="since"),
    "metadata of another type": lambda: checks.metadata([42]),
    "metadata beyond JSON": lambda: checks.metadata({"a": {42}}),
    "metadata too deep": lambda: checks.metadata(nested(200)),
}


@pytest.mark.parametrize("refuse", REFUSALS.values(), ids=REFUSALS.keys())
def test_a_refusal_says_what_was_refused_with_which_value_and_what_is_wanted(refuse):
    with pytest.raises(InvalidInput) as refused:
        refuse()
    message = str(refused.value)
    assert re.match("content|query|session|role|confidence|limit|since|metadata", message)
    assert re.search("42|'  '|10,000,001|'aaa|'butler'|yesterday|{'a'|100 levels", message)
    assert re.search("must|pass |choose|split|shorten|such as|is not JSON|flatten", message)
    assert len(message) < 250
    assert "\n" not in message


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("Ana", "ana"),
        (" ana ", "ana"),
        ("ZOË", "Zoë"),
        ("bne", "ben"),
        ("ana@exmaple.com", "ana@example.com"),
        ("x", None),
    ],
)
def test_the_nearest_name_is_that_of_another_case_or_one_that_resembles(name, nearest):
    assert checks.nearest_name(name, ["ana", "ana@example.com", "ben", "Zoë"]) == nearest
    assert checks.nearest_name(name, []) is None
