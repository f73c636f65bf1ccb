import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engrain.portability.formats import read
from engrain.portability.formats.records import BrokenRecord, IgnoredKeys, ImportedTurn


def test_reads_every_field_and_fills_in_what_is_not_said(samples):
    moved, answer, bare, named = read(samples / "plain.jsonl")

    assert moved == ImportedTurn(
        session="2024-02-10 call",
        role="user",
        speaker="Ana",
        content="I moved to Lisbon in May.",
        event_time=datetime(2024, 2, 10, 17, tzinfo=UTC),
        source_id=moved.source_id,
        metadata={"format": "jsonl"},
    )
    assert (answer.role, answer.event_time) == ("assistant", datetime(2024, 2, 10, 17, 1, 0, 500000, tzinfo=UTC))
    assert (bare.session, bare.role, bare.speaker, bare.event_time) == ("plain", "user", None, None)
    assert (named.source_id, named.role, named.speaker) == ("note-7", "user", None)
    assert named.event_time == datetime(2024, 2, 10, 9, 30, tzinfo=UTC)


def test_reading_twice_gives_the_same_ids_and_appending_keeps_them(written):
    lines = [{"content": "ok"}, {"content": "ok"}, {"content": "ok", "speaker": "Ana"}]

    before = [turn.source_id for turn in read(written("notes.jsonl", lines))]
    after = [turn.source_id for turn in read(written("notes.jsonl", [*lines, {"content": "new"}]))]

    assert after[:3] == before
    assert len(set(after)) == 4


OUTSIDE = "outside the years 1 to 9999 (epoch times in seconds)"
SHORTENED = f"{str(10**350)[:28]}...{str(10**350)[-29:]}"


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ({"text": "hi", "who": "Ana"}, "content is missing; keys found: text, who"),
        ({}, "content is missing; it has no keys"),
        ({str(i): i for i in range(10)}, "content is missing; keys found: 0, 1, 2, 3, 4, 5, 6, 7, ..."),
        ({"content": " \t"}, "content is blank"),
        ({"content": None}, "content is null, expected text"),
        ({"content": 12}, "content is a number (12), expected text"),
        ({"content": "x", "session": 7}, "session is a number (7), expected text"),
        ({"content": "x", "id": 7}, "id is a number (7), expected text"),
        ({"content": "x", "speaker": ["Ana"]}, "speaker is a list (['Ana']), expected text"),
        ({"content": "x", "role": "User"}, "role is text ('User'), known are user, assistant, tool, system"),
        ({"content": "x", "role": {}}, "role is an object ({}), known are user, assistant, tool, system"),
        ({"content": "x", "time": "8 May"}, "time is text ('8 May'), expected ISO 8601 or epoch seconds"),
        ({"content": "x", "time": False}, "time is false, expected ISO 8601 or epoch seconds"),
        ({"content": "x", "time": float("nan")}, "time is a number (nan), expected ISO 8601 or epoch seconds"),
        ({"content": "x", "time": 20250531120000}, f"time is a number (20250531120000), {OUTSIDE}"),
        ({"content": "x", "time": float("inf")}, f"time is a number (inf), {OUTSIDE}"),
        ({"content": "x", "time": 10**4000}, f"time is a number (inf), {OUTSIDE}"),
        ({"content": "x", "time": 10**350}, f"time is a number ({SHORTENED}), {OUTSIDE}"),
        (
            {"content": "x", "time": "0001-01-01T00:00:00+14:00"},
            f"time is text ('0001-01-01T00:00:00+14:00'), {OUTSIDE}",
        ),
    ],
)
def test_a_broken_line_says_what_is_wrong(written, record, reason):
    good, broken, after = read(written("n.jsonl", [{"content": "before"}, record, {"content": "after"}]))

    assert broken == BrokenRecord("line 2", reason)
    assert (good.content, after.content) == ("before", "after")


def test_text_is_passed_on_as_it_is(written):
    path = written("n.jsonl", '{"content": " \\ud800 and \\u0000 ", "speaker": "\\udfff"}\n')

    (turn,) = read(path)

    assert (turn.content, turn.speaker) == (" \ud800 and \0 ", "\udfff")


@pytest.mark.parametrize(
    ("time", "expected"),
    [
        ("2024-02-10", datetime(2024, 2, 10, tzinfo=UTC)),
        ("2024-02-10T09:30:00Z", datetime(2024, 2, 10, 9, 30, tzinfo=UTC)),
        (" 2024-02-10 09:30 ", datetime(2024, 2, 10, 9, 30, tzinfo=UTC)),
        (0, datetime(1970, 1, 1, tzinfo=UTC)),
        (-86400.5, datetime(1969, 12, 30, 23, 59, 59, 500000, tzinfo=UTC)),
        (1707557400, datetime(2024, 2, 10, 9, 30, tzinfo=UTC)),
        ("1707557400", datetime(2024, 2, 10, 9, 30, tzinfo=UTC)),
        (1707557400123, datetime(2024, 2, 10, 9, 30, 0, 123000, tzinfo=UTC)),
        ("1707557400123", datetime(2024, 2, 10, 9, 30, 0, 123000, tzinfo=UTC)),
        (1707557400123456, datetime(2024, 2, 10, 9, 30, 0, 123456, tzinfo=UTC)),
        ("20240210", datetime(2024, 2, 10, tzinfo=UTC)),
        ("", None),
        (None, None),
    ],
)
def test_times(written, time, expected):
    (turn,) = read(written("n.jsonl", [{"content": "x", "time": time}]))

    assert turn.event_time == expected


@pytest.mark.parametrize("has_kind", [False, True])
@pytest.mark.parametrize("written_first", ["time", "event_time", "timestamp", "created_at"])
def test_the_time_has_several_names_and_the_first_that_is_there_counts(written, written_first, has_kind):
    names = ["time", "event_time", "timestamp", "created_at"]
    later = dict.fromkeys(names[names.index(written_first) + 1 :], "2026-01-01T00:00:00Z")
    line = {**later, "time": None, written_first: "2019-05-01T00:00:00Z", "content": "The boiler was serviced."}

    (turn,) = read(written("n.jsonl", [{**line, "kind": "episode"} if has_kind else line]))

    assert turn.event_time == datetime(2019, 5, 1, tzinfo=UTC)


def test_a_fault_of_a_time_names_the_key_that_the_line_has(written):
    broken, _ = read(written("n.jsonl", [{"content": "x", "event_time": "8 May"}, {"content": "y"}]))

    assert broken == BrokenRecord("line 1", "event_time is text ('8 May'), expected ISO 8601 or epoch seconds")


def test_a_plain_turn_keeps_its_tags_metadata_and_importance(written):
    line = {"content": "x", "tags": ["home"], "metadata": {"channel": "sms"}, "importance": 8}

    (turn,) = read(written("n.jsonl", [line]))

    assert (turn.tags, turn.metadata) == (("home",), {"channel": "sms", "format": "jsonl"})
    assert turn.fields == {"importance": 8}


def test_keys_that_are_not_read_are_named_once_a_file(written):
    lines = [{"content": "x", "thread": number, f"{'k' * 99}": 1} for number in range(3)]
    export = {"kind": "episode", "content": "y", "anything": 1}

    *turns, ignored = read(written("n.jsonl", [*lines, {"content": "y", "user_id": "ana"}, export, {"nothing": 1}]))

    assert len(turns) == 6
    assert ignored == IgnoredKeys((f"{'k' * 27}...{'k' * 28}", "thread", "user_id"))


def test_of_very_many_keys_that_are_not_read_a_hundred_are_named(written):
    *_, ignored = read(written("n.jsonl", [{"content": "x", f"key {number:03}": 1} for number in range(300)]))

    assert ignored.keys == tuple(f"key {number:03}" for number in range(100))


def fields_of_lines(key, *usual):
    odd = [None, "", " ", 7, True, ["x"], "\ud800"]
    return st.fixed_dictionaries({}, optional={key: st.sampled_from([*usual, *odd]) | st.sampled_from(usual)})


LINES = st.builds(
    lambda *parts: {key: value for part in parts for key, value in part.items()},
    fields_of_lines("content", "one", "two words", "caf\u00e9"),
    fields_of_lines("content", "one"),
    fields_of_lines("session", "monday", "tuesday"),
    fields_of_lines("role", "user", "assistant"),
    fields_of_lines("speaker", "Ana"),
    fields_of_lines("id", "a", "b", "c"),
    fields_of_lines(
        "time", "2024-05-01T08:00:00Z", "2024-05-01T08:00:00+00:00", "2024-05-01", "0001-01-01T00:00+09:00"
    ),
    fields_of_lines("timestamp", "2024-05-02T08:00:00Z", 1707584460),
    st.sampled_from([{}, {}, {}, {"kind": "episode"}, {"kind": "rule"}]),
)


@given(st.lists(LINES, max_size=5), st.sampled_from(["\n", "\r\n", "\n\n", " \n"]), st.booleans())
def test_lines_are_read_at_once_as_each_is(tmp_path_factory, lines, newline, has_broken):
    path = tmp_path_factory.mktemp("lines") / "said.jsonl"
    texts = [json.dumps(line) for line in lines] + ['{"content": '] * has_broken
    path.write_bytes(newline.join(texts).encode())
    found = list(read(path, "jsonl")) if lines else []

    alone = []
    for number, line in enumerate(lines):
        place = 1 + number * newline.count("\n")
        path.write_bytes(b"\n" * (place - 1) + json.dumps(line).encode() + b"\n{}")
        alone += list(read(path, "jsonl"))[:-1]
    assert found[: len(found) - has_broken] == alone
