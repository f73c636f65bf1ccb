"""Grounding: whether the names, numbers, dates and addresses of a text stand in the words that are to prove it. Pure.

A model that was talked into it puts an account number behind a true quote; one that means well may mix up two people.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, NamedTuple

from engrain.domain.text.analysis import STOP_WORDS, terms
from engrain.domain.text.languages import ENGLISH, MONTHS, WEEKDAYS
from engrain.retrieval.chronology.time_expressions import Span, parse_span, parse_spans

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

Unsupported = Literal["unsupported_name", "unsupported_number", "unsupported_date"]

# Each begins where no sign of its own stands before it: tried again from each place of a word, it would take minutes.
_ADDRESS = re.compile(
    r"(?<![^\s<>()\[\]\"'])[^\s<>()\[\]\"']+@[^\s<>()\[\]\"']+|\b(?:https?://|www\.)[^\s<>()\[\]\"']+"
    r"|\b(?<!\w)(?<!\w[.-])[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}\b"
)
_NUMBER = re.compile(r"(?<![^\W_])[^\W_]*\d(?:[^\W_]|[.,:'/](?=\d))*")
_CLOCK = re.compile(r"\b([01]?\d|2[0-3])(?:[:.h]([0-5]\d))?\s*(?:([ap])\.?m\b\.?|uhr\b|h\b)?", re.IGNORECASE)
_VALUE = re.compile(r"\d+(?:\.\d+)?")
_WORD = re.compile(r"[^\W_]+(?:['\u2019-][^\W_]+)*")
_END = re.compile(r"[.!?\u3002\uff01\uff1f]\s")
_UNITS = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen".split()
_UNITS += "seventeen eighteen nineteen".split()
_ORDINALS = "zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth".split()
_TENS = dict(zip("twenty thirty forty fifty sixty seventy eighty ninety".split(), range(20, 100, 10), strict=True))
_SCALES = {
    "hundred": 100,
    "thousand": 1_000,
    "million": 1_000_000,
    "billion": 1_000_000_000,
    "dozen": 12,
    "k": 1_000,
    "m": 1_000_000,
}
_LOOSE = {"a": 1, "an": 1, "once": 1, "twice": 2, "couple": 2, "both": 2, "half": 30, "quarter": 15}
_NUMERALS = {**{word: n for n, word in enumerate(_UNITS)}, **{word: n for n, word in enumerate(_ORDINALS)}, **_TENS}
_MONTHS, _WEEKDAYS = MONTHS[ENGLISH].split(), WEEKDAYS[ENGLISH].split()
_CALENDAR = frozenset(
    [*_MONTHS, *_WEEKDAYS, *(month[:3] for month in _MONTHS), *(day[:3] for day in _WEEKDAYS), "sept"]
)
# Words that say when, so that a date may follow from the time at which they were said.
_WHEN = frozenset(
    """
    ago last next this past coming yesterday today tonight tomorrow now just soon later earlier since until before after
    day days week weeks weekend month months year years morning evening night noon spring summer autumn fall winter
    christmas easter birthday holiday recently lately currently new already
    """.split()
)
_ENGLISH = frozenset(
    """
    the and my is it of to that have has with for she they this are you been will just from her his i'm i've i'll not
    but at was were our your what when
    """.split()
)
_AGE_YEARS = 120
_LEAST_TEXT = 5
_NEAR = timedelta(days=400)
_DAY, _FORTNIGHT = timedelta(days=1), timedelta(days=14)
_LEAST_PREFIX, _LEAST_CODE = 4, 5
_HALF_DAY = 12  # hours
_CAPITALS = 2
_ALIKE = 0.6


@dataclass(frozen=True, slots=True)
class Words:
    """Folded words that prove something, and when they were said."""

    text: str
    at: datetime


def extend_to_sentences(text: str, start: int, end: int) -> str:
    """The sentences of a text that a span of it touches."""
    ends = [0, *(match.end() for match in _END.finditer(text)), len(text)]
    first = max((place for place in ends if place <= start), default=0)
    last = min((place for place in ends if place >= end), default=len(text))
    return text[first:last]


def find_unsupported(text: str, quotes: Sequence[Words], *, names: str) -> Unsupported | None:
    """The first kind of detail that a text has and its quotes do not; None where they have them all.

    `names` are further words in which a name may stand: of whoever spoke, and what was said around it. A date may also
    follow from the time of a quote that says when ("last Friday"), a year from an age.
    """
    wording = _plain(" ".join(quote.text for quote in quotes))
    left = text
    for address in _ADDRESS.findall(text):
        if _plain(address).strip(".,;:/") not in wording:
            return "unsupported_name"
        left = left.replace(address, " ")
    left, dates = _take_dates(left)
    if not all(any(_says_date(date, quote) for quote in quotes) for date in dates):
        return "unsupported_date"
    if not all(_says_number(number, wording, quotes) for number in _numbers(left)):
        return "unsupported_number"
    around = f"{wording} {_plain(names)}"
    spoken = _WORD.findall(around)
    is_known = [_has_name(word, spoken) for word in _names(left)]
    if _is_foreign(around):  # in German every noun has a capital letter: a name that is made up has two words
        is_known = [one or other for one, other in pairwise(is_known)]
    return None if all(is_known) else "unsupported_name"


def is_about(subject: str, text: str, quotes: Iterable[Words], *, names: str) -> bool:
    """True if quotes speak of what a text does: its subject has a name that was said, and a word of it stands in them.

    Which words mean the same is known of English alone.
    """
    wording = _plain(" ".join(quote.text for quote in quotes))
    spoken = _WORD.findall(f"{wording} {_plain(names)}")
    if not all(_has_name(word, spoken) for word in _names(subject, is_title=True)):
        return False
    return _is_foreign(wording) or not set(terms(wording)).isdisjoint(terms(f"{subject} {text}"))


def share_most_words(text: str, quotes: Iterable[Words]) -> bool:
    """True if more than half of the words of a text that carry meaning stand in quotes; of English alone, likewise."""
    said = _plain(" ".join(quote.text for quote in quotes))
    wanted = set(terms(text))
    return _is_foreign(said) or 2 * len(wanted & set(terms(said))) > len(wanted)


def _is_foreign(text: str) -> bool:
    """True if a text of some length has none of the small words of English."""
    words = _WORD.findall(text)
    return len(words) >= _LEAST_TEXT and not _ENGLISH.intersection(words)


def _plain(text: str) -> str:
    """The text in lower case, without accents; digits of every script as ASCII has them."""
    decomposed = unicodedata.normalize("NFKD", text)
    bare = "".join(char for char in decomposed if not unicodedata.combining(char))
    return "".join(str(unicodedata.digit(char, char)) for char in bare).casefold()


# Dates


_WRITTEN_MONTH = rf"(?:{'|'.join(_MONTHS)}|{'|'.join(month[:3] for month in _MONTHS)}|sept)\.?"
_DATES = re.compile(
    r"\b\d{4}-\d\d(?:-\d\d)?\b"
    rf"|\b(?:\d{{1,2}}\s?[-\u2013]\s?)?\d{{1,2}}(?:st|nd|rd|th)?\s+(?:of\s+)?{_WRITTEN_MONTH}(?:,?\s+\d{{4}})?\b"
    rf"|\b{_WRITTEN_MONTH}\s+\d{{1,2}}(?:st|nd|rd|th)?\b(?:,?\s+\d{{4}}\b)?"
    rf"|\b{_WRITTEN_MONTH},?\s+(?:of\s+)?\d{{4}}\b"
    r"|\b(?:19|20)\d\d\b",
    re.IGNORECASE,
)


# Before the time of speaking, from which a sentence that makes sense alone counts: "three years before June 2023".
_ANCHORED = re.compile(r"\b(?:before|by|as of|until)\s+$", re.IGNORECASE)


class _Date(NamedTuple):
    """A date as it is written, and whether another time is counted from it."""

    text: str
    is_anchor: bool


def _take_dates(text: str) -> tuple[str, list[_Date]]:
    """The text without its dates, and these; of some days in a row the last."""
    dates = [
        _Date(
            re.sub(r"^\d{1,2}\s?[-\u2013]\s?(?=\d{1,2}\D)", "", match[0]), bool(_ANCHORED.search(text[: match.start()]))
        )
        for match in _DATES.finditer(text)
    ]
    return _DATES.sub(" ", text), dates


def _says_date(written: _Date, quote: Words) -> bool:
    """True if a quote says a date, or says when and the date is what it can mean, or what its time is counted from."""
    date = written.text
    figures, wording = set(_VALUE.findall(_plain(date))), set(_VALUE.findall(_plain(quote.text)))
    if figures <= wording and _months(date) <= _months(quote.text):
        return True
    span = _read_date(date, quote.at)
    if span is None:
        return False
    if written.is_anchor and span.start - _DAY <= quote.at < span.end + _DAY:
        return True
    is_year_of_age = date.isdigit() and any(_is_age(quote.at.year - int(date), value) for value in _values(quote.text))
    return is_year_of_age or _follows(span, quote)


def _follows(span: Span, quote: Words) -> bool:
    """True if a date is what a quote can mean by its words for a time, or the day on which it was said."""
    words = set(_WORD.findall(quote.text))
    if words.intersection(_WEEKDAYS) and span.start - _FORTNIGHT <= quote.at <= span.end + _FORTNIGHT:
        return True
    named = [*parse_spans(quote.text, quote.at), *_read_points(quote.text, quote.at)]
    if named:
        return any(_is_near(span, other) for other in named)
    reach = _NEAR if words & (_WHEN | _CALENDAR) or _is_foreign(quote.text) else _DAY
    return span.start - reach <= quote.at < span.end + reach


def _read_date(date: str, at: datetime) -> Span | None:
    if re.fullmatch(r"\d{4}-\d\d", date):
        date = f"{_MONTHS[(int(date[5:]) - 1) % 12]} {date[:4]}"
    return parse_span(date, at)


def _read_points(text: str, at: datetime) -> Iterator[Span]:
    """The times to come that a text names, which a question never looks back to."""
    for match in re.finditer(
        r"\b(?:day after tomorrow|tomorrow|next \w+|in [\w ]{1,14}(?:day|week|month|year)s?)\b", text
    ):
        if (span := parse_span(match[0], at)) is not None:
            yield span


def _is_near(span: Span, other: Span) -> bool:
    """True if two times overlap, give or take the length of the one that was said; without a year in any year."""
    reach = max(other.end - other.start, _DAY)
    for years in (0, -1, 1):
        shift = timedelta(days=365.25 * years)
        if span.start < other.end + shift + reach and other.start + shift - reach < span.end:
            return True
    return False


def _is_age(years: int, value: float) -> bool:
    return 0 < value < _AGE_YEARS and years - 1 <= value <= years


def _months(text: str) -> set[str]:
    return {word[:3] for word in _WORD.findall(_plain(text)) if word in _CALENDAR and word[:3] in _SHORT_MONTHS}


_SHORT_MONTHS = frozenset(month[:3] for month in _MONTHS)


# Numbers


def _numbers(text: str) -> list[str]:
    """The figures of a text, codes among them, and its number words from thirteen on."""
    words = _WORD.findall(text.casefold())
    large = [
        word for word in words if (word in _SCALES and len(word) > 1) or _NUMERALS.get(word, 0) > len(_ORDINALS) - 1
    ]
    return [*_NUMBER.findall(text), *large]


def _says_number(number: str, wording: str, quotes: Sequence[Words]) -> bool:
    plain = _plain(number)
    squashed = re.sub(r"[\W_]", "", plain)
    if plain in _NUMERALS or plain in _SCALES:
        return plain in _WORD.findall(wording) or bool(_values(plain) & _values(wording))
    if len(squashed) >= _LEAST_CODE and squashed in re.sub(r"[\W_]", "", wording):
        return True
    values, written = _values(wording), _values(plain)
    if squashed in {re.sub(r"[\W_]", "", word) for word in wording.split()} or (written and written <= values):
        return (
            not any(map(str.isalpha, squashed))
            or _is_unit(squashed)
            or squashed in re.sub(r"[\W_]", " ", wording).split()
        )
    if ":" in plain or "." in plain:
        return bool(_clocks(plain) & _clocks(wording))
    return plain.isdigit() and any(_is_age(quote.at.year - int(plain), value) for quote in quotes for value in values)


def _is_unit(token: str) -> bool:
    """True for a number and what it counts in one word: 10km, 3rd, 5k."""
    return re.fullmatch(r"\d+[a-z]{1,4}", token) is not None


def _values(text: str) -> set[float]:
    """The numbers that a text says, in figures or in English words, "2 pm" as 14 as well."""
    plain = _plain(text)
    found: set[float] = set()
    for match in _NUMBER.finditer(plain):
        figures = re.sub(r"(?<=\d)[,'](?=\d{3}\b)", "", match[0])
        found |= {float(value) for value in _VALUE.findall(figures.replace(",", "."))}
        found |= {float(value) for value in re.findall(r"\d+", figures)}
        if (scaled := re.fullmatch(r"(\d+(?:\.\d+)?)([km])", figures)) is not None:
            found.add(float(scaled[1]) * _SCALES[scaled[2]])
    found |= set(_worded(_WORD.findall(plain.replace("-", " "))))
    return found | {hour for match in _CLOCK.finditer(plain) if match[3] for hour in (float(match[1]) % 12 + 12,)}


def _worded(words: Sequence[str]) -> Iterator[float]:
    """The numbers that words say: each alone, and "twenty five thousand" as one."""
    total, is_open = 0.0, False
    for word in (*words, ""):
        value = float(word) if word.isdigit() else _NUMERALS.get(word, _LOOSE.get(word))
        if word in _SCALES:
            total, is_open = (total or 1) * _SCALES[word], True
            yield total
        elif value is not None:
            yield value
            total, is_open = (total + value if is_open and value < total else value), True
            yield total
        elif word != "and":
            total, is_open = 0.0, False


def _clocks(text: str) -> set[int]:
    """The times of day that a text may say, in minutes of half a day."""
    minutes = {int(match[1]) % 12 * 60 + int(match[2] or 0) for match in _CLOCK.finditer(text)}
    hours = (int(value) for value in _worded(_WORD.findall(text)) if value % 1 == 0)
    return minutes | {hour % _HALF_DAY * 60 for hour in hours if 0 < hour <= _HALF_DAY}


# Names


def _names(text: str, *, is_title: bool = False) -> list[str]:
    """The words of a text with a capital letter that no beginning of a sentence explains; of a title all of them."""
    found: list[str] = []
    is_start = not is_title
    end = 0
    for match in _WORD.finditer(text):
        gap = text[end : match.start()]
        is_start = is_start or bool(re.search(r"[.!?:;\"\u201c(\u2022]\s*$|\n", gap)) if end else is_start
        word, end = match[0], match.end()
        for part in re.split(r"['\u2019-]", word):
            has_capital = any(map(str.isupper, part)) and not any(map(str.isdigit, part))
            is_plain_start = is_start and part[:1].isupper() and not any(map(str.isupper, part[1:]))
            if has_capital and len(part) > 1 and not is_plain_start and _plain(part) not in _CALENDAR | STOP_WORDS:
                found.append(part)
            is_start = False
    return found


def _has_name(name: str, spoken: Sequence[str]) -> bool:
    """True if a name was spoken, be it in another form (Portugal, Portuguese) or by its first letters (UK)."""
    wanted = _plain(name)
    if any(wanted == word or wanted in re.split(r"['\u2019-]", word) for word in spoken):
        return True
    if len(wanted) >= _LEAST_PREFIX and any(
        word.startswith(wanted[:_LEAST_PREFIX]) and _is_form(wanted, word) for word in spoken
    ):
        return True
    is_short = name.isupper() and len(name) >= _CAPITALS
    return is_short and wanted in "".join(word[0] for word in spoken)


def _is_form(one: str, other: str) -> bool:
    """True if two words begin alike for most of the shorter one."""
    shared = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return shared >= max(_LEAST_PREFIX, _ALIKE * max(len(one), len(other)))
