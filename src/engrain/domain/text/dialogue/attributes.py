# ruff: noqa: RUF001  # Russian letters look like Latin ones
"""Attributes of a thing that a question asks for by name, and the statements that tell one. Pure.

"What's Ana's phone number?" is not answered by her address, however much is said of her: a phone number has digits. The
words are of English, German, Spanish, French, Portuguese, Russian and Chinese, the values of any language.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from operator import itemgetter
from typing import TYPE_CHECKING, Final

from engrain.domain.text.analysis import terms, terms_in, words
from engrain.domain.text.dialogue.foreign_values import FAMILY
from engrain.domain.text.dialogue.meanings import find_related
from engrain.domain.text.dialogue.values import HOW_MUCH_IS
from engrain.domain.text.languages import detect_language
from engrain.domain.text.patterns import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Mapping

_LONGEST_QUESTION: Final = 200
_THE = r"\b(?:what|which|whats)\b(?:['\u2019]s)?"


@dataclass(frozen=True, slots=True)
class Attribute:
    """Patterns of questions for an attribute and of its values, and the beginnings of the terms that name it.

    A question for it has a term with one of the beginnings, of three letters: they are looked at before its pattern.
    `is_exact`: hardly anything but a value of it is like one.
    """

    question: re.Pattern[str]
    value: re.Pattern[str]
    beginnings: frozenset[str]
    is_exact: bool = False


def _make(question: str, *, value: str, beginnings: str, is_cased: bool = False, is_exact: bool = False) -> Attribute:
    value_pattern = lazy_pattern(value, re.NOFLAG if is_cased else re.IGNORECASE)
    return Attribute(lazy_pattern(question, re.IGNORECASE), value_pattern, frozenset(beginnings.split()), is_exact)


_NUMBER_WORDS = (
    r"\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen"
    r"|(?:twen|thir|for|fif|six|seven|eigh|nine)ty\w*|hundred)\b"
)
_NO_YEARS = (
    "(?:jan|feb|mar|mär|apr|may|mai|jun|jul|aug|sep|oct|okt|nov|dec|dez|euros?|pounds?|dollars?|percent|k?m\\b|k?g|mg|ml"
    "|lit|minut|hours?|stund|days?|tage|weeks?|woche|months?|monat|pages?|people|times|o'clock|uhr|am\\b|pm\\b)"
)
_PAYS = (
    r"(?:\bcost|\bprice|\bpa(?:y|id)|\brent|\bcharg|\bfees?\b|\bkost|preis|miete|zahl|\bprix|loyer|coût|cuest|precio"
    r"|preço|\bcust|стои|цен)"
)
_COLOURS = (
    "colou?r|\\bpaint\\b|farbe|couleur|цвет|black|white|gr[ae]y|silver|gold|\\bred\\b|orange|yellow|green|blue|purple|violet|pink"
    "|brown|beige|ivory|cream|turquoise|navy|teal|brass|schwarz|wei(?:ß|ss)|grau|\\brot|gelb|gr(?:ü|ue)n|blau|rosa|braun"
    "|negr[oa]|blan[cçk]|gris|roj[oa]|amarill|verde|azul|marr[óo]n|noir|rouge|jaune|vert|bleu|preto|branc|vermelh|amarel"
    "|ч[ёе]рн|бел|красн|ж[ёе]лт|зел[ёе]н|син[ие]|серы|色"
)

_NAME_BEGINNINGS: Final = frozenset(
    "nam cal sur fir las fam ful giv chr vor nac hei lla app chi cha hee nom pri ape sob pre имя фам".split()
)
_ATTRIBUTES: Final[Mapping[str, Attribute]] = {
    "phone": _make(
        r"\b(?:(?:tele)?phone|mobile|cell(?:phone)?) ?numbers?\b|(?:telefon|handy|ruf)nummer"
        r"|\b(?-i:[A-Z]\w+|(?:my|our|the) (?:\w+ )?\w+(?:er|or|ist|ian))['\u2019]s number\W*$"
        r"|n[uú]m(?:e|é)ro de (?:t[ée]l\w*|portable|m[óo]vil|celular|telemóvel)|номер\w* телефона|电话|手机号"
        r"|\b(?:tel[eé]fono|telefone|téléphone) d|telefoonnummer",
        value=r"\d(?:[ /.()-]{,2}\d){5,}",
        beginnings="pho tel mob cel han num ruf ном 电话 手机",
        is_exact=True,
    ),
    "email": _make(
        rf"\be-?mail[- ]?address|{_THE} .{{,40}}\be-?mail\W*$|mail-?adresse|\badresse (?:e-?mail|électronique)"
        r"|correo electr[oó]nico|endereço de e-?mail|электронн\w+ почт",
        value=r"\S@\S",
        beginnings="ema mai adr add cor ele end эле поч адр",
        is_exact=True,
    ),
    "address": _make(
        rf"{_THE}(?: is)?(?: (?!(?:e-?mail|mail|ip|mac)\b)[\w.'\u2019-]+){{,4}} address\b"
        r"|\b(?:wie (?:ist|lautet)|welche) .{,40}\badresse\b|\bdirecci[oó]n de\b|\bquelle est l['\u2019]adresse"
        r"|\bqual .{,10}(?:endereço|morada)\b|\bкакой .{,20}адрес\b",
        value=r"[Aa]d+ress|[Dd]irecci|[Ee]ndereço|[Mm]orada|адрес|\b\d+\w? (?:\w+ )?[A-Z]\w+|\b[A-Z]\w+ \d|[Ss]treet"
        r"|\b[Rr]oad\b|\b[Ll]ane\b|[Aa]venue|[Ss]tra(?:ß|ss)e|\b[Rr]ue\b|\b[Cc]alle\b|\b[Rr]ua\b|улиц|://|\w\.\w+/|\d\.\d+\.\d",
        beginnings="add adr dir end mor адр",
        is_cased=True,
    ),
    "home": _make(
        r"\bwhere (?:do|does|did) .{2,40} lives?\W*$|\bwo (?:wohn|leb)(?:t|en)\b|\bd[oó]nde viven?\b"
        r"|\boù (?:habite|vit)\b|\bdove (?:abita|vive)\b|\bonde (?:mora|vive)\b|\bwaar woont\b",
        value=r"(?i:\bliv(?:es?|ed|ing)\b|\bmov(?:e|ed|es|ing)\b|\bhome\b|address|\bflat\b|apartment|\bhouse|\bbased\b"
        r"|relocat|\bstay|\bborn\b|wohn|\bleb(?:t|en)|gezogen|zieh|\bviv|\bmud|habit|\bvit\b|m[ée]nag|trasfer|casa|\bmor[ao]|woon|verhuis)"
        r"|\b(?:in|at|to|near|from|outside|en|à|a|ad|em|no|na|nach|aus|naar|uit) [A-ZÀ-Þ]",
        beginnings="whe liv woh leb wo don viv hab vit dov abi ond mor waa woo",
        is_cased=True,
    ),
    "plate": _make(
        r"\b(?:licen[cs]e|number|registration)[- ]?plates?\b|\bregistration number|kennzeichen|matr[ií]cula\b"
        r"|immatriculation|номер\w* (?:машины|автомобиля)",
        value=r"\b[A-ZÄÖÜ]{1,3}[- ]?[A-Z]{,2}[- ]?\d{2,4}\b|\b\d{3,4}[- ]?[A-Z]{2,3}\b",
        beginnings="lic num reg pla ken mat imm ном",
        is_cased=True,
        is_exact=True,
    ),
    "weight": _make(
        rf"\bhow heavy\b|\b(?:what|how much) (?:do|does|did|should) .{{,40}}\bweigh\b|{_THE} .{{,40}}\bweight\b"
        r"|\bwie ?(?:schwer|viel wieg)|\bgewicht von\b|cu[aá]nto pesa|combien p[eè]se|quanto pesa|сколько вес|多重",
        value=r"weigh|heavy|wieg|schwer|gewicht|\bpes[ao]|poids|p[eè]se|вес"
        r"|\d\s?(?:kg|kilos?|kilograms?|g|grams?|lbs?|pounds?|stone|tons?|tonnes?|t|oz|кг|公斤)\b",
        beginnings="wei hea sch wie gew pes вес",
    ),
    "height": _make(
        rf"\bhow tall\b|{_THE} .{{,40}}\bheight\b|\bwie gro(?:ß|ss) ist\b|cu[aá]nto mide|combien mesure"
        r"|quelle taille fait|quanto mede|какого роста|多高",
        value=r"\btall|height|\bgro(?:ß|ss)\b|hoch|\bmid[eo]|mesur|taille|\bmed[eo]|рост"
        r"|\d\s?(?:cm|mm|m|met(?:re|er)s?|metros?|mètres?|feet|foot|ft|inch(?:es)?|см|м)\b|\d['\u2019]\d",
        beginnings="tal hei gro mid mes tai med рос",
    ),
    "price": _make(
        r"\bwhat (?:do|does|did|will|would) .{,50}\b(?:cost|charge|pay)\b"
        rf"|\bhow much .{{,50}}\b(?:cost|charge|pay|paid)s?\b|\bhow expensive\b|{HOW_MUCH_IS}"
        r"|\bwhat(?:['\u2019]?s| is| was) the (?:price|rent|fee|cost)\b"
        r"|\bwas (?:kostete?n?|(?:hat|haben) .{,50}gekostet)\b|\bwie hoch ist die miete|cu[aá]nto (?:cuesta|costó|vale)"
        r"|combien co[uû]te|quanto custa|сколько стоит|多少钱",
        value=r"[€$£]\s?\d|\d\s?(?:[€$£元块]|eur\b|euros?\b|usd\b|gbp\b|chf\b|dollars?|pounds?|quid|bucks"
        r"|francs?|franken|pesos?|reais|руб|cents?|p\b|k\b|kr\b|kron\w+|crowns?)|\b\d{1,3}[.,]\d{3}\b"
        rf"|(?:,|\b(?:for|at|only)) \d{{2,}}\b(?![-:.]\d| (?:square|feet|met(?:re|er)|{_NO_YEARS}))"
        r"|\b(?:extra|another) \d|\d (?:extra|more)\b|\bfree\b|gratis|kostenlos|gratuit|grátis|бесплатн"
        r"|\d\b.{,20}\b(?:an?|per|each) (?:month|week|year|night|day|hour|head)"
        rf"|{_PAYS}.{{,60}}\d|\d\b.{{,60}}{_PAYS}|{_PAYS}.{{,40}}{_NUMBER_WORDS}|{_NUMBER_WORDS} (?:euros?|dollars?"
        r"|pounds?|quid|bucks|francs?|franken|pesos?)",
        beginnings="muc cos pri ren fee cha pay pai exp gek kos mie hoc cue val cou cus сто",
        is_exact=True,
    ),
    "birthday": _make(
        r"\bbirth(?:day|date)\b|\bdate of birth|\bwhen was .{,30}\bborn\b|geburtstag\b|\bwann .{,30}\bgeboren"
        r"|cumplea[nñ]os|compleanno|\bjarig|verjaardag|\banniversaire de|anivers[aá]rio d"
        r"|день рождения|когда родил|生日",
        value=r"birth|\bbday|\bborn\b|\bturn(?:s|ed|ing)? \w+|geburt|geboren|cumplea|complean|\bcompi\w+"
        r"|jarig|verjaar|\bnaci|anniversaire|\bnée?\b|anivers|nasc|рожд|родил|生日",
        beginnings="bir bor dat geb cum com jar ver ann ani рож ден род 生日",
    ),
    "age": _make(
        rf"\bhow old\b|{_THE} .{{,30}}(?<!\w)age\b|\bwie alt\b|cu[aá]ntos años|quel âge|quantos anos"
        r"|сколько .{,20}\bлет\b|几岁",
        value=rf"(?<![\d:.,-])(?<!\bat )(?<!\bum )\b\d{{1,3}}\b(?![:%]|[.,]\d|\.? {_NO_YEARS})|\b(?:19|20)\d\d\b"
        rf"|{_NUMBER_WORDS}|\bold\b|\bborn\b|\bbirthday|\byears?\b|\balt\b|jährig|geboren|geburtstag|jahr|año|\bans\b|anos|лет|岁",
        beginnings="old age alt ano лет",
    ),
    "shoe size": _make(
        r"\bshoe size|schuhgr(?:öß|oess)e|\bpointure\b|talla de zapato|que número cal[cç]a|размер обуви",
        value=r"\bsize|schuhgr|\bpointure|\bchausse|\btalla\b|calza|calça|размер|\bshoes?\b.{,20}\d\d",
        beginnings="sho siz sch poi tal zap cal num обу раз",
    ),
    "blood type": _make(
        r"\bblood (?:type|group)|blutgruppe|grupo sangu[ií]neo|groupe sanguin|tipo sangu[ií]neo|групп\w+ крови|血型",
        value=r"blood (?:type|group)|blutgruppe|sangu|групп\w+ крови|血型|\b(?:AB|A|B|O|0)[ -]?(?:rh|pos|neg|\+)",
        beginnings="blo typ gro blu gru san tip гру кро 血型",
    ),
    "password": _make(
        r"\bpass(?:word|phrase|code)\b|passwort|kennwort|contraseña|mot de passe|\bsenha\b|парол|密码",
        value=r"pass(?:word|phrase|code)|\bpw\b|passwort|kennwort|contraseña|mot de passe|senha|парол|密码"
        r"|\b(?:code|pin|key)\b",
        beginnings="pas ken con mot sen пар 密码",
    ),
    "account number": _make(
        r"\baccount number|\biban\b|kontonummer|número de (?:la )?cuenta|numéro de compte|número da conta"
        r"|номер\w* сч[ёе]та",
        value=r"\biban|account|konto|cuenta|compte|\bconta\b|сч[ёе]т|\b\d{6,}\b|\b[A-Z]{2}\d\d",
        beginnings="acc num iba kon cue com con ном сче",
    ),
    "number": _make(
        rf"{_THE}(?: \S+){{,4}} (?:passport|identity|tax|vat|insurance|security|policy|customer|member(?:ship)?|student"
        r"|patient|order|booking|reference|tracking|serial|card|claim|case|contract|invoice|registration) number\b",
        value=r"\b[Nn]umber|\b[Nn]o\b\.|\b[Nn]r\b|#|\b(?:id|ID)\b|\b[A-Z]{1,5}[- ]?\d{3,}|[A-Z]\d+[A-Z]|\d-\d"
        r"|(?<![.,\d€$£])\b\d{5,}|(?<![\d.,])\d\d ?\d{2,} ?\d{2,}",
        beginnings="num",
        is_cased=True,
    ),
    "colour": _make(
        r"\b(?:what|which) colou?rs?\b|\bwelche \w*farbe\b|de qu[eé] color|de quelle couleur|de que cor\b|какого цвета"
        r"|什么颜色",
        value=_COLOURS,
        beginnings="col far cou cor aug haa lie цве 颜色",
        is_exact=True,
    ),
    "licence": _make(
        r"\b(?:what|which) licen[cs]e (?:do|does|is|has|have)\b",
        value=r"[Ll]icen[cs]|\bMIT\b|Apache|GPL|\bBSD\b|\bMPL\b",
        beginnings="lic",
        is_cased=True,
    ),
    "port": _make(
        rf"\b(?:what|which) port (?:do|does|is|are|has|did|should)\b|{_THE} .{{,40}}\bport\W*$",
        value=r"\bport\b|:\d{2,5}\b|\blistens? on|\b\d{4,5}\b",
        beginnings="por lis",
    ),
}
_TITLE = (
    "(?:Mrs?|Ms|Miss|Dr|Doctor|Prof|Professor|Sir|Lady|Frau|Herrn?|Señora?|Sra?|Doña|Don|Mme|Madame|Monsieur"
    "|Signora?|Senhora?|Dona|Mevrouw|Meneer|Auntie?|Uncle|Grandma|Grandpa|Oma|Opa|Coach|Vornamen?|Nachnamen?)"
)
_PART_OF_NAME = (
    r"(?i:\b(?:(?P<first>first|given|christian)|last|family|full|sur)[- ]?name\b"
    r"|\b(?P<vorname>vornamen?|prénom|nombre de pila|primeiro nome|имя)\b"
    r"|\b(?:nachnamen?|nom de famille|apellidos?|sobrenome|фамилия)\b)"
)
_PROPER = (
    r"(?!(?:[A-Z]\w+day|January|February|March|April|May|June|July|August|September|October|November|December)s?\b)"
    r"[^\W\d_a-z][^\W\d_]{,30}?[a-z]\w{,30}"
)
# A name that somebody made up for a program, or put in quotes: notify_via_herald.
_MARKED = r"(?:\b\w+_\w+|[`\"\u201c]\w[^`\"\u201d]{1,40}[`\"\u201d])"
_NAMING = (
    r"(?i:\b(?:(?:re)?name[ds]?|titled?|nam(?:ing|e['\u2019]s)|called?|calls|nickname\w*|known as|hei(?:ß|ss)\w*"
    r"|genannt)\b)"
)
# "Chidi, my husband" and "Chidi is my husband", but neither "Hi, my husband" nor "Told my husband".
_NO_NAME = "|".join(
    """
    Hi Hello Hey Oh Well Yes No So Ok(?:ay)? Thanks Right Sorry Good And But Then Now Today Yesterday Also Only Just
    Even In On At With From For Of To By After Before When While If Since Because Like About
    Told Tell Asked Ask Called Call Rang Saw Met Got Had Sent Gave Paid Bought Took Take Left Made Found Spoke Wrote
    Visited Booked Need Feed Walk Is Are Was Were Does Did Do Will Can Could
    """.split()
)
_OPENS = rf"(?:^|(?<=[.!?] ))(?!(?:{_NO_NAME})\b){_PROPER}"
# "Dad's cat" names no cat, but "Minka's our cat" does.
_ARTICLE = r"(?:an?|the|my|our|his|her|their|called|named)\b"
_NO_OWNER = rf"\b(?!['\u2019]s (?!{_ARTICLE}))"
_NAME_PART = lazy_pattern(_PART_OF_NAME)
_NAME_OF = lazy_pattern(
    r"\bwhat(?:['\u2019]?s| is| was| are) (?:the names? of (?P<of>[^?,.]{3,40})|(?P<own>[^?,.]{3,40}?)"
    r"(?:['\u2019]s?|s) names?|(?P<called>[^?,.]{3,40}) called)\W*$",
    re.IGNORECASE,
)
_NAME_ELSEWHERE = lazy_pattern(
    r"\W*(?:wie hei(?:ß|ss)(?:t|en)|c[óo]mo se llaman?|comment s['\u2019]appelle(?:nt)?|come si chiama(?:no)?"
    r"|como se chamam?|hoe he(?:et|ten)) (?P<thing>[^?,.]{3,40}?)\W*$",
    re.IGNORECASE,
)
_NO_THING = lazy_pattern(
    r"(?:[md]ein(?:e[rmns]?)?|unse?r(?:e[rmns]?)?|d(?:er|ie|as|en|em|es)|vo[nm]|[mts](?:is?|us?|[oe]n|es|as?)|nuestr[oa]s?"
    r"|el|l[aeio]s?|del?|notre|nos|du|il|gli|mi[oae]i?|nostr[oaie]|de(?:lla|i)|meus?|minhas?|noss[oa]s?|d?[oa]s?|mijn|onze?"
    r"|het|van|een)",
    re.IGNORECASE,
)
_FAMILY_ELSEWHERE = frozenset(FAMILY.split())
_NAMING_ELSEWHERE = (
    r"(?i:\b(?:hei(?:ß|ss)(?:t|en)|genannt|llam\w+|appel\w+|chiam\w+|cham\w+|he(?:et|ten)|name|nombre|nom|nome|naam)\b)"
)
_IS_ELSEWHERE = r"(?:(?:ist|es|est|è|é|is|se|c['\u2019]est) )?(?:(?i:herr|frau|el|la|il|de|[oa]) )*"
_NAME_IN_QUESTION = lazy_pattern(rf"(?<!^)(?<![?.!] )\b(?!{_TITLE}\b)[^\W\d_a-z]\w{{2,}}")
_WORD = lazy_pattern(r"\w+")
_BEGINNING = itemgetter(slice(3))


@lru_cache(maxsize=1_024)
def find_asked_attribute(query: str) -> Attribute | None:
    """Find the attribute that a question asks for: one with a value of its own kind, or a name.

    A long message asks for more than that.
    """
    if len(query) > _LONGEST_QUESTION:
        return None
    beginnings = frozenset(map(_BEGINNING, terms(query)))
    for attribute in _ATTRIBUTES.values():
        if not attribute.beginnings.isdisjoint(beginnings) and attribute.question.search(query):
            return attribute
    return None if _NAME_BEGINNINGS.isdisjoint(beginnings) else _find_asked_name(query)


def _find_asked_name(query: str) -> Attribute | None:
    """Find the part of somebody's name, or the name of a thing, that a question asks for."""
    part = _NAME_PART.search(query)
    if part is not None:
        return _find_part_of_name(query, is_first=bool(part["first"] or part["vorname"]))
    elsewhere = _NAME_ELSEWHERE.match(query)
    if elsewhere is not None:
        return _find_name_elsewhere(query, elsewhere["thing"])
    thing = _NAME_OF.search(query)
    return None if thing is None else _find_name_of(query, thing["of"] or thing["own"] or thing["called"])


def _find_part_of_name(query: str, *, is_first: bool) -> Attribute | None:
    """Find what tells the first name, or the rest of it, of the last name in a question."""
    names = _NAME_IN_QUESTION.findall(query)
    if not names:
        return None
    name = re.escape(names[-1])
    full_name = rf"\b(?!{_TITLE}\b){_PROPER} {name}\b" if is_first else rf"\b{name} {_PROPER}"
    named = rf"{_NAMING}(?: \w+)? (?!{name}\b|{_TITLE}\b){_PROPER}" if is_first else _NAMING
    near = rf"\b{name}\b[^.!?]{{,60}}{named}|{named}[^.!?]{{,60}}\b{name}\b"
    return Attribute(_NAME_PART, lazy_pattern(rf"{full_name}|{near}|{_PART_OF_NAME}"), _NAME_BEGINNINGS)


def _find_name_of(query: str, thing: str) -> Attribute:
    """Find what tells the name of a thing: a word for naming, or another name near the thing.

    Who writes no capitals may have named it.
    """
    head = terms(thing)[-1:] or [thing]
    heads = rf"(?i:\b(?:{'|'.join(map(re.escape, sorted({*head, *find_related(head[0])})))})\w{{,3}}\b)"
    other = rf"\b(?!(?i:{'|'.join(map(re.escape, _WORD.findall(query)))})s?\b){_PROPER}{_NO_OWNER}"
    opens = rf"{_OPENS}\b(?=,| (?:is|was) {_ARTICLE}| (?:and|my|the)\b|['\u2019]s {_ARTICLE}| [A-Z]|:)"
    near = (
        rf"(?<![.!?] )(?<!^){other}[^.!?]{{,40}}{heads}|{heads}(?:(?!\b(?:in|from) [A-Z])[^.!?]){{,40}}{other}"
        rf"|{opens}[^.!?]{{,40}}{heads}|{heads}[^.!?]{{,40}}{_MARKED}"
    )
    of_other = rf"(?i:\b(?!{heads}|(?:he|she|it|that|who)\b)\w+['\u2019]s (?:name|called))"
    naming = rf"\A(?:(?!{of_other})[\s\S])*?{_NAMING}|{heads}[\s\S]*{_NAMING}|{_NAMING}[\s\S]*{heads}"
    return Attribute(_NAME_OF, lazy_pattern(rf"{naming}|{near}|\A[^A-Z]*\Z"), _NAME_BEGINNINGS)


def _find_name_elsewhere(query: str, thing: str) -> Attribute:
    """Find what tells the name of a thing in six other languages: a word for naming near it, or a name beside it."""
    named = [word for word in _WORD.findall(thing) if not _NO_THING.fullmatch(word)] or [thing]
    language = detect_language(words(query))
    called = [other for term in terms_in(language, " ".join(named)) for other in find_related(term, language)]
    if _FAMILY_ELSEWHERE.isdisjoint(named):  # a brother's stem is a sister's
        called += terms_in(language, " ".join(named))
    heads = rf"(?i:\b(?:{'|'.join(map(re.escape, sorted({*named, *called})))})\w{{,3}}\b)"
    other = rf"\b(?!(?i:{'|'.join(map(re.escape, _WORD.findall(query)))})\b)[A-ZÀ-Þ][\w'\u2019-]{{1,40}}"
    told = (
        rf"{heads}[\s\S]{{,60}}{_NAMING_ELSEWHERE}|{_NAMING_ELSEWHERE}[\s\S]{{,60}}{heads}",
        rf"{heads}(?: (?:de|di|da|von|van|en|aus) [a-zà-ÿ]+)?,? {_IS_ELSEWHERE}{other}",
        rf"{other},? (?:ist|es|est|è|é|is) (?:\w+ ){{,2}}{heads}|{other}, (?:\w+ )?{heads}",
        r"\A[^A-ZÀ-Þ]*\Z",
    )
    return Attribute(_NAME_ELSEWHERE, lazy_pattern("|".join(told)), _NAME_BEGINNINGS)
