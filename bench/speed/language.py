"""Made-up talk with the statistics of real talk: as much of it as wanted, and the same every time.

Shaped after LoCoMo: 26 words a turn of which half are stop words, word frequencies by Zipf and Mandelbrot (its most
frequent stem is 3 % of them, the tenth 0.9 %), questions of four to six words that mean something.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import numpy as np

from engrain.domain.text.analysis import STOP_WORDS

if TYPE_CHECKING:
    from numpy.random import Generator

SPEAKERS = ("Noor", "Marek")
TURNS_PER_SESSION = 30

_VOCABULARY = 20_000
_SHIFT = 2.7  # Mandelbrot's: how much flatter the head is than 1 / rank
_SEED = 20_230_508
_BEGIN = datetime(2023, 5, 8, 9, tzinfo=UTC)
_BETWEEN_SESSIONS = timedelta(hours=11)
_BETWEEN_TURNS = timedelta(minutes=1)
_CONSONANTS, _VOWELS = "bdfgklmnprstvz", "aeiou"


@dataclass(frozen=True, slots=True, kw_only=True)
class SpokenTurn:
    """One turn; `words` are those that mean something."""

    session: str
    speaker: str
    content: str
    said_at: datetime
    words: tuple[str, ...]


def talk(count: int) -> list[SpokenTurn]:
    """`count` turns, the same for the same count, and the first ones the same for every count."""
    vocabulary, shares = _vocabulary(), _shares()
    stop_words = sorted(STOP_WORDS)
    rng = np.random.default_rng(_SEED)
    return [_turn(place, rng, vocabulary, shares, stop_words) for place in range(count)]


def questions(said: list[SpokenTurn], count: int, *, naming: bool) -> list[str]:
    """Questions, each of three to five words of one turn of the talk; `naming` its speaker too."""
    rng = np.random.default_rng(_SEED + 1)
    asked = []
    for place in rng.integers(len(said), size=count).tolist():
        turn = said[place]
        some = rng.choice(len(turn.words), size=min(len(turn.words), int(rng.integers(3, 6))), replace=False)
        words = " ".join(turn.words[word] for word in sorted(some.tolist()))
        asked.append(f"What did {turn.speaker} say about the {words}?" if naming else f"What about the {words}?")
    return asked


def _turn(place: int, rng: Generator, vocabulary: list[str], shares: np.ndarray, stop_words: list[str]) -> SpokenTurn:
    session, number = divmod(place, TURNS_PER_SESSION)
    meant = [vocabulary[word] for word in np.searchsorted(shares, rng.random(int(rng.integers(5, 22)))).tolist()]
    fill = [stop_words[word] for word in rng.integers(len(stop_words), size=len(meant)).tolist()]
    content = " ".join(f"{filling} {word}" for filling, word in zip(fill, meant, strict=True))
    return SpokenTurn(
        session=f"session {session}",
        speaker=SPEAKERS[number % len(SPEAKERS)],
        content=f"{content}.",
        said_at=_BEGIN + session * _BETWEEN_SESSIONS + number * _BETWEEN_TURNS,
        words=tuple(dict.fromkeys(meant)),
    )


def _shares() -> np.ndarray:
    """The cumulative share of each word of the vocabulary, the most frequent first."""
    frequencies = 1 / (np.arange(1, _VOCABULARY + 1) + _SHIFT)
    return np.cumsum(frequencies / frequencies.sum())


def _vocabulary() -> list[str]:
    """Words of two to three syllables that no stop word and no other word equals."""
    syllables = [consonant + vowel for consonant in _CONSONANTS for vowel in _VOWELS]
    rng = np.random.default_rng(_SEED - 1)
    found: dict[str, None] = {}
    while len(found) < _VOCABULARY:
        length = 2 if len(found) < len(syllables) else 3
        word = "".join(syllables[each] for each in rng.integers(len(syllables), size=length).tolist())
        ending = _CONSONANTS[int(rng.integers(len(_CONSONANTS)))]
        found.setdefault(word + ending)
    return list(found)
