"""Corrections: which older statement a newer one puts right, and how surely. Pure.

A memory keeps what was said word for word: "The report is due in March." and, later, "The report has been postponed to
April." Whoever asks when it is due wants the second one first. English words, and the most frequent ones of six
more languages.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from engrain.domain.text.analysis import terms, word_terms
from engrain.domain.text.dialogue import foreign_values
from engrain.domain.text.dialogue.changes import CHANGE_TERMS, TAKING_BACK_TERMS
from engrain.domain.text.dialogue.meanings import RELATED
from engrain.domain.text.dialogue.statements import DAYS, Question, Statement, fold, list_pairs, list_possessions
from engrain.domain.text.dialogue.values import COUNTED, COUNTED_IN_ENGLISH, FAMILY
from engrain.domain.text.patterns import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# A correction has at least this share of the score of what it corrects: where it denies what that says in answer to the
# question, where it names what is so no more, where it states a change of what the question is about, where it has
# another number or time for the same.
LEAST_DENIED, LEAST_NAMED, _LEAST_CHANGED, _LEAST_UPDATED = 0.2, 0.33, 0.52, 0.6
_NAMED: Final = 10  # added to the weight of one that names what is so no more
_MOST_ELLIPTIC: Final = 2  # terms of a turn that leaves out what it is about
_TAKEN_BACK: Final = 20  # and to that of one that takes back what was said just before
_LEAST_DIGITS: Final = 4  # of a number that is told from another by a slip alone


# A clause with somebody or something of its own: "The gateway is Kong, auth goes through Keycloak."
_CLAUSE_END: Final = lazy_pattern(
    r"(?:(?<!\bMr|\bDr|\bMs)(?<!\bMrs)[.!?;]|,(?: and| but)?| (?:and|but)(?= (?:[A-Z]|my|our|his|her|their|the)\b)) "
    r"(?!(?i:I|we|you|he|she|they|it|who|which|that|so|because|since|as|if|when|where|then|there|this|mon|\w+day)s?\b)"
    r"(?=(?:[\w'-]+ ){1,3}?(?:is|are|was|were|has|have|had|will|can|does|did|died|[a-z]{3,}s|[a-z]+ed|[a-z]+n't)\b)"
    r"|(?<!\bMr)(?<!\bDr)(?<!\bMs)(?<!\bMrs)[.!?] (?=[A-Z])"
    r"(?!(?:I|We|You|He|She|They|It|Who|Which|That|So|Because|This|There|Then|My|Our|His|Her)\b)"
)
_ELLIPTIC: Final = lazy_pattern(r", (?=[A-Z]\w+(?: and [A-Z]\w+)? (?:up|in|on|at|as|for|the)\b)")
_VERB: Final = lazy_pattern(r"\b(?:is|are|was|were|has|does|[a-z]{3,}s)\b")
_PUTS_OFF: Final = lazy_pattern(
    r"\b(?:slip(?:s|ped)|postponed|delayed|rescheduled|pushed|put off|brought forward|moved) ", re.IGNORECASE
)
_LONGEST_COUNT: Final = 2  # digits of a number that names nothing
_MONTHS: Final = fold(terms("january february march april may june july august september october november december"))
_DAYS_OF_MONTH: Final = fold(terms(" ".join(f"{day}st {day}nd {day}rd {day}th" for day in range(1, 32))))
# "The old office" is the office; but of two words of a line below one is not the other.
_SAME: Final = fold(terms("old previous former same current main next first last"))
_CHANGE_TERMS: Final = fold(CHANGE_TERMS)
_FAMILY: Final = fold(terms(FAMILY))
_RELATIVES: Final = _FAMILY | fold(
    word_terms(f"{foreign_values.FAMILY} aunt uncle cousin nephew niece grandma grandpa")
)
_CONTRARY: Final = [
    fold(terms(words))
    for words in (
        "morning afternoon evening night noon",
        "breakfast lunch dinner",
        "monday tuesday wednesday thursday friday saturday sunday",
        "spring summer autumn winter",
        "left right",
        "front rear back",
        "upstairs downstairs",
        "north south east west",
        "indoor outdoor",
    )
]
_NOW: Final = fold(terms("now"))
_CHANGING: Final = fold(terms("move change switch"))
_TAKING_BACK_TERMS: Final = fold(TAKING_BACK_TERMS)


class Correction(NamedTuple):
    """Weight of a correction, 0 for none, and the least share of the older one's score that it needs.

    `is_of_event`: it corrects for a question about what has happened, too: what the older one denies has happened
    since, or is to happen at another time.
    """

    weight: int
    least_share: float
    is_of_event: bool = False


NO_CORRECTION: Final = Correction(0, 1.0)


def weigh_turns(
    newer: Sequence[Statement], older: Sequence[Statement], question: Question, *, follows: bool
) -> Correction:
    """Weigh what one turn corrects of another: the best of its sentences, and the other's that answers the question."""
    corrected = max(older, key=lambda part: (len(part.terms & question.terms), len(part.terms & question.names)))
    return max(
        (weigh_correction(part, corrected, question, takes_back=follows and part.takes_back) for part in newer),
        key=lambda correction: correction.weight,
    )


def weigh_correction(newer: Statement, older: Statement, question: Question, *, takes_back: bool = False) -> Correction:
    """Weigh how much of an older statement a newer one corrects: the terms of both, its names, and those of the query.

    It names what is so no more ("We dropped Kafka for RabbitMQ."), or states a change of what the older one says of
    the question's things, of which it may leave out one or a half ("Mei maintains it from today."), or has another
    number or time for all of them. Nothing is corrected by what it shares with another clause than the one that answers
    the question. One that `takes_back` the older one, as its speaker says shortly after it, has
    to say something new about it, or nothing else ("Sorry, 9090."). Where the question asks for a kind of value, it has
    one. One that takes back a number names another that differs from it by a slip. One that shares with both
    nothing but whom the question asks about says something else of them, and one of another of the things that it asks
    for says nothing of this one.
    """
    is_denied = bool(older.values) and fold(older.values) <= newer.denied  # "Ravi broke up with me."
    is_new = question.kind is None or not newer.values <= older.values
    shared, answered = newer.terms & older.terms - _NOW, older.terms & question.terms
    about, missing = newer.terms & question.terms, answered - newer.terms
    if question.kind is not None and (shared or about):  # a sentence that has the value need not name the thing again
        about, missing = newer.setting & question.terms, answered - newer.setting
    if _is_of_other(newer, older, question, missing) or (question.kind and not newer.values and not is_denied):
        return NO_CORRECTION
    weight = len(shared) + len(shared & (older.names | question.names)) + len(about)
    if takes_back and is_new:
        said = newer.terms - _TAKING_BACK_TERMS
        same, has_name = said & older.terms, bool(newer.names - older.names)
        if said - older.terms if same else has_name and len(said) <= _MOST_ELLIPTIC:
            return Correction(weight + _TAKEN_BACK, LEAST_DENIED)
    denied, named = _find_ended(newer, older, question)
    # A month that both name says little where the older one is about a name of the question that the newer one lacks.
    has_ended = (is_new or is_denied) and named and (named - _MONTHS or answered & question.names <= newer.terms)
    if has_ended and not _is_beside(named, newer, older, question):
        is_put_off = question.kind == "time" and _PUTS_OFF.search(newer.text) is not None
        return Correction(weight + _NAMED, LEAST_DENIED if denied else LEAST_NAMED, is_put_off)
    replaces = newer.replaces or question.kind == "money"  # of somebody there are few amounts
    asks_more = question.somebody < question.terms or not missing.isdisjoint(question.somebody)
    in_common = (shared - _CHANGING) | about
    if shared and not replaces and in_common <= question.somebody and asks_more:
        return NO_CORRECTION
    is_of_counted = is_new and bool(question.counted) and question.counted <= shared
    has_most = is_of_counted or (bool(answered & about) and len(missing) <= max(1, len(answered) // 2))
    has_most = has_most or _says_nothing_else(newer, answered)
    # "Lumen again, twice this time" tells no other person, and no change either.
    has_other = newer.states_change and (is_new or newer.ends_names)
    is_changed = has_other and (has_most or (about and len(about) >= len(answered)))
    is_changed = is_changed and bool(shared or _is_of_same(newer, question, about, missing))
    is_changed = is_changed and not any(
        map(str.isdigit, missing)
    )  # "There are seven hives now" tells nothing of hive 2
    has_happened = question.asks_whether and not newer.denied and _tells_all(question.terms & older.denied, newer)
    if is_changed or has_happened:
        return Correction(weight, _LEAST_CHANGED, has_happened)
    is_updated = is_new and question.kind in COUNTED and answered and not missing
    return Correction(weight, _LEAST_UPDATED) if is_updated else NO_CORRECTION


def _is_of_other(newer: Statement, older: Statement, question: Question, missing: frozenset[str]) -> bool:
    """True for what is said of Lena where Deniz is asked for, of an aunt where a mother is, or of an evening."""
    meant = older.terms | question.terms
    if _names_other(newer, question, meant, missing):
        return True
    lacks_name = not missing.isdisjoint(question.somebody)
    if (newer.mover and newer.mover.isdisjoint(meant)) or (lacks_name and newer.doer and newer.doer.isdisjoint(meant)):
        return True
    if any(missing & words and newer.terms & words - older.terms for words in _CONTRARY):
        return True
    asked, others = missing & _RELATIVES, newer.terms & _RELATIVES - older.terms
    return bool(asked and others) and not _tells_all(asked, newer)


def _names_other(newer: Statement, question: Question, meant: frozenset[str], missing: frozenset[str]) -> bool:
    """True for what is said of another of the things that a question asks for, by a name or word that is not `meant`.

    Of Ella's lesson where Max's is asked for, of the Vega release where that of Orion is, of the guest Wi-Fi where it
    is "our Wi-Fi", and of the demo for Initech where it is that for Globex, or none by name.
    """
    for owner, thing in list_possessions(newer.text):
        whom = owner - _MONTHS - DAYS
        if whom and whom.isdisjoint(meant) and not thing.isdisjoint(question.terms):
            return True
    pairs = list_pairs(newer.text)
    if not missing.isdisjoint(question.somebody):
        names = {before for before, after in pairs if after in question.terms} & newer.names
        if _name_others(names, meant):
            return True
    for first, second in question.modified:
        others = {before for before, after in pairs if after == second} - {first}
        if first in missing and second in newer.terms and _name_others(others, meant):
            return True
        if (first, second) in pairs and _name_others({before for before, after in pairs if after == first}, meant):
            return True
    return False


def _name_others(terms_: set[str], meant: frozenset[str]) -> bool:
    return any(not term.isdigit() for term in terms_ - meant - _CHANGE_TERMS - _SAME)


def _is_of_same(newer: Statement, question: Question, about: frozenset[str], missing: frozenset[str]) -> bool:
    """True if a change that shares nothing with the older statement is of the same: who moved says where they live."""
    met = frozenset[str]().union(*[things for things in question.same if about & things])
    return missing <= met or question.kind is not None or newer.replaces or not about.isdisjoint(question.somebody)


def _says_nothing_else(newer: Statement, same: frozenset[str]) -> bool:
    """True where a statement says of some terms only what has changed: "The dock changed to 11."."""
    said = {term for term in newer.terms - _CHANGE_TERMS - _MONTHS if term.isalpha()}
    return bool(said) and said <= same


def _tells_all(wanted: frozenset[str], newer: Statement) -> bool:
    """True if a statement has each of some folded terms, or another of its meaning."""
    meanings = _read_meanings()
    return bool(wanted) and all(not newer.terms.isdisjoint(meanings.get(term, (term,))) for term in wanted)


@cache
def _read_meanings() -> Mapping[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for term, related in RELATED.items():
        for folded in fold([term]):
            found[folded] = found.get(folded, frozenset()) | fold(related)
    return found


def _find_ended(newer: Statement, older: Statement, question: Question) -> tuple[frozenset[str], frozenset[str]]:
    """Find what of an older statement is not so, or no more: what a change denies, and that with names and slips."""
    changes = newer.states_change and not older.terms.isdisjoint(question.terms)
    denied = newer.denied & older.terms - question.terms - _CHANGE_TERMS if changes else frozenset[str]()
    named = (newer.terms - newer.owners if newer.ends_names else newer.denied) & older.names - question.terms
    if question.kind not in COUNTED_IN_ENGLISH:  # "14" stands for many things
        named -= {term for term in named - newer.denied if term.isdigit() and len(term) <= _LONGEST_COUNT}
    named |= denied
    if newer.takes_back:  # a change may be of the next port
        named |= {other for other in older.names for number in newer.names if _is_slip(number, other)}
    return denied, named


def _is_beside(named: frozenset[str], newer: Statement, older: Statement, question: Question) -> bool:
    """True if what a change names of an older statement is beside what the question asks.

    It stands in another clause of a short turn than those that have all that answers; or it is not said to be so no
    more, and is a day of a month alone, or all that the two share with the question is whom it asks about.
    """
    about, answered = newer.terms & question.terms, older.terms & question.terms
    is_told_gone = not named.isdisjoint(newer.denied)
    if about:
        is_of_somebody = about <= question.somebody < question.terms
        return is_of_somebody and question.kind is None and not (is_told_gone or newer.replaces)
    if not answered:  # "ID.3" has nothing of three children
        return question.kind == "number" and all(term.isdigit() and len(term) <= _LONGEST_COUNT for term in named)
    clauses = _split_clauses(older.text) if older.setting == older.terms else []
    # "Mum takes donepezil. Allergic to penicillin.": what she is allergic to is said without her.
    what = answered - question.somebody - _FAMILY
    covering = [c for c in clauses if answered <= c] or [c for c in clauses if what and what <= c]
    is_of_other_clause = bool(covering) and all(map(named.isdisjoint, covering))
    return is_of_other_clause or (named <= _DAYS_OF_MONTH and not is_told_gone)


@lru_cache(maxsize=1_024)
def _split_clauses(text: str) -> list[frozenset[str]]:
    clauses = [part for clause in _CLAUSE_END.split(text) for part in _split_elliptic(clause)]
    return [fold(word_terms(clause)) for clause in clauses]


def _split_elliptic(clause: str) -> list[str]:
    """Split off what leaves out its verb: "Mila is our keeper, Aylin and Noor up front"."""
    return _ELLIPTIC.split(clause) if _VERB.search(clause.partition(",")[0]) else [clause]


def _is_slip(number: str, other: str) -> bool:
    """True for two numbers of four digits or more that differ in one digit, or by two neighbours swapped."""
    if not len(number) == len(other) >= _LEAST_DIGITS or number == other or not (number + other).isdigit():
        return False
    first = next(place for place, digit in enumerate(number) if digit != other[place])
    end = slice(first + 2, None)
    swapped = number[first : first + 2] == other[first : first + 2][::-1] and number[end] == other[end]
    return swapped or number[first + 1 :] == other[first + 1 :]
