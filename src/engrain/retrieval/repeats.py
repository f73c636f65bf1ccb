"""Repeats among candidates: echoes of the query, which are no hits, and near-identical turns, which are one. Pure."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from engrain.domain.records import Fact, Rule
from engrain.domain.text.repetition import (
    asks_something,
    is_echo,
    is_non_answer,
    is_question,
    repeat_key,
    says_the_same,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence

    from engrain.domain.records import MemoryRecord
    from engrain.domain.requests import Candidate, Ref, Traits

# Lists that echoes and repeats have filled are asked for again this much deeper, at most so many times: from 150
# candidates to 2,400, beyond the copies of a question that was asked every day for years.
DEEPER = 4
MOST_ROUNDS = 2
# A list is crowded where fewer of its candidates than this share say something of their own.
_LEAST_SHARE = 0.5


def find_echoes(traits: Mapping[Ref, Traits], query_terms: Collection[str]) -> set[Ref]:
    """The turns that say nothing beside the query, as `is_echo` defines it."""
    terms = frozenset(query_terms)
    return {
        ref for ref, turn in traits.items() if turn.kind == "episode" and is_echo(turn.content, terms, role=turn.role)
    }


def is_crowded(
    lists: Iterable[Sequence[Candidate]], depth: int, traits: Mapping[Ref, Traits], echoes: Collection[Ref]
) -> bool:
    """True if copies fill a list that was cut at `depth`, so that what answers the query may stand behind its end."""
    for candidates in lists:
        if len(candidates) >= depth:
            own = [traits[one.ref] for one in candidates[:depth] if one.ref in traits and one.ref not in echoes]
            if len({_key(turn) for turn in own}) < _LEAST_SHARE * depth:
                return True
    return False


def drop_echoes(
    lists: Mapping[str, Sequence[Candidate]], echoes: Collection[Ref]
) -> dict[str, Sequence[Candidate]] | None:
    """The lists without echoes, so that no score depends on them; None where nothing else would be left."""
    left: dict[str, Sequence[Candidate]] = {
        name: [one for one in candidates if one.ref not in echoes] for name, candidates in lists.items()
    }
    return left if any(left.values()) else None


def group_repeats(traits: Mapping[Ref, Traits]) -> list[list[Ref]]:
    """The near-identical turns: a list for each thing said more than once, in the order of `traits`."""
    groups: dict[Hashable, list[Ref]] = defaultdict(list)
    for ref, turn in traits.items():
        groups[_key(turn)].append(ref)
    return [refs for refs in groups.values() if len(refs) > 1]


def is_statement(memory: Traits | MemoryRecord, query: str) -> bool:
    """True if a memory can be evidence: no question, no answer that says nothing, nor what the query itself says."""
    if isinstance(memory, Fact | Rule) or memory.kind != "episode":
        return True
    if is_question(memory.content) or is_non_answer(memory.content, role=memory.role):
        return False
    return not says_the_same(memory.content, query) or asks_something(query)


def _key(turn: Traits) -> Hashable:
    return repeat_key(turn.content, role=turn.role, speaker=turn.speaker) if turn.kind == "episode" else turn.id
