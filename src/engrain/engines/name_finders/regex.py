"""Name finder for names with a fixed spelling: mentions, hashtags, e-mail addresses, URLs and dates."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from engrain.domain.entities.registry import Name, NameKind
from engrain.domain.text.patterns import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


_MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?"
    r"|Nov(?:ember)?|Dec(?:ember)?)(?:\.(?=[ ,]*\d))?"
)
_DAY = r"(?:3[01]|[12]\d|0?[1-9])"
_ORDINAL = rf"{_DAY}(?:st|nd|rd|th)?"
_YEAR = r"(?:1[5-9]|20|21)\d\d"
_NUMBER_OF_MONTH = r"(?:1[0-2]|0?[1-9])"
# Characters at the end of an address that most often end the sentence instead.
_TRAILING = ".,;:!?'\"\u2019\u201d*_~>"
_OPENED_BY = {")": "(", "]": "[", "}": "{"}

_PATTERNS: Mapping[NameKind, tuple[re.Pattern[str], float]] = {
    "url": (lazy_pattern(r"\b(?:https?://|www\.(?=[\w-]+\.))[^\s<>\"]+", re.IGNORECASE), 0.99),
    "email": (
        lazy_pattern(r"(?<![\w.+/-])\w[\w.+'-]{0,63}@(?:[^\W_](?:[\w-]{0,61}[^\W_])?\.)+[^\W\d_]{2,24}(?![\w@-])"),
        0.99,
    ),
    "mention": (lazy_pattern(r"(?<![\w@/.+-])@[^\W\d_][\w-]*(?:\.[\w-]+)*(?![\w@])"), 0.95),
    "hashtag": (lazy_pattern(r"(?<![\w#&/])#(?=\w*[^\W\d_])\w+(?:-\w+)*"), 0.95),
    "date": (
        lazy_pattern(
            rf"(?<![\w/.-])(?:{_YEAR}-(?:1[0-2]|0[1-9])-(?:3[01]|[12]\d|0[1-9])"
            rf"|{_DAY}[./]{_NUMBER_OF_MONTH}[./](?:{_YEAR}|\d\d)|{_NUMBER_OF_MONTH}/{_DAY}/(?:{_YEAR}|\d\d)"
            rf"|{_ORDINAL}\ (?:of\ )?{_MONTH}(?:,?\ {_YEAR})?|{_MONTH}\ {_ORDINAL}(?:,?\ {_YEAR})?|{_MONTH}\ {_YEAR})"
            r"(?!(?!T\d\d:)[\w/]|-\d|\.\d)"
        ),
        0.9,
    ),
}


class RegexNames:
    """Name finder by regular expressions: no model, no network, microseconds for a sentence.

    It does not look for names of people and places: capital letters begin sentences too, and some languages have none.
    """

    name = "regex"

    def find(self, text: str) -> list[Name]:
        """As the port says; a date inside a URL is found too, and the caller removes overlaps."""
        return sorted(self._matches(text), key=lambda name: (name.start, name.end))

    def _matches(self, text: str) -> Iterator[Name]:
        for kind, (pattern, confidence) in _PATTERNS.items():
            for match in pattern.finditer(text):
                name = _trim_url(match[0]) if kind == "url" else match[0]
                yield Name(
                    text=name,
                    kind=kind,
                    start=match.start(),
                    end=match.start() + len(name),
                    confidence=confidence,
                    source=self.name,
                )


def _trim_url(url: str) -> str:
    """Cut the punctuation of the surrounding sentence off an address: `(see https://x.org/a_(b).)` ends at `(b)`."""
    while True:
        last = url[-1]
        opening = _OPENED_BY.get(last)
        if last not in _TRAILING and (opening is None or url.count(opening) >= url.count(last)):
            return url
        url = url[:-1]
