"""Parser of dates and time expressions in queries into spans of time, by their English words. Pure; reads no memory.

A library that finds dates in text gives points, takes 10-100 ms for a sentence and reads "may" as a month; a ranking
needs spans ("last spring"), for every question, and a miss costs nothing: time is a boost, never a filter.
"""

from __future__ import annotations

import re
from calendar import monthrange
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from typing import TYPE_CHECKING, Final

import numpy as np

from engrain.domain.text.dialogue.chronology import FOREIGN_TIME
from engrain.domain.text.patterns import lazy_pattern
from engrain.storage.dialects import micros

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

_DAY_MICROSECONDS: Final = 86_400_000_000
_EVENING: Final = 6  # hours before midnight

_MONTHS: Final = {
    name: number
    for number, names in enumerate(
        "january jan|february feb|march mar|april apr|may|june jun|july jul|august aug|september sept sep|october oct|"
        "november nov|december dec".split("|"),
        start=1,
    )
    for name in names.split()
}
_WEEKDAYS: Final = {
    name: number for number, name in enumerate("monday tuesday wednesday thursday friday saturday sunday".split())
}
# The first month of each season of the northern hemisphere; three months long.
_SEASONS: Final = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
_NUMBERS: Final = {
    word: number
    for number, words in enumerate(
        "a an one|two couple|three few|four|five|six|seven|eight|nine|ten|eleven|twelve".split("|"), start=1
    )
    for word in words.split()
}
_PARTS: Final = "morning|afternoon|evening"
_DAYS: Final = {"day": 1.0, "week": 7.0, "month": 30.44, "year": 365.25}

_MONTH = "(?P<month>" + "|".join(_MONTHS) + r")\.?"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_DAY = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th)?"
_COUNT = r"(?P<count>\d{1,3}|(?:a )?(?:couple|few)(?: of)?|" + "|".join(_NUMBERS) + ")"
_UNIT = r"(?P<unit>day|week|month|year)s?"
_LAPSE = r"(?P<unit>minute|hour|day|week|month|year)s?"
_YEARS_TO_A_LEAP_DAY: Final = 8  # around 1900 and 2100
# "may", "march", "fall" and "spring" are also verbs: they count behind one of these, or with a year.
_IN = r"(?:in|on|of|during|by|since|until|from|last|this|next|early|mid|late|before|after|around)[ -]"


@dataclass(frozen=True, slots=True)
class Span:
    """Span of time from `start` up to, and without, `end`; both aware."""

    start: datetime
    end: datetime

    def measure_nearness(self, moments: NDArray[np.int64]) -> NDArray[np.float64]:
        """1 inside; outside less, to 0 at a distance of the span's own length. Moments are microseconds since 1970."""
        start, end = micros(self.start), micros(self.end)
        outside = np.maximum(np.maximum(start - moments, moments - end), 0)
        return np.maximum(0.0, 1.0 - outside / max(end - start, _DAY_MICROSECONDS))


@dataclass(frozen=True, slots=True)
class RelativeSpan:
    """Span of time relative to an event: `offset` before or after it, give or take `within`."""

    event: str
    offset: timedelta
    within: timedelta

    def around(self, moment: datetime) -> Span:
        """The span for an event at that moment."""
        middle = moment + self.offset
        return Span(middle - self.within, middle + self.within)


def parse_spans(text: str, now: datetime) -> tuple[Span, ...]:
    """The times that a query names, seen from `now`: the most exact reading of each."""
    return split_spans(put_into_english(text), now)[0]


def put_into_english(text: str) -> str:
    """Put the times of a text in another language into English words; any other text stays as it is."""
    if FOREIGN_TIME.search(text) is None:
        return text
    from engrain.retrieval.chronology.translations import translate_times

    return translate_times(text)


def split_spans(text: str, now: datetime) -> tuple[tuple[Span, ...], str]:
    """The times that a query names, and what is left of it without them, a bar for each."""
    left = " ".join(text.split())
    found: list[Span] = []
    for pattern, read in _READINGS:
        for match in reversed(list(pattern.finditer(left))):
            span = _read(read, match, now)
            if span is not None:
                found.append(span)
                left = f"{left[: match.start()]} | {left[match.end() :]}"  # a date is no month besides
    return tuple(found), left


def parse_span(text: str, now: datetime, *, after: datetime | None = None) -> Span | None:
    """Parse a text that is one time and nothing else ("yesterday", "March 2026", "next month"); None for any other.

    A weekday, and a month or day without a year, is the last one; with `after` the first that is not over then. What
    lies some days, weeks, months or years off is a day, and so is the beginning or end of a time.
    """
    text = " ".join(text.split())
    named = _BEFORE_TIME.sub("", text)
    boundary = _BOUNDARY.fullmatch(named)
    if boundary is not None:
        return _read_boundary(boundary, parse_span(_UNNAMED.sub("this ", boundary["time"]), now, after=after))
    readings = (*_POINTS, *_READINGS)
    for candidate in (named, f"in {named}", f"on {named}"):
        for pattern, read in readings if after is None else (*_COMING, *readings):
            match = pattern.fullmatch(candidate)
            span = None if match is None else _read(read, match, after if after and read is _coming else now)
            if span is not None:
                return span
    from engrain.retrieval.chronology.translations import list_translations

    spans = (parse_span(translation, now, after=after) for translation in list_translations(text))
    return next(filter(None, spans), None)


def split_coming_span(text: str, now: datetime) -> tuple[Span | None, str]:
    """The first time to come that a text names, seen from `now`, and what is left of the text without it."""
    for match in _MAY_COME.finditer(text):
        span = _parse_coming(match, now)
        if span is not None and span.end > now:
            return span, f"{text[: match.start()]} {text[match.end() :]}"
    return None, text


def names_coming_time(text: str) -> bool:
    """True if a text may name a time to come."""
    return _MAY_COME.search(text) is not None


def list_coming_spans(text: str, said_at: datetime, *, until: datetime | None) -> list[Span]:
    """The times to come that a statement names, seen from when it was said.

    What comes every week counts up to `until`, and not at all without it. Who says "next Friday" on a Monday may mean
    this one or that of the week after.
    """
    spans: list[Span] = []
    for match in _MAY_COME.finditer(text):
        span, is_weekly = _parse_coming(match, said_at), bool(match["every"] or match["days"])
        if span is not None and not is_weekly:
            spans.append(span)
            if match["next"] and span.start < _midnight(said_at) + timedelta(days=7 - said_at.weekday()):
                spans.append(_days(span.start + timedelta(days=7), 1))
        while span is not None and is_weekly and until is not None and span.start < until:
            spans.append(span)
            span = _days(span.start + timedelta(days=7), 1)
    return spans


def _parse_coming(match: re.Match[str], now: datetime) -> Span | None:
    weekday, day = match["weekday"], match["of_month"]
    if day:
        return _find_day_of_month(int(day), now)
    if weekday:  # who means today says so
        return parse_span(weekday, now, after=_midnight(now) + timedelta(days=1))
    return parse_span(match[0].replace("the weekend", "this weekend"), now, after=now)


def _find_day_of_month(day: int, now: datetime) -> Span | None:
    """The first day of that number that is not over, of this month or one of the next two; every other one has 31."""
    for months in range(3):
        year, month = now.year + (now.month + months - 1) // 12, (now.month + months - 1) % 12 + 1
        if 1 <= day <= monthrange(year, month)[1]:
            span = _days(datetime(year, month, day, tzinfo=now.tzinfo), 1)
            if span.end > now:
                return span
    return None


def parse_relative_span(text: str) -> RelativeSpan | None:
    """Parse a time relative to an event ("two weeks before Ana's wedding day"); None for none, and for a date."""
    match = _ANCHORED.search(" ".join(text.split()))
    if match is None or _DATED.search(match["event"]):
        return None
    unit = _DAYS[match["unit"].lower()]
    away = timedelta(days=_number(match["count"]) * unit)
    return RelativeSpan(
        match["event"].strip(" ?.!,"),
        -away if match["side"].lower() == "before" else away,
        timedelta(days=max(1.0, unit / 2)),
    )


def _read(read: Callable[[re.Match[str], datetime], Span | None], match: re.Match[str], now: datetime) -> Span | None:
    try:
        return read(match, now)
    except (ValueError, OverflowError):  # "31 June", "999 years ago"
        return None


def _day(match: re.Match[str], now: datetime) -> Span:
    month, day = _MONTHS[match["month"].lower()], int(match["day"])
    year = match.groupdict().get("year")
    if year:
        return _days(datetime(int(year), month, day, tzinfo=now.tzinfo), 1)
    years = range(now.year, now.year - _YEARS_TO_A_LEAP_DAY - 1, -1)
    return _find_day(month, day, years, now.tzinfo, is_meant=lambda span: span.start <= now)


def _find_day(
    month: int, day: int, years: Iterable[int], zone: tzinfo | None, *, is_meant: Callable[[Span], bool]
) -> Span:
    """The day in the first of some years that has it, and where it is the one that is meant.

    Raises:
        ValueError: no year has it ("31 June").
    """
    for year in years:
        if day <= monthrange(year, month)[1]:
            span = _days(datetime(year, month, day, tzinfo=zone), 1)
            if is_meant(span):
                return span
    raise ValueError(f"day {day} of month {month}")


def _iso(match: re.Match[str], now: datetime) -> Span:
    return _days(datetime(int(match[1]), int(match[2]), int(match[3]), tzinfo=now.tzinfo), 1)


def _month(match: re.Match[str], now: datetime) -> Span:
    month = _MONTHS[match["month"].lower()]
    year = match.groupdict().get("year")
    if year:
        return _months(now, int(year), month, 1)
    match match[0].lower().split()[0]:
        case "next":
            return _months(now, now.year + (month <= now.month), month, 1)
        case "last":
            return _months(now, now.year - (month >= now.month), month, 1)
        case _:
            return _months(now, now.year - (month > now.month), month, 1)


def _numbered_month(match: re.Match[str], now: datetime) -> Span:
    return _months(now, int(match["year"]), int(match["number"]), 1)


def _season(match: re.Match[str], now: datetime) -> Span:
    month = _SEASONS[match["season"].lower()]
    year = match.groupdict().get("year")
    if year:
        return _months(now, int(year), month, 3)
    this = _months(now, now.year, month, 3)
    is_over = this.end <= now
    if match["which"].lower() == "this":
        return this
    return this if is_over else _months(now, now.year - 1, month, 3)


def _year(match: re.Match[str], now: datetime) -> Span:
    return _months(now, int(match["year"]), 1, 12)


def _ago(match: re.Match[str], now: datetime) -> Span:
    unit = _DAYS[match["unit"].lower()]
    middle = now - timedelta(days=_number(match["count"]) * unit)
    return Span(_midnight(middle - timedelta(days=unit / 2)), _midnight(middle + timedelta(days=unit / 2 + 1)))


def _past(match: re.Match[str], now: datetime) -> Span:
    count = _number(match["count"]) if match["count"] else 1
    return Span(now - timedelta(days=count * _DAYS[match["unit"].lower()]), now)


def _last(match: re.Match[str], now: datetime) -> Span:
    today = _midnight(now)
    monday = today - timedelta(days=now.weekday())
    is_this = match["which"].lower() == "this"
    match match["unit"].lower():
        case "week":
            return _days(monday if is_this else monday - timedelta(days=7), 7)
        case "weekend":
            saturday = monday + timedelta(days=5 if is_this else -2)
            return _days(saturday, 2)
        case "month":
            before = today.replace(day=1) - timedelta(days=1)
            return _months(now, now.year, now.month, 1) if is_this else _months(now, before.year, before.month, 1)
        case _:
            return _months(now, now.year - (not is_this), 1, 12)


def _weekday(match: re.Match[str], now: datetime) -> Span:
    back = (now.weekday() - _WEEKDAYS[match["weekday"].lower()]) % 7 or 7
    return _days(_midnight(now) - timedelta(days=back), 1)


def _named_day(match: re.Match[str], now: datetime) -> Span:
    name = match[0].lower()
    if name == "last night":  # of which one tells in the morning
        return Span(_midnight(now) - timedelta(hours=_EVENING), _midnight(now) + timedelta(days=1))
    back = 2 if "before" in name else 1 if name == "yesterday" else 0
    return _days(_midnight(now) - timedelta(days=back), 1)


def _beside_date(match: re.Match[str], now: datetime) -> Span | None:
    """The stretch right before or after a date ("the week before 16 November 2023")."""
    dates = parse_spans(match["date"], now)
    if not dates:
        return None
    count = _number(match["count"]) if match["count"] else 1
    length = timedelta(days=count * _DAYS[match["unit"].lower()])
    if match["side"].lower() == "before":
        return Span(dates[0].start - length, dates[0].start)
    return Span(dates[0].end, dates[0].end + length)


def _days(start: datetime, count: int) -> Span:
    return Span(start, start + timedelta(days=count))


def _months(seen_from: datetime, year: int, month: int, count: int) -> Span:
    last_year, last_month = year + (month + count - 2) // 12, (month + count - 2) % 12 + 1
    last = datetime(last_year, last_month, monthrange(last_year, last_month)[1], tzinfo=seen_from.tzinfo)
    return Span(datetime(year, month, 1, tzinfo=seen_from.tzinfo), last + timedelta(days=1))


def _coming(match: re.Match[str], after: datetime) -> Span:
    """The first weekday, month or day of a month that is not over at a moment."""
    named = {name: value.lower() for name, value in match.groupdict().items() if value is not None}
    if "weekday" in named:
        return _days(_midnight(after) + timedelta(days=(_WEEKDAYS[named["weekday"]] - after.weekday()) % 7), 1)
    month = _MONTHS[named["month"]]
    if "day" not in named:
        return _months(after, after.year + (month < after.month), month, 1)
    years = range(after.year, after.year + _YEARS_TO_A_LEAP_DAY + 1)
    return _find_day(month, int(named["day"]), years, after.tzinfo, is_meant=lambda span: span.end > after)


def _this_weekday(match: re.Match[str], now: datetime) -> Span:
    return _days(_midnight(now) + timedelta(days=_WEEKDAYS[match["weekday"].lower()] - now.weekday()), 1)


def _week(match: re.Match[str], now: datetime) -> Span:
    return _days(datetime.fromisocalendar(int(match["year"]), int(match["week"]), 1).replace(tzinfo=now.tzinfo), 7)


def _quarter(match: re.Match[str], now: datetime) -> Span:
    return _months(now, int(match["year"]), 3 * int(match["quarter"]) - 2, 3)


def _read_boundary(boundary: re.Match[str], whole: Span | None) -> Span | None:
    """The last or first day of a time."""
    if whole is None:
        return None
    day = timedelta(days=1)
    if boundary["boundary"].lower() == "end":
        return Span(max(whole.start, whole.end - day), whole.end)
    return Span(whole.start, min(whole.end, whole.start + day))


def _away(match: re.Match[str], now: datetime) -> Span:
    """The day so many units before or after today, months and years by the calendar; for hours a moment."""
    count, unit = _number(match["count"]), match["unit"].lower()
    count = count if match.groupdict().get("ahead") else -count
    if unit in {"hour", "minute"}:
        return _now(match, now + timedelta(**{f"{unit}s": count}))
    today = _midnight(now)
    if unit in {"month", "year"}:
        months = today.year * 12 + today.month - 1 + count * (12 if unit == "year" else 1)
        year, month = divmod(months, 12)
        start = today.replace(year=year, month=month + 1, day=min(today.day, monthrange(year, month + 1)[1]))
    else:
        start = today + timedelta(days=count * _DAYS[unit])
    return _days(start, 1)


def _next(match: re.Match[str], now: datetime) -> Span:
    today = _midnight(now)
    match match["unit"].lower():
        case "week":
            return _days(today + timedelta(days=7 - now.weekday()), 7)
        case "weekend":
            return _days(today + timedelta(days=12 - now.weekday()), 2)
        case "month":
            after = today.replace(day=28) + timedelta(days=4)
            return _months(now, after.year, after.month, 1)
        case "year":
            return _months(now, now.year + 1, 1, 12)
        case weekday:
            return _days(today + timedelta(days=(_WEEKDAYS[weekday] - now.weekday() - 1) % 7 + 1), 1)


def _tomorrow(match: re.Match[str], now: datetime) -> Span:
    return _days(_midnight(now) + timedelta(days=1 if match[0].lower() == "tomorrow" else 2), 1)


def _now(_: re.Match[str], now: datetime) -> Span:
    return Span(now, now)


def _midnight(moment: datetime) -> datetime:
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)


def _number(written: str) -> int:
    words = written.lower().split()
    return int(words[0]) if words[0].isdigit() else max(_NUMBERS.get(word, 1) for word in words)


def _patterns() -> Iterator[tuple[re.Pattern[str], Callable[[re.Match[str], datetime], Span | None]]]:
    """From the most exact to the vaguest, so that a date is not read as its month, nor a month as its year."""
    date = rf"(?:{_DAY} (?:of )?{_MONTH},? {_YEAR})"
    beside = rf"\b(?:the |{_COUNT} )?{_UNIT} (?P<side>before|after) (?P<date>[^|?]{{6,24}}\b(?:19|20)\d\d)"
    for pattern, read in (
        (beside, _beside_date),
        (rf"\b{date}", _day),
        (rf"\b{_MONTH} {_DAY},? ?{_YEAR}\b", _day),
        (r"\b((?:19|20)\d\d)-(\d\d)-(\d\d)\b", _iso),
        (rf"\b{_MONTH},? (?:of )?{_YEAR}\b", _month),
        (rf"\b{_DAY} (?:of )?{_MONTH}\b", _day),
        (rf"\b{_MONTH} {_DAY}\b", _day),
        (rf"\b(?P<season>{'|'.join(_SEASONS)}) (?:of )?{_YEAR}\b", _season),
        (rf"\b(?P<which>this|last) (?P<season>{'|'.join(_SEASONS)})\b", _season),
        (rf"\b{_IN}{_MONTH}(?! \d)\b", _month),
        (rf"\b{_COUNT} {_UNIT} (?:ago|back)\b", _ago),
        (rf"\b(?:past|last) (?:{_COUNT} )?(?P<unit>day|week|month|year)s\b", _past),
        (r"\b(?P<which>this|last) (?P<unit>week|weekend|month|year)\b", _last),
        (rf"\b(?:last|on|this past) (?P<weekday>{'|'.join(_WEEKDAYS)})\b", _weekday),
        (rf"\b(?:(?:the )?day before yesterday|yesterday|today|tonight|last night|this (?:{_PARTS}))\b", _named_day),
        (rf"\b(?:in|of|during|since|year) {_YEAR}\b", _year),
    ):
        yield lazy_pattern(pattern, re.IGNORECASE), read


_BEFORE_TIME: Final = lazy_pattern(r"^(?:in|on|since|from|during|at|by|until|till|through|as of) (?=\S)", re.IGNORECASE)
_BOUNDARY: Final = lazy_pattern(
    r"(?:the )?(?P<boundary>end|beginning|start) of (?P<time>(?!(?:the )?(?:end|beginning|start) of ).+)", re.IGNORECASE
)
_UNNAMED: Final = lazy_pattern(r"^the (?=(?:week|month|year)$)", re.IGNORECASE)
# Times that stand alone, as an argument: what is to come is no time that a question looks back to.
_POINTS: Final = tuple(
    (lazy_pattern(pattern, re.IGNORECASE), read)
    for pattern, read in (
        (r"(?:right )?now", _now),
        (r"(?:the )?day after tomorrow|tomorrow", _tomorrow),
        (rf"(?P<ahead>in) {_COUNT} {_LAPSE}", _away),
        (rf"{_COUNT} {_LAPSE} (?P<ahead>from now)", _away),
        (rf"{_COUNT} {_LAPSE} (?:ago|back)", _away),
        (rf"next (?P<unit>week|weekend|month|year|{'|'.join(_WEEKDAYS)})", _next),
        (rf"this (?P<weekday>{'|'.join(_WEEKDAYS)})", _this_weekday),
        (r"(?P<year>\d{4})-(?P<number>0[1-9]|1[0-2])", _numbered_month),
        (r"(?P<year>\d{4})-?W(?P<week>\d\d)", _week),
        (rf"week (?P<week>\d\d?),? (?:of )?{_YEAR}", _week),
        (rf"Q(?P<quarter>[1-4]),? (?:of )?{_YEAR}", _quarter),
    )
)
_SOME_DAY, _SOME_MONTH = _DAY.replace("?P<day>", "?:"), _MONTH.replace("?P<month>", "?:")
_MAY_COME: Final = lazy_pattern(
    rf"\b(?:(?:the )?day after tomorrow|tomorrow|tonight|today"
    rf"|this (?:morning|afternoon|evening|weekend|week|month|year)|the weekend"
    rf"|next (?:weekend|week|month|year|(?P<next>{'|'.join(_WEEKDAYS)}))"
    rf"|(?:(?P<every>every|each) |(?:on|coming|this|by|until|for) )?"
    rf"(?<!last )(?<!past )(?P<weekday>{'|'.join(_WEEKDAYS)})(?P<days>s)?"
    rf"|in {_COUNT.replace('?P<count>', '?:')} (?:day|week|month)s?"
    rf"|{_SOME_DAY} (?:of )?{_SOME_MONTH}(?:,? (?:19|20)\d\d)?|{_SOME_MONTH} {_SOME_DAY}(?:,? (?:19|20)\d\d)?"
    rf"|(?:on|by|until|for) the (?P<of_month>[0-3]?\d)(?:st|nd|rd|th)"
    rf"(?! (?:of|floor|street|avenue|{'|'.join(_MONTHS)})\b)"
    rf"|(?:in|for|until|by) {_SOME_MONTH}(?! \d)|(?:19|20)\d\d-\d\d-\d\d)(?!\w)",
    re.IGNORECASE,
)
# Times that come again and again, for what looks ahead.
_COMING: Final = tuple(
    (lazy_pattern(pattern, re.IGNORECASE), _coming)
    for pattern in (
        rf"(?:this )?(?P<weekday>{'|'.join(_WEEKDAYS)})",
        rf"{_DAY} (?:of )?{_MONTH}",
        rf"{_MONTH} {_DAY}",
        _MONTH,
    )
)
_READINGS: Final = tuple(_patterns())
_ANCHORED: Final = lazy_pattern(rf"\b{_COUNT} {_UNIT} (?P<side>before|after) (?P<event>[^?.!,;]+)", re.IGNORECASE)
_DATED: Final = lazy_pattern(r"\d{4}|\b(?:" + "|".join(_MONTHS) + r")\b", re.IGNORECASE)
