"""Repeats among candidates: echoes of the query, which are no hits, and near-identical turns, which are one. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from engrain.domain.records import DroppedCandidate, Explanation, Fact, MemoryRecord, Rule
from engrain.domain.text.dialogue.questions import LEAST_QUESTION_SHARE
from engrain.domain.text.repetition import (
    asks_alone,
    asks_something,
    hash_words,
    mark_echoes,
    says_nothing,
    says_the_same,
)
from engrain.storage.search.candidates import RankedDocs, contains

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from numpy.typing import NDArray


# Lists that echoes and repeats have filled are asked for again this much deeper, at most so many times: from 150
# candidates to 2,400, beyond the copies of a question that was asked every day for years.
DEEPER = 4
MOST_ROUNDS = 2
# A list is crowded where fewer of its candidates than this share say something of their own.
_LEAST_SHARE = 0.5


def find_echoes(traits: NDArray[Any], query_terms: Collection[str]) -> NDArray[np.bool_]:
    """Mark the turns that say nothing beside the query: questions of its words alone, and answers that say nothing."""
    asks_the_same = np.array(mark_echoes(traits["question_terms"].tolist(), query_terms), np.bool_)
    is_echo: NDArray[np.bool_] = traits["says_nothing"] | asks_the_same
    return is_echo


def list_echoes(preset: str, echoes: NDArray[Any] | None) -> list[DroppedCandidate]:
    """List the turns that only repeat the query, newest first."""
    if echoes is None:
        return []
    why = Explanation(preset=preset, contributions=())
    newest = sorted(zip((-echoes["happened_at"]).tolist(), echoes["id"].tolist(), strict=True))
    return [DroppedCandidate(id=id_, score=0.0, reason="says nothing beside the query", why=why) for _, id_ in newest]


def is_crowded(lists: Iterable[RankedDocs], depth: int, own: NDArray[Any]) -> bool:
    """True if copies fill a list that was cut at `depth`, so that what answers the query may stand behind its end.

    `own` are the traits, by doc, of what is no echo.
    """
    for ranked in lists:
        if len(ranked) >= depth:
            keys = own["key"][contains(np.sort(ranked.docs[:depth]), own["doc"])]
            if len(set(keys.tolist())) < _LEAST_SHARE * depth:
                return True
    return False


def group_repeats(traits: NDArray[Any], rows: NDArray[np.intp]) -> list[list[int]]:
    """The near-identical turns among some rows of the traits: a list of rows for each thing said more than once."""
    keys = traits["key"][rows]
    order = np.argsort(keys, kind="stable")
    ends = np.flatnonzero(np.diff(keys[order])) + 1
    if len(ends) == len(keys) - 1 or not len(keys):
        return []
    return [rows[group].tolist() for group in np.split(order, ends) if len(group) > 1]


def find_statements(traits: NDArray[Any], query: str) -> NDArray[np.bool_]:
    """Mark the memories that `is_statement` is true of."""
    is_stated: NDArray[np.bool_] = (traits["asking"] < LEAST_QUESTION_SHARE) & ~traits["says_nothing"]
    return is_stated if asks_something(query) else is_stated & (traits["words"] != hash_words(query))


def is_statement(memory: MemoryRecord, query: str) -> bool:
    """True if a memory can be evidence: no question, no answer that says nothing, nor what the query itself says."""
    if isinstance(memory, Fact | Rule):
        return True
    if asks_alone(memory.content, role=memory.role) or says_nothing(memory.content, role=memory.role):
        return False
    return not says_the_same(memory.content, query) or asks_something(query)
