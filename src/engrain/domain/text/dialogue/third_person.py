"""Statements about "the user", and queries as the user would ask them. Pure.

In English, and in six other languages the most frequent ones.

Agents that look up a memory ask in the third person ("What is the user's name?", "user occupation"), but what users
say of themselves is in the first: "Hi, I'm Nora."
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from engrain.domain.text.analysis import STOP_WORDS
from engrain.domain.text.names import USER_ELSEWHERE
from engrain.domain.text.patterns import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Callable

_LONGEST: Final = 200  # characters of a query
_AUXILIARIES: Final = {"does": "do", "is": "am", "has": "have"}
# "user allergies" are somebody's, but a "user table" is a table.
_PERSONAL: Final = "|".join(
    r"""
    (?:(?:full|first|last|nick)\s?)?name age birth(?:day|date) date\sof\sbirth job\stitle occupation profession
    (?:current\s)?(?:job|role|employer|company) work(?:place)? career location address home city country hometown
    time\s?zone phone e-?mail contact languages? nationality gender pronouns family wife husband partner spouse kids?
    child(?:ren)? son daughter parents? mother father sisters? brothers? siblings? friends? pets? dogs? cats? cars?
    hobb(?:y|ies) interests? likes dislikes preferences? preferred favou?rites? allerg(?:y|ies) diet dietary food health
    medical medications? goals? plans? schedule habits? routines? travel trips? vacations? holidays? music movies?
    books? sports? background profile bio info(?:rmation)? details personal identity skills? education stud(?:y|ies)
    school budget opinions? fears? phobias? illness(?:es)? injur(?:y|ies) intolerances? restrictions? vehicles?
    projects? tasks? deadlines? tech stack tools editor coding programming finances income facts communication response
    spouse relatives residence location availability hours
    """.split()
)
_TECHNICAL: Final = "|".join(
    r"""
    manuals? interface guide tables? accounts? models? service stor(?:y|ies) ids? agents? experience data inputs?
    groups? roles? sessions? pages? lists? records? objects? class(?:es)? flows? tests? mode management auth\w* login
    fields? schema docs? documentation base counts? events? tokens? passwords? credentials? requests? permissions?
    quer(?:y|ies) browser cookies? devices? subscriptions? rows? settings? avatar cart uploads? ip
    """.split()
)
# "User lives in Faro" and "The user's wife is Eva", but not "User sessions expire".
_OF_USER: Final = lazy_pattern(
    rf"\s*(?:the\s|this\s)?user(?:['\u2019]s(?=\s)"
    rf"|(?=:?\s(?:\w+(?:s|ed)|can|can't|will|would|had|never|no|now|also|just|recently|currently|really|still|went|got"
    rf"|bought|sold|told|said|took|met|began|left|lost|found)\b))(?!:?\s(?:{_TECHNICAL})\b)",
    re.IGNORECASE,
)
_OF_USER_ELSEWHERE: Final = lazy_pattern(
    rf"\s*(?:(?:(?:der|die|das|el|la|le|les|il|lo|[oa]|de|het) |l['\u2019])?\w+ )?{USER_ELSEWHERE} ", re.IGNORECASE
)
# What is asked of the user, as the user asks it; in German and Dutch "I" stands behind the verb.
_AS_USER: Final = {
    verb: own
    for line in """
    heißt = heiße ich; wohnt = wohne ich; lebt = lebe ich; arbeitet = arbeite ich; ist = bin ich; hat = habe ich
    mag = mag ich; fährt = fahre ich; isst = esse ich
    se llama = me llamo; vive = vivo; trabaja = trabajo; tiene = tengo; es = soy
    comment s'appelle = comment je m'appelle; où habite = où j'habite; où vit = où je vis
    où travaille = où je travaille; quel âge a = quel âge ai-je
    si chiama = mi chiamo; abita = abito; lavora = lavoro; anni ha = anni ho; lavoro fa = lavoro faccio
    se chama = me chamo; mora = moro; trabalha = trabalho; tem = tenho
    heet = heet ik; woont = woon ik; werkt = werk ik; is = ben ik; heeft = heb ik
    """.replace("\n", ";").split(";")
    for verb, _, own in [line.strip().partition(" = ")]
    if verb
}
_VERBS: Final = "|".join(_AS_USER).replace("'", "['\u2019]")
_ASKED_ELSEWHERE: Final = lazy_pattern(rf"\b({_VERBS}) {USER_ELSEWHERE}", re.IGNORECASE)
# "Die Frau des Nutzers" is "meine Frau" of whoever asks.
_WHOSE_ELSEWHERE: Final = tuple(
    (lazy_pattern(rf"(?:\b(?:{articles}) |\bl['\u2019])?\b(\w+) {whose}\b", re.IGNORECASE), own)
    for own, articles, whose in (
        ("mein", "der|die|das|den|dem", r"(?:des (?:(?:be)?nutzer|anwender)s|der (?:(?:be)?nutzer|anwender)in)"),
        ("mi", "el|la|los|las", r"(?:del|de la) usuari[oa]"),
        ("mon", "le|la|les", r"de l['\u2019]utilisat(?:eur|rice)"),
        ("mio", "il|la|lo|i|gli|le", r"dell['\u2019]utente"),
        ("meu", "[oa]s?", r"d[oa] (?:usuári[oa]|utilizadora?)"),
        ("mijn", "de|het", r"van de gebruiker"),
    )
)
_END: Final = r"(?=\W*$|\s(?:and|or|in|on|at|last|this|yesterday|so|again|before)\b)"


def is_about_user(text: str) -> bool:
    """True for a statement about the user in the third person, as agents note it down."""
    return _OF_USER.match(text) is not None or _OF_USER_ELSEWHERE.match(text) is not None


@lru_cache(maxsize=1_024)
def ask_as_user(query: str, user: str | None = None) -> str:
    """Rephrase a query about the user, or somebody of the name `user`, as the user would ask it; any other stays."""
    if len(query) > _LONGEST:
        return query
    asked = query
    for pattern, replacement in _make_rules(user if user is not None and user.isalpha() else None):
        asked = pattern.sub(replacement, asked)
    return _ask_elsewhere(asked)


@lru_cache(maxsize=64)
def _make_rules(user: str | None) -> tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...]:
    written = "" if user is None or user in STOP_WORDS else f"|{user}"  # "Will", but not "will"
    named = "" if user is None else f"|(?-i:{user.capitalize()}{written})"
    whose = rf"(?:(?:(?:the|this|current)\s)*user{named})"
    whom = rf"(?:(?:the|this|current|our)\s(?:current\s)?user{named})\b(?!['\u2019]|\s(?:{_TECHNICAL})\b)"
    rules: list[tuple[str, str | Callable[[re.Match[str]], str]]] = [
        (rf"\b{whose}(?:['\u2019]s|s['\u2019])(?=\s)(?!\s(?:{_TECHNICAL})\b)", "my"),
        (rf"^(?:users?{named})\s(?=(?:{_PERSONAL})\b)", "my "),
        (rf"\b(does|did|do|is|was|has|had|can|could|should|would|will)\s(?:user\b|{whom})", _ask),
        (rf"\b(?:the\s)?({_PERSONAL})\s(?:of|for)\s(?:user\b|{whom}){_END}", r"my \1"),
        (rf"\b(about|to|for|with|by|from|of|tell|told|give|gave)\s(?:user\b|{whom}){_END}", r"\1 me"),
        (rf"{whom}\s(?=(?:is|was|has|had|does|did|will|would|can|\w+s|\w+ed)\b)", "I "),
    ]
    if user is not None:  # "Katrins Allergien", "alergias de Lucía"
        name = rf"(?-i:{user.capitalize()})"
        rules += [
            (rf"\b{name}s\s(?=(?-i:[A-ZÄÖÜ]))", "mein "),
            (rf"\s(?:d[eoai]\s|d['\u2019]|von\s){name}(?=\W*$)", ""),
        ]
    return tuple((re.compile(pattern, re.IGNORECASE), replacement) for pattern, replacement in rules)


def _ask(match: re.Match[str]) -> str:
    word = match[1].lower()
    return f"{_AUXILIARIES.get(word, word)} I"


def _ask_elsewhere(query: str) -> str:
    for pattern, own in _WHOSE_ELSEWHERE:
        query = pattern.sub(rf"{own} \1", query)
    return _ASKED_ELSEWHERE.sub(lambda match: _AS_USER[match[1].lower().replace("\u2019", "'")], query)
