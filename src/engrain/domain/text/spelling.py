"""Words of a query that are misspelt: nothing has them, but something has a word that differs by one letter. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from engrain.domain.text.analysis import terms
from engrain.domain.text.patterns import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

_VOWELS: Final = frozenset("aeiouyäöüáéíóú")
_WORD = lazy_pattern(r"[^\W\d_]{4,}")
_LEAST_LETTERS: Final = 5
_LEAST_MISTYPED, _LEAST_CUT, _LEAST_IN_NAME = 7, 8, 8
# Common words from which another common word differs by one letter: each is right as it is.
_RIGHT: Final = frozenset(
    """
    action adapted addiction addition adopted angel angels angle angles auction bacon baker bands banker battles
    beach beacon beans beast beats below blows boost boots boring bother bottles bought brain brand breach bride
    bridge bring broke brother brought buses bushes cannon capital cares carter carved cases casual causal causes
    certain charter chase choose chose closest closet coast coats coins comic compete complete contact contract
    cosmic costs costumer counties countries country county couple course cries crimes curse curtain customer dairy
    daring darling dated debts debut decent descent desert dessert diary diner dinner distract district diving donor
    doors driving excited exited experts exports farming farther father favor feather fiction field fight filed
    files filing filling finding fired flats flavor flies flight float flood foods forming forms forth forum found
    fourth friction fried friend funding funds further gains garage garbage grain guess guests guide guild handed
    handled hated heads health heard hearts heated heath hired holes homes hungary hungry ideals ideas lasting later
    latter launch lawyer layer laying leading leaned learned lighting lightning liked linked listing loading loses
    losses lovers loves lunch lying maker makes marital marker martial meals means medal memoir memory mental metal
    money monkey months moral mortal moths mouth moves movies noble nothing noting packed painted painting panting
    partly party patch patent patient person petty piece pierce pilot plain plains planed planes planet planned
    plans plant plants plots pointed posed posted powder power pretty price prince princess principal principle
    prose purse quiet quite radial radical raised rally ranges rapid really recover reign relay replay reply resign
    riders rides robots sacred sales salmon salon scales scared scout scouts seals seats seeds sending settle
    settled seven severe shell shells shock shoes shoot shopping shore shorts shots shout sides signing singing
    sites slides slight smell smells socks sorts speed spell spend sport spots stack stairs stand staring starring
    stars start state states statue status stays steal steam steep steps sting stock stopping store stories story
    strange stranger stray stream strike string stripes stroke struck studies super supper sweat swing tables taking
    talking tanks taste teaches tends thank though three throne through tiles tired tires titled toast tough trade
    trail train trains treat trend trial trials tries trust turned united untied violent violet voters votes waist
    waiter walking waste watches waters whale widow window wishing words worlds writers
    """.split()
)


def correct_spelling(query: str, unknown_terms: Collection[str], texts: Iterable[str]) -> str:
    """Correct the words of a query whose terms are unknown, by the words of some texts, the likeliest texts first.

    A letter is missing, added or exchanged with the next; of a long word a vowel may also be another. The first letter
    is right. The last one of a name, or of a short word, makes another of it: "Michaela" is not "Michael".
    """
    known: dict[str, str] | None = None
    corrected = query
    for word in dict.fromkeys(_WORD.findall(query)):
        own = terms(word)
        if len(own) != 1 or own[0] not in unknown_terms:
            continue
        known = _list_words(texts, unknown_terms) if known is None else known
        if own[0] not in known:
            is_name = word[0].isupper() and not query.startswith(word)
            corrected = corrected.replace(word, _find_meant(word, own[0], known, is_name=is_name))
    return corrected


def _list_words(texts: Iterable[str], unknown_terms: Collection[str]) -> dict[str, str]:
    """List the words of some texts that begin as one of the terms does by their own terms, the first word of each."""
    initials = {term[0] for term in unknown_terms}
    words: dict[str, str] = {}
    for text in texts:
        for word in _WORD.findall(text):
            if word[0].lower() in initials or not word[0].isascii():  # terms are dear, and have no accents
                for term in terms(word):
                    words.setdefault(term, word)
    return words


def _find_meant(word: str, term: str, known: Mapping[str, str], *, is_name: bool) -> str:
    """Find the first word that one whose term is unknown stands for; itself where it may be a word of its own."""
    if word.lower() in _RIGHT or (is_name and len(word) < _LEAST_IN_NAME):
        return word
    least_cut = len(word) + 1 if is_name else _LEAST_CUT
    for other_term, other in known.items():
        if _is_misspelt(word.lower(), other.lower(), least_cut=least_cut) or (
            not is_name and _is_misspelt(term, other_term, least_cut=least_cut)
        ):
            return other
    return word


def _is_misspelt(term: str, other: str, *, least_cut: int) -> bool:
    """True if two terms differ by one letter; at the end only from so many letters on."""
    if abs(len(term) - len(other)) > 1 or term[0] != other[0] or len(other) < _LEAST_LETTERS:
        return False
    pairs = zip(term, other, strict=False)
    same = next((place for place, (mine, its) in enumerate(pairs) if mine != its), min(len(term), len(other)))
    mine, its = term[same:], other[same:]
    if max(len(mine), len(its)) == 1:
        return len(term) >= least_cut
    is_substituted = len(term) >= _LEAST_MISTYPED and mine[1:] == its[1:] and {mine[0], its[0]} <= _VOWELS
    return mine[1:] == its or mine == its[1:] or is_substituted or (mine[:2] == its[1::-1] and mine[2:] == its[2:])
