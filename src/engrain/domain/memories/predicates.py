"""Predicates: one key for all spellings of a relation, and whether a subject has one value of it or many. Pure.

The vocabulary is English data. A line has a predicate, and after a colon other words for it; forms that differ in case,
underscores, hyphens or the third person need no entry. A predicate that is not here holds one value.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import TYPE_CHECKING

from engrain.domain.text.names import name_key
from engrain.domain.text.patterns import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# A newer value takes the place of the older one.
_ONE_VALUE = """
name: is called, is named, full name, real name
age: is aged, years old
birthday: birth date, date of birth, dob, was born on, born on
birthplace: place of birth
gender
pronouns
nationality: citizenship
comes from: is from, hometown, home town, place of origin
lives in: lives at, resides in, is living in, is based in, city of residence, moved to, has moved to, relocated to
address: home address, street address, postal address
marital status: relationship status
spouse: husband, wife, is married to
partner: girlfriend, boyfriend, life partner
mother: mum, mom
father: dad
employer: works at, works for, is employed at, is employed by, is working at, is working for, company, workplace
works as: job, job title, occupation, profession, is working as
manager: reports to, boss, supervisor, line manager
sits at: desk
team: is on team, is in team
salary: earns
phone number: phone, telephone, telephone number, mobile, mobile number, cell phone, cell number
email: email address, e mail, e mail address, mail address
time zone: timezone
language: preferred language, language preference
diet: follows diet, dietary preference, eating habits
blood type: blood group
height: is tall
weight: weighs
shoe size
clothing size: size of clothes
wakes up at: gets up at, wake up time
goes to bed at: bedtime, sleeps at
doctor: physician, general practitioner
dentist
insurer: insurance company, is insured with
bank: banks with
school: goes to school at
studies at: university, college
car: drives
licence plate: license plate, number plate, registration number
stays in: stays at
is located in: location, is located at, is situated in, is in, stands in, is kept in
status: state
priority
deadline: due date, is due, is due on, due by
start date: starts on, starts at, begins on
end date: ends on, ends at
opening hours: is open from, open hours
price: costs
budget
version: is on version, current version, runs version
is owned by: owner, belongs to
is led by: leader, head, is headed by
is written in: programming language, implementation language
url: website, homepage, web page
repository: repo, git repository
default branch: main branch
test command: tests run with
port: listens on, runs on port
password: passphrase
wifi password: wi fi password, wlan password
capital: capital city
population: number of inhabitants
"""

# Values stand side by side.
_MANY_VALUES = """
likes: loves, enjoys, adores, is fond of, is into, is a fan of, likes to, loves to, enjoys to, has fallen for
dislikes: hates, does not like, cannot stand, detests, is not fond of, does not enjoy
prefers: preference, would rather have
is interested in: interest, has interest in
hobby: has hobby, pastime
plays: plays instrument, instrument
practises: practices, does sport, sport
speaks: speaks language, spoken language, languages spoken
knows: has met, is acquainted with
friend: is friends with, is a friend of, has friend, best friends
sister: has sister
brother: has brother
sibling: has sibling
child: children, kids, has child, has children, has kids
son: has son
daughter: has daughter
parent
grandchild: grandchildren
cousin
aunt
uncle
niece
nephew
colleague: coworker, co worker, works together with
pet: has pet
cat: has cat, has a cat
dog: has dog, has a dog
has: has got
owns: possesses, is the owner of
nickname: known as, aka, alias, goes by
is allergic to: allergy, has allergy, has allergy to
cannot eat: must not eat, may not eat, does not eat, is intolerant to, intolerance
avoids: stays away from
eats
drinks
takes: takes medicine, takes medication, medication, medicine, is on medication
condition: has condition, medical condition, suffers from, is diagnosed with, diagnosis
is afraid of: fears, is scared of
needs: requires, is in need of
wants: wishes for, would like, would like to have, wants to have
wants to: would like to, intends to
plans to: plans, is planning to, is going to
goal: aim, has goal
has visited: visited, has been to, has travelled to, has traveled to
reads: is reading
watches: is watching
listens to
follows
is a member of: member of, is in club, membership
can: skill, is skilled in, knows how to, is good at
uses: tool, works with
subscribes to: subscription
supports
collects
bought: has bought, purchased, has purchased, ordered, has ordered
wrote: has written, is the author of
contains: includes, ingredient, consists of
depends on: dependency
leads: is the head of
manages: is responsible for, is in charge of
works on: project, is working on
topic: is about
teaches
attended: has attended, went to
studied: has studied, graduated in, degree
graduated from: studied at, has studied at, alma mater
worked at: worked for, used to work at, used to work for, former employer, previous employer
lived in: used to live in, has lived in, former residence
"""

# Words that are spelled in two ways, and auxiliaries as one word.
_SPELLINGS: Mapping[str, str] = {
    "favorite": "favourite",
    "color": "colour",
    "neighbor": "neighbour",
    "can't": "cannot",
    "doesn't": "not",
    "don't": "not",
    "isn't": "not",
}
_JOINED = lazy_pattern(r"(?<=[a-z0-9])(?=[A-Z])|[_\-]+")  # worksAt, works_at, works-at
_NEGATIVE = lazy_pattern(r"\b(?:does|do|is|are|am) not\b")
_BEEN = lazy_pattern(r"^(?:has|have) been (?=\w)")
_LEADING = frozenset("is are am be been being currently now also usually always the".split())
_IRREGULAR: Mapping[str, str] = {"has": "have", "does": "do", "goes": "go", "is": "be", "are": "be", "am": "be"}
_HISSING = ("sses", "shes", "ches", "xes", "zzes")
_KEPT_ENDINGS = ("ss", "us", "is", "'s")
_SHORTEST = 4
_PAST = lazy_pattern(
    r"(?:was|were|had|did|used to|formerly|once|\w*(?:[^e\W]|agre|fre)ed|became|began|bought|broke|brought|built|came|"
    r"caught|chose|drew|drove|fed|fell|felt|flew|found|fought|gave|got|grew|heard|held|kept|knew|led|left|lost|made|met|"
    r"paid|ran|rode|said|sang|saw|sent|slept|sold|spent|spoke|stood|swam|taught|thought|told|took|went|woke|won|wore|"
    r"wrote)\b"
)
_FREE_TEXT, _DIGEST_BYTES = "observation", 6
# The digest at the end of the predicate of a free text, or of a relation of the graph: what it says is unique.
_DIGEST = lazy_pattern(r" [0-9a-f]{12}$")


@lru_cache(maxsize=8_192)
def predicate_key(predicate: str) -> str:
    """Key of a predicate: the vocabulary's word for it, or its own words in one spelling; never empty.

    One that ends with a digest stands for a single text, and is its own key.
    """
    if _DIGEST.search(predicate):
        return predicate
    base = _base(predicate)
    return _CANONICAL.get(base, base)


def is_many_valued(key: str) -> bool:
    """True for the key of a predicate whose values stand side by side."""
    return key in MANY_VALUED


def is_in_vocabulary(key: str) -> bool:
    """True for the key of a predicate of which it is known whether its values stand side by side."""
    return key in _VOCABULARY


def is_past(predicate: str) -> bool:
    """True for a predicate in the past tense: "was supported by", "ran the Porto marathon"."""
    return _PAST.match(name_key(_JOINED.sub(" ", predicate))) is not None


def free_text_predicate(text: str) -> str:
    """Predicate of a text that stands for itself, unique by the text, so that a subject can have many of them."""
    digest = hashlib.blake2b(text.encode(), digest_size=_DIGEST_BYTES).hexdigest()
    return f"{_FREE_TEXT} {digest}"


def is_free_text(predicate: str) -> bool:
    """True for the predicate of a text that stands for itself."""
    return predicate.startswith(_FREE_TEXT) and _DIGEST.fullmatch(predicate, len(_FREE_TEXT)) is not None


def _base(predicate: str) -> str:
    """The words of a predicate in lower case and the base form of its verb, without what can be left out before it."""
    words = [_SPELLINGS.get(word, word) for word in name_key(_JOINED.sub(" ", predicate)).split()]
    words = _NEGATIVE.sub("not", _BEEN.sub("", " ".join(words).replace("can not", "cannot"))).split()
    while len(words) > 1 and words[0] in _LEADING:
        words = words[1:]
    if not words:
        return name_key(predicate) or predicate
    return " ".join([_base_form(words[0]), *words[1:]])


def _base_form(word: str) -> str:
    """The verb of the third person: live for lives; a plural noun loses its s, too."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) < _SHORTEST or not word.endswith("s") or word.endswith(_KEPT_ENDINGS):
        return word
    if word.endswith("ies") and len(word) > _SHORTEST:
        return f"{word[:-3]}y"
    return word[:-2] if word.endswith(_HISSING) else word[:-1]


def _entries(vocabulary: str) -> Iterator[tuple[str, list[str]]]:
    """The predicates of a vocabulary, each with all words for it."""
    for line in vocabulary.strip().splitlines():
        predicate, _, others = line.partition(":")
        yield predicate, [predicate, *(other for other in others.split(",") if other.strip())]


_VOCABULARY = frozenset(predicate for part in (_ONE_VALUE, _MANY_VALUES) for predicate, _ in _entries(part))
MANY_VALUED = frozenset(predicate for predicate, _ in _entries(_MANY_VALUES))
"""Keys of the predicates whose values stand side by side."""
_CANONICAL: Mapping[str, str] = {
    _base(spelling): predicate
    for vocabulary in (_ONE_VALUE, _MANY_VALUES)
    for predicate, spellings in _entries(vocabulary)
    for spelling in spellings
}
