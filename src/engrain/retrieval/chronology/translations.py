# ruff: noqa: RUF001  # the apostrophe of French and Italian
"""Times in German, Spanish, French, Italian and Portuguese, put into the English words that are parsed. Pure."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

from engrain.domain.text.analysis import words
from engrain.domain.text.languages import ENGLISH, MONTHS, WEEKDAYS, detect_language, has_english

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_UNITS = "hour day week weekend month year"
_SEASONS = "spring summer autumn winter"
_COUNTS = "one two three four five six seven eight nine ten eleven twelve few"


class _Words(NamedTuple):
    """Words of a language for times, in the order of the English ones; several for one stand behind a slash.

    `phrases` are lines of a pattern and its English, with `<month>` for a month, and so on; `<period>` is whatever can
    be last or next.
    """

    units: str
    seasons: str
    counts: str
    phrases: str


_LANGUAGES: Final[Mapping[str, _Words]] = {
    "german": _Words(
        "stunde/stunden tag/tage/tagen woche/wochen wochenende monat/monate/monaten jahr/jahre/jahren",
        "frühling/frühjahr sommer herbst winter",
        "ein/eine/einem/einer zwei drei vier fünf sechs sieben acht neun zehn elf zwölf ein_paar",
        r"""
        vorgestern = the day before yesterday
        gestern abend = last night
        gestern = yesterday
        heute (?:morgen|früh|vormittag) = this morning
        heute abend = tonight
        heute = today
        übermorgen = the day after tomorrow
        (?<!am )(?<!guten )(?<!jeden )morgen = tomorrow
        (?:letzte|vergangene|vorige)[nrsm]? <period> = last <period>
        diese[nrsm]? <period> = this <period>
        (?:nächste|kommende)[nrsm]? <period> = next <period>
        vor <count> <unit> = <count> <unit> ago
        in <count> <unit> = in <count> <unit>
        (?:am |vom |den )?<day>\. <month>(?: <year>)? = on <day> <month> <year>
        (?:im|seit|ende|anfang|mitte|bis) <month>(?: <year>)? = in <month> <year>
        (?:im )?<season> <year> = <season> <year>
        am <weekday> = on <weekday>
        im jahre? <year> = in <year>
        """,
    ),
    "spanish": _Words(
        "hora/horas día/días semana/semanas fin_de_semana mes/meses año/años",
        "primavera verano otoño invierno",
        "un/una dos tres cuatro cinco seis siete ocho nueve diez once doce unos/unas",
        r"""
        anteayer|antier = the day before yesterday
        anoche = last night
        ayer = yesterday
        hoy = today
        esta mañana = this morning
        esta noche = tonight
        pasado mañana = the day after tomorrow
        (?<!la )mañana = tomorrow
        (?:el |la )?<period> pasad[oa] = last <period>
        (?:el |la )?últim[oa] <period> = last <period>
        est[ea] <period> = this <period>
        (?:el |la )?próxim[oa] <period> = next <period>
        (?:el |la )?<period> (?:que viene|próxim[oa]) = next <period>
        hace <count> <unit> = <count> <unit> ago
        dentro de <count> <unit> = in <count> <unit>
        (?:el )?<day> de <month>(?: del? <year>)? = on <day> <month> <year>
        en <month>(?: del? <year>)? = in <month> <year>
        (?:el |la )?<season> del? <year> = <season> <year>
        el <weekday> = on <weekday>
        en (?:el año )?<year> = in <year>
        """,
    ),
    "french": _Words(
        "heure/heures jour/jours semaine/semaines week-end mois an/ans/année/années",
        "printemps été automne hiver",
        "un/une deux trois quatre cinq six sept huit neuf dix onze douze quelques",
        r"""
        avant-hier = the day before yesterday
        hier soir = last night
        hier = yesterday
        aujourd['’]hui = today
        ce matin = this morning
        ce soir = tonight
        après-demain = the day after tomorrow
        demain = tomorrow
        (?:le |la |l['’])?<period> derni(?:er|ère) = last <period>
        (?:ce|cet|cette) <period>(?:-ci)? = this <period>
        (?:le |la |l['’])?<period> prochaine? = next <period>
        il y a <count> <unit> = <count> <unit> ago
        dans <count> <unit> = in <count> <unit>
        (?:le )?<day>(?:er)? <month>(?: <year>)? = on <day> <month> <year>
        (?:en|depuis|fin|début) <month>(?: <year>)? = in <month> <year>
        (?:au |le |l['’])?<season> <year> = <season> <year>
        (?<!le )<weekday> = on <weekday>
        en <year> = in <year>
        """,
    ),
    "italian": _Words(
        "ora/ore giorno/giorni settimana/settimane fine_settimana mese/mesi anno/anni",
        "primavera estate autunno inverno",
        "un/uno/una due tre quattro cinque sei sette otto nove dieci undici dodici qualche",
        r"""
        l['’]altro ieri|ieri l['’]altro|avantieri = the day before yesterday
        ieri sera = last night
        ieri = yesterday
        oggi = today
        stamattina = this morning
        stasera = tonight
        dopodomani = the day after tomorrow
        domani = tomorrow
        (?:il |la |lo |l['’]|nel |nella )?<period> scors[oa] = last <period>
        (?:l['’])?ultim[oa] <period> = last <period>
        quest(?:[oa] |['’])<period> = this <period>
        (?:il |la |l['’])?<period> prossim[oa] = next <period>
        (?:il |la )?prossim[oa] <period> = next <period>
        <count> <unit> fa = <count> <unit> ago
        (?:tra|fra) <count> <unit> = in <count> <unit>
        (?:il |l['’])?<day> <month>(?: (?:del )?<year>)? = on <day> <month> <year>
        (?:a|in|nel|da) <month>(?: (?:del )?<year>)? = in <month> <year>
        (?:nella |nell['’]|l['’])?<season> (?:del )?<year> = <season> <year>
        nel <year> = in <year>
        """,
    ),
    "portuguese": _Words(
        "hora/horas dia/dias semana/semanas fim_de_semana mês/meses ano/anos",
        "primavera verão outono inverno",
        "um/uma dois/duas três quatro cinco seis sete oito nove dez onze doze alguns/algumas",
        r"""
        anteontem = the day before yesterday
        ontem à noite = last night
        ontem = yesterday
        hoje de manhã = this morning
        hoje à noite = tonight
        hoje = today
        depois de amanhã = the day after tomorrow
        amanhã = tomorrow
        (?:na |no |a |o )?<period> passad[oa] = last <period>
        n?est[ea] <period> = this <period>
        (?:na |no |a |o )?próxim[oa] <period> = next <period>
        (?:na |no |a |o )?<period> que vem = next <period>
        há <count> <unit>(?: atrás)? = <count> <unit> ago
        <count> <unit> atrás = <count> <unit> ago
        daqui a <count> <unit> = in <count> <unit>
        (?:em |no dia |dia |a )?<day> de <month>(?: de <year>)? = on <day> <month> <year>
        em <month>(?: de <year>)? = in <month> <year>
        n[ao] <weekday> = on <weekday>
        em <year> = in <year>
        """,
    ),
}
_LONGEST: Final = 80  # characters, of a question or a time
# Whole numbers with points stand in this order in all of these languages.
_DOTTED: Final = re.compile(r"\b([0-3]?\d)\.([01]?\d)\.((?:19|20)\d\d)\b")


def translate_times(text: str) -> str:
    """Put the times of a text into English words, and leave the others: of the language that the text is in.

    Of a short text that has few words to tell its language by, the first that has such a time.
    """
    said = words(text)
    translated = _translate(text, _compile(detect_language(said)))
    return translated if translated != text or has_english(said) else next(list_translations(text), text)


def list_translations(text: str) -> Iterator[str]:
    """List what a short text says of times in English, read in each language that has them."""
    for language in _LANGUAGES if len(text) <= _LONGEST else ():
        translated = _translate(text, _compile(language))
        if translated != text:
            yield translated


class _Phrase(NamedTuple):
    pattern: re.Pattern[str]
    english: str
    words: Mapping[str, str]

    def put(self, match: re.Match[str]) -> str:
        english = self.english
        for name, value in match.groupdict(default="").items():
            english = english.replace(f"<{name}>", self.words.get(value.lower(), value))
        return english.strip()


def _translate(text: str, phrases: tuple[_Phrase, ...]) -> str:
    for phrase in phrases:
        text = phrase.pattern.sub(phrase.put, text)
    return _DOTTED.sub(lambda date: f"{date[3]}-{int(date[2]):02}-{int(date[1]):02}", text)


@cache
def _compile(language: str) -> tuple[_Phrase, ...]:
    table = _LANGUAGES.get(language)
    if table is None:
        return ()
    kinds = {
        "month": _pair(MONTHS[language], MONTHS[ENGLISH]),
        "weekday": _pair(WEEKDAYS[language], WEEKDAYS[ENGLISH]),
        "unit": _pair(table.units, _UNITS),
        "season": _pair(table.seasons, _SEASONS),
        "count": _pair(table.counts, _COUNTS),
    }
    known = {word: english for kind in kinds.values() for word, english in kind.items()}
    kinds["period"] = {
        word: english for name, kind in kinds.items() if name != "count" for word, english in kind.items()
    }
    parts = {f"<{name}>": f"(?P<{name}>{_alternatives(kind)})" for name, kind in kinds.items()}
    parts["<count>"] = parts["<count>"].replace("(?P<count>", r"(?P<count>\d{1,3}|")
    parts |= {"<day>": r"(?P<day>[0-3]?\d)", "<year>": r"(?P<year>(?:19|20)\d\d)"}
    lines = [line.strip().rpartition(" = ") for line in table.phrases.strip().splitlines()]
    return tuple(_Phrase(_pattern(pattern, parts), english, known) for pattern, _, english in lines)


def _pair(foreign: str, english: str) -> dict[str, str]:
    """Pair each word of a language with its English."""
    pairs = zip(foreign.split(), english.split(), strict=True)
    return {word.replace("_", " "): meaning for forms, meaning in pairs for word in forms.split("/")}


def _alternatives(known: Mapping[str, str]) -> str:
    return "|".join(map(re.escape, sorted(known, key=len, reverse=True)))


def _pattern(pattern: str, parts: Mapping[str, str]) -> re.Pattern[str]:
    for name, part in parts.items():
        pattern = pattern.replace(name, part)
    return re.compile(rf"(?<!\w)(?:{pattern})(?!\w)", re.IGNORECASE)
