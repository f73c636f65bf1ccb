"""Questions that time alone answers: they name nothing to compare with. Pure.

"What did we talk about last week?", "What's coming up?" and "What do you know about me?" are asked in words that every
conversation has. In English, into which those of other languages are put.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from engrain.domain.text.patterns import lazy_pattern

_LONGEST: Final = 120  # characters
_WORD = lazy_pattern(r"\w+")
_SAYING: Final = frozenset(
    "tell told say said saying talk talked talking speak speaking spoke spoken discuss discussed discussing mention"
    " mentioned chat chatted chatting conversation conversations chats discussion discussions recap work"
    " worked working suggest suggested recommend recommended advise advised".split()
)
_KNOWING: Final = frozenset("know known remember recall learn learned learnt noted saved stored describe".split())
# What may stand beside them. Not "her" or "it", which are something.
_BESIDE: Final = frozenset(
    "what which thing things anything everything something topic topics subjects all else did do does have had has was"
    " were been i we you u me us myself the our my your of in on from about with to up each other just so far and then"
    " hey hi hello ok please can could summarize summarise summary list show give again already still by now a an"
    " remind is there during over for exactly actually ever earlier before s ve d m".split()
)
_ASKING: Final = frozenset(
    "what which everything anything recap summarize summarise summary list remind conversation conversations discussion"
    " discussions chat chats".split()
)
_LOOKING_BACK: Final = frozenset(
    "did said told suggested recommended advised talked spoke spoken discussed mentioned chatted was were have had"
    " recap summarize summarise summary conversation conversations discussion discussions".split()
)
_ABOUT_USER = lazy_pattern(r"\b(?:about|describe|know|remember) (?:me|myself|us)\b|\bwho am i\b", re.IGNORECASE)
_PROFILE: Final = frozenset("profile bio background identity info information details".split())
_OF_ALL = lazy_pattern(
    r"\b(?:what|everything|anything|all)\b.*\b(?:do|can|have|did)\b|\b(?:do|can|have|did)\b.*\b(?:everything|anything|all)\b",
    re.IGNORECASE,
)
_SAID_BY_YOU = lazy_pattern(r"\b(?:did|have|were|are) you\b", re.IGNORECASE)
_LAST_TIME = lazy_pattern(r"\b(?:last|previous) (?:time|session|conversation|chat|talk|discussion)\b", re.IGNORECASE)
_LEFT_OFF = lazy_pattern(
    r"\bwhere (?:did we|had we|we(?: had)?) (?:leave|left|stop|stopped)\b|\bwhere were we\W*$", re.IGNORECASE
)
_LEAVING: Final = frozenset(
    "where leave left stop stopped off it let continue go carry pick last time yesterday".split()
)
_ASKING_FOR: Final = frozenset("who session summarize summarise summary previous".split())
_PLANNED: Final = frozenset(
    "coming upcoming planned plan plans scheduled schedule calendar agenda appointment appointments event events"
    " deadline deadlines due meeting meetings happening free busy available".split()
)
# Without a time these alone ask for what is to come: "What's the plan?" is about something.
_PLANS_OF_USER = lazy_pattern(
    r"\b(?:coming up|upcoming"
    r"|(?:my|our|any) (?:\w+ )?(?:plans|schedule|calendar|agenda|appointments|events|deadlines))\b",
    re.IGNORECASE,
)
_HAVING: Final = frozenset("have on doing going got look".split())
_BESIDE_PLANS: Final = frozenset(
    "what which any anything something everything do i we has s is are am m for my our the me us you know tell list"
    " show give remind can could please up next to need must there a an in of at all else and so then hey hi hello day"
    " week weekend month look like does".split()
)


# Of the questions in other languages that are put into English.
_ELSEWHERE: Final = frozenset(
    "mich mir ich mí mi moi mim soy suis sono sou gesprochen geredet besprochen diskutiert hablamos hablado parlé"
    " discuté parlato falamos falámos conversamos stehengeblieben geblieben aufgehört dejamos quedamos étions était"
    " rimasti paramos parámos ficamos ficámos steht liegt los vor geplant termine stehen tengo tenemos hay citas planes"
    " ai prévu rendez ho abbiamo impegni appuntamenti tenho temos planos compromissos te ti sai gesagt vorgeschlagen"
    " empfohlen geraten dijiste recomendaste sugeriste aconsejaste contaste dit conseillé recommandé proposé raconté"
    " disse disseste recomendou sugeriu".split()
)
# A word by which a time of another language is told, or a letter that English has not.
FOREIGN_TIME: Final = lazy_pattern(
    r"[ß-ÿ]|\b(?:(?:vor)?gestern|heute|morgen|letz\w+|dies\w+|vor|im|seit|anfang|ende|am (?=\d|\w+tag\b)|ayer|anoche"
    r"|hoy|pasad[oa]|est[ea]|hace|en|e[lm]|hier|ce|cette|il|l[ae]|fin|fa|ieri|oggi|domani|demain|scors[oa]|quest[oa]|nel"
    r"|a (?=\w+o\b)|ontem|hoje|n[ao]|passad[oa])\b|\b\d\d?\.(?:\d\d?\.\d{4}| [a-z])",
    re.IGNORECASE,
)
_MAY_ASK: Final = _SAYING | _KNOWING | _PROFILE | _LEAVING | _ASKING_FOR | _PLANNED | _HAVING | _ELSEWHERE


@lru_cache(maxsize=1_024)
def may_ask_by_time(text: str) -> bool:
    """False for most texts: those that nothing else here is true of."""
    return len(text) <= _LONGEST and not _list_words(text).isdisjoint(_MAY_ASK)


def asks_what_was_said(text: str) -> bool:
    """True for a question, without its times, for what was talked about, whatever it was: "What did I tell you?"."""
    said = _list_words(text)
    is_asked = not any(map(said.isdisjoint, (_SAYING, _ASKING, _LOOKING_BACK)))
    return is_asked and said <= _SAYING | _KNOWING | _BESIDE


def asks_what_was_said_ever(text: str) -> bool:
    """True for such a question that names no time; "What did you say?" asks to hear the last answer again."""
    return asks_what_was_said(text) and _SAID_BY_YOU.search(text) is None


def asks_what_assistant_said(text: str) -> bool:
    """True for such a question about what the one who is asked said: "What did you tell me yesterday?"."""
    return _SAID_BY_YOU.search(text) is not None


def asks_for_last_conversation(text: str) -> bool:
    """True for "Where did we leave off?" and "What did we talk about last time?"."""
    if _LEFT_OFF.search(text) is not None:
        return _list_words(text) <= _LEAVING | _BESIDE
    rest, times = _LAST_TIME.subn(" ", text)
    return times > 0 and asks_what_was_said(f"{rest} talk")


def asks_about_user(text: str) -> bool:
    """True for a question for all that is known, of the user or at all: "What do you know about me?"."""
    said = _list_words(text)
    if "my" in said and not said.isdisjoint(_PROFILE) and said <= _PROFILE | {"my", "personal"}:
        return True
    if not said <= _KNOWING | _SAYING | _BESIDE | {"who", "am"}:
        return False
    is_of_all = "you" in said and not said.isdisjoint(_KNOWING) and _OF_ALL.search(text) is not None
    return is_of_all or _ABOUT_USER.search(text) is not None


def asks_for_plans(text: str, *, is_dated: bool) -> bool:
    """True for a question, without its time, for what is to come then, or at all: "What do I have on?"."""
    said = _list_words(text)
    if not said <= _PLANNED | _HAVING | _BESIDE_PLANS:
        return False
    return not said.isdisjoint(_PLANNED | _HAVING) if is_dated else _PLANS_OF_USER.search(text) is not None


def _list_words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.lower()))
