"""Small talk, which asks nothing of a memory, and texts in the first person, which a memory alone can answer. Pure.

Words of other languages than English are the most frequent ones; a phrase that is not known here asks for something.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from engrain.domain.text.analysis import words

_MOST_CHARACTERS = 80

# Whoever is greeted or thanked may be named after them: "good morning, house", "thanks coach".
_ADDRESSED = """
    hello; hi; hey; hiya; howdy; yo; greetings; good morning; good afternoon; good evening; good night; good day;
    morning; evening; night; welcome back; hallo; guten tag; guten morgen; guten abend; gute nacht; moin; servus;
    hola; buenos dias; buenas noches; salut; bonjour; bonsoir; ciao; buongiorno; ola; bom dia; hej; thanks; thank
    you; thx; ty; cheers; many thanks; danke; vielen dank; merci; gracias; grazie; obrigado; obrigada; tack;
    bedankt; bye; goodbye; bye bye; farewell; see you; see ya; cya; tschuss; adios; au revoir; take care
"""
_NODS = """
    ok; okay; k; kk; yes; yeah; yep; yup; y; no; nope; n; sure; fine; right; alright; all right; all good; good;
    great; nice; cool; perfect; awesome; excellent; amazing; wonderful; lovely; super; brilliant; fantastic; neat;
    sweet; lol; haha; hahaha; hehe; hm; hmm; wow; oh; ah; aha; well; got it; understood; noted; done; agreed;
    exactly; indeed; of course; absolutely; definitely; certainly; correct; sounds good; sounds great; sounds fine;
    makes sense; works for me; no problem; no worries; never mind; nevermind; you are welcome; you re welcome; youre
    welcome; please; i see; lgtm; ship it; go on; go ahead; go for it; continue; proceed; carry on; keep going; do
    it; do that; 1; that is it; that s it; thats it; that is all; that s all; thats all; well done; good job; good
    work; good one; how are you; how are you doing; how is it going; how s it going; hows it going; what s up; whats
    up; are you there; nice to meet you; have a good day; have a nice day; have a great day; have a good evening;
    have a nice evening; have a good one; have a good weekend; have a nice weekend; talk to you later; talk to you
    soon; talk later; ja; nein; genau; gut; alles klar; si; oui; non; d accord
"""
# They add nothing where one of the phrases above stands before them.
_ADDITIONS = """
    so much; very much; a lot; a bunch; a million; again; there; then; now; today; tonight; tomorrow; later; soon;
    too; all; everyone; everybody; for now; for today; for that; for your help; for the help; for everything; and;
    but; very; really; indeed; so; it; this; that; with you
"""


def _phrases(text: str) -> frozenset[tuple[str, ...]]:
    return frozenset(tuple(phrase.split()) for phrase in text.split(";"))


_OPENINGS, _FREE, _ADDED = _phrases(_ADDRESSED), _phrases(_NODS), _phrases(_ADDITIONS)
_LONGEST = max(map(len, _OPENINGS | _FREE | _ADDED))
# Without "me": "tell me a joke" is about nobody.
_FIRST_PERSON = frozenset("i my mine myself we us our ours ourselves".split())
_SPLIT = re.compile(r"[^\w]+")


@lru_cache(maxsize=1_024)
def is_small_talk(text: str) -> bool:
    """True for a text that asks nothing of a memory: of such phrases alone, or without any word."""
    if len(text) > _MOST_CHARACTERS:
        return False
    if not words(text):
        return bool(text.strip())
    return _reads_as_small_talk(_fold(text), is_asked=text.rstrip().endswith("?"))


def is_about_speaker(text: str) -> bool:
    """True for a text in the first person, such as "what is my address?", that is no small talk."""
    return not _FIRST_PERSON.isdisjoint(words(text)) and not is_small_talk(text)


def _fold(text: str) -> tuple[str, ...]:
    """Words in order, all of them, without case and accents."""
    plain = text.casefold()
    if not plain.isascii():
        plain = "".join([char for char in unicodedata.normalize("NFKD", plain) if not unicodedata.combining(char)])
    return tuple(filter(None, _SPLIT.split(plain)))


def _reads_as_small_talk(rest: tuple[str, ...], *, is_asked: bool) -> bool:
    has_begun = may_name = False
    while rest:
        length = next((size for size in range(_LONGEST, 0, -1) if _is_phrase(rest[:size], has_begun=has_begun)), 0)
        if length == 0:
            return may_name and len(rest) == 1 and not is_asked
        may_name = rest[:length] in _OPENINGS or (may_name and rest[:length] in _ADDED)
        has_begun, rest = True, rest[length:]
    return True


def _is_phrase(phrase: tuple[str, ...], *, has_begun: bool) -> bool:
    return phrase in _OPENINGS or phrase in _FREE or (has_begun and phrase in _ADDED)
