"""Italian names of each topic, and phrases of those who tell of it. Pure."""

from __future__ import annotations

from typing import Final

BEFORE: Final = (
    r"(?:(?:qual|quali) (?:e|sono) |quali |che |(?:ho|abbiamo) |cosa sai (?:di|su|sui|sulle) )?"
    r"(?:(?:(?:il|la|i|le|lo|gli) )?(?:mi[oae]|miei|nostr[oaie]) |(?:il|lo|la|i|gli|le|una?) |l')?(?:prossim[oaie] )?"
)
AFTER: Final = (
    r"(?: (?:attual[ei]|previst[oaie]|personal[ei]))?(?: (?:ho|abbiamo))?(?: (?:dell'utente|d[ai]|dei|del(?:la)?))?"
)
INTRODUCTIONS: Final = {
    "name": "nome, nome completo, cognome, soprannome",
    "age": "età",
    "work": "lavoro, professione, mestiere, impiego, occupazione",
    "employer": "azienda, datore di lavoro, posto di lavoro",
}
PARTS: Final = {
    "<mio>": r"\b(?:mi[oae]|miei|nostr[oaie]) (?:\w+ )?",
    "<partner>": "(?:marito|moglie|compagn[oa]|ragazz[oa]|fidanzat[oa]|partner)",
    "<genitori>": "(?:genitori|madre|padre|mamma|papà|babbo)",
    "<fratelli>": "(?:fratell[oi]|sorell[ae]|gemell[oaie])",
    "<figli>": "(?:figli[oae]?|bambin[oaie]|neonat[oa])",
    "<parenti>": "(?:nonn[oaie]|zi[oae]|zii|cugin[oaie]|nipot[ei]|suocer[oaie]|cognat[oaie]|famiglia)",
    "<giorno>": "lunedì|martedì|mercoledì|giovedì|venerdì|sabato|domenica",
}
TOPICS: Final = {
    "diet": (
        """
        dieta, alimentazione, cibo, restrizioni alimentari, preferenze alimentari, abitudini alimentari, allergia,
        allergie, allergie alimentari, intolleranza, intolleranze, cosa non posso mangiare
        """,
        r"""
        allergi|intolleran|celiac|vegan|vegetarian|glutine|lattosio|\bhalal\b|\bkosher\b|\bdieta\b
        \bnon (?:(?:posso|può) (?:mangiare|bere)|mangio|mangia|bevo|beve|tollero|sopporto)\b
        """,
    ),
    "pets": (
        "animale, animali, animali domestici, animale domestico",
        r"""
        \b(?:can[ei]|cagn\w+|gatt[oaie]|gattin[oaie]|cucciol[oi]|conigli[oa]?|criceto|pappagallo|tartarug\w+|cavall[oi])\b
        \b(?:gallin[ae]|pesci?|acquario)\b
        """,
    ),
    "family": (
        "famiglia, familiari, membri della famiglia, situazione familiare, parenti",
        r"<mio>(?:<partner>|<genitori>|<fratelli>|<figli>|<parenti>)(?!\w)|\b(?:sposat|divorziat|vedov)[oa]\b",
    ),
    "children": (
        "figlio, figli, figlia, figlie, bambini",
        r"(?:<mio>|\b(?:ho|abbiamo) (?:una?|due|tre|quattro|\d) )<figli>\b|\bincinta\b",
    ),
    "dogs": ("cane, cani, cagnolino", r"\b(?:can[ei]|cagn\w+)\b"),
    "cats": ("gatto, gatti, gatta", r"\bgatt(?:in)?[oaie]\b"),
    "partner": (
        "marito, moglie, compagno, compagna, ragazzo, ragazza, fidanzato, fidanzata, partner, stato civile",
        r"<mio>(?:<partner>|ex)\b|\b(?:sposat|divorziat|vedov|separat|fidanzat)[oa]\b|\bsingle\b",
    ),
    "parents": ("genitori, madre, padre, mamma, papà", r"<mio><genitori>(?!\w)"),
    "siblings": ("fratelli, fratello, sorella, sorelle, fratelli e sorelle", r"<mio><fratelli>\b"),
    "friends": (
        "amico, amici, amica, amiche, migliore amico, migliore amica",
        r"<mio>amic(?:[oai]|he)\b|\bun'?a? ?amic[oa] mi[oa]\b",
    ),
    "location": (
        "città, paese, residenza, indirizzo, domicilio",
        r"\b(?:abito|abitiamo|vivo|viviamo|traslocat\w+|trasferit\w+)\b|<mio>(?:casa|appartamento|indirizzo)\b",
    ),
    "hobbies": (
        "hobby, passatempo, passatempi, interessi, sport, tempo libero",
        r"""
        \b(?:suono|canto|ballo|dipingo|disegno|colleziono|corro|nuoto|arrampico|gioco|cucino|leggo|faccio|pratico)\b
        \bmi (?:piace|piacciono)\b|\badoro\b|passione|\bhobby|\b(?:coro|club|corso|lezioni?|squadra|allenamento)\b
        """,
    ),
    "travel": (
        "viaggio, viaggi, piani di viaggio, programmi di viaggio, vacanze, vacanza, destinazioni",
        r"""
        \b(?:andare|andiamo|vado|andremo|voliamo|siamo stati|siamo andati|partiamo) (?:a|in|per|al|alle) (?-i:[A-Z])
        vacanz|\bviagg|\bhotel|albergo|prenotat|\bvolo\b|crociera|campeggio|\bvisto\b
        """,
    ),
    "health": (
        "salute, stato di salute, problemi di salute, malattia, malattie, farmaci, medicine, medicinali, infortuni",
        r"""
        allergi|asma|diabet|emicrania|\bdolor|\bmal di\b|\bfa male\b|infortun|operazion|operat|medic|\bDott|insulina
        terapia|pastigli|compress|\d ?mg\b|diagnos|pressione|incinta|depress|tumore|ospedale|febbre|malat[oa]|ernia
        celiac
        """,
    ),
    "fears": ("paura, paure, fobia, fobie, preoccupazioni", r"\bpaur[ae]\b|fobi|\bpanico|preoccup|\btem[oe]\b"),
    "goals": (
        "obiettivo, obiettivi, propositi, sogni, traguardi",
        r"\b(?:voglio|vorrei|spero|ho intenzione|mi alleno)\b|obiettiv|\bsogn",
    ),
    "preferences": (
        "preferenza, preferenze, gusti, preferiti",
        r"\b(?:preferisco|odio|detesto|adoro|per favore)\b|\bmi (?:piace|piacciono)\b|preferit",
    ),
    "schedule": (
        "orario, orari, orario di lavoro, agenda, routine, disponibilità, appuntamenti",
        r"\b(?:<giorno>)(?!\w)|\bogni (?:giorno|settimana)|\bturn[oi]\b|\balle \d|part-time|tempo pieno|appuntament",
    ),
    "vehicle": (
        "auto, macchina, macchine, veicolo, veicoli",
        r"\b(?:auto|macchin[ae]|furgone|moto|bici|biciclett[ae]|scooter)\b|\bguido\b",
    ),
    "education": (
        "istruzione, studi, formazione, università, laurea, titolo di studio",
        r"\bstudi|universit|laure|\bmaster\b|dottorato|\besam[ei]\b|\btesi\b|diploma|liceo",
    ),
    "projects": (
        "progetto, progetti, compito, compiti",
        r"progett|\blavor(?:o|ando) (?:a|su)\b|\b(?:scrivendo|sviluppando|costruendo|programmando)\b",
    ),
    "finances": (
        "finanze, reddito, stipendio, budget, situazione economica, risparmi",
        r"budget|risparmi|stipendio|reddito|mutuo|affitto|debit|prestito|€|\beuro\b",
    ),
    "languages": (
        "lingua, lingue, lingue parlate",
        r"\b(?:italiano|inglese|francese|tedesco|spagnolo|portoghese|russo|arabo|cinese|giapponese|bilingue|madrelingua)\b",
    ),
    "profile": (
        "profilo, dati, informazioni, informazioni su di me, dati su di me",
        r"""
        \b(?:mi chiamo|abito|vivo|lavoro)\b|<mio>(?:nome|compleanno|<partner>|<figli>)\b|\bho \d\d anni
        \bsono una? \w+
        """,
    ),
}
