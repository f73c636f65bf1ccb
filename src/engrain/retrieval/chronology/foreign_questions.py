"""Questions that time alone answers in German, Spanish, French, Italian and Portuguese, put into English. Pure.

"Was steht morgen an?" is "What is coming up tomorrow?": the English ones are told by all of their words.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final

from engrain.retrieval.chronology.translations import translate_times

if TYPE_CHECKING:
    from collections.abc import Mapping

# Patterns of whole questions whose times are English already, by what they ask: `<time>` for one, or none, `<when>` for
# one that has to be there.
_QUESTIONS: Final[Mapping[str, str]] = {
    "what do you know about me": r"""
        was wei(?:ß|ss)t du (?:alles |so |schon |noch )*(?:über|von) (?:mich|mir)
        qué sabes (?:de|sobre|acerca de) m[ií]
        (?:que sais-tu|que savez-vous|qu'est-ce que tu sais) (?:de|sur|à propos de) moi
        (?:che )?cosa sai (?:di|su) me|che sai di me
        o que (?:é que )?(?:tu |você )?sabes? (?:sobre|de|acerca de) mim
    """,
    "who am I": r"""
        wer bin ich|quién soy(?: yo)?|qui suis-je|chi sono(?: io)?|quem sou(?: eu)?
    """,
    "what did we talk about <time>": r"""
        (?:worüber|über was|wovon|von was) (?:haben|hatten) wir <time>(?:gesprochen|geredet|geschrieben|diskutiert)
        was haben wir <time>besprochen
        de qué (?:hablamos|hemos hablado|estuvimos hablando|charlamos)<time>
        de quoi (?:avons-nous|on a|a-t-on|est-ce qu'on a|est-ce que nous avons) (?:parlé|discuté)<time>
        di (?:che )?cosa abbiamo parlato<time>
        (?:sobre o que|de que|do que) (?:é que )?(?:nós )?(?:fal|convers)[aá]mos<time>
    """,
    "what did I tell you <time>": r"""
        was habe? ich (?:dir )?<time>(?:dir )?(?:gesagt|erzählt|geschrieben)
        qué te (?:dije|he dicho|conté|he contado|comenté)<time>
        (?:qu'est-ce que je (?:t'|vous )ai|que t'ai-je) (?:dit|raconté)<time>
        (?:che )?cosa ti ho (?:detto|raccontato)<time>
        o que (?:é que )?(?:eu )?te (?:disse|contei)<time>
    """,
    "what did you tell me <time>": r"""
        was hast du (?:mir )?<time>(?:mir )?(?:gesagt|erzählt|vorgeschlagen|empfohlen|geraten)
        qué me (?:dijiste|has dicho|recomendaste|sugeriste|aconsejaste|contaste)<time>
        (?:qu'est-ce que tu m'as|que m'as-tu) (?:dit|conseillé|recommandé|proposé|raconté)<time>
        (?:che )?cosa mi hai (?:detto|consigliato|suggerito|proposto|raccontato)<time>
        o que (?:é que )?(?:tu |você )?me (?:disse(?:ste)?|recomend(?:aste|ou)|suger(?:iste|iu))<time>
    """,
    "where did we leave off": r"""
        wo (?:waren|sind) wir (?:zuletzt )?(?:stehen ?geblieben|verblieben)|wo haben wir (?:zuletzt )?aufgehört
        dónde (?:lo dejamos|nos quedamos)
        où (?:en étions-nous|on en était|en était-on)
        dove (?:eravamo|siamo) rimasti
        onde (?:é que )?(?:nós )?(?:par|fic)[aá]mos
    """,
    "what is coming up <time>": r"""
        was (?:steht|liegt) <time>(?:bei mir |bei uns )?(?:so )?an
        was (?:habe? ich|haben wir) <time>(?:so |alles )?(?:vor|geplant)
        was ist <when>(?:so )?(?:los|geplant)
        qué (?:tengo|tenemos|hay)(?: que hacer| planeado| previsto| en la agenda)?<when>
        qué (?:tengo|tenemos) (?:planeado|previsto|en la agenda)
        (?:qu'est-ce que j'ai|qu'est-ce qu'on a|qu'ai-je)(?: de prévu| à faire| au programme)?<when>
        (?:qu'est-ce que j'ai|qu'est-ce qu'on a|qu'ai-je) (?:de prévu|au programme)
        (?:che )?cosa (?:ho|abbiamo)(?: in programma| da fare| in agenda)?<when>
        (?:che )?cosa (?:ho|abbiamo) in (?:programma|agenda)
        o que (?:é que )?(?:eu )?(?:tenho|temos)(?: marcado| planeado| planejado| para fazer| na agenda)?<when>
        o que (?:é que )?(?:eu )?(?:tenho|temos) (?:marcado|planeado|planejado|na agenda)
    """,
    "what are my appointments <time>": r"""
        (?:welche|was für) termine (?:habe ich|haben wir|stehen|gibt es)<time>(?: an)?
        qué (?:planes|citas|compromisos) (?:tengo|tenemos)<time>
        quels (?:rendez-vous|projets|plans) (?:ai-je|j'ai|est-ce que j'ai)<time>
        quels sont mes (?:rendez-vous|projets|plans)<time>
        (?:che|quali) (?:impegni|appuntamenti) (?:ho|abbiamo)<time>
        que (?:planos|compromissos|consultas) (?:é que )?(?:tenho|temos)<time>
    """,
}
_ENGLISH_TIME: Final = (
    r" ?(?:on|in|last|this|next|for|the day|yesterday|today|tonight|tomorrow|\d|one|two|three|four|five|six|few)"
    r"\b.{,30}? ?"
)


def translate_question(text: str) -> str:
    """Put a whole question into English where it is one that time alone answers; any other stays as it is."""
    plain = translate_times(text.replace("\u2019", "'")).lower().strip(" \u00bf?!.")
    for pattern, english in _compile():
        match = pattern.fullmatch(plain)
        if match is not None:
            time = next(filter(None, match.groups()), "")
            return english.replace("<time>", time).strip() + "?"
    return text


@cache
def _compile() -> tuple[tuple[re.Pattern[str], str], ...]:
    lines = ((line.strip(), english) for english, listed in _QUESTIONS.items() for line in listed.strip().splitlines())
    return tuple((re.compile(_name_times(line), re.IGNORECASE), english) for line, english in lines)


def _name_times(pattern: str) -> str:
    return pattern.replace("<time>", f"({_ENGLISH_TIME})?").replace("<when>", f"({_ENGLISH_TIME})")
