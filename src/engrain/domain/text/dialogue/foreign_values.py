"""Kinds of value that are asked for in German, Spanish, French, Italian, Portuguese and Dutch, and whose a thing is."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from engrain.domain.text.languages import ENGLISH, MONTHS, WEEKDAYS
from engrain.domain.text.patterns import lazy_pattern

FAMILY: Final = (
    "Mutter Vater Schwester Bruder Tochter Sohn Tante Onkel Oma Opa Cousin Cousine Nichte Neffe"
    " madre padre hermana hermano hija hijo t\u00eda t\u00edo prima primo abuela abuelo suegra suegro sobrina sobrino"
    " m\u00e8re p\u00e8re s\u0153ur soeur fr\u00e8re fille fils oncle"
    " sorella fratello figlia figlio zia zio nonna nonno cugina cugino"
    " m\u00e3e pai irm\u00e3 irm\u00e3o filha filho tia tio av\u00f3 av\u00f4"
    " moeder vader zus broer dochter zoon oom"
)
# Each asks at the beginning, where no clause begins so: "¿Desde cuándo trabajo allí?"
_BEFORE = (
    r"(?:(?:ab|bis|seit|mit|bei|von|f\u00fcr|an|desde|hasta|con|de|para|\u00e0|a|avec|chez|da|di|per|com|vanaf|tot"
    r"|voor|met|van)\ )?"
)
# Of whom or what a thing is, behind it: "el pasaporte de Ella", "die Miete der Garage".
WHOSE: Final = (
    r"(?:de l['\u2019]|de las?|de los|del?|du|des|d['\u2019]|dell[ao]|dei|di|d[oa]s?|von|vom|der|van(?: de| het)?)"
    r"(?: (?:mi|mis|mon|ma|mes|mio|mia|il mio|meu|minha|meine[rmns]|mijn|nuestr[oa]|notre|nostr[oa]|unser\w*|onze))?"
    r"|meine[rs]|unsere[rs]"
)
DETERMINER: Final = (
    r"(?:d(?:er|ie|as)|(?:[md]ein|unser)e?|el|las?|los|mis?|nuestr[oa]s?|le|les|mon|ma|mes|notre|nos|il|lo|i|gli|mi[oa]"
    r"|nostr[oa]|os?|as?|meu|minha|noss[oa]|de|het|mijn|onze)"
)
# A question by the kind that it asks for.
ASKED: Final = lazy_pattern(
    rf"""\W*(?:{_BEFORE}(?P<time>
    wann|um\ wie\ ?viel\ uhr|an\ welchem\ tag|cu[\u00e1a]ndo|qu[\u00e9e]\ (?:hora|d[\u00edi]a)|quand
    |quelle\ heure|quel\ jour|quando|che\ (?:ora|giorno)|que\ (?:horas?|dia)|wanneer|hoe\ laat|(?:op\ )?welke\ dag
    )|{_BEFORE}(?P<number>
    wie\ ?(?:viele?n?|hoch|lange?|alt|gro\u00df|schwer|weit|teuer|schnell)|was\ kostete?n?|cu[\u00e1a]nt[oa]s?
    |combien|quel\ \u00e2ge|quel(?:le)?\ est\ (?:le|la|mon|ma)\ (?:prix|loyer|montant|taille)|quant[oiae]s?
    |hoe\ ?(?:veel|hoog|lang|oud|groot|zwaar|ver|duur)|wat\ kost(?:te)?n?
    )|{_BEFORE}(?P<person>
    wie\ hei\u00df(?:t|en)|c[\u00f3o]mo\ se\ llaman?|comment\ s['\u2019]appelle(?:nt)?|come\ si\ chiama(?:no)?
    |como\ se\ chamam?|hoe\ heet|we(?:r|m|n|ssen)|qui(?:[\u00e9e]n(?:es)?)?|chi|quem
    |wie\ (?:is|was|heeft|doet|wordt|zijn|komt)
    ))\b""",
    re.IGNORECASE | re.VERBOSE,
)
_COUNTS: Final = (
    "eine?|zwei|drei|vier|f\u00fcnf|sechs|sieben|acht|neun|zehn|un[oa]?|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez"
    "|une|deux|trois|quatre|cinq|six|sept|huit|neuf|dix|due|tre|quattro|cinque|sei|sette|otto|nove|dieci"
    "|um|uma|dois|duas|tr\u00eas|quatro|sete|oito|dez|een|twee|drie|vijf|zes|zeven|negen|tien"
)


@cache
def make_value_pattern(kind: str) -> re.Pattern[str]:
    """Make the pattern of the values of a kind, "foreign number" and so on, in all of these languages."""
    if kind == "foreign number":
        return lazy_pattern(rf"\d[\d.,]*|\b(?:{_COUNTS})\b", re.IGNORECASE)
    if kind == "foreign person":
        return lazy_pattern(r"(?<![.!?:\u00bf\u00a1]\s)(?<!^)\b(?=[^\W\d_a-z])[A-Z\u00c0-\u00de][\w'\u2019-]+")
    days, months = (
        "|".join(form for language, row in table.items() if language != ENGLISH for form in re.split("[ /]", row))
        for table in (WEEKDAYS, MONTHS)
    )
    return lazy_pattern(
        rf"\b(?:{days})s?\b|\b\d{{1,2}}\.?\u00ba? (?:de )?(?:{months})\b|\b(?:{months})\b"
        r"|\b\d{1,2}(?:[:.h]\d\d| ?uhr\b| ?h\b| ?heures?\b| ?uur\b)|\b(?:19|20)\d\d\b|\b\d{1,2}\.(?!\d)"
        r"|\b(?:um|gegen|las?|[\u00e0a]|alle|[\u00e0a]s|om|am|el|le|il|dia|op|au|al) \d{1,2}\b"
        r"|\b(?:heute|morgen|hoy|ma\u00f1ana|aujourd['\u2019]hui|demain|oggi|domani|hoje|amanh\u00e3|vandaag)\b",
        re.IGNORECASE,
    )
