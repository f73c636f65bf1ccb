"""Corrections: which older statement a newer one puts right, and how surely. Pure.

A memory keeps what was said word for word: "The report is due in March." and, later, "The report has been postponed to
April." Whoever asks when it is due wants the second one first. English words.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from engrain.domain.text.analysis import terms, word_terms
from engrain.domain.text.dialogue import foreign_values
from engrain.domain.text.dialogue.changes import (
    CHANGE_TERMS,
    TAKING_BACK_TERMS,
    describe_sentence,
    find_denied,
    find_names,
    split_passage,
)
from engrain.domain.text.dialogue.meanings import RELATED
from engrain.domain.text.dialogue.questions import strip_asking_words
from engrain.domain.text.dialogue.values import (
    COUNTED,
    FAMILY,
    RELATIVE,
    Kind,
    find_asked_kind,
    find_values,
)
from engrain.domain.text.names import NAMES_USER, USER_ELSEWHERE
from engrain.domain.text.patterns import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


# A correction has at least this share of the score of what it corrects: where it denies what that says in answer to the
# question, where it names what is so no more, where it states a change of what the question is about, where it has
# another number or time for the same.
LEAST_DENIED, LEAST_NAMED, _LEAST_CHANGED, _LEAST_UPDATED = 0.2, 0.33, 0.52, 0.6
_NAMED: Final = 10  # added to the weight of one that names what is so no more
_MOST_ELLIPTIC: Final = 2  # terms of a turn that leaves out what it is about
_TAKEN_BACK: Final = 20  # and to that of one that takes back what was said just before
_LEAST_DIGITS: Final = 4  # of a number that is told from another by a slip alone
_FOLDED: Final = 5  # letters, so that "trainer" and "trains" are one


# A number said in words is the same in digits, whether it is a value or a term; but for "the old one".
_DIGITS: Final = {
    form: str(number)
    for number, word in enumerate("one two three four five six seven eight nine ten eleven twelve".split(), start=1)
    for form in (word, *terms(word))
}
_WORDED: Final = {form: number for form, number in _DIGITS.items() if form != "one"}


def _fold(terms_: Iterable[str]) -> frozenset[str]:
    return frozenset([_WORDED.get(term) or (term[:_FOLDED] if term.isalpha() else term) for term in terms_])


_SOMEBODY_NAMED = r"(?!(?:I|We|He|She|They|It|You)\b)[A-Z]\w+"
_HAS_JUST = "(?:has |have |just )*"
# "Mia moved from 7B to 7C" says nothing new of the others in 7B, "My brother moved to Oslo" and "Luuk quit" nothing
# of who says it.
_MOVER: Final = lazy_pattern(
    rf"({_SOMEBODY_NAMED}(?: [A-Z]\w+)?) {_HAS_JUST}(?:moved|changed|transferred|switched|went) (?:\w+ ){{,2}}?from\b"
    rf"|({_SOMEBODY_NAMED}) {_HAS_JUST}(?:quit|resigned)\b"
    rf"|(?:My|Our|His|Her|Their) ((?:\w+ )?{RELATIVE}(?:-in-law)?) {_HAS_JUST}(?:moved|changed|switched|quit)\b"
    r"|((?!(?:Ich|Wir|Er|Sie|Es|Du|Ihr)\b)[A-ZÄÖÜ]\w+) (?:ist|hat) (?:\w+ ){,4}?(?:umgezogen|gewechselt|gekündigt)\b"
)
# Who lives or works somewhere now is not another who is asked for.
_DOER: Final = lazy_pattern(
    rf"({_SOMEBODY_NAMED}) (?:now |also |ha[st] )*(?:lives|works|studies|teaches|plays|wohnt|lebt|arbeitet|spielt"
    r"|studiert|vive|trabaja|juega|estudia|habite|travaille|joue|abita|lavora|gioca|mora|trabalha|joga|woont|werkt|speelt)\b"
)
# In Portuguese who moves changes, and so does who changes jobs.
_NO_MOVE: Final = lazy_pattern(r"\b[Mm]ud\w+(?= de (?!casa|cidade))")
# "Frances's receptionist" is not Frances.
_OWNER: Final = lazy_pattern(
    r"\b([A-Z]\w+)['\u2019]s (?!(?:an?|the|my|our|not?|now|been|got|gone|\w+ing|\w+ed)\b)[a-z]"
)
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
_AGAIN: Final = lazy_pattern(r"\bagain\b", re.IGNORECASE)
# Agents note what they learn of "the user", whom all of it is about.
_OF_USER: Final = lazy_pattern(r"(?:^|\bthe )user(['\u2019]s)?\b", re.IGNORECASE)
_OF_USER_ELSEWHERE: Final = lazy_pattern(rf"{USER_ELSEWHERE} ?", re.IGNORECASE)
_NO_NAMES: Final = frozenset("mr mrs ms dr prof 0 00 euro euros frank uhr prozent".split())
_UNDENIED: Final = _NO_NAMES.union("must under over more".split())
_LONGEST_COUNT: Final = 2  # digits of a number that names nothing
_REPLACES: Final = lazy_pattern(
    r"\b(?:instead|second thoughts?|actually|after all|rather than|correction|scratch that)\b", re.IGNORECASE
)
# "Wi-Fi" is one word, "1,190" one number, and "atlas-api" another than "atlas-web".
_INNER_MARK: Final = lazy_pattern(r"-|(?<=\d)(?:,(?=\d{3})|:(?=\d\d))")
_COUNTED_THING: Final = lazy_pattern(r"\bhow (?:many|much) ([\w-]+)", re.IGNORECASE)
_MONTHS: Final = _fold(terms("january february march april may june july august september october november december"))
_DAYS_OF_MONTH: Final = _fold(terms(" ".join(f"{day}st {day}nd {day}rd {day}th" for day in range(1, 32))))
_DAYS: Final = _fold(word_terms("Mondays Tuesdays Wednesdays Thursdays Fridays Saturdays Sundays"))
_CHANGE_TERMS: Final = _fold(CHANGE_TERMS)
_FAMILY: Final = _fold(terms(FAMILY))
_RELATIVES: Final = _FAMILY | _fold(
    word_terms(f"{foreign_values.FAMILY} aunt uncle cousin nephew niece grandma grandpa")
)
_NOW: Final = _fold(terms("now"))
_CHANGING: Final = _fold(terms("move change switch"))
# "How old is she now?": what answers need not say so.
_ASKING: Final = lazy_pattern(
    r"\b(?:how old|now|new|kosten?t?|cuestan?|co\u00fbte(?:nt)?|costano?|costa|custam?)\b", re.IGNORECASE
)
# "O\u00f9 part-on ?"
_INVERTED: Final = lazy_pattern(r"-(?:t-)?(?:on|ils?|elles?|tu|vous|nous|je)\b", re.IGNORECASE)
_TAKING_BACK_TERMS: Final = _fold(TAKING_BACK_TERMS)
_WHETHER: Final = lazy_pattern(
    r"\W*(?:is|are|was|were|has|have|had|do|does|did|can|could|will)(?:n['\u2019]t)? (?!you\b)", re.IGNORECASE
)
# Who asks where somebody lives means where they moved.
_SAME_THINGS: Final = [
    _fold(terms(words))
    for words in (
        "live move relocated address flat",
        "work job join hired quit employed",
        "cost price pay charge rate fee",
        "boss manager report",
        "begin start",
        "weigh weight scales kilos heavy",
        "earn salary wage income",
        "fix repair solve",
        "dating girlfriend boyfriend partner married husband wife broke split divorced separated",
    )
] + [  # the same of homes and work in German, Spanish and Portuguese, French, Italian and Dutch, as their stems
    frozenset(stems.split())
    for stems in (
        "wohn wohnt leb gezog umgez",
        "viv mor mud mudad mude mudou mudam",
        "habit demen",
        "abit viv trasf",
        "woon woont verhu",
        "arbei gekun fang",
        "traba dej deix",
        "trava quitt",
        "lavor lasc",
        "werk werkt overs opgez",
    )
]


class Correction(NamedTuple):
    """Weight of a correction, 0 for none, and the least share of the older one's score that it needs.

    `is_of_event`: it corrects for a question about what has happened, too: what the older one denies has happened
    since, or is to happen at another time.
    """

    weight: int
    least_share: float
    is_of_event: bool = False


NO_CORRECTION: Final = Correction(0, 1.0)


@dataclass(frozen=True, slots=True)
class Statement:
    """Statement as corrections compare it: folded terms, and the values of the kind that the question asks for.

    `text` is without hyphens. `names` are the terms of names and numbers, `denied` of what it says is not so.
    `setting`: the terms of the turn that it is a sentence of. `mover`: the terms of somebody else who has changed a
    thing for another. `replaces`: it says that it is so in place of something. `ends_names`: it states a change other
    than that something is so again.
    """

    text: str
    terms: frozenset[str]
    names: frozenset[str]
    denied: frozenset[str]
    values: frozenset[str]
    states_change: bool
    takes_back: bool
    setting: frozenset[str]
    doer: frozenset[str] = frozenset()
    owners: frozenset[str] = frozenset()
    mover: frozenset[str] = frozenset()
    replaces: bool = False
    ends_names: bool = False

    @classmethod
    @lru_cache(maxsize=2_048)  # the statements of one conversation are found again and again
    def parse_turn(cls, content: str, kind: Kind | None) -> tuple[Statement, ...]:
        """Parse what a turn states: one statement of a short turn, one a sentence of a long one."""
        parts = split_passage(content)
        setting = _fold(word_terms(_INNER_MARK.sub("", content))) if len(parts) > 1 else frozenset[str]()
        return tuple(cls._parse(part, kind, setting) for part in parts)

    @classmethod
    def _parse(cls, text: str, kind: Kind | None, setting: frozenset[str]) -> Statement:
        text = _say_as_user(text)
        states_change, denies, takes_back = describe_sentence(text)
        values = frozenset[str]() if kind is None else frozenset(_DIGITS.get(x, x) for x in find_values(kind, text))
        joined = _INNER_MARK.sub("", text)
        names = find_names(joined) - _NO_NAMES
        if kind in {"money", "number"}:
            numbers = [term for value in values for term in terms(value) if term.strip("0")]
            names |= {term for term in numbers if not term.isalpha()}
        denied = find_denied(joined) - _UNDENIED if denies else ()
        own = _fold(word_terms(_NO_MOVE.sub("", joined)))
        mover = _MOVER.match(text) if states_change else None
        moving = _fold(word_terms(mover[mover.lastindex or 0])) if mover else frozenset[str]()
        doer = _DOER.match(text)
        return cls(
            joined,
            own,
            _fold(names),
            _fold(denied),
            values,
            states_change,
            takes_back,
            own | setting,
            frozenset[str]() if doer is None else _fold(word_terms(doer[1])),
            _fold(word_terms(" ".join(_OWNER.findall(text)))),
            moving,
            _REPLACES.search(text) is not None,
            states_change and describe_sentence(_AGAIN.sub("", text))[0],
        )

    @property
    def first(self) -> frozenset[str]:
        """The terms of its first word."""
        return _fold(terms(self.text.split(maxsplit=1)[0])) if self.text.strip() else frozenset()

    def restates(self, other: Statement, question: Question) -> bool:
        """True if it says nothing that another one does not, beside words of the question."""
        own = self.terms - question.terms
        return bool(own) and own <= other.terms


@dataclass(frozen=True, slots=True)
class Question:
    """Question as corrections compare it: folded terms with those for the same things, names, and its kind.

    `counted`: the terms of what it asks the number or amount of ("How many cats"). `somebody`: those of its names that
    are no number or day, `same` the sets of terms for the same things as one of its own.
    """

    terms: frozenset[str]
    names: frozenset[str]
    kind: Kind | None
    counted: frozenset[str] = frozenset()
    somebody: frozenset[str] = frozenset()
    asks_whether: bool = False
    same: Sequence[frozenset[str]] = ()

    @classmethod
    def parse(cls, query: str) -> Question:
        """Parse a query."""
        query = _say_as_user(query)
        asked = _ASKING.sub(" ", _INVERTED.sub(" ", strip_asking_words(query)))
        own = _fold(word_terms(_INNER_MARK.sub("", asked)))
        same = [things for things in _SAME_THINGS if own & things]
        counted = _fold(word_terms(" ".join(_COUNTED_THING.findall(query))))
        names = _fold(find_names(_INNER_MARK.sub("", query)))
        somebody = frozenset(filter(str.isalpha, names)) - _DAYS
        asks_whether = asks_for_yes_or_no(query)
        return cls(own.union(*same), names, find_asked_kind(query), counted, somebody, asks_whether, same)


def _say_as_user(text: str) -> str:
    """Say of "the user" as said in the first person: "My wife" for "User's wife", "I vive" for "El usuario vive"."""
    if NAMES_USER.search(text) is None:
        return text
    return _OF_USER_ELSEWHERE.sub("I ", _OF_USER.sub(lambda match: "My" if match[1] else "I", text))


def asks_for_yes_or_no(query: str) -> bool:
    """True for a question whether something is so."""
    return _WHETHER.match(query) is not None


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
    nothing but whom the question asks about says something else of them.
    """
    is_denied = bool(older.values) and _fold(older.values) <= newer.denied  # "Ravi broke up with me."
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
    """True for what is said of Lena where Deniz is asked for, and of an aunt where a mother is."""
    said = older.terms | question.terms
    lacks_name = not missing.isdisjoint(question.somebody)
    if (newer.mover and newer.mover.isdisjoint(said)) or (lacks_name and newer.doer and newer.doer.isdisjoint(said)):
        return True
    asked, others = missing & _RELATIVES, newer.terms & _RELATIVES - older.terms
    return bool(asked and others) and not _tells_all(asked, newer)


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
        for folded in _fold([term]):
            found[folded] = found.get(folded, frozenset()) | _fold(related)
    return found


def _find_ended(newer: Statement, older: Statement, question: Question) -> tuple[frozenset[str], frozenset[str]]:
    """Find what of an older statement is not so, or no more: what a change denies, and that with names and slips."""
    changes = newer.states_change and not older.terms.isdisjoint(question.terms)
    denied = newer.denied & older.terms - question.terms - _CHANGE_TERMS if changes else frozenset[str]()
    named = (newer.terms - newer.owners if newer.ends_names else newer.denied) & older.names - question.terms
    if question.kind not in {"time", "money", "number"}:  # "14" stands for many things
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
    return [_fold(word_terms(clause)) for clause in clauses]


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
