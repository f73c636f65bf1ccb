"""Stream of JSON values: reads the items of one large list one at a time, in memory bounded by the largest item."""

from __future__ import annotations

import json
import re
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_VALUE_CHARACTERS = 16 * 2**20
# What one value may cost as Python objects; the text alone does not say it: a list of empty objects takes 60 times its
# size. Counted before it is parsed, by its signs, so that a text of few of them may be long and one of many may not.
MAX_VALUE_BYTES = 128 * 2**20
CHEAP_CHARACTERS = 2**20
_SPACE = re.compile(r"[ \t\n\r]*")
# Of an error nearer to the end than the longest escape or word (-Infinity), more text may make sense.
_LONGEST_TOKEN = 16


class JsonFault(Exception):
    """Fault of a text that is no JSON, or of a value that is too large to be held in memory."""


def check_size(text: str) -> None:
    """Check that a JSON text takes a bounded amount of memory when it is parsed.

    Raises:
        JsonFault: it would take more.
    """
    if len(text) <= CHEAP_CHARACTERS:
        return
    if len(text) > MAX_VALUE_CHARACTERS:
        raise JsonFault(f"one JSON value of more than {MAX_VALUE_CHARACTERS // 2**20} million characters: split it")
    signs = 200 * text.count("{") + 100 * (text.count("[") + text.count(",") + text.count(":"))
    if signs + 2 * sys.getsizeof(text) > MAX_VALUE_BYTES:
        raise JsonFault(f"one JSON value that would take more than {MAX_VALUE_BYTES // 2**20} MB of memory: split it")


class JsonStream:
    """Reader of one JSON document: a window on its text around the value that is read."""

    def __init__(self, pieces: Iterator[str], decoder: json.JSONDecoder) -> None:
        self._pieces = pieces
        self._decoder = decoder
        self._text = ""
        self._at = 0
        self._lines = 0  # line breaks before the window
        self._column = 0  # characters of its first line before the window

    def is_list(self) -> bool | None:
        """True for a list; None for a blank text."""
        sign = self._next_sign()
        return sign == "[" if sign else None

    def values(self) -> Iterator[object]:
        """Items of a list, else the one value; nothing of a blank text.

        Raises:
            JsonFault: the text is no JSON, at the position it names, or a value is too large.
        """
        sign = self._next_sign()
        if sign == "[":
            yield from self._items()
        elif sign:
            yield self._value()
        if self._next_sign():
            raise self._fault("Extra data", self._at)

    def _items(self) -> Iterator[object]:
        self._at += 1
        if self._next_sign() == "]":
            self._at += 1
            return
        while True:
            yield self._value()
            sign = self._next_sign()
            if sign not in (",", "]"):
                raise self._fault("Expecting ',' delimiter", self._at)
            self._at += 1
            if sign == "]":
                return
            self._next_sign()

    def _next_sign(self) -> str:
        """The next character that is not white space, where the window then begins; "" at the end."""
        while True:
            match = _SPACE.match(self._text, self._at)
            assert match is not None
            self._at = match.end()
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._grow():
                return ""

    def _value(self) -> object:
        """The value that begins here, and stand behind it."""
        while True:
            try:
                value, end = self._decoder.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                is_cut = error.pos >= len(self._text) - _LONGEST_TOKEN or error.msg.startswith("Unterminated string")
                if not (is_cut and self._grow()):
                    raise self._fault(error.msg, error.pos) from error
                check_size(self._text)
                continue
            except RecursionError as error:
                raise JsonFault("JSON nested too deeply") from error
            if end < len(self._text) or not self._grow():  # the next digits of a number may not have come yet
                self._at = end
                return value
            check_size(self._text)

    def _fault(self, problem: str, at: int) -> JsonFault:
        """The fault with its place in the whole text, as `json` says it."""
        before = self._text[:at]
        line = self._lines + before.count("\n")
        column = at - before.rfind("\n") + (0 if "\n" in before else self._column)
        return JsonFault(f"not JSON: {problem} at {f'line {line + 1}, ' if line else ''}column {column}")

    def _grow(self) -> bool:
        """Leave out what was read, and at least double the rest: a value is then parsed twice, not once a piece."""
        passed, rest = self._text[: self._at], [self._text[self._at :]]
        size, wanted = len(rest[0]), 2 * len(rest[0])
        for piece in self._pieces:
            rest.append(piece)
            size += len(piece)
            if piece and size >= wanted:
                break
        else:
            if size == len(rest[0]):
                return False
        breaks = passed.count("\n")
        self._lines += breaks
        self._column = len(passed) - passed.rfind("\n") - 1 if breaks else self._column + len(passed)
        self._text, self._at = "".join(rest), 0
        return True
