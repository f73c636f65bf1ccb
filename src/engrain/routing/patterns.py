"""Compiled phrases, with the signs for a value, a thing, a subject and a word for now. Pure."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

from engrain.routing.phrases import DAYS, PHRASES, Phrases

if TYPE_CHECKING:
    from collections.abc import Iterator

# A longer text says more than one thing: it is no statement, no request to forget and no question of the past.
MOST_CHARACTERS: Final = 2_000
_NOW: Final = "(?:(?:now|currently|jetzt|nun|inzwischen|ahora|maintenant|actuellement|adesso|ora|agora|nu) )*"
_THING: Final = r"(?P<thing>[\w' -]{1,60}?)"
_WHOM: Final = r"(?P<subject>[^\W\d_][\w'.-]*(?: [^\W\d_][\w'.-]*){0,3})"
_OF_PLACE: Final = r"(?<!\bde)(?<!\bDe)(?<!\bSanto)(?<!\bSan)"  # Rio de Janeiro, Santo Domingo
_FULL_STOP: Final = r"(?<=\w{3})(?<!\bProf)(?<!\bMrs)[.!;]\s|\n"
# What goes on of somebody or something else: "Steph, Jake's best man is Dom", "Arne, er ist Dachdecker".
_OTHER_CLAUSE: Final = (
    r"[,;] (?:he|she|it|they|who|which|er|es|sie|die|hij|zij|il|elle|ella|ele|ela|lui|lei|[eè]|é|est|c'est|che|qui)\b"
    r"|, (?:(?!(?:and|or|that|which|who)\b)[\w'-]+ ){1,4}?(?:is|are|was|were|has|have|had|will|covers|costs)\b"
)
_POLITE: Final = (
    r"(?:(?:and|so|ok|okay|now|please|pl[sz]|kindly|just|never mind|(?:can|could|would|will) you|you (?:can|should|may)"
    r"|i(?: want|'d like| would like| need) you to|und"
    r"|bitte|y|por favor|et|s'il te plaît|e|per favore|en|alsjeblieft)[, ]+)*"
)


class Patterns(NamedTuple):
    """Compiled phrases of one language."""

    openings: re.Pattern[str]
    corrections: re.Pattern[str]
    requests: re.Pattern[str]
    facts: tuple[tuple[str, re.Pattern[str]], ...]  # with their predicates
    moves: re.Pattern[str]
    moves_of_others: re.Pattern[str]
    things: tuple[re.Pattern[str], ...]
    predicates: dict[str, str]  # of things
    value_end: re.Pattern[str]
    place_end: re.Pattern[str]
    forget: re.Pattern[str]
    last_said: re.Pattern[str]
    all_known: re.Pattern[str]
    about: re.Pattern[str]


@cache
def compile_phrases() -> tuple[Patterns, ...]:
    """The phrases of all languages, compiled by the first input that is routed."""
    return tuple([_compile(phrases) for phrases in PHRASES.values()])


def _compile(phrases: Phrases) -> Patterns:
    named = [line.partition(":") for line in phrases.names.split(";") if line]
    value_end = rf"[,;]? (?:{phrases.after})\b|{_OTHER_CLAUSE}|{_FULL_STOP}"
    return Patterns(
        openings=_pattern(rf"(?:(?:{phrases.openings}|{phrases.corrections})\b[,:;.!]* +)+"),
        corrections=_pattern(rf"(?:{phrases.corrections})\b"),
        requests=_pattern(rf"{phrases.requests} (?P<value>.+)"),
        facts=tuple((name, part) for name, text in phrases.facts.items() for part in _parts(text)),
        moves=_pattern(phrases.moves),
        moves_of_others=_pattern(phrases.moves_of_others),
        things=tuple(_parts(phrases.things)),
        predicates={word.strip(): name.strip() for name, _, listed in named for word in listed.split(",")},
        value_end=re.compile(rf"(?:{value_end}).*", re.DOTALL),
        place_end=re.compile(
            rf"(?:{value_end}|,| (?:{phrases.times})\b"
            rf"|{_OF_PLACE} (?:(?:on|in|at|am|im|en|em|a|nel) )?(?i:{DAYS})\b).*",
            re.DOTALL,
        ),
        forget=_pattern(f"{_POLITE}{phrases.forget}"),
        last_said=_pattern(phrases.last_said),
        all_known=_pattern(phrases.all_known),
        about=_pattern(phrases.about),
    )


def _parts(text: str) -> Iterator[re.Pattern[str]]:
    return (_pattern(part.strip()) for part in text.split(";"))


def _pattern(text: str) -> re.Pattern[str]:
    """Compile a phrase, with its signs for a value, a thing, a subject and a word for now."""
    full = text.replace("VALUE", "(?P<value>.+)").replace("~", _NOW).replace("THING", _THING).replace("WHOM", _WHOM)
    return re.compile(full, re.IGNORECASE | re.DOTALL)


def unify(text: str) -> str:
    """A text with one kind of apostrophe, each character in its place."""
    return text.replace("\u2019", "'")
