"""Words of neighbouring turns: a turn is found by those of the turns around it too, at a lower weight."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engrain.domain.text.indexing import NEIGHBOURS, near_terms, turn_terms

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

# Own words and those of the neighbours, by doc.
Words = dict[int, tuple["Sequence[str]", "Sequence[str]"]]


@dataclass(frozen=True, slots=True)
class Turn:
    """Turn of a session as the index needs it: its number, its text, and whether it lends its words."""

    doc: int
    turn: int
    speaker: str | None
    event_time: datetime
    content: str
    lends: bool


def read_turns(rows: Iterable[Sequence[Any]], moment: Callable[[Any], datetime]) -> list[Turn]:
    """Read turns from rows of (doc, turn, speaker, event_time, content, whether it is live)."""
    return [
        Turn(doc, turn, speaker, moment(event_time), content, bool(is_live))
        for doc, turn, speaker, event_time, content, is_live in rows
    ]


def split_stretches(turns: Collection[int]) -> Iterator[tuple[Mapping[str, int], set[int]]]:
    """Yield, for turns that changed, the bounds of each part of the session to read, and its turns to index again."""
    changed = sorted(set(turns))
    gap = 2 * NEIGHBOURS + 1
    breaks = [place for place in range(1, len(changed)) if changed[place] - changed[place - 1] > gap]
    for start, end in itertools.pairwise([0, *breaks, len(changed)]):
        stretch = changed[start:end]
        bounds = {"first": stretch[0] - 2 * NEIGHBOURS, "last": stretch[-1] + 2 * NEIGHBOURS}
        yield bounds, {turn + offset for turn in stretch for offset in range(-NEIGHBOURS, NEIGHBOURS + 1)}


def collect_words(session: Sequence[Turn], turns: Collection[int]) -> Words:
    """Collect the words of those `turns` of a stretch of a session, each with those of the live ones near it."""
    return {
        turn.doc: (
            turn_terms(turn.content, speaker=turn.speaker, event_time=turn.event_time),
            near_terms(_texts_around(session, turn)),
        )
        for turn in session
        if turn.turn in turns
    }


def _texts_around(session: Sequence[Turn], turn: Turn) -> list[str]:
    return [other.content for other in session if other.lends and 0 < abs(other.turn - turn.turn) <= NEIGHBOURS]
