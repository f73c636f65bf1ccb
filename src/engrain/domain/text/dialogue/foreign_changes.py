"""Phrases by which people say in German, Spanish, French, Italian, Portuguese and Dutch that something is otherwise.

As `KeyedPatterns` reads them, for texts in small letters: a letter with an accent parts two keys.
"""

from __future__ import annotations

from typing import Final

PHRASES: Final = r"""
    # German: "ab Januar steigt die Miete auf 690", "mein neuer Hausarzt", "kommt erst am Freitag"
    mehr: nicht\ mehr
    doch: doch\ (?:erst|nicht|lieber)
    erst: erst\ (?:am|im|um|ab|morgen|n\u00e4chste\w*)
    ab: ab\ (?:jetzt|sofort|heute|morgen|dem|diese[mnrs]?|n\u00e4chste[mnrs]?|\w+tag)
    ab: ab\ (?:januar|februar|m\u00e4rz|april|mai|juni|juli|august|(?:septem|okto|novem|dezem)ber)
    ndert: ge\u00e4ndert
    ndigt: gek\u00fcndigt
    gezogen: nach\ (?:\S+\ ){1,3}?gezogen
    erh: erh\u00f6ht
    verlegen verlegt verschieben verschiebt: (?:verleg|verschieb)(?:en|t)\ .{1,40}\ auf
    versp verz: versp\u00e4tet | verz\u00f6gert
    steigt sinkt stieg sank: (?:steigt|sinkt|stieg|sank)\b.{1,40}\b(?:auf|um)\ \d+
    gestiegen gesunken: (?:auf|um)\ \d.{1,30}\ ge(?:stiegen|sunken)
    rente: in\ rente
    neue neuer neues neuen neuem:
        (?:(?:,|und|aber)\ d(?:er|ie|as|en|em)|(?:[mds]?ein|ihr|unse?r)(?:e[mnrs]?)?)\ neue[mnrs]?
    # Spanish: "el alquiler sube a 760", "mi nueva médica", "al final", "se cambia al colegio"
    ya: ya\ no
    en: en\ (?:vez|lugar)\ de
    partir: a\ partir\ de | \u00e0\ partir
    cambi: cambi\u00f3
    cambia: se\ cambia | cambia\ (?:de|al?)
    mudado mud: [ms]e\ (?:h[ea]\ mudado|mud[\u00e9\u00f3])
    sube subi subido baja baj bajado aumenta aument aumentado:
        (?:sub(?:e|i\u00f3|ido)|baj(?:a|\u00f3|ado)|aument(?:a|\u00f3|ado))\ (?:\S+\ ){0,2}?a\ \d+
    pasa pasan: pasan?\ (?:al?|a\ la)\ (?:\S+\ )?\S*\d+
    retrasa retrasan: se\ retrasan?
    jubil jubilado jubilada: se\ (?:jubil\u00f3|ha\ jubilado)
    vend: vend\u00ed
    final finalmente: al\ final(?!\ de)
    nuevo nueva nuevos nuevas: (?:mis?|tus?|sus?|(?:,|y)\ (?:el|las?|los)|una?|nuestr[oa]s?)\ nuev[oa]s?
    # French: "le loyer passe à 690", "le dentiste a reporté", "ma nouvelle cheffe", "il n'y va plus"
    sormais: d\u00e9sormais
    lieu: au\ lieu
    nag: d\u00e9m\u00e9nag\u00e9\w*
    chang: chang\u00e9
    change+d change+de: change\ d(?:e\ |['\u2019])\w+
    plus: n(?:e\ |['\u2019])\S+(?:\ \S+)?\ plus
    passe passent passera passer: pass(?:e|ent|era|er)\ (?:\S+\ ){0,2}?\u00e0\ \d+ | passe\ en\ \w*\d
    augmente augment augmentera baisse baiss baissera:
        (?:augment|baiss)(?:e|\u00e9|era)\ (?:\S+\ ){0,2}?(?:\u00e0|de)\ \d+
    report repouss annul retard remplac: (?:report|repouss|annul|retard|remplac)\u00e9e?s?
    retard: du\ retard
    cal plac: d\u00e9(?:cal|plac)\u00e9e?s?
    trouv: trouv\u00e9\ (?:une?|du)\ (?:poste|travail|emploi|appart\w*|logement)
    retraite: \u00e0\ la\ retraite | sa\ retraite
    nouveau nouvel nouvelle nouveaux nouvelles:
        (?:[mts](?:on|a|es)|notre|nos|(?:,|et)\ l[ea]s?|une?)\ nouve(?:aux?|l|lles?)
    # Italian: "l'affitto sale a 650", "la palestra ora costa", "il mio nuovo medico"
    non: non\ (?:\S+\ ){0,2}?pi\u00f9
    ora: d['\u2019]ora\ in\ poi
    ora: (?<!['\u2019])(?<!che\ )(?<!ogni\ )(?<!qualche\ )ora(?=\ )(?!\ (?:di|del\w*|e|prima|dopo|fa)\b)
    da: da\ (?:quest[oa]|oggi|domani|prossim[oa])
    sale sal salito salita scende sceso scesa aumentata:
        (?:sale|sal\u00ec|salit[oa]|scende|sces[oa]|aumentata)\ (?:\S+\ ){0,2}?a\ \d+
    passati passato passata: passat[oai]\ ad?\ (?!\w+(?:are|ere|ire|armi|irmi|armi)\b)
    trasferita trasferite: trasferit[ae]
    ritardo pensione: in\ (?:ritardo|pensione)
    fine: alla\ fine(?!\ d)
    nuovo nuova nuovi nuove: (?:mi[aeo]|miei|su[aeo]|suoi|nostr[aeio]|(?:,|e)\ (?:il|la|le|i)|una?)\ nuov[aeio]
    # Portuguese: "o aluguel subiu para 980", "reformou-se", "a nova chefe"
    j: j\u00e1\ n\u00e3o
    mais: n\u00e3o\ (?:\S+\ ){1,3}?mais
    em: em\ vez
    subiu desceu baixou aumentou: (?:subiu|desceu|baixou|aumentou)\ (?:\S+\ ){0,2}?para
    mud: mud\u00e1mos
    reformou aposentou atrasou: (?:reformou|aposentou|atrasou)(?:-se)?
    novo nova novos novas: (?:meus?|minhas?|teus?|tuas?|seus?|suas?|noss[oa]s?|(?:,|e)\ [oa]s?|uma?)\ nov[oa]s?
    # Dutch: "de huur gaat omhoog naar 890", "mijn nieuwe huisarts", "vanaf deze week"
    niet geen: (?:niet|geen)\ (?:\S+\ ){0,2}?meer
    plaats: in\ plaats
    omhoog omlaag: ga(?:at|an)\ (?:om)(?:hoog|laag)
    stijgt daalt: (?:stijgt|daalt)\ naar
    vanaf: vanaf\ (?:nu|vandaag|morgen|deze|volgende|komende)
    toch: toch\ (?:in|op|bij|niet|pas|maar|liever)
    pensioen: met\ pensioen
    nieuw nieuwe: (?:mijn|onze?|ons|jouw|je|zijn|haar|hun|(?:,|en)\ (?:de|het)|een)\ nieuwe?
"""
WORDS: Final = """
    jetzt inzwischen statt anstatt stattdessen umgezogen verschoben verschiebt gewechselt wechselt abgesagt verlegt
    storniert umgestellt umgestiegen ersetzt
    ahora cambiado cambiamos aplazado aplazada pospuesto cancelado cancelada retrasado sustituido vendido finalmente
    maintenant finalement vendu
    adesso invece trasferito trasferiti cambiato spostato spostata rimandato rimandata rinviato rinviata annullato
    posticipato sostituito
    agora mudei mudou mudamos adiado adiada adiou afinal vendi vendeu
    nu voortaan verhuisd verzet verplaatst uitgesteld afgezegd geannuleerd vertraagd vervangen overgestapt opgezegd
    verkocht
"""
