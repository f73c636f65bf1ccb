"""Level of evidence in an answer, so that an agent can say "I don't remember". Pure."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engrain.domain.text.analysis import is_foreign, terms, word_terms
from engrain.domain.text.changes import find_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engrain.domain.records import EvidenceLevel, Hit
    from engrain.retrieval.presets import Calibration

_MOST_JUDGED = 10
_MOST_UNKNOWN_THINGS = 2
_THING = re.compile(r"(?:\b(?:the|this|my|our|your|his|her|their)|['\u2019]s)\s+([\w'-]+(?:\s+[\w-]+)?)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Question:
    """Terms of a query: all that carry meaning, those of its names and numbers, and those of the things it is about.

    A thing is named by the two words after "the", "my" or "Ana's": a statement that answers has it, whereas a verb is
    often put in other words. English queries alone have names and things: others write more words in capitals.
    """

    terms: frozenset[str]
    names: frozenset[str] = frozenset()
    things: frozenset[str] = frozenset()

    @classmethod
    def parse(cls, query: str) -> Question:
        """Parse a query, without the names of speakers."""
        own = frozenset(word_terms(query))
        if is_foreign(query):
            return cls(own)
        things = frozenset(term for thing in _THING.findall(query) for term in terms(thing))
        return cls(own, own & find_names(query), own & things)


def assess(calibration: Calibration, statements: Sequence[Hit], question: Question) -> tuple[float, EvidenceLevel]:
    """The chance, 0-1, that the answer holds evidence, and its level.

    `statements` are best first; the first ten are judged. Calibrated on answerable questions against those of other
    conversations, and that of `engrain` also on questions of bench/everyday that nothing answers: a chance in such a
    mixture, not in yours.
    """
    judged = statements[:_MOST_JUDGED]
    if not judged:
        return 0.0, "none"
    matched = [question.terms.intersection(hit.why.matched_terms) for hit in judged]
    known = frozenset[str]().union(*matched)
    logit = (
        calibration.intercept
        + calibration.score * judged[0].score
        + calibration.cosine * _find_largest("vector", judged)
        + calibration.words * _find_largest("keyword", judged)
        + calibration.cover * (max(map(len, matched)) / len(question.terms) if question.terms else 0.0)
        + calibration.names * (not question.names <= known)
        + calibration.things * min(len(question.things - known), _MOST_UNKNOWN_THINGS)
    )
    chance = 1 / (1 + math.exp(-logit))
    if chance < calibration.weak:
        return chance, "none"
    return chance, "strong" if chance >= calibration.strong else "weak"


def _find_largest(channel: str, hits: Sequence[Hit]) -> float:
    """The largest number of a channel among some hits; 0 where it has none of them."""
    return max([share.raw for hit in hits for share in hit.why.contributions if share.channel == channel], default=0.0)
