"""Learned facts: built from statements and the episodes that prove them, and compared with known ones. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engrain.domain.ids import derived_id
from engrain.domain.memories.fact_keys import project_of
from engrain.domain.memories.lineage import inherit_project
from engrain.domain.memories.predicates import is_many_valued, is_past
from engrain.domain.memories.statement_times import SAID_AT, read_said_at
from engrain.domain.records import DECAY_RATES, Caller, Episode, Fact, Rule
from engrain.domain.text.categories import fact_category
from engrain.learning.consolidation.equivalence import are_equivalent, are_similar_predicates, fold, is_same_name

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from engrain.learning.consolidation.proposals import Statement


def build_fact(
    statement: Statement, episodes: Sequence[Episode], caller: Caller, *, scope: str, origin: str, at: datetime
) -> Fact:
    """The fact of a statement that these episodes prove, oldest first; without any it has no source.

    It is true since when it says so, else since nobody knows when; the time of the newest episode is in its metadata.
    The id is derived from `origin`, the scope, the episodes and the words, so the same statement of the same episodes
    is one fact.
    """
    words = map(fold, (statement.subject, statement.predicate, statement.content))
    return Fact(
        id=derived_id(
            *(caller.tenant_id, caller.agent, origin, scope, *sorted(episode.id for episode in episodes), *words),
            at=max((episode.created_at for episode in episodes), default=None),
        ),
        tenant_id=caller.tenant_id,
        agent=caller.agent,
        scope=scope,
        subject=statement.subject,
        predicate=statement.predicate,
        content=statement.content,
        category=fact_category(statement.predicate, statement.content),
        confidence=statement.confidence,
        importance=statement.importance,
        permanence=statement.permanence,
        decay_rate=DECAY_RATES[statement.permanence],
        valid_from=statement.valid_from,
        created_at=at,
        source_episode_id=episodes[-1].id if episodes else None,
        last_confirmed_at=at,
        tags=inherit_project(statement.tags, episodes),
        metadata={SAID_AT: episodes[-1].event_time.isoformat()} if episodes else {},
    )


def read_statement_time(fact: Fact) -> datetime:
    """The time at which a fact was stated, as far as is known: of the newest of its sources, else its creation."""
    return read_said_at(fact.metadata) or fact.created_at


def read_project(statement: Fact | Statement) -> str:
    """Project that a statement is about; empty where it is about none, or about the user."""
    return project_of(statement.tags, subject=statement.subject)


def describe(memory: Fact | Rule) -> str:
    """The content of a rule; of a fact behind its subject and predicate."""
    return f"{memory.subject} {memory.predicate} {memory.content}" if isinstance(memory, Fact) else memory.content


def list_conflicting(fact: Fact, known: Sequence[Fact]) -> list[Fact]:
    """Active facts that say otherwise of the same from another slot: of its subject, with an alike predicate.

    Values that stand side by side speak against nobody, nor does what was against what is, nor one project against
    another.
    """
    return [
        other
        for other in known
        if other.id != fact.id
        and other.validity == "active"
        and other.slot != fact.slot
        and read_project(other) == read_project(fact)
        and not (is_many_valued(fact.key.predicate) or is_many_valued(other.key.predicate))
        and (is_same_name(other.subject, fact.subject) or (fact.entity_id and other.entity_id == fact.entity_id))
        and are_similar_predicates(other.predicate, fact.predicate)
        and is_past(other.predicate) == is_past(fact.predicate)
        and not are_equivalent(other.content, fact.content)
    ]
