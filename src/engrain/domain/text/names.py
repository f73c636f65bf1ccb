"""Names: the form in which they are compared, and texts that are about a name. Pure."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from engrain.domain.text.patterns import lazy_pattern

# What a program calls the sides of a chat: no name that a person would ask by ("my assistant", "the user manual").
_SIDES = frozenset({"agent", "ai", "assistant", "bot", "chatbot", "human", "system", "tool", "user"})
# What agents that note something down in German, Spanish, French, Italian, Portuguese or Dutch call their user, and a
# part of it or of "user" that is in every text that has one.
USER_ELSEWHERE = (
    r"(?:(?:der|die|dem|den|des) (?:(?:be)?nutzer|anwender)(?:in|s)?|(?:el|la|del|de la|al|a la) usuari[oa]"
    r"|(?:de )?l['\u2019]utilisat(?:eur|rice)|(?:del|al)?l['\u2019]utente"
    r"|(?:d?[oa]|ao|\u00e0) (?:usu\u00e1ri[oa]|utilizadora?)|(?:van )?de gebruiker)\b"
)
NAMES_USER = lazy_pattern(r"user|nutzer|anwender|usu[a\u00e1]ri|utilisat|utilizad|utente|gebruiker", re.IGNORECASE)

# What one keyboard writes and another does not: apostrophes and hyphens of many kinds, the dots of a Cyrillic \u0451
# and of a Turkish capital I, invisible characters and joiners, and the vowel signs of Arabic and Hebrew.
_SPELLINGS = (
    ("[\u2018\u2019\u201b\u02bb\u02bc]", "'"),
    ("[\u2010-\u2013\u2212]", "-"),
    ("\u0451", "\u0435"),
    (
        "(?<=i)\u0307|[\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\u0640\u064b-\u0652\u0670\u05b0-\u05bd\u05c1\u05c2\u05c7]",
        "",
    ),
)
_ODD = lazy_pattern("|".join(written for written, _ in _SPELLINGS))


def name_key(text: str) -> str:
    """Form of a name for comparison: NFKC, case folded, one apostrophe and hyphen, whitespace collapsed; may be empty.

    Case folding can undo the normal form, so NFKC is applied again: the key of a key is the key itself.
    """
    if text.isascii():
        return " ".join(text.lower().split())
    folded = unicodedata.normalize("NFKC", text).casefold()
    while _ODD.search(folded):
        for written, common in _SPELLINGS:
            folded = re.sub(written, common, folded)
    return " ".join(unicodedata.normalize("NFKC", folded).split())


@lru_cache(maxsize=1_024)  # of each session's speakers, on every day of it
def is_side(name: str) -> bool:
    """True for what a program calls a side of a chat ("assistant"): a role, not a name."""
    return name_key(name) in _SIDES


def is_sentence_about(text: str, name: str) -> bool:
    """True if a text begins with a name, or has it and ends as a sentence does: no words need to stand before it.

    An article may stand before the name: "the user lives in Milan".
    """
    folded, wanted = text.casefold(), name.casefold()
    start = folded.find(wanted)
    end = start + len(wanted)
    is_named = start >= 0 and not folded[:start][-1:].isalnum() and not folded[end : end + 1].isalnum()
    return is_named and " " in folded[end:].strip() and (folded[:start] in {"", "the "} or folded.endswith("."))
