"""Forms of one English word that no stemmer joins, and other words for the same thing. Pure.

A question has most verbs as they stand after "did", its answer has them in the past: "lose" and "lost". Who says
"flat" is asked about the "apartment", and notes have "bday" and "pw".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from engrain.domain.text.analysis import terms

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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


def _read_forms() -> Mapping[str, Sequence[str]]:
    lines = [tuple(dict.fromkeys(terms(line))) for line in _FORMS.strip().splitlines()]
    return {term: forms for forms in lines for term in forms}


FORMS_BY_TERM: Final = _read_forms()
