"""Forms of one English word that no stemmer joins, and other words for the same thing. Pure.

A question has most verbs as they stand after "did", its answer has them in the past: "lose" and "lost". Who says
"flat" is asked about the "apartment", and notes have "bday" and "pw".
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

from engrain.domain.text.analysis import terms, terms_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

# Without forms that are mostly another word ("rose", "bit", "led", "left", and "won", which "won't" leaves in the
# index), and without words that very many turns have ("get", "see", "take", "people", "write"): with them LoCoMo's
# recall@10 is 0.829 in place of 0.836.
_FORMS = """
    become became
    begin began begun
    bend bent
    bite bitten
    blow blew blown
    break broke broken
    bring brought
    build built
    burn burnt
    buy bought
    catch caught
    choose chose chosen
    deal dealt
    dig dug
    dream dreamt
    drink drank drunk
    drive drove driven
    eat ate eaten
    fall fell fallen
    feed fed
    feel felt
    fight fought
    find found
    fly flew flown
    forget forgot forgotten
    freeze froze frozen
    give gave given
    grow grew grown
    hang hung
    hear heard
    hide hid hidden
    hold held
    keep kept
    lay laid
    learn learnt
    lend lent
    light lit
    lose lost
    mean meant
    meet met
    pay paid
    ride rode ridden
    ring rang rung
    run ran
    seek sought
    sell sold
    send sent
    sew sewn
    shake shook shaken
    shoot shot
    show shown
    shrink shrank shrunk
    sing sang sung
    sink sank sunk
    sit sat
    sleep slept
    smell smelt
    speak spoke spoken
    spend spent
    spill spilt
    stand stood
    steal stole stolen
    stick stuck
    strike struck
    swear swore sworn
    sweep swept
    swim swam swum
    teach taught
    tear tore torn
    throw threw thrown
    understand understood
    wake woke woken
    wear wore worn
    withdraw withdrew withdrawn
    calf calves
    foot feet
    goose geese
    half halves
    knife knives
    loaf loaves
    mouse mice
    scarf scarves
    shelf shelves
    thief thieves
    tooth teeth
    wife wives
    wolf wolves
    api apis
    bbq bbqs
    cd cds
    ceo ceos
    cfo cfos
    cfp cfps
    coo coos
    cpu cpus
    crm crms
    cto ctos
    cv cvs resume
    db dbs
    dj djs
    dm dms
    dpa dpas
    dvd dvds
    eta etas
    gpu gpus
    hdd hdds
    ipo ipos
    kpi kpis
    llm llms
    mvp mvps
    nda ndas
    nft nfts
    npc npcs
    pc pcs
    pr prs
    rfc rfcs
    rfp rfps
    rfq rfqs
    sdk sdks
    sku skus
    sla slas
    ssd ssds
    tv tvs television telly
    ui uis
    vm vms
    vp vps
    vpc vpcs
    vpn vpns
    apartment flat apt
    appointment appt
    backpack rucksack
    birthday bday
    chemist pharmacy drugstore
    closet wardrobe
    cooker stove hob
    coriander cilantro
    courgette zucchini
    couch sofa
    crib cot
    aubergine eggplant
    elevator lift
    faucet tap
    flashlight torch
    flatmate roommate housemate
    fridge refrigerator
    hoover vacuum
    jumper sweater pullover
    lawyer solicitor attorney
    licence license
    lorry truck
    maths math
    motorway highway freeway
    mum mom
    nappy diaper
    nursery daycare kindergarten
    password pw passcode
    petrol gas
    postcode zip
    pram stroller pushchair
    prawn shrimp
    soccer football
    trainer sneaker
    trash garbage rubbish bin
    trousers pants
    tube subway underground metro
    tyre tire
    university uni
    vet veterinarian
    yoghurt yogurt
"""


# The same in other languages.
_FORMS_ELSEWHERE: Final = {
    "german": """
        auto wagen pkw
        frau ehefrau
        mann ehemann
        handy smartphone mobiltelefon
        fernseher tv
        katze kater
        vater papa
        mutter mama
        arzt ärztin doktor
        wohnung apartment
        computer rechner laptop
        arbeit job beruf
        oma großmutter
        opa großvater
        fahrrad rad
    """,
    "spanish": """
        mujer esposa
        marido esposo
        coche carro auto automóvil
        móvil celular teléfono smartphone
        piso apartamento departamento
        padre papá
        madre mamá
        ordenador computadora portátil
        profesora maestra
        profesor maestro
        abuelo abuelito
        abuela abuelita
        frigorífico nevera refrigerador
        trabajo empleo
        alquiler renta
        gafas lentes
    """,
    "french": """
        femme épouse
        mari époux
        voiture auto bagnole
        téléphone portable mobile smartphone
        appartement appart logement
        père papa
        mère maman
        maîtresse institutrice
        ordinateur ordi
        travail boulot emploi métier
        copain compagnon
        copine compagne
        frigo réfrigérateur
        télé télévision
        vélo bicyclette
    """,
    "italian": """
        auto macchina automobile
        moglie sposa
        marito sposo
        cellulare telefono telefonino smartphone
        padre papà babbo
        madre mamma
        insegnante maestra maestro
        computer pc portatile
        lavoro impiego
        frigo frigorifero
        bici bicicletta
    """,
    "portuguese": """
        mulher esposa
        marido esposo
        carro automóvel
        telemóvel celular telefone
        frigorífico geladeira
        emprego trabalho
        pai papai
        mãe mamãe
        ônibus autocarro
    """,
    "dutch": """
        auto wagen
        vrouw echtgenote
        man echtgenoot
        mobiel telefoon gsm smartphone
        flat appartement
        vader pa papa
        moeder mama
        juf lerares
        meester leraar
        baan werk
    """,
}


def _read_forms(lines: Iterable[Sequence[str]]) -> Mapping[str, Sequence[str]]:
    found: dict[str, dict[str, None]] = {}
    for forms in lines:
        for term in forms:
            found.setdefault(term, {}).update(dict.fromkeys(forms))
    return {term: tuple(forms) for term, forms in found.items()}


FORMS_BY_TERM: Final = _read_forms(map(terms, _FORMS.strip().splitlines()))


@cache  # a stemmer of another language takes a millisecond to load
def find_forms(language: str) -> Mapping[str, Sequence[str]]:
    """Find the other terms of a term, itself among them, in a language and in English."""
    if language not in _FORMS_ELSEWHERE:
        return FORMS_BY_TERM
    own = _read_forms(terms_in(language, line) for line in _FORMS_ELSEWHERE[language].strip().splitlines())
    return {**FORMS_BY_TERM, **own}
