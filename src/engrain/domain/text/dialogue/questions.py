"""Questions: the share of a turn that asks, with a question mark or without. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from engrain.domain.text.patterns import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Sequence

LEAST_QUESTION_SHARE = 0.5
_MOST_UNMARKED_CHARACTERS = 160

# Latin, full-width, Arabic, Armenian, Greek and Ethiopic question marks.
_QUESTION_MARKS = ("?", "\uff1f", "\u061f", "\u055e", "\u037e", "\u1367")
_CLOSING = "\"')]}\u2019\u201d\u00bb*_ \n\t"
_SENTENCE_END = lazy_pattern(r"(?<=[.!?\uff1f\u3002\u061f\u1362\u1367])\s+|(?<=[\uff1f\u3002])|\n+")
# English: what a sentence states of somebody before it asks.
_STATED_FIRST = lazy_pattern(
    r"(?:(?:and|but|so|well|oh|hi|hello|hey|ok|okay|actually|by the way|btw)\W+)*"
    r"(?:i|we|my|our|he|she|they|his|her|their)(?:['\u2019]\w+)?\s[^?]{8,}?,\s+(?=(?:(?:and|but|so)\s+)?(?:is|are|was|do|does|did|can|could|will|would|should|have"
    r"|has|may|what|when|where|who|why|how|which|right|ok|okay|correct|isn['\u2019]t|aren['\u2019]t|doesn['\u2019]t)\b)",
    re.IGNORECASE,
)
# Asks nothing: "Marek is a carpenter, did I tell you?"
_TAG = lazy_pattern(r".{8,},\s(?:did i (?:ever )?(?:tell|mention)\b[^,?]{0,20}|you know|remember)\?\W*$", re.IGNORECASE)

_OPENING = r"(?:(?:and|but|so|well|oh|um+|hm+|hi|hello|hey|ok|okay|btw|also|please|sorry|quick\ question)\W+){0,3}"
_AUXILIARY = r"(?:is|are|was|were|am|do|does|did|can|could|should|would|will|may|must|have|has|had)(?:n['\u2019]?t)?\b"
_PRONOUN = "(?:i|you|he|she|it|we|they|there)"
_OWNER = "(?:my|our|his|her|their)"
_BOUND = rf"(?!\s(?:{_PRONOUN}|{_OWNER}|the|this|that|a|an)\b)"  # "what I want", "how the house looks": no question
_OPINION = "(?:matters?|bothers?|works|worked|helps|helped|counts|worries|worried|hurts|annoys|scares|surprised)"
# Begins as a question does. Rather too few, as what is taken for one states nothing: "When I was young", "What a day",
# "Which is why", "What matters is", "Will Byers came", "Do the dishes" and "Did my homework" ask nothing.
_UNMARKED = lazy_pattern(
    rf"""{_OPENING}(?:
    (?:what|who|where|when|how)(?:['\u2019]?s|['\u2019]re)\b(?!\s(?:up|more)\b)
    | what\s(?:happened|happens|else|about)\b | what(?!\s{_OPINION}\b){_BOUND}(?:\s\S+){{0,3}}?\s{_AUXILIARY}
    | which{_BOUND}(?!\s(?:is|was|are|were|means|meant)\b)\s(?:(?:\S+\s){{1,3}}?{_AUXILIARY}|\w+\s\w+ed\b)
    | how\s(?:many|much|long|often|old|big|far|late|tall|large)\b{_BOUND} | how\sto\b(?=[^:]*$)
    | (?:where|when|why|how)\s{_AUXILIARY} | who(?:m|se)?{_BOUND}\s\w+
    | (?:is|are)\s(?:{_PRONOUN}|{_OWNER}|the|this|that|any\w*)\b | did\s(?:{_PRONOUN}|any\w*|\w+['\u2019]s)\b
    | (?:was|were|can|could|should|would|may|must|am)\s(?:i|he|she|it|we|they|there)\b | does\s\w+
    | do\s(?:i|you|we|they|any\w*)\b | have\s(?:i|you|we|they)\b | has\s(?:any\w+|he|she|it|{_OWNER}|the)\b
    | (?:qu\u00e9\s(?:es|son|hace|dijo|hora|d\u00eda)|qui\u00e9n(?:es)?|a?d\u00f3nde|cu\u00e1ndo|cu\u00e1l(?:es)?)\b
    | (?:wann|woher|wohin|wo|wer|wem|wen|wessen|warum|wieso|weshalb|welche[rsnm]?|wie\s?(?:viele?|lange|oft)
      |cu\u00e1nt[oa]s?|combien|o\u00f9|(?:qu['\u2019])?est-ce|quell?es?\s(?:est|sont)|quel\sest|qui\sest|pourquoi
      |dov['\u2019]\u00e8|dove|chi|quant[ie]|qual['\u2019]?\s?\u00e8|quando\s(?:\u00e8|\u00e9)
      |onde|quem|quais|quant[oa]s|qual\s\u00e9)\b(?=[^,]*$)
    )""",
    re.IGNORECASE | re.VERBOSE,
)
# No such question begins otherwise: a tenth of the work for each turn, while its writer waits.
_BEGINNINGS = frozenset(
    form
    for beginning in (
        "ad al am an ar bt bu ca ch co cu da di do d\u00f3 es ha he hi hm ho is ma mu oh ok on o\u00f9 pl po qu sh so"
        " um wa we wh wi wo"
    ).split()
    for form in (beginning, beginning.capitalize(), beginning.upper(), beginning[0] + beginning[1].upper())
)
_IDIOMS = lazy_pattern(r"\s+for a living\b", re.IGNORECASE)
_ENDS_OTHERWISE = (".", "!", ":", ";", ",", "\u2026", "\u3002", ")")


def strip_idioms(query: str) -> str:
    """Strip a question of phrases whose words mean something else when they stand alone: "for a living" is no home."""
    return _IDIOMS.sub(" ", query)


def strip_question(sentence: str) -> str:
    """Strip a sentence of what it asks: what it states before it asks is left, nothing of one that only asks."""
    if not sentence.endswith(_QUESTION_MARKS):
        return sentence
    stated = _STATED_FIRST.match(sentence)
    return stated[0].rstrip() if stated else ""


def question_share(content: str) -> float:
    """Share of a turn's words, 0-1, in sentences that end with a question mark, or begin as one and have no mark.

    A question states little: of two turns with the same words the statement is more often the evidence. What a sentence
    states before it asks ("I live on the fourth floor, is that a problem?") is no question.
    """
    if "?" not in content and (content.isascii() or not _has_question_mark(content)):
        return 1.0 if content[:2] in _BEGINNINGS and _asks_unmarked(content) else 0.0
    total = asked = 0
    for sentence in _SENTENCE_END.split(content):
        count = len(sentence.split())
        total += count
        if sentence.rstrip(_CLOSING).endswith(_QUESTION_MARKS) and _TAG.match(sentence) is None:
            stated = _STATED_FIRST.match(sentence)
            asked += count - len(stated[0].split()) if stated else count
    return asked / total if total else 0.0


def question_shares(contents: Sequence[str]) -> list[float]:
    """`question_share` of each of many turns."""
    are_ascii = "".join(contents).isascii()
    return [
        question_share(content)
        if content[:2] in _BEGINNINGS or "?" in content or not (are_ascii or content.isascii())
        else 0.0
        for content in contents
    ]


def is_question(content: str) -> bool:
    """True if at least half of a turn's words stand in questions."""
    if content[:2] not in _BEGINNINGS and "?" not in content and content.isascii():  # as most are
        return False
    return question_share(content) >= LEAST_QUESTION_SHARE


def _has_question_mark(content: str) -> bool:
    """True if there is a question mark: most turns have none, and every turn is checked while its writer waits."""
    for mark in _QUESTION_MARKS:  # noqa: SIM110  # a generator for any() takes three times as long
        if mark in content:
            return True
    return False


def _asks_unmarked(content: str) -> bool:
    """True for a short line without any mark at its end that begins as a question does: "whats my cats name"."""
    if len(content) > _MOST_UNMARKED_CHARACTERS or _UNMARKED.match(content) is None:
        return False
    line = content.rstrip()
    return not line.endswith(_ENDS_OTHERWISE) and "\n" not in line and _SENTENCE_END.search(line) is None
