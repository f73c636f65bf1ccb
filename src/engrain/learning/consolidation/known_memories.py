"""Known memories that bear on a batch: loaded before anything is decided, and not counted as references."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING

from engrain.domain.filters import Filter
from engrain.domain.memories.fact_keys import project_of
from engrain.domain.records import KINDS, Caller, Episode, Fact, Kind, MemoryRecord, Rule
from engrain.domain.requests import Request
from engrain.domain.text.analysis import terms
from engrain.learning.consolidation.prompt import MOST_FACTS, MOST_RULES
from engrain.learning.consolidation.proposals import ConsolidationResult, Guidance, Statement
from engrain.storage.search import history
from engrain.storage.search.matching import load_matching
from engrain.storage.search.recency import load_newest
from engrain.storage.selection import find_active_fact, load_memories

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import datetime

    from engrain.storage.unit_of_work import Snapshot

    # For some texts, of which vectors are made here and now: a search of them within a snapshot or a unit of work.
    HybridSearch = Callable[[Caller, Sequence[str]], "NearSearch"]
    NearSearch = Callable[[Snapshot, str, Sequence[Kind], int], Sequence[MemoryRecord]]

# So many memories are loaded for each episode or proposal.
_MOST_NEAR = 10
# More for echoes: the turns of a conversation share their words with each other first of all.
_MOST_ECHOES = 40
_MOST_TERMS = 100
_MOST_QUERY = 1_000
_MOST_FORGOTTEN = 1_000


def list_episode_questions(episodes: Iterable[Episode]) -> list[str]:
    """List what `load_known` searches for."""
    return [f"{episode.speaker or ''} {episode.content}".strip()[:_MOST_QUERY] for episode in episodes]


def load_known(snapshot: Snapshot, episodes: Sequence[Episode], search: NearSearch, now: datetime) -> list[Fact | Rule]:
    """Load the facts and rules to show: the best match of each episode, then the second best, ...; then the newest.

    More facts or rules than `MOST_FACTS` or `MOST_RULES` mean that there may be others. Costs a hybrid search for each
    episode and kind, where there is any of the kind.
    """
    known: dict[str, Fact | Rule] = {}
    limits: Mapping[Kind, int] = {"fact": MOST_FACTS, "rule": MOST_RULES}
    for kind, most in limits.items():
        narrowed = Filter(kinds=(kind,), scopes=snapshot.caller.learned_scopes)
        newest = load_newest(snapshot, Request(caller=snapshot.caller, filter=narrowed, now=now), most + 1)
        questions = list_episode_questions(episodes) if newest else []
        matches = [search(snapshot, question, (kind,), _MOST_NEAR) for question in questions]
        in_turn = (memory for rank in zip_longest(*matches) for memory in rank if memory is not None)
        known |= _by_id([*in_turn, *newest])
    return list(known.values())


def select_of_projects(known: Iterable[Fact | Rule], episodes: Iterable[Episode]) -> list[Fact | Rule]:
    """Select the memories that a model is to see beside episodes: where all are of projects, none of another one."""
    projects = {project_of(episode.tags) for episode in episodes}
    return [memory for memory in known if "" in projects or _project(memory) in {"", *projects}]


def load_recalled(snapshot: Snapshot, episodes: Sequence[Episode], now: datetime) -> list[MemoryRecord]:
    """Memories of any kind that share words with the episodes and that somebody asked for: possible echoes.

    An echo has the words of its source, so words are enough to find it: two statements for each episode.
    """
    request = Request(caller=snapshot.caller, filter=Filter(kinds=KINDS), now=now)
    found = (_search_words(snapshot, request, episode.content, _MOST_ECHOES) for episode in episodes)
    near = (memory for memories in found for memory in memories)
    return list({memory.id: memory for memory in near if memory.last_referenced_at is not None}.values())


def list_questions(result: ConsolidationResult, most: int) -> list[str]:
    """List what `load_near` searches for."""
    return [_question(content) for content in _contents(result, most)]


def load_near(snapshot: Snapshot, result: ConsolidationResult, search: NearSearch, most: int) -> list[Fact | Rule]:
    """Load memories that may say the same as a proposal, or otherwise: a hybrid search for each.

    Of the first `most` proposals that say something.
    """
    near: dict[str, Fact | Rule] = {}
    for content in _contents(result, most):
        kind: Kind = "fact" if isinstance(content, Statement) else "rule"
        near |= _by_id(search(snapshot, _question(content), (kind,), _MOST_NEAR))
    return list(near.values())


def load_holders(snapshot: Snapshot, facts: Iterable[Fact]) -> list[Fact]:
    """Load the active facts in the slots of some facts about no entity, a statement for each slot."""
    slots = {fact.slot: fact for fact in facts if fact.entity_id is None}
    holders = (
        find_active_fact(
            snapshot,
            scope=fact.scope,
            subject=fact.subject,
            predicate=fact.predicate,
            content=fact.content,
            tags=fact.tags,
            at=fact.created_at,
        )
        for fact in slots.values()
    )
    return [holder for holder in holders if holder is not None]


def load_forgotten(snapshot: Snapshot, episodes: Iterable[Episode]) -> list[Fact | Rule]:
    """Load the newest facts and rules that somebody has forgotten since some episodes were stored."""
    said_at = min(episode.created_at for episode in episodes)
    return list(_by_id(history.load_forgotten(snapshot, said_at, limit=_MOST_FORGOTTEN)).values())


def reload(snapshot: Snapshot, memories: Iterable[Fact | Rule]) -> dict[str, Fact | Rule]:
    """Load memories by id as they are now; one that is gone stays as it was."""
    before = _by_id(memories)
    return before | _by_id(load_memories(snapshot, list(before)))


def _project(memory: Fact | Rule) -> str:
    return project_of(memory.tags, subject=memory.subject if isinstance(memory, Fact) else "")


def _contents(result: ConsolidationResult, most: int) -> list[Statement | Guidance]:
    return [proposal.says for proposal in result if proposal.says is not None][:most]


def _question(content: Statement | Guidance) -> str:
    about = f"{content.subject} {content.predicate} " if isinstance(content, Statement) else ""
    return f"{about}{content.content}"[:_MOST_QUERY]


def _search_words(snapshot: Snapshot, request: Request, text: str, most: int) -> Iterable[MemoryRecord]:
    distinct = tuple(dict.fromkeys(terms(text)))[:_MOST_TERMS]
    return load_matching(
        snapshot, request, [match.ref for match in snapshot.search_words(request, distinct, most)]
    ).values()


def _by_id(memories: Iterable[MemoryRecord]) -> dict[str, Fact | Rule]:
    return {memory.id: memory for memory in memories if isinstance(memory, Fact | Rule)}
