"""Whether two statements say the same, or speak of the same. Pure; careful about what one word can turn around."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from engrain.domain.entities.names import name_key
from engrain.domain.text.analysis import stems, terms, words
from engrain.domain.text.likeness import jaccard
from engrain.domain.text.trigrams import similarity
from engrain.learning.consolidation.folding import fold

if TYPE_CHECKING:
    from engrain.domain.records import Fact
    from engrain.learning.consolidation.proposals import Statement

LEAST_SHARED = 0.75
_LEAST_ALIKE = 0.7

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
# What a predicate can have or lack without meaning anything else.
_FILLERS = frozenset("a an the is are was be been being has have had currently now does do did s".split())


def are_equivalent(one: str, other: str) -> bool:
    """Whether two texts are equal once folded, or share 3/4 of their words while no number or negation differs."""
    if fold(one) == fold(other):
        return True
    first, second = _words_of(one), _words_of(other)
    return jaccard(first.terms, second.terms) >= LEAST_SHARED and first.turning == second.turning


def is_same_name(one: str, other: str) -> bool:
    """Whether two names are the same, whatever their case and spaces."""
    return name_key(one) == name_key(other)


def is_same_statement(fact: Fact, said: Statement) -> bool:
    """Whether a fact and a statement say the same of the same subject, in alike predicates or as a whole."""
    if not is_same_name(fact.subject, said.subject):
        return False
    if are_similar_predicates(fact.predicate, said.predicate) and are_equivalent(fact.content, said.content):
        return True
    return are_equivalent(f"{fact.predicate} {fact.content}", f"{said.predicate} {said.content}")


def are_similar_predicates(one: str, other: str) -> bool:
    """Whether two predicates say the same relation: the same stems but for "is", "has", "currently", or 7/10 alike."""
    first, second = _relation(one), _relation(other)
    return bool(first) and (first == second or similarity(fold(one), fold(other)) >= _LEAST_ALIKE)


class _Words:
    """What is compared of a text."""

    __slots__ = ("terms", "turning")

    def __init__(self, text: str) -> None:
        said = words(fold(text))
        self.terms = frozenset(terms(text))
        self.turning = frozenset(word for word in said if word in _TURNING or any(map(str.isdigit, word)))


@lru_cache(maxsize=4_096)
def _words_of(text: str) -> _Words:
    return _Words(text)


@lru_cache(maxsize=4_096)
def _relation(predicate: str) -> frozenset[str]:
    """The stems of a predicate, prepositions and all: to live in and to live with are two things."""
    said = words(predicate.replace("_", " "))
    return frozenset(stem for word in said if word not in _FILLERS for stem in (stems([word]) or [word]))
