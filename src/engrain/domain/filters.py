"""Filters of searches; `storage.filters` compiles them, and tests/support/reference_filters.py is their meaning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from engrain.domain.memories.fact_keys import subject_key
from engrain.domain.memories.predicates import is_free_text, is_many_valued, predicate_key
from engrain.domain.memories.trust import DERIVED, TrustLevel
from engrain.domain.records import KINDS, Fact, Kind, MemoryRecord, Role

if TYPE_CHECKING:
    from datetime import datetime


Period = Literal["any", "open", "current"]
TimePosition = tuple["datetime", str]  # position in a list in the order of time: time and id


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Conditions that must all hold. An empty filter matches every live memory.

    Of `exclude_sessions` the turns from the number `exclude_from_turn` on are out, by default all.
    `sessions`, `roles` and `speakers` match one of several and belong to episodes alone, `subjects`, `predicates` and
    `categories` to facts alone: other kinds match only where these are empty. Subjects and predicates match in every
    spelling (`fact_keys`); with `entity_ids` also facts about these, whatever their subject is called. `scopes` match
    one of several of the caller's. `tags` must all be there. `standing` matches facts that are permanent or were
    confirmed after they were stored; `trust` matches memories of one of several levels; `notes_of` matches facts under
    a key of an agent (`is_under_key`). Time is half-open: since <= happened_at < until. `as_of` matches memories that
    were believed at that time, and not forgotten since, instead of those live now; `include_inactive` also those that
    are not live. `valid_at` matches facts that were true at that time by what is known now, superseded ones too. Of the
    others, facts match whose `period` is open, which is not over; current, which has begun, too; or any.
    `after` matches memories after a position (happened_at, id) in the order of the newest first.
    """

    kinds: tuple[Kind, ...] = KINDS
    scopes: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()
    exclude_sessions: tuple[str, ...] = ()
    exclude_from_turn: int = 0
    roles: tuple[Role, ...] = ()
    speakers: tuple[str, ...] = ()
    subjects: tuple[str, ...] = ()
    entity_ids: tuple[str, ...] = ()  # of the subjects
    predicates: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    standing: bool = False
    trust: tuple[TrustLevel, ...] = ()
    notes_of: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    as_of: datetime | None = None
    valid_at: datetime | None = None
    include_inactive: bool = False
    period: Period = "open"
    after: TimePosition | None = None

    @property
    def subject_keys(self) -> tuple[str, ...]:
        """Keys of the subjects."""
        return tuple(dict.fromkeys(map(subject_key, self.subjects)))

    @property
    def predicate_keys(self) -> tuple[str, ...]:
        """Keys of the predicates, and these as they are, as notes have them."""
        return tuple(dict.fromkeys(key for name in self.predicates for key in (predicate_key(name), name)))

    @property
    def is_narrow(self) -> bool:
        """True if there is any condition besides kinds and scopes."""
        return self != Filter(kinds=self.kinds, scopes=self.scopes)

    @property
    def asks_past(self) -> bool:
        """True if it may match memories that are not live."""
        return self.as_of is not None or self.valid_at is not None or self.include_inactive


def is_under_key(fact: Fact, agent: str) -> bool:
    """True for a fact that fills a slot of the agent's notes, where that is in the agent's own scope.

    Its subject is the agent, in any spelling, and no entity; of another spelling than the agent's name, values that
    stand side by side have no slot. Reflections, summaries of memories, texts that stand for themselves and what waits
    for a confirmation are no notes. `storage.filters` says the same in SQL.
    """
    key = fact.key
    return (
        key.subject == subject_key(agent)
        and fact.entity_id is None
        and fact.category not in DERIVED
        and not fact.is_pending
        and not is_free_text(fact.predicate)
        and (fact.subject == agent or not is_many_valued(key.predicate))
    )


def is_hidden(memory: MemoryRecord) -> bool:
    """True if somebody forgot a memory: it is out of searches of the past, too."""
    return memory.metadata.get("hidden") is True
