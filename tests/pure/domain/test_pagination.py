"""Pages hold each row once, and a cursor opens its own list alone."""

import base64
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engrain.domain.pagination import Page, cut, decode, decode_moment, encode
from engrain.errors import InvalidInput

TEXTS = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), max_size=50)
NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)


@given(TEXTS, TEXTS, TEXTS)
def test_a_cursor_gives_its_position_back(name, first, second):
    assert decode(name, encode(name, (first, second))) == (first, second)


@given(st.datetimes(timezones=st.just(UTC)), TEXTS)
def test_a_cursor_keeps_a_time_to_the_microsecond(at, id_):
    assert decode_moment("facts", encode("facts", (at, id_))) == (at, id_)


@given(st.lists(st.integers(0, 1_000_000), unique=True).map(sorted), st.integers(1, 5))
def test_pages_hold_every_row_once_and_the_last_one_has_no_next(rows, limit):
    found, after = [], None
    while True:
        began = None if after is None else int(decode("rows", after)[1])
        rest = [row for row in rows if began is None or row > began][: limit + 1]
        page = cut("rows", rest, limit, lambda row: ("", str(row)))
        assert page or not rows
        found += page
        if page.next is None:
            break
        after = page.next
    assert found == rows


@pytest.mark.parametrize(
    "cursor",
    [
        "",
        "é",
        "x",
        "A" * 5_000,
        7,
        b"bytes",
        encode("events", (NOON, "x")),
        encode("facts", (NOON, "x"))[:-3],
        encode("facts", (NOON, "x")) + "A",
        encode("facts", (NOON, "nul\x00")),
        base64.urlsafe_b64encode(b'["facts","' + b"\\ud800" + b'","x"]').decode(),
        base64.urlsafe_b64encode(b'["facts",7,"x"]').decode(),
        base64.urlsafe_b64encode(b"[" * 2_000).decode(),
        encode("facts", ("no time", "x")),
    ],
)
def test_what_is_no_cursor_of_a_list_is_refused(cursor):
    with pytest.raises(InvalidInput):
        decode_moment("facts", cursor)


def test_a_page_is_a_sequence_of_its_items():
    page = Page(items=("a", "b"), next="more")
    assert (list(page), len(page), page[0], page[-1:], "b" in page) == (["a", "b"], 2, "a", ("b",), True)
    assert page
    assert not Page()
    assert page.to_dict() == {"items": ["a", "b"], "next": "more"}
    assert cut("letters", "abc", 0, lambda letter: (letter, "")) == Page()
