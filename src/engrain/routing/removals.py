"""Requests to forget: what they are about, and those that only put right or go on to something else. Pure."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from engrain.domain.memories.routing import Routing
from engrain.domain.text.small_talk import is_small_talk
from engrain.routing.patterns import MOST_CHARACTERS, compile_phrases, unify

if TYPE_CHECKING:
    from engrain.routing.patterns import Patterns

_FROM_MEMORY = re.compile(
    r"\s+from (?:your |the )?memory\b|\s+aus (?:deinem |dem )?ged[äa]chtnis\b|\bany ?more$"
    r"|[,\s]*\b(?:please|pl[sz]|bitte|por favor|s'il te plaît|per favore|alsjeblieft)$",
    re.IGNORECASE,
)
_NO_SENTENCE_END = r"(?<!\bdr)(?<!\bmr)(?<!\bms)(?<!\bmrs)(?<!\bst)(?<!\b\w)"
# What goes on behind a request to forget: another sentence, or a clause.
_GOES_ON = re.compile(
    rf"(?P<asked>.+?)(?:(?P<ends>{_NO_SENTENCE_END}[.!?;]\s+|\s+[-\u2013\u2014]\s+|\n\s*)"
    r"|,\s+(?=(?:i|we|it|that|they|he|she|there|the|my|let|just|use|make|do|go|instead|rather|ich|wir|es|das|lass|nimm"
    r"|yo|mejor|je|on|c|io|facciamo|eu|vamos|ik|we|laten)\b))(?P<more>.+)",
    re.IGNORECASE | re.DOTALL,
)
_SCRATCHES = re.compile(r"(?:scratch|strike|ignore|disregard)$", re.IGNORECASE)
_PLANS = re.compile(
    r"(?:let(?:'s| us)|(?:i|we)(?:'ll| will|'m going| am going)|lass|ich mach|wir mach|vamos|on va|laten we)\b",
    re.IGNORECASE,
)
_TAKES_BACK = re.compile(
    r"(?:it|that)(?:'s| is| was) (?:not (?:true|right|so|important)|untrue|wrong|an? (?:joke|lie|mistake)|nonsense"
    r"|private)|i (?:was|am|'m) (?:just |only )?(?:wrong|joking|kidding|mistaken)|i didn't mean|i made a mistake"
    r"|i take it back",
    re.IGNORECASE,
)
# Of "everything except my name" the name would be what is found.
_EXCEPTS = re.compile(
    r"(?:everything|all|alles|todo|tout|tutto|tudo)\b.{,60}? (?:except|but|besides|apart from|aside from|other than"
    r"|au(?:ß|ss)er|menos|excepto|salvo|sauf|tranne|eccetto|exceto|behalve)\b",
    re.IGNORECASE,
)
_NO_TOPIC = re.compile(r"(?: to)? ?(?:you|me)\b.*|to .*", re.IGNORECASE)


def parse_removal(content: str) -> Routing | None:
    """Routes a request to forget something."""
    if len(content) > MOST_CHARACTERS:
        return None
    plain = unify(content).rstrip(" .!?")
    for phrases in compile_phrases():
        request = phrases.forget.fullmatch(plain)
        found = None if request is None else _parse(content, request, phrases)
        if found is not None:
            return found
    return None


def _parse(content: str, request: re.Match[str], phrases: Patterns) -> Routing | None:
    """Routes a request to forget; None for one that only puts right or goes on to something else.

    "Scratch that, it's Tuesday" and "Forget dinner, let's order pizza" tell what is so instead. What else is told
    behind a request is kept without it.
    """
    whole, more = request["rest"].strip(" ,:"), ""
    rest = _FROM_MEMORY.sub("", whole).strip(" ,:")
    is_of_last = phrases.last_said.fullmatch(rest.removeprefix("all ")) is not None
    if not is_of_last and (goes_on := _GOES_ON.fullmatch(whole)) is not None:
        rest, more = _FROM_MEMORY.sub("", goes_on["asked"]), goes_on["more"]
        is_of_last = phrases.last_said.fullmatch(rest) is not None
        is_corrected = _SCRATCHES.search(request.string[: request.start("rest")]) or not goes_on["ends"]
        if _TAKES_BACK.match(more) or is_small_talk(more):
            more = ""
        elif _PLANS.match(more) or (is_of_last and is_corrected):
            return None
    left = content[unify(content).rindex(more) :] if more else content
    found = Routing(route="forget", content=left, is_part=bool(more), reasons=("it asks to forget something",))
    if is_of_last:
        reasons = ("it asks to forget what was said last",)
        return replace(found, topic="", speaker_alone=True, reasons=reasons)
    if phrases.all_known.fullmatch(rest):
        return replace(found, of_everything=True, reasons=("it asks to forget everything",))
    about = phrases.about.fullmatch(rest)
    topic = about["topic"] if about else rest
    is_own = about is not None and bool(about["own"])
    if not topic or _NO_TOPIC.fullmatch(topic) or _EXCEPTS.match(rest):
        return None
    return replace(found, topic=topic, speaker_alone=is_own)
