"""Phrases by which people say what is true of them, or ask to forget something: a table for each language. Pure data.

A phrase is a pattern of a whole sentence: VALUE is what is said, THING what somebody has, WHOM whom it is about, `~` a
word for now. A value ends before the words of `after`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from engrain.domain.text.languages import ENGLISH, MONTHS, WEEKDAYS, list_names

if TYPE_CHECKING:
    from collections.abc import Mapping

_WEEKDAYS: Final = "|".join(list_names(WEEKDAYS))
DAYS: Final = rf"(?:{_WEEKDAYS}|{'|'.join(list_names(MONTHS))})"
# Days that are others tomorrow, in every language; a habit ("on Fridays") and a date are none.
PASSING: Final = (
    r"(?:today|tonight|tomorrow|this (?:morning|afternoon|evening|week|weekend|month)|next (?:week|weekend|month)"
    rf"|(?:on|this|next|am|diesen|nächsten|el|este|ce|questo|na|op|deze|volgende) (?:{_WEEKDAYS})"
    r"|in (?:an?|\d+|two|three|a few) (?:minute|hour|day|week|month)s?"
    r"|heute|morgen|übermorgen|hoy|mañana|aujourd'hui|demain|oggi|domani|hoje|amanhã|vandaag)"
)


class Phrases(NamedTuple):
    """Phrases of a language: patterns, all in small letters; those of a fact go by its predicate."""

    openings: str  # words before a statement that add nothing to it
    corrections: str  # others, which say that something else was wrong
    requests: str  # before a statement that is to be remembered
    facts: Mapping[str, str]  # of the speaker, by predicate
    moves: str  # of the speaker
    moves_of_others: str
    things: str  # somebody has one of: "my THING is VALUE"
    names: str  # predicates, each with the words for it
    after: str  # words at which a value ends
    times: str  # words at which a place ends, too
    forget: str  # a request to forget, with its rest
    last_said: str  # the rest of one about what was said last
    all_known: str  # the rest of one about everything
    about: str  # the rest of one about a topic; "own" matches where it is about what the speaker said


_AGE: Final = r"(?P<value>[1-9]\d|1[01]\d)"
# Who "is a smoker" has no work of that name, so these alone are told without "work as".
_OCCUPATIONS_EN: Final = (
    "(?:nurse|teacher|engineer|developer|programmer|designer|architect|lawyer|solicitor|doctor|surgeon|dentist|vet"
    "|pharmacist|paramedic|midwife|therapist|psychologist|physiotherapist|accountant|consultant|analyst|scientist"
    "|researcher|professor|lecturer|librarian|journalist|editor|translator|photographer|electrician|plumber|carpenter"
    "|mechanic|welder|gardener|farmer|baker|butcher|chef|cook|waiter|waitress|barista|hairdresser|cleaner|driver|pilot"
    "|firefighter|police officer|postman|cashier|receptionist|secretary|social worker|project manager|product manager"
    "|sysadmin|data scientist|software tester|goldsmith|tailor|potter|luthier)"
)
_GRADES_EN: Final = (
    "senior|junior|lead|head|chief|staff|retired|freelance|part-time|full-time|registered|primary|secondary|high|school"
    "|maths?|music|english|software|web|backend|front-?end|full-stack|data|mechanical|civil|electrical|graphic|product"
    "|family|tax|truck|bus|taxi|pastry|private|night|veterinary|theatre"
)
_DIETS_EN: Final = "vegetarian|vegan|pescatarian|flexitarian|omnivore|lactose[- ]intolerant|gluten[- ]free|kosher|halal"

PHRASES: Final[Mapping[str, Phrases]] = {
    ENGLISH: Phrases(
        openings="well|oh|from now on|by the way|btw|fyi|to be exact|hi|hello|hey|ok|okay|yes",
        corrections="actually|correction|no|sorry|i mean|wrong|that's (?:wrong|not right|not true)",
        requests=r"(?:please )?(?:(?:remember|keep in mind|don't forget)(?: that|:)?|fact(?: that|:))",
        facts={
            "live in": "i ~(?:live|am living|reside) in VALUE; i'm ~living in VALUE",
            "live at": "i ~live at VALUE",
            "work at": "i ~work at VALUE; (?:i'm|i am) ~working at VALUE; i(?:'ve| have)?(?: just| recently| now)*"
            " (?:got|gotten|taken|took|landed|started) (?:a|my) (?:new )?job (?:at|with) VALUE",
            "work for": "i ~work for VALUE",
            "work as": f"i ~work as VALUE; (?:i'm|i am) ~(?P<value>an? (?:(?:{_GRADES_EN}) )*{_OCCUPATIONS_EN}"
            r"(?: (?:at|in|for|with|now|since|but|and)\b.*)?)",
            "name": "i(?: am|'m) (?:called|named) VALUE; my name's VALUE",
            "nickname": "(?:please |just )*call me VALUE",
            "age": rf"(?:i'm|i am) ~{_AGE}(?: years old| years of age)?",
            "birthday": r"(?:my birthday's|i was born on) (?P<value>(?=.*\d).+)",
            "diet": rf"(?:i am|i'm)(?: now| actually| a| an| strictly)* (?P<value>(?:(?:not|no longer) )?(?:a )?"
            rf"(?:strictly )?(?:{_DIETS_EN})(?: now| any ?more| again| since .+)?)",
        },
        moves=r"(?:i|we)(?: have|'ve)?(?: just| recently| now)? (?:moved|relocated)(?: from [\w' -]{1,40}?)?"
        "(?: back)? to VALUE",
        moves_of_others=r"WHOM (?:has |have )?(?:just |recently |now )?(?:moved|relocated)(?: from [\w' -]{1,40}?)?"
        "(?: back)? to VALUE",
        things="(?:my|our)(?: new| right)? THING (?:is|are)(?: called| named)? ~VALUE",
        names="",
        after=r"not|but|because|btw|by the way|though|with (?:one|two)|and (?:I|i|my|we|our|he|she|they|is|has|works"
        r"|lives)|since|now|these days|nowadays|at the moment",
        times=r"last|this|next|yesterday|today|recently|and(?! [A-Z]\w+$)|with|for|a (?:week|month|year|few)|ago"
        r"|(?:on|in|at) (?:the (?:spring|summer|autumn|winter)|\d{4})",
        forget=r"(?:forget|(?:scratch|strike|ignore|disregard)(?= (?:that|this|it|what i|(?:my|the) last)\b)|(?:delete"
        r"|erase|remove|drop|wipe|clear)(?=.*\b(?:from (?:your |the )?memory|you (?:know|remember)|i (?:just )?(?:said"
        r"|told|mentioned)|(?:everything|all) (?:that )?you have (?:on|about|of)"
        r"|all (?:of )?my (?:personal )?(?:data|memories)|my last (?:message|words))\b)"
        r"|(?:don't|do not) (?:remember|memori[sz]e)(?= (?:this|that|it)$)"
        r"|stop remembering)\b(?P<rest>.*)",
        last_said=r"(?:about )?(?:that|this|it|the last (?:thing|message)|my last (?:message|words)|(?:what|the"
        r" (?:last )?(?:thing|message)s?)(?: that)?(?: i)?(?: have)?(?: just)? (?:said|told you|wrote))(?: again)?"
        r"(?:,? (?:and )?(?:please |just )?forget (?:it|that))?",
        all_known=r"(?:everything|all)(?:,? (?:that )?(?:you (?:know|remember|have)|i (?:have )?(?:said|told you)))?"
        r"(?: (?:about|of|on) me)?|all (?:of )?my (?:personal )?(?:data|memories)",
        about=r"(?:(?:what|all|everything|anything|whatever|the (?:thing|part|bit|story|message)s?"
        r"|(?:all )?(?:of )?(?:my|your|the) memor(?:y|ies))"
        r"(?:(?: that)? (?:(?P<own>i|we)|you|he|she|they)(?: have|'ve|ever| just)* (?:\w+)(?: (?:to )?(?:you|me))?)? )?"
        r"(?:about|of|on|regarding|concerning|with) (?P<topic>.+)",
    ),
    "german": Phrases(
        openings="übrigens|ach|also|hallo|hi|ja|ok|jetzt|nun",
        corrections="eigentlich|nein|doch|korrektur|entschuldigung|ich meine|falsch|das stimmt nicht",
        requests="(?:bitte )?(?:merk(?:e)? dir|notier(?:e)?|denk daran)(?: bitte)?:?",
        facts={
            "live in": "ich ~(?:wohne|lebe) ~in VALUE; (?:wohne|lebe) ich ~in VALUE",
            "work for": "ich ~arbeite ~(?:bei|für) VALUE; arbeite ich ~(?:bei|für) VALUE",
            "work as": "ich ~arbeite ~als VALUE; arbeite ich ~als VALUE",
            "name": "ich hei(?:ß|ss)e ~VALUE; hei(?:ß|ss)e ich ~VALUE",
            "nickname": "(?:bitte )?nenn(?:e|t)? mich (?:bitte |einfach )*VALUE",
            "age": rf"(?:ich bin|bin ich) ~{_AGE}(?: jahre alt)?",
            "birthday": r"(?:ich habe am|am) (?P<value>(?=.*\d).+?)(?: habe ich)? geburtstag",
            "diet": "(?:ich bin|bin ich) ~(?P<value>(?:(?:kein|keine|nicht mehr) )?(?:vegetarier(?:in)?|vegetarisch"
            "|veganer(?:in)?|vegan|pescetarier(?:in)?|laktoseintolerant)(?: mehr)?)",
        },
        moves=r"(?:ich bin|bin ich|wir sind|sind wir)(?: [^,]{1,30}?)? nach VALUE (?:um)?gezogen",
        moves_of_others="WHOM (?:ist|sind)(?: gerade| jetzt| neulich)? nach VALUE (?:um)?gezogen",
        things="(?:mein|meine|unser|unsere)(?: neue[rs]?)? THING (?:ist|sind|lautet|hei(?:ß|ss)t) ~(?:am |der |die "
        "|das )?VALUE",
        names="name: name; phone number: telefonnummer, handynummer, nummer; address: adresse; birthday: geburtstag; "
        "email: e-mail, email, mail, mail-adresse, e-mail-adresse; manager: chef, chefin; spouse: frau, mann; partner: "
        "freundin, freund, partnerin, partner; doctor: ärztin, arzt, hausarzt, hausärztin; dentist: zahnarzt, "
        "zahnärztin; sister: schwester; brother: bruder; son: sohn; daughter: tochter; cat: katze, kater; dog: hund, "
        "hündin; mother: mutter; father: vater; favourite colour: lieblingsfarbe; favourite food: lieblingsessen",
        after="nicht|sondern|aber|weil|ohne|mit (?:einem|zwei)|und (?:ich|meine?|wir|unsere?|er|sie|ist|hat)|seit"
        "|jetzt|übrigens",
        times="und|mit|letzte[nsr]?|gestern|heute|vor",
        forget=r"(?:vergiss|vergessen sie|streich(?:e)?(?= (?:das|es|was))|l[öo]sch(?:e|en sie)?"
        r"(?=.*\b(?:alles(?: (?:über|zu)|,? was)|ged[äa]chtnis)\b))(?!,? nicht\b)(?P<rest>.*)",
        last_said=r"(?:das|dies|es|das letzte|das eben|was ich (?:dir )?(?:gerade|eben|zuletzt)?(?: dir)? ?(?:gesagt"
        r"|erzählt|geschrieben) habe)(?: wieder| bitte)*",
        all_known=r"alles(?:,? was (?:du|ihr|sie)(?: (?!(?:über|von|zu|wegen)\b)\w+){0,4}?(?: (?:über mich|von mir))?"
        r" (?:wei(?:ß|ss)t|wissen|haben?|hast))?"
        r"(?: (?:über|von) (?:mich|mir))?",
        about=r"(?:das|alles)?,? ?(?P<own>was (?:ich|wir)(?: dir| euch| ihnen)?(?: gerade| eben)?|) ?(?:was )?"
        r"(?:(?:du|ihr|sie)(?: so| alles| noch)* )?(?:über|von|zu|wegen) (?P<topic>.+?)"
        r"(?: (?:gesagt|erzählt|geschrieben|wei(?:ß|ss)t|wisst|wissen|habe|hast|haben))*",
    ),
    "spanish": Phrases(
        openings="bueno|por cierto|hola|ahora|sí",
        corrections="en realidad|corrección|perdón|no|quiero decir",
        requests="(?:por favor,? )?(?:recuerda|apunta|anota)(?: que|:)",
        facts={
            "live in": "(?:yo )?~vivo ~en VALUE",
            "work for": "(?:yo )?~trabajo ~(?:para|en) VALUE",
            "work as": "(?:yo )?~trabajo ~(?:como|de) VALUE",
            "name": "(?:yo )?me llamo VALUE",
            "nickname": "(?:por favor,? )?ll[áa]mame VALUE",
            "age": rf"(?:yo )?~tengo {_AGE} años",
            "diet": "(?:yo )?~soy ~(?P<value>vegetarian[oa]|vegan[oa]|celíac[oa])",
        },
        moves=r"(?:me he mudado|me mudé|nos hemos mudado|nos mudamos)(?: [^,]{1,30}?)? a VALUE",
        moves_of_others="WHOM (?:se ha mudado|se mudó) a VALUE",
        things="(?:mi|nuestro|nuestra)(?: nuev[oa])? THING(?: nuev[oa])? (?:es|se llama) ~(?:el |la |los |las )?VALUE",
        names="name: nombre; phone number: número de teléfono, teléfono, móvil; address: dirección; birthday: "
        "cumpleaños; sister: hermana; brother: hermano; son: hijo; daughter: hija; mother: madre; father: padre; "
        "email: correo, correo electrónico, email; manager: jefe, jefa; spouse: mujer, esposa, marido, esposo; "
        "partner: novia, novio, pareja; doctor: médico, médica; dentist: dentista; cat: gato, gata; dog: perro, "
        "perra; favourite colour: color favorito, color preferido; favourite food: comida favorita, plato favorito",
        after="no|pero|porque|sin|y (?:yo|mi|mis|vivo|trabajo|me|es|tiene)|desde|ahora",
        times="y|con|hoy|ayer|la semana|el (?:mes|año)|hace|en",
        forget=r"(?:olv[ií]d[ae]|borra de tu memoria|(?:borra|elimina)(?= todo lo que (?:sabes|te)\b))"
        r"(?P<rest>(?:lo\b)?.*)",
        last_said=r"(?:eso|esto|lo|lo que (?:te )?(?:acabo de decir(?:te)?|he dicho|dije))",
        all_known="todo(?: lo que sabes(?: (?:de|sobre) m[ií])?)?",
        about=r"(?:todo )?(?:lo )?(?P<own>que (?:te )?(?:dije|he dicho|conté|he contado) |)(?:que sabes )?"
        r"(?:sobre|de|acerca de) (?P<topic>.+)",
    ),
    "french": Phrases(
        openings="oui|au fait|bonjour|salut|maintenant",
        corrections="en fait|correction|pardon|non|je veux dire",
        requests=r"(?:s'il te plaît,? )?(?:retiens|souviens-toi|note|rappelle-toi)(?: que|:)",
        facts={
            "live in": "(?:j'habite|je vis|je ~habite) ~(?:à|en|au|aux|dans) VALUE",
            "work for": "je ~travaille ~(?:chez|pour) VALUE",
            "work as": "je ~travaille ~comme VALUE",
            "name": "je m'appelle VALUE",
            "nickname": "(?:s'il te plaît,? )?appelle[sz]?-moi VALUE",
            "age": rf"j'ai ~{_AGE} ans",
            "diet": "je suis ~(?:devenue? )?(?P<value>végétarien(?:ne)?|végane?|vegan)",
        },
        moves=r"(?:j'ai déménagé|nous avons déménagé|on a déménagé|je me suis installée?)(?: [^,]{1,30}?)?"
        r" (?:à|en|au) VALUE",
        moves_of_others="WHOM (?:a déménagé|s'est installée?) (?:à|en|au) VALUE",
        things="(?:mon|ma|notre)(?: nouve(?:au|lle|l))? THING (?:est|s'appelle) ~(?:le |la |les |l')?VALUE",
        names="name: nom, prénom; phone number: numéro de téléphone, numéro; address: adresse; birthday: anniversaire; "
        "sister: sœur; brother: frère; son: fils; daughter: fille; mother: mère; father: père; manager: chef, cheffe, "
        "patron, patronne; spouse: femme, mari; partner: copine, copain, compagne, compagnon; doctor: médecin; "
        "dentist: dentiste; email: email, e-mail, adresse mail, adresse e-mail; cat: chat, chatte; dog: chien, "
        "chienne; favourite colour: couleur préférée; favourite food: plat préféré",
        after="pas|mais|parce|sans|et (?:je|j|mon|ma|mes|il|elle|a|est)|depuis|maintenant",
        times="et|avec|hier|la semaine|le mois|l'année|il y a|en",
        forget=r"(?:oublie|oubliez|(?:efface|supprime)(?= tout ce que (?:tu|je|j')))(?! pas\b)(?P<rest>.*)",
        last_said=r"(?:ça|cela|-le|ce que (?:je viens de (?:te |vous )?dire|j'ai dit|je t'ai dit))",
        all_known="tout(?: ce que tu sais(?: (?:de|sur) moi)?)?",
        about=r"(?:tout )?(?P<own>ce que (?:j'ai|je t'ai|je vous ai) (?:dit|raconté) |)(?:ce que tu sais )?"
        r"(?:sur|de|à propos de) (?P<topic>.+)",
    ),
    "italian": Phrases(
        openings="sì|a proposito|ciao|adesso|ora",
        corrections="in realtà|correzione|scusa|no|volevo dire",
        requests="(?:per favore,? )?(?:ricorda|ricordati|annota)(?: che|:)",
        facts={
            "live in": "(?:io )?~(?:abito|vivo) ~(?:a|ad|in) VALUE",
            "work for": "(?:io )?~lavoro ~(?:per|da|presso|alla) VALUE",
            "work as": "(?:io )?~lavoro ~come VALUE",
            "name": "(?:io )?mi chiamo VALUE",
            "nickname": "(?:per favore,? )?chiamami VALUE",
            "age": rf"(?:io )?~ho {_AGE} anni",
            "diet": "(?:io )?~sono ~(?P<value>vegetarian[oa]|vegan[oa]|celiac[oa])",
        },
        moves=r"(?:mi sono trasferit[oa]|ci siamo trasferiti)(?: [^,]{1,30}?)? (?:a|ad|in) VALUE",
        moves_of_others="WHOM si è trasferit[oa] (?:a|ad|in) VALUE",
        things="(?:il |la |l')?(?:mio|mia|nostro|nostra)(?: nuov[oa])? THING (?:è|si chiama) ~(?:il |lo |la |l'|i "
        "|le )?VALUE",
        names="name: nome; phone number: numero di telefono, telefono; address: indirizzo; birthday: compleanno; "
        "sister: sorella; brother: fratello; son: figlio; daughter: figlia; mother: madre; father: padre; "
        "manager: capo; spouse: moglie, marito; partner: ragazza, ragazzo, fidanzata, fidanzato, compagna, compagno; "
        "doctor: medico, dottore; dentist: dentista; email: email, e-mail, mail; cat: gatto, gatta; dog: cane, "
        "cagnolino; favourite colour: colore preferito; favourite food: piatto preferito, cibo preferito",
        after="non|ma|perché|senza|e (?:io|il|la|mi|abito|lavoro|ha|è)|da (?:un|una|ieri)|adesso|ora",
        times="e|con|ieri|la settimana|il mese|nel",
        forget=r"(?:dimentica|scorda|cancella(?= tutto quello che\b))(?P<rest>(?:lo\b)?.*)",
        last_said=r"(?:questo|quello|ciò|lo|(?:quello|ciò) che (?:ti )?ho (?:appena )?detto)",
        all_known="tutto(?: quello che sai(?: (?:di|su) me)?)?",
        about=r"(?:tutto )?(?P<own>(?:quello|ciò) che (?:ti )?ho (?:detto|raccontato) |)(?:quello che sai )?"
        r"(?:sul|sulla|su|di|del|della|riguardo a) (?P<topic>.+)",
    ),
    "portuguese": Phrases(
        openings="sim|a propósito|olá|oi|agora",
        corrections="na verdade|correção|desculpe?|não|aliás|quero dizer",
        requests="(?:por favor,? )?(?:lembra-te|lembra|lembre-se|lembre|anota|anote)(?: que| de que|:)",
        facts={
            "live in": "(?:eu )?~(?:moro|vivo) ~(?:em|no|na) VALUE",
            "work for": "(?:eu )?~trabalho ~(?:para|na|no|em) VALUE",
            "work as": "(?:eu )?~trabalho ~como VALUE",
            "name": "(?:eu )?(?:me chamo|chamo-me) VALUE",
            "nickname": "(?:por favor,? )?(?:chama-me|me chama(?: de)?|me chame(?: de)?) VALUE",
            "age": rf"(?:eu )?~tenho {_AGE} anos",
            "diet": "(?:eu )?~sou ~(?P<value>vegetarian[oa]|vegan[oa]|celíac[oa])",
        },
        moves=r"(?:eu )?(?:me mudei|mudei-me|mudei|nos mudamos|mudámo-nos)(?: [^,]{1,30}?)? (?:para|pra) VALUE",
        moves_of_others="WHOM (?:se mudou|mudou-se|mudou) (?:para|pra) VALUE",
        things="(?:o |a )?(?:meu|minha|nosso|nossa)(?: nov[oa])? THING(?: nov[oa])? (?:é|se chama|chama-se) ~(?:o |a "
        "|os |as )?VALUE",
        names="name: nome; phone number: número de telefone, telefone, telemóvel; address: endereço, morada; birthday: "
        "aniversário; sister: irmã; brother: irmão; son: filho; daughter: filha; mother: mãe; father: pai; "
        "manager: chefe; spouse: mulher, esposa, marido, esposo; partner: namorada, namorado, companheira, "
        "companheiro; doctor: médico, médica; dentist: dentista; email: email, e-mail; cat: gato, gata; dog: cão, "
        "cadela, cachorro; favourite colour: cor favorita, cor preferida; favourite food: comida favorita, prato "
        "favorito",
        after="não|mas|porque|sem|e (?:eu|meu|minha|moro|trabalho|tem|é)|desde|agora",
        times="e|com|hoje|ontem|na semana|no (?:mês|ano)|há|em",
        forget=r"(?:esquece|esqueça|esqueces|apaga(?= tudo o que\b))(?P<rest>.*)",
        last_said=r"(?:isso|isto|-o|o que (?:eu )?(?:te )?(?:acabei de (?:te )?dizer|disse))",
        all_known="tudo(?: o que sabes?(?: (?:de|sobre) mim)?)?",
        about=r"(?:tudo )?(?:o )?(?P<own>que (?:eu )?(?:te )?(?:disse|contei) |)(?:que sabes? )?"
        r"(?:sobre|de|do|da|acerca de) (?P<topic>.+)",
    ),
    "dutch": Phrases(
        openings="ja|oh|trouwens|hoi|hallo|nu",
        corrections="eigenlijk|nee|sorry|correctie|ik bedoel|dat klopt niet",
        requests="(?:alsjeblieft )?(?:onthoud|noteer)(?: alsjeblieft)?(?: dat|:)?",
        facts={
            "live in": "ik ~woon ~in VALUE; woon ik ~in VALUE",
            "work for": "ik ~werk ~(?:bij|voor) VALUE; werk ik ~(?:bij|voor) VALUE",
            "work as": "ik ~werk ~als VALUE; werk ik ~als VALUE",
            "name": "ik heet ~VALUE",
            "nickname": "(?:alsjeblieft )?noem (?:mij|me) (?:maar )?VALUE",
            "age": rf"(?:ik ben|ben ik) ~{_AGE}(?: jaar(?: oud)?)?",
            "birthday": r"ik ben (?:jarig|geboren) op (?P<value>(?=.*\d).+)",
            "diet": "ik ben ~(?P<value>(?:een )?(?:vegetari[eë]r|vegetarisch|veganist(?:isch)?))",
        },
        moves=r"(?:ik ben|we zijn|wij zijn)(?: [^,]{1,30}?)? naar VALUE verhuisd",
        moves_of_others="WHOM (?:is|zijn)(?: net| nu| pas)? naar VALUE verhuisd",
        things="(?:mijn|m'n|onze|ons)(?: nieuwe?)? THING (?:is|heet) ~(?:op |de |het )?VALUE",
        names="name: naam; phone number: telefoonnummer, nummer, 06-nummer; address: adres; birthday: verjaardag; "
        "email: e-mail, email, mail, e-mailadres, mailadres; manager: baas, leidinggevende; spouse: vrouw, man; "
        "partner: vriendin, vriend, partner; doctor: huisarts, arts, dokter; dentist: tandarts; sister: zus; "
        "brother: broer; son: zoon; daughter: dochter; cat: kat, poes; dog: hond; mother: moeder; father: vader; "
        "favourite colour: lievelingskleur; favourite food: lievelingseten",
        after="niet|maar|omdat|want|zonder|met (?:een|twee)|en (?:ik|mijn|we|onze?|hij|zij|is|heeft)|sinds|nu|trouwens",
        times="en|met|vorige?|gisteren|vandaag",
        forget=r"(?:vergeet|wis(?= (?:dat|alles)\b)|verwijder(?= alles wat\b))(?!,? niet\b)(?P<rest>.*)",
        last_said=r"(?:dat|dit|het|het laatste|wat ik (?:je |jou )?(?:net |zojuist )?(?:zei|vertelde|gezegd heb|heb "
        r"gezegd|heb verteld|verteld heb))(?: maar| weer)*",
        all_known=r"alles(?:,? wat je(?: (?:over|van) (?:mij|me))? (?:weet|hebt))?(?: (?:over|van) (?:mij|me))?",
        about=r"(?:alles )?(?P<own>wat ik (?:je |jou )?(?:net |zojuist |heb )*|)(?:wat je )?(?:over|van) (?P<topic>.+?)"
        r"(?: (?:weet|zei|vertelde|gezegd|verteld|heb|hebt))*",
    ),
}
