"""Speakers that a query is about: one that it names, or the side of a chat that its pronouns mean."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from engrain.domain.text.analysis import STOP_WORDS, terms, words
from engrain.domain.text.names import NAMES_USER, is_side
from engrain.domain.text.patterns import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from engrain.domain.records import Role

_WRITTEN_WORD = lazy_pattern(r"\w+")
_NAMED = lazy_pattern(r"(\w+)(?:['\u2019]s\b)?")
_USER_WORDS = frozenset({"i", "me", "my", "mine", "myself"})
_ASSISTANT_WORDS = frozenset({"you", "your", "yours", "yourself"})
# "the restaurant you recommended": the assistant said it, whoever is asking for it.
_SAID_BY_ASSISTANT = lazy_pattern(
    r"\byou(?:['\u2019]ve| have| had| just| also| once)* (?:advised|described|explained|gave|given|listed|mentioned|"
    r"proposed|provided|recommended|said|showed|shown|suggested|told|wrote|written)\b"
    r"|\bdid you (?:advise|describe|explain|give|list|mention|propose|provide|recommend|say|show|suggest|tell|write)\b",
    re.IGNORECASE,
)
# "the user" and "User:" name one who is called so; "my assistant" and "a user manual" do not.
_SIDE = lazy_pattern(r"(?:^(?:the\s+)?|\bthe\s+)(\w+)", re.IGNORECASE)
# Some word of users for themselves is in every question for their name or work that has ASCII letters alone.
_OF_USER = lazy_pattern(
    r"\b(?:i|my|me|ich|mein|beruflich|mi|je|mon|eu|meu|ik|mijn|jak|trabajo|trabalho|tengo|tenho|wir|vivo|ho"
    r"|lavoro|faccio|abito|moro)\b|[^\x00-\x7f]",
    re.IGNORECASE,
)
# A few words that ask nothing but what the user is, has and does. The length is seen first: a long text costs nothing.
_LOOKED_UP = lazy_pattern(
    r"(?=[\s\S]{,80}\Z)\W*(?:(?:(?:what|which) (?:are|is) my|do (?:i|we) have|tell me about my"
    r"|what do you know about my|what (?:am|do|can['\u2019]?t|may|must|should|can) i|who is in"
    r"|was (?:ist|sind|darf|kann|mache|vertrage|esse) \w+|habe ich|haben wir|wovor|woran"
    r"|qu\u00e9(?= \w+ (?:tengo|tenemos)\b)|qu\u00e9 no|de qu\u00e9|qu['\u2019]est-ce que)\b"
    r"|(?!(?:wh\w+|how|do|does|did|is|are|was|were|am|can|could|should|will|i|we|he|she|they|it|wie|wo(?:hin|her)?|wer"
    r"|wann|warum|ich|wir|ist|sind|hat|qu(?:e|\u00e9|i|and|oi)|qui[e\u00e9]n|cu[a\u00e1](?:l|ndo|nt[oa]s?)|c[o\u00f3]mo"
    r"|d[o\u00f3]nde|o\u00f9|comment|combien|je|on|est)\b))\s*[\w/'\u2019-]+(?:\s+[\w/'\u2019-]+){,7}\W*$",
    re.IGNORECASE,
)
_OUR_TALK = lazy_pattern(r"\bour (?:\w+ )?(?:chat|conversation|discussion|talk)s?\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class SpeakerRef:
    """Reference to a speaker, by name or by role in a chat."""

    speaker: str | None = None
    role: Role | None = None


def find_speaker(text: str, speakers: Sequence[str]) -> SpeakerRef | None:
    """Find the one speaker that a query names; else the user for "I" and "my", else the assistant for "you" and "your".

    The assistant for what "you recommended", "said" or "wrote". None where it names several, is about "our
    conversation", or refers to none.
    """
    named = list_named(text, speakers)
    if named:
        return SpeakerRef(speaker=named[0]) if len(named) == 1 else None
    if _SAID_BY_ASSISTANT.search(text):
        return SpeakerRef(role="assistant")
    if _OUR_TALK.search(text):
        return None
    own = set(words(text))
    if own & _USER_WORDS:
        return SpeakerRef(role="user")
    return SpeakerRef(role="assistant") if own & _ASSISTANT_WORDS else None


def remove_speaker_names(text: str, speakers: Sequence[str]) -> str:
    """Remove the speakers that a query names: they are a signal of their own, and a name matches all their turns.

    A query that would be left without a word that says what it asks ("Who is Ana?") stays as it is.
    """
    named = list_named(text, speakers)
    return _remove_names(text, tuple(named)) if named else text


@lru_cache(maxsize=256)  # a search that is forecast asks before it knows the speakers
def _remove_names(text: str, named: tuple[str, ...]) -> str:
    names_of = {word for speaker in named for word in _split_name(speaker)}
    left = _NAMED.sub(lambda match: "" if _is_named(match, names_of) else match[0], text)
    return " ".join(left.split()) if terms(left) else text


def is_said_by(traits: NDArray[Any], wanted: SpeakerRef | None) -> NDArray[np.bool_]:
    """Mark the turns of that speaker among the rows of TRAITS."""
    if wanted is None:
        return np.zeros(len(traits), np.bool_)
    column, name = ("role", wanted.role) if wanted.speaker is None else ("speaker", wanted.speaker)
    is_said: NDArray[np.bool_] = traits[column] == name
    return is_said


def list_named(text: str, speakers: Sequence[str]) -> list[str]:
    """List the speakers that a query names, by the first word of the name.

    A name that is also a common word ("Will") counts only as it is written, a side of the chat only after "the".
    """
    return list(_list_named(text, tuple(speakers))) if speakers else []


@lru_cache(maxsize=256)  # several signals of one search ask for the same
def _list_named(text: str, speakers: tuple[str, ...]) -> tuple[str, ...]:
    own, named = set(words(text)), []
    for speaker in speakers:
        first = next(iter(_split_name(speaker)), "")
        if first in STOP_WORDS:
            written = _WRITTEN_WORD.findall(speaker)[:1]
            is_named = bool(written) and written[0] in _WRITTEN_WORD.findall(text)
        elif is_side(speaker):
            is_named = first in words(" ".join(_SIDE.findall(text)))
        else:
            is_named = first in own
        if is_named:
            named.append(speaker)
    return tuple(named)


@lru_cache(maxsize=1_024)
def _split_name(speaker: str) -> tuple[str, ...]:
    return tuple(words(speaker))


def _is_named(match: re.Match[str], names_of: set[str]) -> bool:
    """True if a word as written is one of the names; one that is also a common word only where it is capital."""
    folded = words(match[1])
    is_name = bool(folded) and folded[0] in names_of
    return is_name and (folded[0] not in STOP_WORDS or match[1][0].isupper())


def ask_as_user(text: str, user: str | None, speakers: Sequence[str]) -> str:
    """Rephrase a query about "the user", or about `user` by name, as the user would ask it.

    Speakers of such a name are meant themselves.
    """
    folded = text.lower()
    named = user if user is not None and user.lower() in folded and not list_named(user, speakers) else None
    if not (named or NAMES_USER.search(text)) or any(map(is_side, speakers)):
        return text
    from engrain.domain.text.dialogue import third_person  # which few queries need

    return third_person.ask_as_user(text, named)


class Introduction(NamedTuple):
    """Test of what users say who tell of themselves what is asked for; `of_topic` where others may say so too.

    `speaker`: the one whose topic it is, where the query names one.
    """

    is_told: Callable[[str], bool]
    of_topic: bool
    speaker: str | None = None


@lru_cache(maxsize=1_024)
def find_introduction(text: str, speakers: tuple[str, ...] = ()) -> Introduction | None:
    """Find what users say who tell of themselves what a query of theirs asks for: "What's my name?", "my pets".

    Of one of some speakers a topic alone is looked up: "Ana's pets".
    """
    named = _list_named(text, speakers) if speakers else ()
    if named:
        found = find_introduction(_remove_names(text, named)) if len(named) == 1 else None
        return found._replace(speaker=named[0]) if found is not None and found.of_topic else None
    topic = None
    if _LOOKED_UP.match(text):
        from engrain.domain.text.dialogue.topics import look_ups

        topic = look_ups.find_topic(text)
        if topic is not None and topic.is_of_anybody:
            return Introduction(topic.is_told, of_topic=True)
    if topic is None and not _OF_USER.search(text):
        return None
    from engrain.domain.text.dialogue import introductions  # which few questions need

    told = introductions.find_introduction(text) if topic is None else introductions.read_told(topic.name)
    return None if told is None else Introduction(lambda text: told.search(text) is not None, of_topic=False)


def find_introduced(traits: NDArray[Any], introduction: Introduction) -> NDArray[np.bool_]:
    """Find the statements in which users, or facts of them, say such a thing."""
    found = np.zeros(len(traits), np.bool_)
    is_stated = (traits["statement"] != None) & (traits["role"] != "assistant")  # noqa: E711  # of each row
    if introduction.speaker is not None:
        is_stated &= traits["speaker"] == introduction.speaker
    stated = np.flatnonzero(is_stated)
    found[[row for row in stated.tolist() if introduction.is_told(traits["statement"][row])]] = True
    return found
