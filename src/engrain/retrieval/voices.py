"""Whose words a question is about: a speaker it names, or the side of a chat its pronouns point at."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engrain.domain.text.analysis import STOP_WORDS, words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engrain.domain.records import Role
    from engrain.domain.requests import Traits

_WRITTEN_WORD = re.compile(r"\w+")
_NAMED = re.compile(r"(\w+)(?:['\u2019]s\b)?")
_USER_WORDS = frozenset({"i", "me", "my", "mine", "myself"})
_ASSISTANT_WORDS = frozenset({"you", "your", "yours", "yourself"})


@dataclass(frozen=True, slots=True)
class Voice:
    """Somebody who speaks: by name, or by role in a chat."""

    speaker: str | None = None
    role: Role | None = None


def asked_about(text: str, speakers: Sequence[str]) -> Voice | None:
    """The one speaker the question names; else the user for "I" and "my", else the assistant for "you" and "your".

    None where it names several, or nobody in any way.
    """
    named = [speaker for speaker in speakers if names(text, speaker)]
    if named:
        return Voice(speaker=named[0]) if len(named) == 1 else None
    said = set(words(text))
    if said & _USER_WORDS:
        return Voice(role="user")
    return Voice(role="assistant") if said & _ASSISTANT_WORDS else None


def without_names(text: str, speakers: Sequence[str]) -> str:
    """The question without the speakers it names: who speaks is judged apart, and a name draws every turn of theirs.

    As it is where nothing would be left of it.
    """
    names_of = {word for speaker in speakers if names(text, speaker) for word in words(speaker)}
    if not names_of:
        return text
    left = " ".join(
        piece for piece in _NAMED.sub(lambda found: "" if _is_named(found, names_of) else found[0], text).split()
    )
    return left if words(left) else text


def speaks(turn: Traits, voice: Voice | None) -> bool:
    """Whether a memory is a turn said by that voice."""
    if voice is None:
        return False
    return turn.speaker == voice.speaker if voice.speaker is not None else turn.role == voice.role


def names(text: str, speaker: str) -> bool:
    """Whether a question names a speaker, by the first word of the name.

    A name that is also a common word ("Will") counts only as it is written.
    """
    name = words(speaker)
    if not name:
        return False
    if name[0] in STOP_WORDS:
        written = _WRITTEN_WORD.findall(speaker)[:1]
        return bool(written) and written[0] in _WRITTEN_WORD.findall(text)
    return name[0] in words(text)


def _is_named(found: re.Match[str], names_of: set[str]) -> bool:
    """Whether a word as written is one of the names; one that is also a common word only where it is capital."""
    folded = words(found[1])
    is_name = bool(folded) and folded[0] in names_of
    return is_name and (folded[0] not in STOP_WORDS or found[1][0].isupper())
