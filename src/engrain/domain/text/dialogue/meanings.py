"""Words of one meaning: terms that answer a question in other words than it has. Pure. English words.

Who asks for a salary is answered by what somebody earns, and "allergic" answers "any allergies?". The groups are of
everyday talk: people, their work, their homes and their things. A word is in one with the kind that it is of (dog,
pet), not with others of that kind.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from engrain.domain.text.analysis import terms
from engrain.domain.text.dialogue.word_forms import FORMS_BY_TERM, find_forms
from engrain.domain.text.languages import ENGLISH

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

# Words of one family begin alike: all but the last letter of the shorter one, and so many at least.
_LEAST_ALIKE: Final = 5

_GROUPS = """
    live lives living move moved relocate address flat apartment house home city town reside residence location
    work job profession occupation employed employer hired join joined quit company career office
    earn salary wage income pay paid
    cost price pay paid charge rate fee expensive cheap rent lease took
    money budget cash savings fund
    boss manager report supervisor lead
    teacher teach taught instructor trainer coach tutor professor
    begin began begun start started
    end ended finish finished over until
    birthday born birth
    age old born
    height tall
    weight weigh weighs heavy kilo kilos kg scales
    allergy allergic intolerant intolerance avoid
    eat ate eaten food meal diet vegetarian vegan
    meat vegetarian vegan
    eat lunch
    eat dinner
    eat breakfast
    drink drank drunk beverage
    drink coffee
    drink tea
    drink juice
    drink beer
    drink wine
    medicine medication tablet tablets pill pills drug dose prescription
    doctor dr physician gp
    doctor surgeon
    doctor specialist
    ill sick illness disease unwell
    illness diagnosis diagnosed positive
    hurt injured injury sprained broke broken wound pain
    husband spouse married partner
    wife spouse married partner
    child children kid kids
    son child children kid kids
    daughter child children kid kids
    baby child children pregnant
    grandchild grandchildren grandson
    grandchild grandchildren granddaughter
    parent parents
    mother mum mom parent parents
    father dad parent parents
    brother sibling siblings
    sister sibling siblings
    phone telephone mobile
    contact reach email mail phone call
    car vehicle drive drove driven
    bike bicycle cycle ride rode
    dog pet pets
    cat pet pets
    holiday vacation trip travel
    flight fly flew plane
    colour color shade painted
    buy bought purchase order ordered
    buy shopping groceries
    agree agreed deal settled
    refund refunded reimbursed
    reference code confirmation
    sell sold sale
    give gave given gift present
    lend lent borrow borrowed
    choose chose chosen pick picked decide decided decision reason
    write wrote written author
    speak spoke spoken language fluent
    meet met meeting appointment
    repair repaired fix fixed mend
    solve solved fix fixed solution
    define defined declared declare class function module
    like likes love loves loved enjoy favourite favorite prefer prefers preference preferences fond fan
    dislike dislikes hate hates hated stand
    hobby hobbies pastime play plays
    play plays played instrument
    music song songs
    music concert
    music band
    film movie cinema
    book read reads novel
    sport football
    sport tennis
    sport run running
    sport swim swimming
    leave left depart departs departure
    arrive arrived arrival came come
    deliver delivered delivery ship shipped
    late delay delayed
    big large size
    fast quick speed
    wi-fi wifi internet network
    surname lastname
    nickname short
    own owner owns belong belongs
    lawyer attorney solicitor
    study studies studied university
    sleep slept bed
    wake woke get up
    owe owed debt loan
    guest guests visitor visit visits
    wedding marry married
    die died dead death
    due deadline
    hold holds capacity
    fault defect broke broken
    password passphrase
    pin code
    address addr
    trunk boot
    waste trash
    sneakers shoes
    realtor estate
    petrol fuel diesel
    university college
    bachelorette hen
    bachelor stag
    fries chips
    candy sweets
    cookie cookies biscuit biscuits
    parking park parked
    yard garden
    burglary burglar burglars burgled theft thief steal stole stolen robbed
    sick ill flu cold fever
    photo photos photographer photography picture pictures
    laptop computer notebook
    glasses spectacles lenses
    schedule timetable rota
    therapist psychologist counsellor counselor therapy
    physio physiotherapist physiotherapy
    hairdresser barber haircut
    plumber plumbing
    semester term
"""


def _read_groups() -> Mapping[str, frozenset[str]]:
    related: dict[str, frozenset[str]] = {}
    for line in _GROUPS.strip().splitlines():
        group = frozenset(terms(line))
        for term in group:
            related[term] = related.get(term, group) | group
    for term, forms in FORMS_BY_TERM.items():
        related[term] = related.get(term, frozenset()).union(forms)
    return related


RELATED: Final = _read_groups()


def find_related(term: str, language: str = ENGLISH) -> Collection[str]:
    """Find the terms of one meaning with a term, itself among them where it has any."""
    return RELATED.get(term, ()) if language == ENGLISH else find_forms(language).get(term, ())


def find_met(wanted_terms: Collection[str], text_terms: Iterable[str], language: str = ENGLISH) -> frozenset[str]:
    """Find those of some terms that a text's terms tell of: the same, of one family, or of one meaning."""
    own = frozenset(text_terms)
    met = own.intersection(wanted_terms)
    missing = [term for term in wanted_terms if term not in met]
    if not missing:
        return met
    beginnings: dict[str, list[str]] = {}
    for term in own:
        beginnings.setdefault(term[:_LEAST_ALIKE], []).append(term)
    return met.union(
        [term for term in missing if _is_met(term, own, beginnings.get(term[:_LEAST_ALIKE], ()), language)]
    )


def _is_met(term: str, own: frozenset[str], alike: Iterable[str], language: str) -> bool:
    return not own.isdisjoint(find_related(term, language)) or any(_are_alike(term, other) for other in alike)


@lru_cache(maxsize=4_096)
def _are_alike(term: str, other: str) -> bool:
    alike = max(_LEAST_ALIKE, min(len(term), len(other)) - 1)
    return len(term) >= _LEAST_ALIKE and term[:alike] == other[:alike]
