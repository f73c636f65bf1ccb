"""Level of evidence in an answer, so that an agent can say "I don't remember". Pure."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engrain.domain.records import Fact
from engrain.domain.text.analysis import is_foreign, select_stems, terms, word_terms, words
from engrain.domain.text.dialogue import attributes
from engrain.domain.text.dialogue.changes import find_names
from engrain.domain.text.dialogue.meanings import find_met
from engrain.domain.text.dialogue.questions import strip_asking_words
from engrain.domain.text.dialogue.values import find_asked_kind, find_values
from engrain.domain.text.indexing import own_terms
from engrain.domain.text.languages import ENGLISH, detect_language
from engrain.domain.text.patterns import lazy_pattern
from engrain.domain.text.small_talk import is_exclamation
from engrain.retrieval.presets import BY_CHANNEL
from engrain.retrieval.speakers import Introduction, find_introduction

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from engrain.domain.records import EvidenceLevel, Hit, MemoryRecord
    from engrain.domain.text.dialogue.values import Kind
    from engrain.retrieval.presets import Calibration
    from engrain.retrieval.search_query import SearchQuery

MOST_JUDGED = 10
_MOST_READ = 3  # the best ones are looked at for words of one meaning
_MOST_UNKNOWN_THINGS = 2
_MOST_IN_OTHER_WORDS = 2  # the best ones may tell an attribute without a word of the thing: "She's 41."
_LONGEST_READ = 2_000  # characters of a statement; a longer one is taken to tell any attribute
_THING = lazy_pattern(
    r"(?:\b(?:the|this|my|our|your|his|her|their)|['\u2019]s)\s+([\w'-]+(?:\s+[\w-]+)?)", re.IGNORECASE
)
_THING_ELSEWHERE = lazy_pattern(
    r"\b(?:(?:mein|unser)(?:e[rmns]?)?|mis?|nuestr[oa]s?|mon|ma|mes|notre|nos|meus?|minhas?|mio|mia|miei|mie|mijn)\s+(\w+)",
    re.IGNORECASE,
)
# Words of a question that say how it asks, not what for: a statement answers without them.
_ASKING = frozenset(
    terms(
        """
        much many long often far do go get take have use like want need know remember tell say think there
        anybody anyone somebody someone else again please still now really name call mean happen give come make about
        thing kind sort right new last next first one way time day month year our may must should exactly best ever
        also currently usually whats wheres whens whos wie viel wieviel viele jetzt noch
        """
    )
).union(  # and of other languages, as their stems
    "heisst heiss hoch alt teuer farb llam color appel appellent couleur chiam colore cham chamam cor".split(),
    "heet hoog oud kleur".split(),
)


@dataclass(frozen=True, slots=True)
class Question:
    """Terms of a query: all that carry meaning, those of its names and numbers, and those of the things it is about.

    A thing is named by the two words after "the", "my" or "Ana's": a statement that answers has it, whereas a verb is
    often put in other words. Other languages than English write more words in capitals: what theirs calls mi, mein or
    mon is a thing, and counts as a name.
    `names_speaker`: it had the name of a speaker, which is none of its terms; `speakers` are the terms of those names.
    `does`: it asks for somebody's "work" or "role", which has no words of its own in an answer. `attribute`: the
    attribute of a thing that it asks for by name, such as a phone number. `introduction`: what users say who tell of
    themselves what it asks for, such as their name.
    """

    terms: frozenset[str]
    names: frozenset[str] = frozenset()
    things: frozenset[str] = frozenset()
    names_speaker: bool = False
    speakers: frozenset[str] = frozenset()
    does: Kind | None = None
    attribute: attributes.Attribute | None = None
    introduction: Introduction | None = None
    language: str = ENGLISH

    @classmethod
    def parse(cls, query: str, *, whole_terms: Collection[str] | None = None) -> Question:
        """Parse a query, without the names of speakers; `whole_terms` are those of one that had such names."""
        told, names_speaker = find_introduction(query), whole_terms is not None
        own = frozenset(word_terms(strip_asking_words(query)) or (terms(query) if told else ()))
        speakers = frozenset(whole_terms or ()).difference(terms(query))
        attribute = attributes.find_asked_attribute(query)
        if is_foreign(query):
            things, language = select_stems(own, _THING_ELSEWHERE.findall(query)), detect_language(words(query))
            return cls(own, things, things, names_speaker, speakers, None, attribute, told, language)
        things = frozenset(terms(" ".join(_THING.findall(query))))
        kind = find_asked_kind(query)
        does = kind if kind in {"work", "role"} else None
        return cls(own, own & find_names(query), own & things, names_speaker, speakers, does, attribute, told)

    @property
    def topic(self) -> frozenset[str]:
        """The terms without those that only say how it asks, unless it has no others."""
        return (self.terms - _ASKING) or self.terms


def judge(
    query: SearchQuery, stated: Sequence[Hit], *, about: str, lists: Mapping[str, object]
) -> tuple[float | None, EvidenceLevel | None]:
    """Judge the chance and level of evidence in what the best hits state, none for small talk.

    `about` is the query without the names of speakers. None without channels that tell, and without words.
    """
    whole_terms = query.terms if about != query.text else None
    calibration, question = query.preset.evidence, Question.parse(about, whole_terms=whole_terms)
    if calibration is None or "vector" not in lists:
        calibration = next((found for name, found in BY_CHANNEL.items() if name in lists), None)
    if calibration is None or query.limit == 0:
        return None, None
    if is_exclamation(query.text):
        return 0.0, "none"
    return assess(calibration, stated, question) if question.terms else (None, None)


def assess(calibration: Calibration, statements: Sequence[Hit], question: Question) -> tuple[float, EvidenceLevel]:
    """The chance, 0-1, that the answer holds evidence, and its level.

    `statements` are best first; the first ten are judged. Calibrated on answerable questions against those of other
    conversations, and that of `engrain` also on questions of bench/everyday that nothing answers: a chance in such a
    mixture, not in yours.
    """
    judged = statements[:MOST_JUDGED]
    if not judged:
        return 0.0, "none"
    said = [question.terms.intersection(hit.why.matched_terms) for hit in judged]
    met = said
    if question.terms not in said:  # else one statement has all of it
        read = [_find_met(hit, same, question) for hit, same in zip(judged[:_MOST_READ], said, strict=False)]
        met = [*read, *said[_MOST_READ:]]
    about = _list_about_speakers(judged, met, question)
    covered = _measure_cover(question, about)
    of_others = covered if about is met else _measure_cover(question, met)
    logit = (
        calibration.intercept
        + calibration.score * _measure_relevance(judged[0])
        + calibration.cosine * _find_largest("vector", judged)
        + calibration.words * _find_largest("keyword", judged)
        + calibration.cover * covered
        + calibration.names * (not question.names <= frozenset[str]().union(*said))
        + calibration.things * min(len(question.things.difference(*met)), _MOST_UNKNOWN_THINGS)
        + calibration.unmet * (_leaves_unmet(question, met, judged) + of_others - covered)
        + calibration.speaker * question.names_speaker
    )
    chance = 1 / (1 + math.exp(-logit))
    of_topic = question.introduction is None or question.introduction.of_topic
    if question.introduction is not None and any(_introduces(hit, question) for hit in judged):
        chance = max(chance, calibration.weak if of_topic else calibration.strong)
    elif not of_topic:
        chance = min(chance, calibration.attribute)
    if of_topic and question.attribute is not None and not _tells(question.attribute, question, judged):
        chance = min(chance, calibration.attribute)
    if chance < calibration.weak:
        return chance, "none"
    return chance, "strong" if chance >= calibration.strong else "weak"


def _find_met(hit: Hit, same: frozenset[str], question: Question) -> frozenset[str]:
    """Find the terms of a question that a hit has, the `same` ones or other words for them."""
    return same | find_met(question.terms - same, own_terms(hit.memory), question.language)


def _introduces(hit: Hit, question: Question) -> bool:
    """True where users tell of themselves what a question of theirs asks for, or a fact does."""
    memory, introduction = hit.memory, question.introduction
    if introduction is None or getattr(memory, "role", None) == "assistant":
        return False
    if question.speakers and question.speakers.isdisjoint(hit.why.matched_terms):
        return False
    return introduction.is_told(_read_statement(memory))


def _read_statement(memory: MemoryRecord) -> str:
    """Read what a memory states: of a fact also whom and what it is about."""
    return memory.statement if isinstance(memory, Fact) else memory.content


def _list_about_speakers(
    hits: Sequence[Hit], met: Sequence[frozenset[str]], question: Question
) -> Sequence[frozenset[str]]:
    """List what the statements by or about the question's speakers have of it; all of them where it names none."""
    if not question.speakers:
        return met
    return [
        part for hit, part in zip(hits, met, strict=True) if not question.speakers.isdisjoint(hit.why.matched_terms)
    ]


def _measure_cover(question: Question, met: Sequence[frozenset[str]]) -> float:
    """Measure the largest share of what a question asks that one statement has."""
    topic = question.topic
    return max([len(topic & part) for part in met], default=0) / len(topic) if topic else 0.0


def _leaves_unmet(question: Question, met: Sequence[frozenset[str]], hits: Sequence[Hit]) -> bool:
    """True where no statement about one of the question's names has anything of what it asks beside them.

    Any statement may be about a speaker, whose name is in few of their own.
    """
    if not (question.names or question.names_speaker):
        return False
    about = [place for place, part in enumerate(met) if question.names_speaker or part & question.names]
    if question.does is not None:
        return not any(find_values(question.does, hits[place].memory.content) for place in about)
    beside = question.topic - question.names
    return bool(beside) and beside.isdisjoint(frozenset[str]().union(*[met[place] for place in about]))


def _tells(attribute: attributes.Attribute, question: Question, hits: Sequence[Hit]) -> bool:
    """True where one of the best two statements tells an attribute, or one with something else of the question does."""
    beside = frozenset([term for term in question.topic | question.speakers if term[:3] not in attribute.beginnings])
    for place, hit in enumerate(hits):
        memory, text = hit.memory, _read_statement(hit.memory)
        if len(text) > _LONGEST_READ or attribute.value.search(text):
            is_near = place < _MOST_IN_OTHER_WORDS or not beside
            if (
                is_near
                or not beside.isdisjoint(hit.why.matched_terms)
                or find_met(beside, own_terms(memory), question.language)
            ):
                return True
    return False


def _measure_relevance(hit: Hit) -> float:
    """Measure the score of a hit without what it has for being later than others."""
    for share in hit.why.contributions:
        if share.channel == "lateness":
            return hit.score - share.value
    return hit.score


def _find_largest(channel: str, hits: Sequence[Hit]) -> float:
    """The largest number of a channel among some hits; 0 where it has none of them."""
    return max([share.raw for hit in hits for share in hit.why.contributions if share.channel == channel], default=0.0)
