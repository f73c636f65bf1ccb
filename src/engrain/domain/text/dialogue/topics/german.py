"""German names of each topic, and phrases of those who tell of it. Pure."""

from __future__ import annotations

from typing import Final

BEFORE: Final = (
    r"(?:(?:was|welche[rsn]?|wer) (?:ist|sind) |welche[rsn]? |(?:habe ich|haben wir) |was weisst du uber )?"
    r"(?:(?:mein|unser|all|kein)(?:e[rnms]?)? |(?:die|der|das|den|eine?) )?"
    r"(?:(?:aktuell|bekannt|geplant|nachst|kommend|bevorzugt|personlich|ander|weiter)e[nrs]? )?"
)
AFTER: Final = r"(?: (?:habe ich|haben wir))?(?: (?:des|vom|von|der)(?: (?:be)?nutzers?(?:in)?)?)?"
INTRODUCTIONS: Final = {
    "name": "name, vorname, nachname, spitzname",
    "age": "alter",
    "work": "beruf, job, arbeit, tätigkeit, was mache ich beruflich",
    "employer": "arbeitgeber, firma, arbeitsplatz, arbeitsstelle",
}
PARTS: Final = {
    "<unser>": r"\b(?:mein|unse?r)(?:e[rmns]?)? (?:[\w-]+ )?",
    "<partner>": "(?:(?:ehe)?mann|(?:ehe)?frau|partner(?:in)?|freundin|verlobte[rn]?)",
    "<eltern>": "(?:eltern|mutter|vater|mama|papa|mutti|vati)",
    "<geschwister>": "(?:br[uü]der|schwestern?|geschwister|zwilling(?:s\\w+)?)",
    "<kind>": "(?:kind(?:er)?|sohn|söhne|t[oö]chter|baby|zwillinge|jüngste[rn]?|älteste[rn]?)",
    "<verwandte>": r"(?:oma|opa|gro(?:ß|ss)\w+|tante|onkel|cousine?|neffe|nichte|schwieger\w+|enkel\w*|familie)",
    "<ort>": r"(?:nach|in d(?:ie|en)|ans?|an d(?:ie|en)|zum|zur) (?-i:[A-ZÄÖÜ])\w+",
    "<tag>": "(?:mon|diens|donners|frei|sams|sonn)tag(?:s|abend|morgen)?|mittwochs?",
}
TOPICS: Final = {
    "diet": (
        """
        ernährung, ernährungsweise, ernährungsgewohnheiten, ernährungseinschränkungen,
        ernährungsvorlieben, diät, diätvorgaben, essen, essgewohnheiten, allergie, allergien,
        lebensmittelallergien, nahrungsmittelallergien, unverträglichkeit, unverträglichkeiten,
        lebensmittelunverträglichkeiten, was darf ich nicht essen, was kann ich nicht essen, was vertrage ich nicht,
        was esse ich nicht
        """,
        r"""
        allergi|unverträglich|intoleran|\bvertr(?:age|ägt)\b.{,30}\b(?:kein|nicht)|vegan|vegetari|gluten|la[ck]tose
        \b(?:esse|i(?:ß|ss)t)\b.{,15}\b(?:kein|nie\b|nicht)|zöliakie|\bhalal\b|\bkoscher|\bdiät\b|heuschnupfen
        """,
    ),
    "pets": (
        "haustier, haustiere, tier, tiere",
        r"""
        (?<!muskel)(?:hunde?[ns]?|katzen?|katers?|welpen?|hamster[ns]?|kaninchen|meerschweinchen|papagei(?:en)?)\b
        (?:sittiche?|schildkröten?|pferde?|ponys?|goldfische?|hühner|ziegen?|haustiere?|aquarium)\b
        """,
    ),
    "family": (
        "familie, familienmitglieder, familiensituation, verwandte, verwandtschaft, angehörige",
        "<unser>(?:<partner>|<eltern>|<geschwister>|<kind>|<verwandte>)\\b|verheiratet|geschieden|verwitwet",
    ),
    "children": (
        "kind, kinder, sohn, söhne, tochter, töchter, baby, zwillinge",
        r"""
        (?:<unser>|\bhaben? (?:einen?|zwei|drei|vier|\d) (?:\w+ )?)<kind>\b|\bkeine kinder|schwanger
        """,
    ),
    "dogs": ("hund, hunde", r"hunde?[ns]?\b|\bwelpen?\b"),
    "cats": ("katze, katzen, kater", r"(?<!muskel)(?:katzen?|katers?|kätzchen)\b"),
    "partner": (
        "mann, frau, ehemann, ehefrau, partner, partnerin, freundin, verlobte, beziehungsstatus, familienstand",
        r"<unser>(?:<partner>|ex)\b|\b(?:verheiratet|geschieden|verwitwet|single|verlobt|getrennt)\b",
    ),
    "parents": ("eltern, mutter, vater, mama, papa", r"<unser><eltern>\b"),
    "siblings": ("geschwister, bruder, brüder, schwester, schwestern", r"<unser><geschwister>\b"),
    "friends": (
        "freund, freunde, freundeskreis, beste freundin, bester freund",
        r"<unser>(?:freund\w*|kumpel|mitbewohner\w*)\b|\bfreund(?:in)? von mir\b",
    ),
    "location": (
        "wohnort, adresse, wohnadresse, stadt, heimat, heimatstadt, heimatort, standort, wohnsituation, wohnung",
        r"""
        (?-i:\b(?:wohnen?|lebe|leben|zogen?|ziehen?)\b)|umgezogen|<unser>(?:wohnung|haus|adresse)\b
        \bkommen? (?:ursprünglich )?aus\b|\bich bin\b.{,40}\baus (?-i:[A-ZÄÖÜ])
        """,
    ),
    "hobbies": (
        """
        hobby, hobbys, hobbies, interessen, hobbys und interessen, sport, freizeit, freizeitaktivitäten,
        freizeitbeschäftigungen, was mache ich gern, was mache ich gerne, was mache ich in meiner freizeit
        """,
        r"""
        (?-i:\b(?:spiele|sammle|stricke|male|zeichne|backe|klettere|tanze|singe|wandere|jogge|schwimme|surfe|segle)\b)
        (?-i:\b(?:lese|koche|fotografiere|nähe|bastle|angle|liebe)\b)|\bich mag\b|\bgerne?\b|leidenschaft|hobby
        (?:chor|verein|kurs|training|unterricht)s?\b
        """,
    ),
    "travel": (
        """
        reise, reisen, urlaub, urlaube, reisepläne, urlaubspläne, reiseziele, ferien, ferienpläne, ausflüge
        """,
        r"""
        <ort>.{,50}\b(?:fahren?|fliegen?|reisen?|geflogen|gefahren|gereist)\b|\b(?:fahren?|fliegen?|reisen?)\b.{,30}\b<ort>
        urlaub|\breise\b|\bflug\b|\bhotel|ferienhaus|camp(?:en|ing)|wohnmobil|gebucht|\bvisum
        """,
    ),
    "health": (
        """
        gesundheit, gesundheitszustand, gesundheitsprobleme, erkrankung, erkrankungen, vorerkrankungen, krankheit,
        krankheiten, medikament, medikamente, verletzung, verletzungen, beschwerden
        """,
        r"""
        allergi|asthma|diabet|migräne|schmerz|verletz|operation|operiert|arzt|ärzt|\bDr\b|insulin|therapie|medikament
        tablette|\d ?mg\b|diagnos|blutdruck|blutwert|schwanger|depress|\badhs|krebs|arthr|krankenhaus|fieber|\bkrank\b
        bandscheibe|verstaucht|gebrochen|zöliakie|heuschnupfen|erkältet
        """,
    ),
    "fears": (
        "angst, ängste, phobie, phobien, sorge, sorgen, wovor habe ich angst",
        r"\bangst\b|ängst|fürcht|phobie|panik|grusel|\bsorgen?\b",
    ),
    "goals": (
        """
        ziel, ziele, lebensziele, fitnessziele, sparziele, lernziele, karriereziele, vorsatz, vorsätze, wünsche
        """,
        r"""
        \bich (?:will|möchte|plane|hoffe|trainiere|spare)\b|\b(?:will|möchte|plane|würde) ich\b|\bziel\b|vorgenommen
        \btraum\b|träume
        """,
    ),
    "preferences": (
        "vorliebe, vorlieben, präferenzen, abneigungen, vorlieben und abneigungen, geschmack, lieblingssachen",
        r"(?-i:\b(?:mag|liebe|hasse|bevorzuge|bitte)\b)|\bliebsten?\b|lieblings|\bgerne?\b|\blieber\b",
    ),
    "communication": (
        "kommunikationsstil, antwortstil, antwortformat, schreibstil, tonfall, ansprache",
        r"""
        \b(?:kurze|knappe|lange|ausführliche|förmliche|lockere)n? (?:antwort|nachricht)|\bemojis?\b|stichpunkt
        \b(?:duzen?|siezen?|antworte|schreib)\b|\bbitte (?:keine?|nicht|immer|nie)\b
        """,
    ),
    "schedule": (
        """
        zeitplan, tagesablauf, wochenplan, stundenplan, arbeitszeit, arbeitszeiten, verfügbarkeit, routine, termine
        """,
        r"""
        \b(?:<tag>)s?\b|\bjede[nrs]? (?:tag|morgen|abend|woche)|\d ?uhr\b|(?:früh|spät|nacht)schicht|(?:teil|voll)zeit
        termin
        """,
    ),
    "vehicle": (
        "auto, autos, fahrzeug, fahrzeuge, wagen, pkw",
        r"\b(?:auto|wagen|transporter|motorrad|roller|fahrrad|e-?bike)s?\b",
    ),
    "education": (
        "ausbildung, bildung, studium, abschluss, schule, uni, universität, qualifikationen",
        r"""
        studier|studium|\buni\b|universit|hochschule|\babi(?:tur)?\b|\bschule\b|promovier|\bbachelor|\bmaster\b|prüfung
        ausbildung|\bgelernte[rn]?\b
        """,
    ),
    "projects": (
        "projekt, projekte, aufgabe, aufgaben, woran arbeite ich, woran arbeite ich gerade",
        r"projekt|\barbeite (?:gerade |zurzeit |derzeit )?an\b|(?-i:\b(?:baue|entwickle|schreibe|programmiere)\b)",
    ),
    "finances": (
        "finanzen, einkommen, gehalt, budget, finanzielle situation",
        r"budget|\bspare?n?\b|ersparnis|gehalt|einkommen|hypothek|miete|schulden|kredit|€|\beuro\b",
    ),
    "languages": (
        "sprache, sprachen, sprachkenntnisse, fremdsprachen",
        r"""
        \b(?:deutsch|englisch|französisch|italienisch|spanisch|portugiesisch|niederländisch|polnisch|russisch)\b
        \b(?:ukrainisch|türkisch|arabisch|chinesisch|japanisch|schwedisch|dänisch|griechisch|kroatisch|norwegisch)\b
        muttersprache|zweisprachig
        """,
    ),
    "profile": (
        "profil, angaben, daten, informationen, infos, informationen über mich, infos über mich, steckbrief",
        r"""
        (?-i:\b(?:wohne|lebe|arbeite|hei(?:ß|ss)e|komme)\b)|<unser>(?:name|geburtstag|beruf|job|<partner>|<kind>)\b
        \bich bin (?:(?-i:[A-ZÄÖÜ])|\d\d\b)
        """,
    ),
}
