"""Batches of episodes that are learned from together: whole sessions in order, a long one up to a topic pause. Pure."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from engrain.domain.text.analysis import terms
from engrain.domain.text.similarity import jaccard

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from engrain.domain.records import Episode

# Turns on either side of a cut whose words are compared; so many beyond the limit have to be known.
LOOKAHEAD = 3
_LONG_PAUSE = timedelta(minutes=20)


def age_order(episode: Episode) -> tuple[Any, ...]:
    """Sort key of episodes that wait: the longest wait first, then the earliest event."""
    return episode.created_at, episode.event_time, episode.turn, episode.id


def turn_order(episode: Episode) -> tuple[Any, ...]:
    """Sort key of episodes of one session: by turn; those of no session by age."""
    return episode.turn, *age_order(episode)


def choose_batch(due: Iterable[Episode], limit: int) -> list[Episode]:
    """Choose at most `limit` episodes: the sessions that have waited longest, each whole and in the order of its turns.

    A session that does not fit any more is left for the next batch; one that is longer than a batch is cut at a topic
    pause. Episodes of no session count as one session of their scope.
    """
    sessions: dict[tuple[str, str | None], list[Episode]] = {}
    for episode in sorted(due, key=age_order):
        sessions.setdefault((episode.scope, episode.session), []).append(episode)
    batch: list[Episode] = []
    for episodes in sessions.values():
        ordered = sorted(episodes, key=turn_order)
        if len(batch) + len(ordered) > limit:
            return batch or ordered[: find_pause(ordered, limit)]
        batch += ordered
    return batch


def find_pause(turns: Sequence[Episode], most: int) -> int:
    """Find where to cut a session of more than `most` turns: so many come before the cut, half of `most` at least.

    The longest pause of 20 minutes or more; without one, the cut where the turns before and after share the fewest
    words and no question is parted from its answer. The latest of equal cuts.
    """
    cuts = range(max(1, most // 2), most + 1)
    pauses = [later.event_time - earlier.event_time for earlier, later in pairwise(turns)]
    longest = max(cuts, key=lambda cut: (pauses[cut - 1], cut))
    if pauses[longest - 1] >= _LONG_PAUSE:
        return longest
    return min(cuts, key=lambda cut: (_cohesion(turns, cut), -cut))


def _cohesion(turns: Sequence[Episode], cut: int) -> float:
    """The share of words that the turns before and after a cut have in common; 1 more between question and answer."""
    before, after = (
        {term for turn in side for term in terms(turn.content)}
        for side in (turns[max(0, cut - LOOKAHEAD) : cut], turns[cut : cut + LOOKAHEAD])
    )
    return jaccard(before, after) + turns[cut - 1].content.rstrip().endswith("?")
