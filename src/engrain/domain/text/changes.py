"""Statements of a change, and how much of an older statement they correct. Pure.

A memory keeps what was said word for word: "The report is due in March." and, later, "The report has been postponed to
April." Whoever asks when it is due wants the second one first. English words.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from engrain.domain.text.analysis import terms
from engrain.domain.text.repetition import LEAST_QUESTION_SHARE

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from engrain.domain.records import Role

# Longer turns state many things, of which a change is one.
_MOST_CHARACTERS = 160
# A correction leaves out one of the words that the query and the older statement share: "Mei maintains it from today."
_MOST_MISSING = 1

_CHANGE = re.compile(
    r"""\b(?:
    now|no\ longer|(?:not|\w+n['\u2019]t)\ .{1,40}\ any\ ?more|from\ (?:now|today|tomorrow|\w+)\ on|as\ of
    |since\ (?:today|yesterday|this\ (?:morning|week|month)|(?:mon|tues|wednes|thurs|fri|satur|sun)day)|from\ today
    |starting\ (?:today|tomorrow|next|from)|instead\ of|rather\ than|in\ place\ of|correction
    |(?:i|we)\ (?:was|were)\ wrong|got\ (?:it|that|the\ \w+)\ wrong|mis(?:read|spoke|typed|heard|remembered)
    |(?:it\ )?turns\ out|sorry,?\ not|i\ meant|scratch\ that|\w+['\u2019]ve\ changed
    |(?:has|have|was|were|been|i|we|they)\ changed|switched\ (?:to|from)|(?:has|have)\ moved
    |moved\ (?:to|from|away|out|the)|relocated|renamed|replaced|postponed
    |slip(?:s|ped)\ to|brought\ forward|pushed\ back|put\ off|rescheduled|cancelled|canceled|reopened
    |(?:came|is|are|am)\ back|gone\ back|went\ back|gave\b.{1,40}\bback|upgraded|downgraded|raised|lowered|doubled
    |halved|(?:has|have|was|been)\ cut|retired|resigned|has\ left|took\ over|taken\ over|takes\ over|new\ \w+\ is
    |(?:my|our|the|a)\ new|became|has\ become|reverted|rolled\ back|sold|is\ wrong|is\ out|no\ more
    |not\ (?:\S+\ ){1,3}?(?:any\ ?more|as\ \w+\ did)|only\ every|other\ than|today
    |again|instead|after\ all|change\ of\ plans?|(?:does|do|did)(?:n['\u2019]t|\ not)\ work|swapped|signed\ over
    |(?:i|we)\ put|extend(?:ed)?\b.{1,40}\bto|,\ not
    )\b""",
    re.IGNORECASE | re.VERBOSE,
)
_PAST = re.compile(
    r"\b(?:was|were|did|had|used|before|formerly|former|previous(?:ly)?|earlier|original(?:ly)?|at first|first"
    r"|initially|history|ago|yesterday|last|old|oldest|change[ds]?|moved|how often|in (?:19|20)\d\d)\b",
    re.IGNORECASE,
)
_NAME = re.compile(r"(?<![.!?:]\s)(?<!^)\b[A-Z]\w+|\b\w*\d\w*")


# A text without any of these states no change: looking for them takes a twentieth of what the pattern does.
_HINTS = (
    "now|longer|more|from|as of|since|starting|instead|rather|in place|correction|wrong|mis|turns out|sorry|i meant"
    "|scratch|changed|switched|moved|relocated|renamed|replaced|postponed|slip|brought|back|put off|rescheduled"
    "|cancel|reopened|graded|raised|lowered|doubled|halved| cut|retired|resigned|has left| over|new|bec|reverted|sold"
    "|is out| did|only every|other than|today|again|after all|of plan| work|swapped| put|extend|, not"
).split("|")


class Statement(NamedTuple):
    """Short statement of a user: its text, None for every other turn, and whether something is otherwise now."""

    statement: str | None
    states_change: bool


UNSTATED: Final = Statement(None, states_change=False)


def describe_statement(content: str, *, role: Role | None, asking: float) -> Statement:
    """Describe what a turn states, once for all searches that find it; `asking` is its share of words in questions."""
    if role != "user" or asking >= LEAST_QUESTION_SHARE or len(content) > _MOST_CHARACTERS:
        return UNSTATED
    return Statement(content, _may_state_change(content) and _CHANGE.search(content) is not None)


def _may_state_change(content: str) -> bool:
    # As the pattern ignores case: to it a dotless i is an i.
    folded = content.lower() if content.isascii() else content.casefold().replace("\u0131", "i")
    for hint in _HINTS:  # noqa: SIM110  # a generator for any() takes twice as long
        if hint in folded:
            return True
    return False


def find_names(statement: str) -> frozenset[str]:
    """Find the terms of the names and numbers of a statement."""
    return frozenset(term for name in _NAME.findall(statement) for term in terms(name))


def asks_for_present(query: str) -> bool:
    """True for a question about how things are: no word of it is about the past."""
    return _PAST.search(query) is None


def weigh_correction(
    newer: AbstractSet[str], older: AbstractSet[str], *, names: AbstractSet[str], query_terms: AbstractSet[str]
) -> int:
    """Weigh how much of an older statement a newer one corrects: the terms of both, twice those of names or the query.

    `names` are those of the older one. 0 where the newer one has none of them but what the query has, and lacks too
    much of what the query and the older one share.
    """
    shared, answered = newer & older, older & query_terms
    is_named = bool((newer & names) - query_terms)
    if not is_named and (answered.isdisjoint(newer) or len(answered - newer) > _MOST_MISSING):
        return 0
    return len(shared) + len(shared & (names | query_terms))
