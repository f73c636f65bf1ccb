"""Statements and questions as corrections compare them: folded terms, names, what is denied, and values. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from engrain.domain.text.analysis import terms, terms_in, word_terms, words
from engrain.domain.text.dialogue.changes import describe_sentence, find_denied, find_names, split_passage
from engrain.domain.text.dialogue.foreign_values import DETERMINER, WHOSE
from engrain.domain.text.dialogue.foreign_values import FAMILY as FOREIGN_FAMILY
from engrain.domain.text.dialogue.questions import strip_asking_words
from engrain.domain.text.dialogue.values import RELATIVE, Kind, find_asked_kind, find_values
from engrain.domain.text.languages import detect_language
from engrain.domain.text.names import NAMES_USER, USER_ELSEWHERE
from engrain.domain.text.patterns import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_FOLDED: Final = 5  # letters, so that "trainer" and "trains" are one
_LETTERS: Final = {"grand": 8}  # but not "grandma" and "grandpa"
# A number said in words is the same in digits, whether it is a value or a term; but for "the old one".
_DIGITS: Final = {
    form: str(number)
    for number, word in enumerate("one two three four five six seven eight nine ten eleven twelve".split(), start=1)
    for form in (word, *terms(word))
}
_WORDED: Final = {form: number for form, number in _DIGITS.items() if form != "one"}


def fold(terms_: Iterable[str]) -> frozenset[str]:
    """Fold terms, so that forms of one word, and a number in words and in digits, are one."""
    return frozenset(
        [_WORDED.get(term) or (term[: _LETTERS.get(term[:5], _FOLDED)] if term.isalpha() else term) for term in terms_]
    )


_SOMEBODY_NAMED = r"(?!(?:I|We|He|She|They|It|You)\b)[A-Z]\w+"
_HAS_JUST = "(?:has |have |just )*"
# "Mia moved from 7B to 7C" says nothing new of the others in 7B, "My brother moved to Oslo" and "Luuk quit" nothing
# of who says it.
_MOVER: Final = lazy_pattern(
    rf"({_SOMEBODY_NAMED}(?: [A-Z]\w+)?) {_HAS_JUST}(?:moved|changed|transferred|switched|went) (?:\w+ ){{,2}}?from\b"
    rf"|({_SOMEBODY_NAMED}) {_HAS_JUST}(?:quit|resigned)\b"
    rf"|(?:My|Our|His|Her|Their) ((?:\w+ )?{RELATIVE}(?:-in-law)?) {_HAS_JUST}(?:moved|changed|switched|quit)\b"
    r"|(?:My|Our|His|Her|Their) ((?:\w+ )?(?:brother|sister|cousin|aunt|uncle|nephew|niece|neighbou?r|friend|colleague"
    r"|boss|mother|father|mum|mom|dad|grand\w+)) (?:has|have|had|got|gets|now|is|was|\w+ed)\b"
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
_AGAIN: Final = lazy_pattern(r"\bagain\b", re.IGNORECASE)
# Agents note what they learn of "the user", whom all of it is about.
_OF_USER: Final = lazy_pattern(r"(?:^|\bthe )user(['\u2019]s)?\b", re.IGNORECASE)
_OF_USER_ELSEWHERE: Final = lazy_pattern(rf"{USER_ELSEWHERE} ?", re.IGNORECASE)
_NO_NAMES: Final = frozenset("mr mrs ms dr prof 0 00 euro euros frank uhr prozent".split())
_UNDENIED: Final = _NO_NAMES.union("must under over more".split())
_REPLACES: Final = lazy_pattern(
    r"\b(?:instead|second thoughts?|actually|after all|rather than|correction|scratch that)\b", re.IGNORECASE
)
# "Wi-Fi" is one word, "1,190" one number, and "atlas-api" another than "atlas-web".
_INNER_MARK: Final = lazy_pattern(r"-|(?<=\d)(?:,(?=\d{3})|:(?=\d\d))")
_COUNTED_THING: Final = lazy_pattern(r"\bhow (?:many|much) ([\w-]+)", re.IGNORECASE)
DAYS: Final = fold(word_terms("Mondays Tuesdays Wednesdays Thursdays Fridays Saturdays Sundays"))
# "How old is she now?": what answers need not say so.
_ASKING: Final = lazy_pattern(
    r"\b(?:how old|now|new|kosten?t?|cuestan?|co\u00fbte(?:nt)?|costano?|costa|custam?)\b", re.IGNORECASE
)
# "Où part-on ?"
_INVERTED: Final = lazy_pattern(r"-(?:t-)?(?:on|ils?|elles?|tu|vous|nous|je)\b", re.IGNORECASE)
_MODIFIED: Final = lazy_pattern(r"(?:\b(?i:the|our|my|your|his|her|their)|['\u2019]s) (\w+) (?=(\w+)(?: (\w+))?)")
_MODIFIED_ELSEWHERE: Final = lazy_pattern(rf"\b(?i:{DETERMINER}) (\w+) (?:{WHOSE}) ?(\w+)(?= (?:{WHOSE}) ?(\w+)|)")
_OWNED: Final = lazy_pattern(
    r"\b([A-Z]\w+)['\u2019]s "
    r"((?!(?:an?|the|my|our|not?|now|in|on|at|for|from|until|since|too|again|and|or|been|got|gone)\b)"
    r"[a-z]\w+(?: \w+){,2})"
)
_OF_OTHER: Final = lazy_pattern(
    r"(?i:\b(?:the|our|my|his|her|their|an?)) (?:[a-z]\w+ )?(\w+) (?:of|for|at) (?:(?:my|our|the|his|her) )?"
    rf"([A-Z]\w+|{RELATIVE})\b"
)
_OF_OTHER_ELSEWHERE: Final = lazy_pattern(
    rf"\b(?i:{DETERMINER}) (\w+) (?:{WHOSE}) ?"
    rf"([A-Z\u00c0-\u00de]\w+|(?:{'|'.join(FOREIGN_FAMILY.lower().split())}))\b"
)
# "Ellas Reisepass".
_OWNED_IN_GERMAN: Final = lazy_pattern(r"\b(?!(?:Das|Dies|Was|Alles|Es|Als|Bis)\b)([A-Z]\w+)s (?=([A-Z]\w+))")
_WHETHER: Final = lazy_pattern(
    r"\W*(?:is|are|was|were|has|have|had|do|does|did|can|could|will)(?:n['\u2019]t)? (?!you\b)", re.IGNORECASE
)
# Who asks where somebody lives means where they moved.
_SAME_THINGS: Final = [
    fold(terms(words))
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


@dataclass(frozen=True, slots=True)
class Statement:
    """Statement as corrections compare it: folded terms, and the values of the kind that the question asks for.

    `text` is without hyphens. `names` are the terms of names and numbers, `denied` of what it says is not so.
    `setting`: the terms of the turn that it is a sentence of. `doer`: those of whom it begins with, who lives, works or
    the like somewhere, `owners` of whoever has something in it, `mover` of somebody else who has changed a thing for
    another. `replaces`: it says that it is so in place of something. `ends_names`: it states a change other
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
        setting = fold(word_terms(_INNER_MARK.sub("", content))) if len(parts) > 1 else frozenset[str]()
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
        own = fold(word_terms(_NO_MOVE.sub("", joined)))
        mover = _MOVER.match(text) if states_change else None
        moving = fold(word_terms(mover[mover.lastindex or 0])) if mover else frozenset[str]()
        doer = _DOER.match(text)
        return cls(
            joined,
            own,
            fold(names),
            fold(denied),
            values,
            states_change,
            takes_back,
            own | setting,
            frozenset[str]() if doer is None else fold(word_terms(doer[1])),
            fold(word_terms(" ".join(_OWNER.findall(text)))),
            moving,
            _REPLACES.search(text) is not None,
            states_change and describe_sentence(_AGAIN.sub("", text))[0],
        )

    @property
    def first(self) -> frozenset[str]:
        """The terms of its first word."""
        return fold(terms(self.text.split(maxsplit=1)[0])) if self.text.strip() else frozenset()

    def restates(self, other: Statement, question: Question) -> bool:
        """True if it says nothing that another one does not, beside words of the question."""
        own = self.terms - question.terms
        return bool(own) and own <= other.terms


@dataclass(frozen=True, slots=True)
class Question:
    """Question as corrections compare it: folded terms with those for the same things, names, and its kind.

    `counted`: the terms of what it asks the number or amount of ("How many cats"). `somebody`: those of its names that
    are no number or day, `same` the sets of terms for the same things as one of its own, `modified` its `list_pairs`.
    """

    terms: frozenset[str]
    names: frozenset[str]
    kind: Kind | None
    counted: frozenset[str] = frozenset()
    somebody: frozenset[str] = frozenset()
    asks_whether: bool = False
    same: Sequence[frozenset[str]] = ()
    modified: frozenset[tuple[str, str]] = frozenset()

    @classmethod
    def parse(cls, query: str) -> Question:
        """Parse a query."""
        query = _say_as_user(query)
        asked = _ASKING.sub(" ", _INVERTED.sub(" ", strip_asking_words(query)))
        own = fold(word_terms(_INNER_MARK.sub("", asked)))
        same = [things for things in _SAME_THINGS if own & things]
        counted = fold(word_terms(" ".join(_COUNTED_THING.findall(query))))
        names = fold(find_names(_INNER_MARK.sub("", query)))
        somebody = frozenset(filter(str.isalpha, names)) - DAYS
        asks_whether = asks_for_yes_or_no(query)
        modified = list_pairs(_INNER_MARK.sub("", query))
        return cls(own.union(*same), names, find_asked_kind(query), counted, somebody, asks_whether, same, modified)


@lru_cache(maxsize=1_024)
def list_pairs(text: str) -> frozenset[tuple[str, str]]:
    """List the folded terms of a word and what it is said of: "the Vega release", "el lanzamiento de Vega"."""
    language = detect_language(words(text))
    found: set[tuple[str, str]] = set()
    for written in _MODIFIED.findall(text):
        found.update(pairwise(_fold_word(word, language) for word in written))
    for thing, whose, further in _MODIFIED_ELSEWHERE.findall(text):
        found.update(pairwise(_fold_word(word, language) for word in (further, whose, thing)))
    return frozenset(pair for pair in found if all(pair))


@lru_cache(maxsize=1_024)
def list_possessions(text: str) -> Sequence[tuple[frozenset[str], frozenset[str]]]:
    """List the folded terms of names and relatives, each with those of a thing of theirs: "Ella's passport"."""
    language = detect_language(words(text))
    of_others = [*_OF_OTHER.findall(text), *_OF_OTHER_ELSEWHERE.findall(text)]
    owned = [*_OWNED.findall(text), *_OWNED_IN_GERMAN.findall(text), *((other, thing) for thing, other in of_others)]
    return tuple((_fold_words(other, language), _fold_words(thing, language)) for other, thing in owned)


def _fold_words(text: str, language: str) -> frozenset[str]:
    return frozenset(filter(None, (_fold_word(word, language) for word in words(text))))


def _fold_word(word: str, language: str) -> str:
    """The folded term of a word in the language of its text, "" for one without a meaning."""
    forms = terms_in(language, word)
    return next(iter(fold(forms[-1:])), "")


def _say_as_user(text: str) -> str:
    """Say of "the user" as said in the first person: "My wife" for "User's wife", "I vive" for "El usuario vive"."""
    if NAMES_USER.search(text) is None:
        return text
    return _OF_USER_ELSEWHERE.sub("I ", _OF_USER.sub(lambda match: "My" if match[1] else "I", text))


def asks_for_yes_or_no(query: str) -> bool:
    """True for a question whether something is so."""
    return _WHETHER.match(query) is not None
