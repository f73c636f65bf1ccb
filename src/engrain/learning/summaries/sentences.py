"""Sentence splitter for prose, chat, lists and scripts without spaces. Rules, no model: always the same cuts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

# A longer one is code, a table, or writing without full stops (Thai): it is cut where there is a space.
MOST_CHARACTERS = 500

# Lower case, without their last full stop. The sentence goes on after them, whatever the case of the next letter.
_TITLES = frozenset("mr mrs ms dr prof st sr jr gen col capt lt sgt rev hon messrs mme mlle hr fr mt ph.d".split())
_REFERENCES = frozenset("no nos nr vol fig figs pp p sec ch eq ed eds art cf al ver v".split())
# After one of these lower case goes on, and upper case begins a sentence: "in Jan. he", "Acme Inc. They".
_SHORTENED = frozenset(
    """
    approx apt assn ave blvd dept dist div est etc ext hwy inc corp co ltd llc bros rd rte sq tel temp min max
    vs viz jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thurs fri sat sun
    bzw ca usw evtl ggf inkl exkl str env ej pag aprox ecc
    """.split()
)

# A mark list items begin with, a heading's, a quotation's.
_ITEM = re.compile(
    r"\s*(?:[-*+\u2022\u2023\u25e6\u2043\u00b7\u2013\u2014>]+|#{1,6}|\(?\d{1,3}[.)]|\(?[a-zA-Z]\))(?:\s+|$)"
)
_CLOSING = "\"'\u201d\u2019\u00bb)\\]}\u300d\u300f\uff09\u3011*_"
# Arabic, Hebrew-like, Indic, Armenian, Ethiopic, Khmer and Burmese full stops are followed by a space where people
# write one; those of Chinese and Japanese by nothing.
_STOPS = r"[.!?\u2026\u061f\u06d4\u0964\u0965\u0589\u1362\u17d4\u104b]"
_END = re.compile(
    rf"(?P<spaced>(?<!{_STOPS}){_STOPS}++(?:\s\.++)*[{_CLOSING}]*+)(?=\s)"
    rf"|(?P<close>[\u3002\uff01\uff1f\uff0e]+[{_CLOSING}]*)"
)
_LONGEST_WORD = 64  # of the last words of sentences that are looked up
_LAST_WORD = re.compile(r"[\w.'\u2019&-]*$")
_NEXT = re.compile(r"\s+[\"'\u201c\u2018\u00ab(\[*_]*(\S)")


def split(text: str) -> list[str]:
    """The sentences of a text in order, none empty, none longer than MOST_CHARACTERS; every line break ends one.

    The marks that lists, headings and quotations begin with are left out.
    """
    return [piece for line in text.splitlines() for sentence in _of_line(line) for piece in _bounded(sentence)]


def _of_line(line: str) -> Iterator[str]:
    item = _ITEM.match(line)
    rest = line[item.end() :] if item else line
    start = read = 0
    has_word = False
    for end in _END.finditer(rest):
        has_word = has_word or any(map(str.isalnum, rest[read : end.end()]))
        read = end.end()
        if has_word and (end["close"] or _ends(rest, start, end)):
            yield rest[start:read].strip()
            start, has_word = read, False
    if sentence := rest[start:].strip():
        yield sentence


def _ends(line: str, start: int, end: re.Match[str]) -> bool:
    """True if a mark ends a sentence, by the word before it and the letter after."""
    mark, following = end["spaced"], _NEXT.match(line, end.end())
    if following is None:
        return True
    goes_on = following[1].islower()
    is_inside = mark[-1] in _CLOSING or mark.startswith(("..", ". .", "\u2026"))
    if is_inside and goes_on:
        return False
    if mark.rstrip(_CLOSING) != ".":
        return True
    before = _LAST_WORD.search(line, max(start, end.start() - _LONGEST_WORD), end.start())
    word = before[0].lower() if before else ""
    if word in _TITLES or (len(word) == 1 and word.isalpha() and word != "i" and following[1].isupper()):
        return False
    if word in _REFERENCES:
        return not (following[1].isdigit() or following[1].islower())
    return not ((word in _SHORTENED or "." in word) and (following[1].islower() or following[1].isdigit()))


def _bounded(sentence: str) -> Iterator[str]:
    while len(sentence) > MOST_CHARACTERS:
        space = sentence.rfind(" ", 1, MOST_CHARACTERS)
        cut = space if space > 0 else MOST_CHARACTERS
        yield sentence[:cut].rstrip()
        sentence = sentence[cut:].lstrip()
    if sentence:
        yield sentence
