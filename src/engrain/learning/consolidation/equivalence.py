"""Equivalence of texts: folding away what copying changes, and whether two statements say the same. Pure."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, NewType

from engrain.domain.text.analysis import stems, terms, words
from engrain.domain.text.names import name_key
from engrain.domain.text.similarity import jaccard, similarity

if TYPE_CHECKING:
    from engrain.domain.records import Fact
    from engrain.learning.consolidation.proposals import Statement

FoldedText = NewType("FoldedText", str)

LEAST_SHARED = 0.75
_LEAST_ALIKE = 0.7

# Typographic quotes, dashes and dots as a keyboard has them; invisible characters are dropped.
_PLAIN = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u02bc\u00b4`", "'"),
        **dict.fromkeys("\u2039\u203a", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u00ab\u00bb\u2033\u300a\u300b\u300c\u300d\u300e\u300f", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
        "\u2026": "...",
        **dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff\u00ad", None),
        # Arabic and Persian as either keyboard writes them, without vowels and stretching.
        **dict(zip("\u06cc\u06a9\u0649", "\u064a\u0643\u064a", strict=True)),
        **dict.fromkeys(map(chr, range(0x64B, 0x653)), None),
        "\u0640": None,
    }
)
_DIGIT = re.compile(r"[^\x00-\x7f\D]")  # of Arabic, Hindi, Bengali and other scripts
_MARKS = "\"' .,;:!?\u00bf\u00a1\u3001\u3002\u060c\u061b\u061f\u06d4\u0964"
# Two texts that differ in one of these do not say the same, however many other words they share.
_TURNING = frozenset(
    """
    no not never none nobody nothing neither nor without cannot don doesn didn won wouldn isn aren wasn weren haven hasn
    hadn couldn shouldn stopped quit former formerly ex un anymore longer unlike dislike dislikes hate hates
    zero one two three four five six seven eight nine ten eleven twelve once twice half first second third
    daily weekly monthly yearly monday tuesday wednesday thursday friday saturday sunday
    january february march april may june july august september october november december
    """.split()
)
# Words that a predicate can have or lack without meaning anything else.
_FILLERS = frozenset("a an the is are was be been being has have had currently now does do did s".split())


def fold(text: str) -> FoldedText:
    """One case, one sort of quote, dash and digit, single spaces; folding again changes nothing."""
    plain = unicodedata.normalize("NFKC", text.translate(_PLAIN)).translate(_PLAIN)
    if not plain.isascii():
        plain = _DIGIT.sub(lambda digit: str(unicodedata.decimal(digit[0])), plain)
    return FoldedText(" ".join(unicodedata.normalize("NFKC", plain.casefold()).split()))


def strip_marks(text: str) -> FoldedText:
    """The folded text without the marks around it: quotation marks and stops."""
    return FoldedText(fold(text).strip(_MARKS))


def are_equivalent(one: str, other: str) -> bool:
    """True if two texts are equal once folded, or share 3/4 of their words while no number or negation differs."""
    if fold(one) == fold(other):
        return True
    first, second = _features(one), _features(other)
    return jaccard(first.terms, second.terms) >= LEAST_SHARED and first.turning == second.turning


def is_same_name(one: str, other: str) -> bool:
    """True if two names are the same, whatever their case and spaces."""
    return name_key(one) == name_key(other)


def is_same_statement(fact: Fact, statement: Statement) -> bool:
    """True if a fact and a statement say the same of the same subject, in alike predicates or as a whole."""
    if not is_same_name(fact.subject, statement.subject):
        return False
    if are_similar_predicates(fact.predicate, statement.predicate) and are_equivalent(fact.content, statement.content):
        return True
    return are_equivalent(f"{fact.predicate} {fact.content}", f"{statement.predicate} {statement.content}")


def are_similar_predicates(one: str, other: str) -> bool:
    """True if two predicates name one relation: the same stems but for "is", "has", "currently", or 7/10 alike."""
    first, second = _relation(one), _relation(other)
    return bool(first) and (first == second or similarity(fold(one), fold(other)) >= _LEAST_ALIKE)


class _Features(NamedTuple):
    """The compared features of a text: its terms, and the words that turn a meaning around."""

    terms: frozenset[str]
    turning: frozenset[str]


@lru_cache(maxsize=4_096)
def _features(text: str) -> _Features:
    folded = words(fold(text))
    turning = frozenset(word for word in folded if word in _TURNING or any(map(str.isdigit, word)))
    return _Features(frozenset(terms(text)), turning)


@lru_cache(maxsize=4_096)
def _relation(predicate: str) -> frozenset[str]:
    """The stems of a predicate, prepositions and all: to live in and to live with are two things."""
    distinct = words(predicate.replace("_", " "))
    return frozenset(stem for word in distinct if word not in _FILLERS for stem in (stems([word]) or [word]))
