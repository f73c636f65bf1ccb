"""French names of each topic, and phrases of those who tell of it. Pure."""

from __future__ import annotations

from typing import Final

BEFORE: Final = (
    r"(?:quel(?:le)?s? (?:est|sont) |quel(?:le)?s? |(?:ai-je|avons-nous|est-ce que j'ai|est-ce qu'on a) "
    r"|que sais-tu (?:de|sur) )?(?:(?:mon|ma|mes|notre|nos|le|la|les|une?|des) |l')?(?:(?:prochaine?s?|autres?) )?"
)
AFTER: Final = (
    r"(?: (?:actuel(?:le)?s?|connue?s?|prevue?s?|personnel(?:le)?s?))?(?: (?:ai-je|avons-nous|j'ai|on a))?"
    r"(?: (?:de l'utilisat(?:eur|rice)|de|d'))?"
)
INTRODUCTIONS: Final = {
    "name": "nom, prénom, nom complet, surnom",
    "age": "âge",
    "work": "métier, profession, travail, emploi, poste, boulot",
    "employer": "employeur, entreprise, lieu de travail",
}
PARTS: Final = {
    "<'>": "['\u2019]",
    "<mon>": r"\b(?:mon|ma|mes|notre|nos) (?:\w+ )?",
    "<conjoint>": "(?:mari|femme|épou(?:x|se)|conjointe?|compagn(?:on|e)|copine?|copain|fiancée?)",
    "<parents>": "(?:parents?|mère|père|maman|papa)",
    "<fratrie>": "(?:frères?|s(?:œ|oe)urs?|jum(?:eau|elle)x?)",
    "<enfants>": "(?:enfants?|fils|filles?|bébé|jumeaux|cadette?|aînée?)",
    "<proches>": "(?:grand-?\\w+|tante|oncle|cousine?s?|neveux?|nièces?|beau-\\w+|belle-\\w+|famille)",
    "<jour>": "(?:lun|mar|mercre|jeu|vendre|same)dis?|dimanches?",
}
TOPICS: Final = {
    "diet": (
        """
        régime, régime alimentaire, alimentation, restrictions alimentaires, préférences alimentaires,
        habitudes alimentaires, allergie, allergies, allergies alimentaires, intolérance, intolérances,
        qu'est-ce que je ne mange pas, qu'est-ce que je ne peux pas manger
        """,
        r"""
        allergi|intol[eé]ran|cœliaque|coeliaque|vég[aeé]|végan|gluten|lactose|\bhalal\b|\bcasher\b|\brégime\b
        \bne (?:mange|supporte|digère|bois|boit)\w* (?:pas|plus|jamais)\b|\bne peu[xt] (?:pas|plus) (?:manger|boire)\b
        """,
    ),
    "pets": (
        "animal, animaux, animal de compagnie, animaux de compagnie, animaux domestiques",
        r"""
        \b(?:chien|chienne|chat|chatte|chaton|chiot|lapin|hamster|perroquet|perruche|tortue|cheval|poney|poule)s?\b
        \b(?:poissons? rouges?|cochons? d<'>inde|chevaux|aquarium)\b
        """,
    ),
    "family": (
        "famille, membres de la famille, situation familiale, proches",
        r"<mon>(?:<conjoint>|<parents>|<fratrie>|<enfants>|<proches>)\b|\b(?:marié|divorcé|pacsé)e?\b|\bveu(?:f|ve)\b",
    ),
    "children": (
        "enfant, enfants, fils, fille, filles, bébé",
        r"(?:<mon>|\b(?:ai|a|avons) (?:une?|deux|trois|quatre|\d) )<enfants>(?!\w)|\benceinte\b",
    ),
    "dogs": ("chien, chiens, chienne", r"\b(?:chien(?:ne)?|chiot)s?\b"),
    "cats": ("chat, chats, chatte", r"\b(?:chat(?:te|on)?)s?\b"),
    "partner": (
        """
        mari, femme, époux, épouse, conjoint, conjointe, compagnon, compagne, copain, copine, état civil,
        situation amoureuse
        """,
        r"<mon>(?:<conjoint>|ex)\b|\b(?:marié|divorcé|pacsé|fiancé|séparé)e?\b|\bcélibataire",
    ),
    "parents": ("parents, mère, père, maman, papa", r"<mon><parents>\b"),
    "siblings": (
        "fratrie, frère, frères, sœur, sœurs, frères et sœurs",
        r"<mon><fratrie>\b",
    ),
    "friends": (
        "ami, amis, amie, amies, meilleur ami, meilleure amie",
        r"<mon>(?:amie?s?|potes?|colocs?|colocataires?)\b|\bune? amie? à moi\b",
    ),
    "location": (
        "ville, pays, lieu de résidence, domicile, adresse, logement, localisation",
        r"\b(?:j<'>)?(?:habit(?:e|ons)|déménag|emménag)|\b(?:je|on) vi[st] \w+|<mon>(?:appart\w*|maison|adresse)\b",
    ),
    "hobbies": (
        """
        loisir, loisirs, sport, sports, hobby, hobbies, passe-temps, centres d'intérêt, intérêts, temps libre, passions,
        qu'est-ce que j'aime faire
        """,
        r"""
        \bje (?:fais|joue|chante|danse|peins|dessine|cours|nage|grimpe|cuisine|lis|collectionne|tricote|pratique)\b
        \bj<'>(?:aime|adore)\b|passion|\bhobby|loisir|\b(?:chorale|club|cours d[e'\u2019]|équipe|entraînement)
        """,
    ),
    "travel": (
        """
        voyage, voyages, projets de voyage, vacances, projets de vacances, destinations, déplacements, séjours
        """,
        r"""
        \b(?:part\w*|all\w+|vais|va|va-t-on|voyag\w+|vol\w*|irons) (?:à|en|aux?|dans|pour|vers) (?:l[ae] )?(?-i:[A-ZÉ])
        vacances|\bvoyage|\bhôtel|réserv|\bvol\b|croisière|camping|\bvisa\b
        """,
    ),
    "health": (
        """
        santé, état de santé, problèmes de santé, maladie, maladies, médicament, médicaments, blessure, blessures,
        antécédents médicaux
        """,
        r"""
        allergi|asthm|diabèt|migraine|\bmal (?:à|au|aux)\b|douleur|blessé|opér|médecin|médic|\bDr\b|insuline
        thérapi|comprimé|\d ?mg\b|diagnos|tension|enceinte|dépress|cancer|arthr|hôpital|fièvre|\bmalade\b|hernie
        entorse|cœliaque|kiné
        """,
    ),
    "fears": (
        "peur, peurs, phobie, phobies, angoisses, inquiétudes, de quoi ai-je peur",
        r"\bpeurs?\b|phobi|angoiss|paniqu|\bcrain|inqui[eè]t",
    ),
    "goals": (
        """
        objectif, objectifs, but, buts, projets de vie, résolutions, ambitions, rêves, objectifs sportifs
        """,
        r"\bje (?:veux|voudrais|compte|souhaite|prévois|m<'>entraîne)\b|\bj<'>(?:aimerais|espère)\b|objectif|\brêve",
    ),
    "preferences": (
        "préférence, préférences, goûts, favoris",
        r"\bje (?:préfère|déteste)\b|\bj<'>(?:aime|adore)\b|\bje n<'>aime\b|préfér|favori|s<'>il (?:te|vous) pla[iî]t",
    ),
    "communication": (
        "style de communication, style de réponse, format de réponse, préférences de communication, ton",
        r"""
        \b(?:réponses?|messages?) (?:court|brève|concis|long|détaill|formel)|\bemojis?\b|\btuto[iy]|\bvouvo[iy]
        """,
    ),
    "schedule": (
        "horaire, horaires, horaires de travail, emploi du temps, agenda, routine, disponibilités, rendez-vous",
        r"""
        \b(?:<jour>)\b|\b(?:tous les jours|chaque (?:jour|semaine))|\d ?h(?:eures?)?\b|mi-temps|temps (?:plein|partiel)
        rendez-vous
        """,
    ),
    "vehicle": (
        "voiture, voitures, véhicule, véhicules",
        r"\b(?:voiture|camionnette|moto|scooter|vélo|trottinette)s?\b|\bconduis\b",
    ),
    "education": (
        "études, formation, diplôme, diplômes, université, scolarité",
        r"\bétud(?:i|es)|universit|\bfac\b|diplôm|\bmaster\b|doctorat|\blicence\b|\bbac\b|\bexamen|\bthèse",
    ),
    "projects": (
        "projet, projets, tâche, tâches, sur quoi je travaille",
        r"\bprojet|\btravaille sur\b|\b(?:développe|construis|écris|programme)\b",
    ),
    "finances": (
        "finances, revenus, salaire, budget, situation financière, économies",
        r"budget|économis|\bsalaire|revenu|\bcrédit|loyer|dette|\bprêt\b|€|\beuros\b",
    ),
    "languages": (
        "langue, langues, langues parlées",
        r"""
        \b(?:français|anglais|allemand|italien|espagnol|portugais|néerlandais|polonais|russe|arabe|chinois|japonais)\b
        \b(?:breton|bilingue|langue maternelle)\b
        """,
    ),
    "profile": (
        "profil, informations, infos, informations sur moi, infos sur moi, données personnelles",
        r"""
        \b(?:je m<'>appelle|j<'>habite|je travaille)\b|<mon>(?:nom|prénom|anniversaire|<conjoint>|<enfants>)\b
        \bje suis \w+|\bj<'>ai \d\d ans
        """,
    ),
}
