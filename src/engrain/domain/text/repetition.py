"""Repetition among turns: keys by which near-identical ones are equal, and turns that say nothing new. Pure.

A memory stores the questions that it is asked, and the answers of an agent that does not know. Neither answers the
question when it is asked again.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from itertools import repeat
from typing import TYPE_CHECKING, NamedTuple

from engrain.domain.text.analysis import stems, terms
from engrain.domain.text.dialogue.questions import is_question, states_beside_asking
from engrain.domain.text.patterns import lazy_pattern
from engrain.domain.text.small_talk import is_small_talk

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Iterable

    from engrain.domain.records import Role

# Longer turns are neither a question that is asked again nor an answer of "I don't know".
_MOST_CHARACTERS = 600
_MOST_CACHED_CHARACTERS = 4_000
# Of a long text so much is compared at first; the rest only where that much is equal.
_BEGINNING = 300
# Less than this share of a question's words in the query is what they are both about; a half will do where it adds one
# word: "What did I call my cat?" Otherwise questions about the same thing lose their place too: 1.4 points of
# LongMemEval's recall@5.
_LEAST_REPETITION, _LEAST_BESIDE_ONE_WORD = 2 / 3, 0.5

_STRIPPED = ".,!?;:\"'()[]*_~`\u2026\u201c\u201d\u2018\u2019\u00ab\u00bb\uff1f\uff01\u3002"
# Where no such character stands before another one of a word, all stand at ends of words and can be left out at once.
_ASCII_STRIPPED = _STRIPPED.encode("ascii", "ignore")
_ASCII_KINDS = (
    "".join([" " if chr(code).isspace() else "." if chr(code) in _STRIPPED else "a" for code in range(128)])
    .encode()
    .ljust(256)
)
_BEFORE_OTHERS = b".a"
_DASHES = frozenset({"-", "--", "\u2013", "\u2014"})
_OPENINGS = frozenset("hey hi hello oh ok okay well so btw".split())
_POLITE = frozenset("please pls plz bitte".split())
# So many words, none of them about whoever says them, mean the same from anybody.
_LEAST_OF_ANYBODY = 3
_FIRST_PERSON = frozenset(
    "i im ive id ill me my mine myself ich mir mich mein meine je moi mon ma mes yo mi mis".split()
)

# Words of a question that ask for nothing: "Hey, do you remember what my cat's name is again?"
_FILLERS = frozenset(
    stems(
        """
        again already afternoon asked asking btw evening ever forget forgot good happen hello help hey hi know let like
        maybe mention mentioned morning ok okay once please question quick quickly really recall remember remind right
        said say see sorry still sure tell thank thanks thing think told want well whats whens wheres whos wonder
        wondering yet
        """.split()
    )
)
_QUESTION_STARTS = frozenset(
    "what whats who whos whose whom where wheres when whens which how why do does did is are was were can could "
    "will would have has had tell remind".split()
)
# Two ASCII letters that a text begins with are the first of its first word.
_BEGINNINGS = frozenset(word[:2] for word in _OPENINGS | _QUESTION_STARTS)

_CONTRACTED = r"\b(ca|could|did|do|does|had|has|have|is|are|was|were|would)n['\u2019]?t\b"
_CONTRACTIONS = (
    (lazy_pattern(_CONTRACTED), r"\1 not"),
    (lazy_pattern(r"\bca not\b|\bcannot\b"), "can not"),
    (lazy_pattern(r"\b(i|you|we|it|that|they)['\u2019](m|ve|s|re)\b"), r"\1 have"),
    (lazy_pattern(r"\b(actually|also|currently|honestly|personally|quite|really|still|unfortunately|yet) "), ""),
)
_RECORDS = (
    "access|answer|anything|clue|context|data|details?|idea|info|information|knowledge|memor(?:y|ies)|mentions?|notes?|"
    "records?|way"
)
_DENIAL = lazy_pattern(
    rf"""
    \b(?:i|we)\ (?:do|did|can|could|would)\ not\ (?:know|remember|recall|tell|say)\b
    | \b(?:i|we)\ (?:am|are|was|were|have)\ not\ (?:sure|aware|certain|able\ to)\b
    | \b(?:i|we)\ (?:do|did|can|could|have)\ not\ (?:seem\ to\ )?(?:have|find|found|see|seen|got)\b
      (?:\ \S+){{0,4}}?\ (?:{_RECORDS})\b
    | \b(?:i|we)\ do\ not\ (?:think|believe)\ (?:that\ )?(?:you|i|we|anybody|anyone)\ (?:have\ |has\ |ever\ )*
      (?:told|tell|said|say|mentioned|mention|shared|know)\b
    | \b(?:have|had|has|find|found|see|is|are|hold|holds)\ (?:no|nothing)\b(?:\ \S+){{0,3}}?\ (?:{_RECORDS})\b
    | ^(?:no|not\ any)\ (?:{_RECORDS})\b | \bno\ idea\b | ^not\ sure\b
    | \b(?:have|has|had|did|was|were|is|are)\ not\ (?:been\ |yet\ |ever\ )?(?:told?|tell|mention(?:ed)?|shared?|said
      |say|provided?|stated?|specified|recorded|given?|discussed|stored|saved|informed)\b
    | \b(?:i|we)\ (?:can|could)\ not\ (?:see|find)\b | ^i\ (?:have\ no|do\ not\ (?:have|see))\b(?:\ \S+){{1,6}}$
    | ^(?:i|we)\ do\ not[.!]?$ | \bnot\ that\ i\ know\b | \b(?:you|he|she|they)\ never\ (?:said|told|mentioned)\b
    | \bas\ far\ as\ i\ know\b
    | \b(?:nobody|no\ one)\ (?:has\ )?(?:told|tells|said|says|mentioned|knows?)\b
    | \bhas\ not\ (?:come\ up|been\ said)\b
    | \bnothing\ (?:is\ |was\ )?(?:stored|saved|recorded|noted|known|heard|about)\b
    | \b(?:i|we)\ (?:have|had|did)\ not\ (?:heard?|seen|see)\ (?:anything|any|of|about|back)\b
    | \bno\ (?:word|news)\ (?:on|of|about|from|yet)\b | ^there\ (?:is|was|are)\ no\ (?:\S+\ ){{1,6}}yet[.!]?$
    | \b(?:wei(?:ss|\u00df)|finde)\ (?:ich|wir)\b(?:\ \S+){{0,4}}?\ (?:nicht|nichts|keine?n?)\b
    | \b(?:ich|wir)\ (?:wei(?:ss|\u00df)|wissen|finde)\b(?:\ \S+){{0,4}}?\ (?:nicht|nichts|keine?n?)\b
    | \bno\ (?:lo\ )?(?:s\u00e9|sabemos|recuerdo|encuentro)\b
    | \b(?:je|nous)\ (?:ne\ |n['\u2019])(?:sais|savons|trouve|vois|me\ souviens)\ pas\b
    | \bnon\ (?:lo\ )?(?:so|ricordo|trovo)\b | \bn\u00e3o\ (?:sei|sabemos|lembro|encontro)\b
    | \b\u043d\u0435\ (?:\u0437\u043d\u0430\u044e|\u043f\u043e\u043c\u043d\u044e)\b | \u4e0d\u77e5\u9053
    """,
    re.VERBOSE,
)
# What every denial has, before its contractions are in full: most turns have none of it, and are not taken apart.
_DENYING_WORD = lazy_pattern(
    rf"\b(?:no|not|cannot|never|nobody|nothing|nichts?|keine?n?|pas|non|n\u00e3o|\u043d\u0435)\b|{_CONTRACTED}"
    r"|as far as i|\u4e0d\u77e5\u9053"
)
_OFFER = lazy_pattern(
    r"^(?:if you|could you|can you|would you|please|let me know|feel free|just (?:tell|let)|tell me|happy to|sorry"
    r"|(?:perhaps |maybe )?you (?:could|can|may|might|should) (?:want to )?ask\b"
    r"|(?:and |but )?(?:nobody|no one)(?: \S+){0,4} (?:do|does|did|has|knows)(?=[.!]?$)"
    r"|i (?:am|have) (?:sorry|afraid)|i apologi[sz]e|unfortunately"
    r"|(?:and |then |so )?i(?: will| would|['\u2019](?:ll|d))? (?:can |gladly |happily )?"
    r"(?:remember|help|save|note|store|keep|be happy))\b"
)
_CLAUSE_END = lazy_pattern(r"(?<=[.!?])\s+|\n+|[,;:]\s+|\s[-\u2013\u2014]+\s|\s(?=(?:but|though|however)\s)")


def repeat_key(content: str, *, role: Role | None, speaker: str | None) -> Hashable:
    """The key by which near-identical turns are equal.

    Questions, and an assistant's answers that say nothing, are equal where they have the same terms; statements of one
    speaker where they have the same words in order, whatever their case and punctuation, as one other word may be a
    name, a number or a "not".
    """
    is_asked = len(content) <= _MOST_CHARACTERS and (asks_alone(content, role=role) or says_nothing(content, role=role))
    return _find_key(_find_words(content), role, speaker, terms(content) if is_asked else ())


def _find_key(
    own_words: tuple[str, ...] | str, role: Role | None, speaker: str | None, question_terms: Iterable[str]
) -> Hashable:
    """The key of a turn of some words; `question_terms` are those of one that is a question or says nothing."""
    if question_terms and (own := frozenset(question_terms) - _FILLERS):
        return "asked", own
    if isinstance(own_words, str):
        return role, speaker, len(own_words), own_words[:_BEGINNING], hash(own_words)
    is_of_speaker = len(own_words) < _LEAST_OF_ANYBODY or not _FIRST_PERSON.isdisjoint(own_words)
    return role, speaker if is_of_speaker else None, own_words


class Repetition(NamedTuple):
    """Repetition of a turn, in what a search compares.

    In one process `key` is equal where `repeat_key` is, and `words` where `says_the_same` is. `question_terms` holds
    the terms of a question of few words, space between, and is None for every other turn.
    """

    key: int
    words: int
    question_terms: str | None
    says_nothing: bool


def describe_repetition(content: str, *, role: Role | None, speaker: str | None) -> Repetition:
    """Describe what a turn repeats, once for all searches that find it."""
    is_short = len(content) <= _MOST_CHARACTERS
    is_empty, is_asked = says_nothing(content, role=role), is_short and asks_alone(content, role=role)
    asks = is_asked or (is_short and _begins_as_question(content))
    goes_by_terms = is_asked or (is_short and is_empty)
    own = terms(content) if asks or goes_by_terms else []
    own_words = _find_words(content)
    return Repetition(
        key=hash(_find_key(own_words, role, speaker, own if goes_by_terms else ())),
        words=hash(own_words),
        question_terms=" ".join(dict.fromkeys(own)) if asks else None,
        says_nothing=is_empty,
    )


def mark_echoes(questions: Iterable[str | None], query_terms: Collection[str]) -> list[bool]:
    """Mark the turns (`Repetition.question_terms`) that say nothing beside the query: their words are the query's."""
    terms_, known = frozenset(query_terms), _FILLERS.union(query_terms)
    return [
        question is not None and known.issuperset(own := question.split()) and not terms_.isdisjoint(own)
        for question in questions
    ]


def says_the_same(content: str, other: str) -> bool:
    """True if two texts have the same words in order, whatever their case, punctuation and openings such as "Hey,"."""
    return _find_words(content) == _find_words(other)


def hash_words(content: str) -> int:
    """Hash a text so that two have one hash, in one process, where they say the same."""
    return hash(_find_words(content))


def _find_words(content: str) -> tuple[str, ...] | str:
    """The words that a turn is compared by; of one that is too long the text itself."""
    return content if len(content) > _MOST_CACHED_CHARACTERS else _cached_words(content)


def asks_something(content: str) -> bool:
    """True for a question, also one without its mark: "whats my cats name"."""
    return is_question(content) or _begins_as_question(content)


def asks_alone(content: str, *, role: Role | None) -> bool:
    """True for a turn that is a question and tells nothing beside it, as what an assistant says before it asks."""
    return is_question(content) and (role == "assistant" or not states_beside_asking(content))


def measure_repetition(question_terms: str, query_terms: Collection[str]) -> float:
    """The share of a question's terms (`Repetition.question_terms`) that the query has, 0-1.

    0 below two thirds, or below a half where it has one more term.
    """
    own = frozenset(question_terms.split()) - _FILLERS.difference(query_terms)
    share = len(own.intersection(query_terms)) / len(own) if own else 0.0
    least = _LEAST_BESIDE_ONE_WORD if len(own.difference(query_terms)) == 1 else _LEAST_REPETITION
    return share if share >= least else 0.0


def says_nothing(content: str, *, role: Role | None) -> bool:
    """True for small talk, and for an assistant that does not know and says nothing else but what it asks or offers.

    A person's "I don't know my blood type." is something to remember.
    """
    denies = role == "assistant" and len(content) <= _MOST_CHARACTERS and _denies(content)
    return denies or is_small_talk(content)


@lru_cache(maxsize=4_096)
def _denies(content: str) -> bool:
    folded = content.casefold()
    if _DENYING_WORD.search(folded) is None:
        return False
    clauses = [_expand(clause) for clause in _CLAUSE_END.split(folded)]
    denies = [_DENIAL.search(clause) is not None for clause in clauses]
    return any(denies) and all(
        denied or clause.endswith("?") or _OFFER.match(clause) is not None or not set(terms(clause)) - _FILLERS
        for clause, denied in zip(clauses, denies, strict=True)
    )


def _expand(clause: str) -> str:
    """The clause with its contractions in full and without adverbs."""
    for pattern, full in _CONTRACTIONS:
        clause = pattern.sub(full, clause)
    return clause.strip()


def _begins_as_question(content: str) -> bool:
    """True for a question without its mark: "whats my cats name"."""
    beginning = content[:2]
    if beginning.isascii() and beginning.isalpha() and beginning.lower() not in _BEGINNINGS:  # as most do
        return False
    for word in _words(" ".join(content.split(None, 3)[:3])):
        if word not in _OPENINGS:
            return word in _QUESTION_STARTS
    return False


def _words(content: str) -> tuple[str, ...]:
    """Words in order, folded, without the punctuation around them; symbols stay, as in "C++" and "5 %"."""
    is_ascii = content.isascii()
    folded = content.lower() if is_ascii else unicodedata.normalize("NFKC", content).casefold().replace("\u2019", "")
    folded = folded.replace("'", "")
    if is_ascii and "-" not in folded:
        octets = folded.encode()
        if _BEFORE_OTHERS not in octets.translate(_ASCII_KINDS):
            return tuple(octets.translate(None, _ASCII_STRIPPED).decode().split())
        return tuple(filter(None, map(str.strip, folded.split(), repeat(_STRIPPED))))
    found = map(str.strip, folded.split(), repeat(_STRIPPED))
    return tuple([word for word in found if word and word not in _DASHES])


@lru_cache(maxsize=4_096)
def _cached_words(content: str) -> tuple[str, ...]:
    """The words that a turn is compared by: without an opening such as "Hey,"; the text itself where it has none."""
    found = _words(content)
    if not _POLITE.isdisjoint(found):
        found = tuple([word for word in found if word not in _POLITE])
    return (found[1:] if len(found) > 1 and found[0] in _OPENINGS else found) or (content.strip(),)
