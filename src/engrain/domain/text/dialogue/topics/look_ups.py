"""Look-ups of a topic of the user or their code by a few words, and the texts that tell of it. Pure.

Who looks it up need not speak as the user does: an agent that plans in English looks up "dietary restrictions" of
somebody who says "Ich vertrage keine Laktose."
"""

from __future__ import annotations

import re
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Final, NamedTuple

from engrain.domain.text.analysis import strip_accents, words
from engrain.domain.text.dialogue.topics import english, french, german, italian, portuguese, spanish
from engrain.domain.text.languages import ENGLISH, detect_language, has_english
from engrain.domain.text.patterns import join_phrases, lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_LANGUAGES: Final = {
    ENGLISH: english,
    "german": german,
    "spanish": spanish,
    "french": french,
    "portuguese": portuguese,
    "italian": italian,
}
_FEW_WORDS: Final = 8
_AROUND: Final = " ?!.,;:\u00bf\u00a1\u00ab\u00bb\"'"


class Topic(NamedTuple):
    """Topic, and the language in which it was looked up."""

    name: str
    language: str

    @property
    def is_of_anybody(self) -> bool:
        """False for what people tell of themselves alone, as `introductions` knows: their name, age and work."""
        return self.name in english.TOPICS

    def is_told(self, text: str) -> bool:
        """True if a text tells of the topic in English, its own language or that of the look-up.

        In any language where its few words, or words of none, say little of its own.
        """
        own = words(text)
        language = detect_language(own)
        is_unsure = (language == ENGLISH or len(own) <= _FEW_WORDS) and not has_english(own)
        languages = _LANGUAGES if is_unsure else dict.fromkeys((ENGLISH, self.language, language))
        return any(pattern.search(text) for pattern in filter(None, [_read_told(self.name, one) for one in languages]))


def find_topic(query: str) -> Topic | None:
    """Find the topic that a query names, and nothing else: "my pets", "travel plans", "meine Allergien"."""
    asked = _normalize(query)
    for language in _LANGUAGES:
        frame, topics = _read_names(language)
        found = frame.fullmatch(asked) if " " in asked else None
        for name in (asked, found[1]) if found else (asked,):
            topic = topics.get(name) or topics.get(_fold(name))
            if topic is not None:
                return Topic(topic, language)
    return None


@cache
def _read_told(topic: str, language: str) -> re.Pattern[str] | None:
    of_language = _LANGUAGES.get(language)
    if of_language is None or topic not in of_language.TOPICS:
        return None
    return re.compile(join_phrases(of_language.TOPICS[topic][1], of_language.PARTS), re.IGNORECASE)


@cache
def _read_names(language: str) -> tuple[re.Pattern[str], Mapping[str, str]]:
    """Read what may stand around the name of a topic, and each topic by its names."""
    of_language = _LANGUAGES[language]
    names = {
        **of_language.INTRODUCTIONS,
        **{topic: names for topic, (names, _) in of_language.TOPICS.items()},
    }
    by_name = {name: topic for topic, listed in names.items() for name in _expand(listed)}
    by_name = {_fold(name): topic for name, topic in by_name.items()} | by_name
    return lazy_pattern(f"{of_language.BEFORE}(.+?){of_language.AFTER}"), by_name


def _expand(names: str) -> Iterator[str]:
    """Expand names, apart by commas: "code|coding style|standard" is four."""
    for name in _normalize(names).split(", "):
        for chosen in product(*[word.split("|") for word in name.split()]):
            yield " ".join(chosen)


def _fold(name: str) -> str:
    """A name without the last s of each word, so that one is found in the singular and the plural."""
    return " ".join([word.removesuffix("s") for word in name.split()])


def _normalize(text: str) -> str:
    return strip_accents(" ".join(text.replace("\u2019", "'").lower().split()).strip(_AROUND))
