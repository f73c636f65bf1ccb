"""Kinds of value that a question asks for, and the values of a kind in a statement. Pure.

"When does it begin?" asks for a time, "How much is it?" for a number: a statement without one does not answer it,
however many words it shares with the question. English words; those of six more languages are `foreign_values`.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache, partial
from typing import TYPE_CHECKING, Final, Literal, cast, get_args

from engrain.domain.text.analysis import STOP_WORDS
from engrain.domain.text.dialogue import foreign_values
from engrain.domain.text.patterns import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_ForeignKind = Literal["foreign time", "foreign number", "foreign person"]
Kind = Literal["time", "money", "number", "place", "person", "colour", "work", "role"] | _ForeignKind
# Of these a thing has one.
COUNTED_IN_ENGLISH: Final = frozenset[Kind | None]({"time", "money", "number"})
COUNTED: Final = COUNTED_IN_ENGLISH | {"foreign time", "foreign number"}

_DAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?"
_MONTH = (
    "(?:january|february|march|april|may|june|july|august|september|october|november|december"
    "|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)"
)
_COUNT = (
    r"(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|twenty"
    "|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand)"
)
_WHICH = "(?:next|last|this|every|each|other|odd|even|per|a)"
_SUM = "(?:price|budget|salary|wage|rent|fee|cost|deposit)"
_CURRENCY = r"(?:euros?|dollars?|pounds?|francs?|crowns?|kron(?:a|or|er)|cents?|bucks|[\u20ac$\u00a3]|percent\b|%)"
_SEASON = "(?:spring|summer|autumn|winter|christmas|easter)"
FAMILY: Final = "mother father mum mom dad sister brother son daughter wife husband partner"
RELATIVE: Final = (
    rf"(?:{FAMILY.replace(' ', '|')}|aunt|uncle|cousin|nephew|niece"
    r"|neighbou?r|friend|boss|manager|doctor|grand\w+|parents?|colleague|landlord|landlady)"
)

_WORK: Final = (
    (
        r"(?:\b(?:am|is|was|as|became)|(?<!\bit)(?<!\bthat)(?<!\bthere)(?<!\bhere)['\u2019][ms])"
        r" (?:now |still |also )?an? \w+|\b[A-Z]\w+, an? \w+[.!?]?$"
    ),
    (
        r"\b(?:works?|worked|working|job|teach(?:es|ing)?|taught|runs? (?:an?|the|her|his|their)|drives?|owns?|repairs?"
        r"|sells?|makes?|stud(?:y|ies|ied|ying)|retired|hired|employed|promoted|appointed|apprentice\w*|freelanc\w*"
        r"|for a living|ist|bin|war|arbeit\w*|trabaj\w*|travaill?e\w*|est|es|lavora\w*|trabalh\w*)\b"
    ),
)
_ROLE = (
    rf"(?:\w+ )?(?!\w*(?:{FAMILY.replace(' ', '|')})\b)"
    r"(?:\w+(?:er|or|ist|ian|ant|yst)|boss|nurse|coach)"
)
_SOMEBODY = (
    rf"(?:I|he|she|they|(?:my|our|his|her|their) (?:\w+ )?{RELATIVE}"
    r"|(?-i:(?:(?:Mrs?|Ms|Dr)\. |the )?[A-Z]\w+(?: [A-Z]\w+)?))"
)


# "How much was the motorbike?", but not "How much is left?"
HOW_MUCH_IS: Final = (
    r"\bhow much (?:is|are|was|were|will) (?:the|an?|my|our|your|his|her|their|this|that|these|those) "
    r"(?:[\w'\u2019-]+ ){,3}[\w'\u2019-]+\W*$"
)


@cache
def _compile(*alternatives: str, flags: re.RegexFlag = re.IGNORECASE) -> re.Pattern[str]:
    return lazy_pattern("|".join(alternatives), flags)


_ASKED: Mapping[Kind, re.Pattern[str]] = {
    "time": _compile(
        r"\bwhen(?:['\u2019]?s)?\b(?! (?:i|we|you|he|she|it|they|the|my|our|somebody|someone)\b)",
        r"\b(?:what|which) (?:\w+ )?(?:times?|days?|dates?|weekday|month|year)\b",
        r"\bhow (?:often|late)\b",
        r"\bdeadline\b",
    ),
    "money": _compile(
        r"\bhow (?:much|expensive)\b.{,40}\b(?:cost|pay|paid|spend|spent|earn|charge|owe|money|budget|rent|fee)\b",
        rf"\b(?:what|which)(?:['\u2019]?s| is| are| was)? (?:\S+ ){{,3}}?{_SUM}\b",
        HOW_MUCH_IS,
        r"\bwhat (?:do|does|did|will|would) .{1,40} (?:cost|earn|charge|pay)\b",
    ),
    "number": _compile(
        r"\bhow (?:many|much|long|old|big|tall|far|large|heavy|high|fast|wide|deep|warm|hot|cold|thick|strong|loud)\b",
        r"\b(?:what|which)(?:['\u2019]?s| is| are)? (?:\S+ ){,3}?"
        r"(?:number|age|weight|height|limit|port|pin|rate|temperature|speed)\b",
        r"\bwhat (?:do|does|did|will|would) .{1,40} weigh\b",
    ),
    "place": _compile(
        r"\bwhere(?:['\u2019]?s)?\b(?! (?:i|we|you|he|she|it|they)\b)",
        r"\bwhat(?:['\u2019]?s| is) (?:(?!e?-?mail)\S+ ){1,2}?address\b",
    ),
    "person": _compile(r"\bwho(?:se|m|['\u2019]?s)?\b"),
    "colour": _compile(r"\b(?:what|which) colou?rs?\b"),
    "role": _compile(rf"\bwhat (?:do|does|did) {_SOMEBODY} do\W*$"),
    "work": _compile(
        rf"\bwhat (?:do|does|did) {_SOMEBODY} do for (?:a living|work|money)\W*$",
        r"\bwhat(?:['\u2019]?s| is| was) (?:\S+ ){1,3}?(?:job|profession|occupation|trade)\b",
    ),
}
_TIME = "|".join(
    (
        _DAY,
        rf"\d{{1,2}}(?:st|nd|rd|th)\b(?: (?:of )?{_MONTH})?|\d{{1,2}} {_MONTH}|{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?",
        rf"{_MONTH}(?= \d|[.,;!]|$)|(?<=in ){_MONTH}",
        r"\d{1,2}[:.]\d\d|\d+ ?(?:am|pm|o'clock)|(?:19|20)\d\d(?:-\d\d)*",
        rf"(?:at|by|until|till|from|before|after|around|since) (?:{_COUNT}|noon|midnight)",
        "today|tomorrow|tonight|yesterday|noon|midnight|weekends?|weekdays?|mornings?|evenings?|afternoons?|nights?",
        rf"{_WHICH} (?:second |other |third )?(?:{_DAY}|day|weeks?|month|year|{_SEASON})",
        r"daily|weekly|monthly|(?:once|twice) (?:a|every) \w+|between \w+ and \w+",
        rf"(?:in|few|{_COUNT}) (?:{_COUNT} )?(?:days?|weeks?|months?|years?|hours?|minutes?|seconds?)",
        rf"{_COUNT} times",
        _SEASON,
    )
)
_WHERE = (
    "(?i:in|at|to|into|on|near|behind|under|underneath|above|below|beside|next to|inside|outside|by|with|from|over|via"
    "|for)"
)
_ARTICLE = "(?:the|an?|my|our|his|her|their)"
_NAME = rf"(?!(?i:{_DAY}|{_MONTH})\b)[A-Z]\w+"
_ASKED_NAME = lazy_pattern(
    r"\W*(?:(?:[Aa]nd|[Ss]o) )?[Ww]h(?:o|at)(?:['\u2019]?s| is| are| was) "
    r"(?P<name>(?=[A-Z]|\w*\d)[\w@.-]+(?: [A-Z][\w.-]*){,2})\W*$"
)
# "Who's the contact at Hill House?"
_ASKED_ROLE = lazy_pattern(
    r"\W*(?:(?:and|so) )?who(?:['\u2019]?s| is| are) (?:the|my|our) (?:(?!new)\w+ )?(?P<role>[a-z]{3,})"
    r" (?:at|of|from)\b.{,60}$",
    re.IGNORECASE,
)
# Compiled when they are asked for: all of them take 6 ms of the start of a process.
_VALUES: Mapping[Kind, Callable[[], re.Pattern[str]]] = {
    **{kind: partial(foreign_values.make_value_pattern, kind) for kind in get_args(_ForeignKind)},
    "time": partial(_compile, rf"\b(?:{_TIME})\b"),
    "money": partial(
        _compile,
        rf"[\u20ac$\u00a3] ?\d[\d.,]*|(?:\d[\d.,]*k?|\b{_COUNT}) ?{_CURRENCY}|\b\d{{1,3}}(?:[,.]\d{{3}})+|\d+k\b",
        r"(?:(?<=\bfor )|(?<=\bis )|(?<=\bat )|(?<=\bto )|(?<=s )|(?<=\bpay )|(?<=\bnot ))\d+\b(?![-:])",
        r"(?<=, )\d{2,}\b(?![-:])|\bfree\b|\bnothing\b",
    ),
    "number": partial(
        _compile,
        rf"(?!\d+(?:st|nd|rd|th)\b|\d\d?:\d\d)(?<![\w:])\w*\d[\w.,:-]*|\b(?!\d){_COUNT}\b",
        r"\b(?:dozen|half|twice|once|none|nobody|both|single|first|second|third)\b"
        r"|\ban? (?:minute|hour|day|week|month|year)\b",
    ),
    "place": partial(
        _compile,
        rf"\b{_WHERE} (?!(?i:(?:{_ARTICLE} )?(?:{_TIME})|me|us|it|this|that|time)\b)(?!(?:the )?\d)"
        rf"(?!training\b)(?:{_ARTICLE} )?\w+",
        r"\b[A-Z]\w+ \d+\b",
        r"\w*/\w+",
        r"\baddress\b.*|\broom \w+|\bport \d+|\bhome\b|\bdownstairs|\bupstairs",
        r"\bjoin(?:ed|ing|s)? (?:[a-z]+ ){0,3}[A-Z]\w+",
        flags=re.NOFLAG,
    ),
    "person": partial(
        _compile,
        rf"\b(?:Mrs?|Ms|Dr|Prof)\. {_NAME}",
        rf"(?<![.!?:]\s)(?<!^)(?<!\bat )(?<!\bin )(?<!\bat the )(?<!\bin the )\b{_NAME}",
        # At the beginning, where every word has a capital: alone, before another name, or before what somebody does.
        rf"(?:^|(?<=[.!?] )){_NAME}(?=\W*$| [A-Z]|,|['\u2019]s\b"
        r"|(?: (?:now|also|still|already|usually|always|never|only|just))*"
        r" (?:(?:is|was|has|will|can|and|gave|took|got|left|brought|came)\b|\w+s\b))",
        rf"(?<=: ){_NAME}(?=[.,;]|$)",
        r"@\w+",
        rf"\bmy name\b|\bmine\b|\b(?:my|our|his|her|their|your) (?:\w+ )?{RELATIVE}\b",
        r"\b(?:I|we|me|us)\b(?=[.!?]?$)",
        flags=re.NOFLAG,
    ),
    "colour": partial(
        _compile,
        r"\b(?:black|white|gr[ae]y|silver|gold(?:en)?|red|orange|yellow|green|blue|purple|violet|pink|brown|beige|ivory"
        r"|cream|turquoise|navy|maroon|crimson|lilac|teal|khaki|colourless|transparent)\w*",
    ),
    "work": partial(_compile, *_WORK),
    # "Our accountant Piet", "the manager is Annelies".
    "role": partial(
        _compile,
        *_WORK,
        rf"\b(?:my|our|his|her|their) {_ROLE},?(?-i: [A-Z]\w+)",
        rf"\b(?:the|my|our|his|her|their) {_ROLE} (?:is|was)(?-i: [A-Z]\w+)",
        r"\b(?:manages|leads)\b",
    ),
}


@lru_cache(maxsize=1_024)
def find_asked_kind(query: str) -> Kind | None:
    """Find the kind of value that a question asks for."""
    for kind, pattern in _ASKED.items():
        if pattern.search(query):
            return kind
    asked = foreign_values.ASKED.match(query)
    return None if asked is None else cast("_ForeignKind", f"foreign {asked.lastgroup}")


def find_values(kind: Kind, statement: str) -> frozenset[str]:
    """Find the values of a kind in a statement, folded."""
    return frozenset(map(str.casefold, _VALUES[kind]().findall(statement))) - STOP_WORDS


@lru_cache(maxsize=1_024)
def find_asked_name(query: str) -> re.Pattern[str] | None:
    """Find the name in a question who or what it is ("Who is KLO?"): a pattern of the statements that say it."""
    asked = _ASKED_NAME.match(query)
    if asked is None:
        return None
    name = r"\W+".join(map(re.escape, re.findall(r"\w+", asked["name"])))
    return lazy_pattern(
        rf"\b{name}(?: [A-Z]\w+)?(?:,? (?:is|are|was|were|stands for|means)\b| ?[:=(])"
        r"|(?:\b(?:is|are|was|called|named|says?|calls? (?:him|her|it|them|me|us)|known as|nicknamed|short for)|,)"
        rf" @?{name}\b|(?:\b(?:my|our|his|her|their)|['\u2019]s) (?:\w+ )?{RELATIVE},? {name}\b"
    )


@lru_cache(maxsize=1_024)
def find_asked_role(query: str) -> re.Pattern[str] | None:
    """Find the role in a question who has it somewhere ("Who's the contact at KLO?"): a pattern of what names it."""
    asked = _ASKED_ROLE.match(query)
    return None if asked is None else lazy_pattern(rf"\b{asked['role'].removesuffix('s')}", re.IGNORECASE)
