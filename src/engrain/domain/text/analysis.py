"""Text analyzer of the keyword index: folded words without stop words, stemmed.

One analyzer serves both databases, and both the index and the queries, so that a stored word is always matched. Every
word has the stem that its script gives it, English for Latin; in a text of another language that is written in Latin it
has the stem of that language as well, so that a text whose language is not told is still found by its words. A word
with accents has its stem without them, too: many leave them out where they ask.
"""

from __future__ import annotations

import unicodedata
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, Final

from engrain.domain.text.languages import ENGLISH, detect_language, language_of_script, stemmer, stop_words
from engrain.domain.text.patterns import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MAX_INDEXED_BYTES = 1_000_000
_MAX_WORD_LENGTH = 64
_MOST_STEMS = 50_000
_PAIR = 2

# Combining marks of every living script that has them (Hindi, Arabic, Hebrew, Khmer): Python's \w leaves them out.
MARKS = "".join(char for char in map(chr, range(0x300, 0x1E00)) if unicodedata.category(char).startswith("M"))
# Letters and digits of any script; marks continue a word. A short ending after an apostrophe ("Ana's", "don't") is
# matched separately and dropped.
_WORD = lazy_pattern(rf"([^\W_]+(?:[{MARKS}]+[^\W_]*)*)(?:['\u2019](?:s|t|d|m|ll|re|ve)\b)?")
# The same words of a text in lower-case ASCII, in a third of the time; in a fifth where it has no apostrophe.
_ASCII_WORD = lazy_pattern(r"([a-z0-9]+)(?:'(?:s|t|d|m|ll|re|ve)\b)?")
# Each byte of ASCII as a word has it: bytes are translated in a tenth of the time of a text.
_ASCII_FOLDS = bytes(ord(chr(code).lower() if chr(code).isalnum() else " ") for code in range(128)).ljust(256)
# Scripts written without spaces (Thai, Lao, Burmese, Khmer, Japanese, Chinese), and Korean, whose endings are written
# without one, are indexed as overlapping pairs of characters.
_UNSPACED = lazy_pattern(
    r"([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3"
    r"\uf900-\ufaff\U00020000-\U0003ffff]+)"
)

# What a word has the same meaning without: soft hyphens, joiners of words, the points of Hebrew, and the dot of a
# Turkish capital I, which case folding leaves behind.
_SILENT = lazy_pattern(r"[\u00ad\u2060\ufeff\u0591-\u05bd\u05bf\u05c1\u05c2\u05c7\u0307]")
# Latin letters that no combining mark is taken from.
_PLAIN_LETTERS = str.maketrans(
    {"\u0142": "l", "\u00f8": "o", "\u0111": "d", "\u0131": "i", "\u00e6": "ae", "\u0153": "oe"}
)

_HANGUL = lazy_pattern(r"[\uac00-\ud7a3]")

STOP_WORDS = frozenset(
    """
    a about all also am an and any are aren as at be been being but by can could couldn did didn do does doesn
    doing don done for from had hadn has hasn have haven having he her here hers him his how i if in into is isn
    it its just me mine my myself no nor not of off on or our out over own she should shouldn so some such than
    that the their them then there these they this those to too up us very was wasn we were weren what when
    where which who whom whose why will with would wouldn you your yours
    arent cant couldnt didnt doesnt dont hadnt hasnt havent im isnt ive shouldnt thats theres theyre wasnt werent whats
    whens wheres whos wont wouldnt youre
    """.split()
)
_MODALS = frozenset(("might", "must", "ought", "shall"))
_FOLLOW_MODALS = frozenset(
    "i we you he she it they one my our your his her their this that be have not also only".split()
)
_LEAD_MONTHS = frozenset(
    "in of on last this next since until till by during before after early late mid from to through and".split()
)


def words(text: str) -> list[str]:
    """Folded words in order, with repeats, stop words and endings; only the first 1 MB of the text is read."""
    return [word[:_MAX_WORD_LENGTH] for word in _split_words(text)]


def stems(words_: Iterable[str]) -> list[str]:
    """Stems of the words that are no stop words, in order, with repeats, whatever language their text is in."""
    return list(filter(None, map(_STEMS.__getitem__, words_)))


def terms(text: str) -> list[str]:
    """Index terms of a text, in order, with repeats."""
    found = _split_words(text)
    language = detect_language(found)
    return stems(found) if language == ENGLISH and text.isascii() else _index(found, language)


def terms_in(language: str, text: str) -> list[str]:
    """Index terms of a text in a language, however short it is."""
    return _index(_split_words(text), language)


def lookup_terms(text: str) -> tuple[list[str], str]:
    """Terms to look up a text by, in order, with repeats, and its language, whose function words they leave out.

    The index keeps modal verbs, since "may" is also a month: in a question they say nothing of what is asked.
    """
    split = _split_words(text)
    language = detect_language(split)
    if language == ENGLISH:
        meant = _without_modals(split)
        return (stems(meant) if text.isascii() else _stem_all(meant, language)) or stems(split), language
    functions = stop_words(language)
    return _stem_all([word for word in split if word not in functions], language), language


def _without_modals(split: Sequence[str]) -> list[str]:
    """English words without modal verbs; "may" is one before a person or another verb, but not in "in May I left"."""
    before, after = chain(("",), split), chain(split[1:], ("",))
    return [
        word
        for last, word, follows in zip(before, split, after, strict=False)
        if word not in _MODALS and not (word == "may" and follows in _FOLLOW_MODALS and last not in _LEAD_MONTHS)
    ]


def word_terms(text: str) -> list[str]:
    """One term for each word of a text that carries meaning, in the text's own language, in order, with repeats."""
    found = _split_words(text)
    language = detect_language(found)
    if language == ENGLISH:
        return stems(found) if text.isascii() else [forms[-1] for word in found if (forms := _FORMS[word])]
    own, left_out = _own_stems(language), stop_words(language)
    return [own[word] for word in found if word not in left_out and _STEMS[word]]


def split_terms(text: str, first: int) -> tuple[list[str], list[str]]:
    """Index terms of the first words of a text, stop words counted, and those of the others."""
    found = _split_words(text)
    language = detect_language(found)
    index = _stem_all if text.isascii() else _index
    if len(found) <= first:
        return index(found, language), []
    return index(found[:first], language), index(found[first:], language)


def is_foreign(text: str) -> bool:
    """True if a word of a text has another stem than English gives it."""
    split = _split_words(text)
    others = [word for word in split if not word.isascii()]
    return detect_language(split) != ENGLISH or any(
        language_of_script(word) != ENGLISH or _HANGUL.match(word) for word in others
    )


def select_stems(terms_: Iterable[str], written: Iterable[str]) -> frozenset[str]:
    """Select those of some terms that written words begin with: their stems, in whatever language."""
    folded = frozenset([strip_accents(word.lower()) for word in written])
    return frozenset([term for term in set(terms_) if any(word.startswith(strip_accents(term)) for word in folded)])


def _index(split: Sequence[str], language: str) -> list[str]:
    """The terms of words, and each Chinese character of their pairs once: it may be all that is asked for."""
    characters = dict.fromkeys(
        char for word in split if len(word) == _PAIR for char in word if "\u4e00" <= char <= "\u9fff"
    )
    return [*_stem_all(split, language), *characters]


def _stem_all(split: Iterable[str], language: str) -> list[str]:
    """The stems of words, with and without accents; of those that carry meaning in another language also its own."""
    if language == ENGLISH:
        return [form for word in split for form in _FORMS[word]]
    own, functions = _own_stems(language), stop_words(language)
    both: list[str] = []
    for word in split:
        forms = _FORMS[word]
        if forms:
            both += forms
            if word not in functions and own[word] not in forms:
                both.append(own[word])
    return both


class _Forms(dict[str, tuple[str, ...]]):
    """The stems of a word and of the same without its accents, by word; none of a stop word."""

    def __missing__(self, word: str) -> tuple[str, ...]:
        if len(word) > _MAX_WORD_LENGTH:
            return self[word[:_MAX_WORD_LENGTH]]
        if len(self) >= _MOST_STEMS:
            self.clear()
        stem = _STEMS[word]
        both = dict.fromkeys((stem, _STEMS[strip_accents(word)])) if stem else ()
        forms = self[word] = tuple(filter(None, both))
        return forms


_FORMS: Final = _Forms()


def _split_words(text: str) -> list[str]:
    """Folded words, however long."""
    clipped = text if len(text) <= MAX_INDEXED_BYTES // 4 else _clip(text)
    if clipped.isascii():
        if "'" in clipped:
            return _ASCII_WORD.findall(clipped.lower())
        return clipped.encode().translate(_ASCII_FOLDS).decode().split()
    folded = _SILENT.sub("", unicodedata.normalize("NFKC", clipped).casefold())
    found: list[str] = _WORD.findall(folded)
    return found if _UNSPACED.search(folded) is None else [piece for word in found for piece in _split_unspaced(word)]


def has_unspaced(text: str) -> bool:
    """True if a text has words of a script that puts no spaces between them, such as Thai or Chinese."""
    return _UNSPACED.search(text) is not None


def split_ascii(text: str) -> list[bytes]:
    """Split a text into its words of ASCII letters and digits, in small letters; whatever else stands between them."""
    return text.encode("ascii", "replace").translate(_ASCII_FOLDS).split()


def _clip(text: str) -> str:
    """The first megabyte, cut on a character boundary."""
    return text.encode("utf-8", "replace")[:MAX_INDEXED_BYTES].decode("utf-8", "ignore")


def _split_unspaced(word: str) -> list[str]:
    """The word itself; a run of an unspaced script becomes its pairs of characters (a single character stays)."""
    pieces: list[str] = []
    for index, piece in enumerate(_UNSPACED.split(word)):
        is_run = index % 2 == 1
        if is_run and len(piece) > 1:
            pieces.extend(piece[start : start + 2] for start in range(len(piece) - 1))
        elif piece:
            pieces.append(piece)
    return pieces


class _Stems(dict[str, str]):
    """Stems by word, none of a stop word; a look-up takes half the time of one in a cache that forgets the oldest."""

    def __missing__(self, word: str) -> str:
        if len(word) > _MAX_WORD_LENGTH:
            return self[word[:_MAX_WORD_LENGTH]]
        if len(self) >= _MOST_STEMS:
            self.clear()
        stem = self[word] = "" if word in STOP_WORDS else _stem(word)
        return stem


_STEMS: Final = _Stems()


def _stem(word: str) -> str:
    """The stem of a word by its script."""
    if word.isdecimal():  # in any script; a query says "7 May" for "07 May"
        return str(int(word))
    language = language_of_script(word)
    if language == ENGLISH:
        return str(stemmer(ENGLISH).stemWord(word))
    return "" if word in stop_words(language) else str(stemmer(language).stemWord(word))


class _OwnStems(dict[str, str]):
    """Stems by word of a language that is written in Latin, without accents: many leave these out where they ask."""

    def __init__(self, language: str) -> None:
        super().__init__()
        self._language = language

    def __missing__(self, word: str) -> str:
        if len(self) >= _MOST_STEMS:
            self.clear()
        is_latin = not word.isdigit() and language_of_script(word) == ENGLISH
        stem = str(stemmer(self._language).stemWord(word[:_MAX_WORD_LENGTH])) if is_latin else _STEMS[word]
        self[word] = strip_accents(stem) if is_latin else stem
        return self[word]


_own_stems: Final = cache(_OwnStems)


def strip_accents(text: str) -> str:
    """A Latin text without its accents; one of another script, where a mark is as good as a letter, stays as it is."""
    if text.isascii():
        return text
    split = unicodedata.normalize("NFD", text).translate(_PLAIN_LETTERS)
    plain = "".join(char for char in split if not unicodedata.combining(char))
    return plain if plain and plain.isascii() else text
