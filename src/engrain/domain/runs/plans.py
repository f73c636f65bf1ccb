"""Plans of consolidation: actions decided before anything is written, and their results."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from engrain.domain.records import Degraded, Fact, Record, Rule

if TYPE_CHECKING:
    from collections.abc import Mapping


ActionKind = Literal["new_fact", "updated_fact", "new_rule", "confirmation"]

# Highest confidence of a fact that a newer one contradicts.
DOUBTED_CONFIDENCE = 0.3


@dataclass(frozen=True, slots=True, kw_only=True)
class Action(Record):
    """One write of a plan, with its sources.

    Attributes:
        memory: the memory to store; its id is derived from its sources and words, so that a repeat adds nothing. None
            for a confirmation.
        target_id: the memory to confirm, or the fact that an update supersedes; None for a new memory.
        sources: ids of the episodes or facts behind it: the memory is linked `derived_from` to all of them.
        doubts: ids of facts in other slots that this one contradicts: their confidence falls to DOUBTED_CONFIDENCE at
            most, and the new fact is linked `supersedes` to them.
    """

    kind: ActionKind
    memory: Fact | Rule | None = None
    target_id: str | None = None
    sources: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()

    def with_ids(self, renamed: Mapping[str, str]) -> Action:
        """The same action with some ids replaced."""
        if not renamed:
            return self
        return replace(
            self,
            target_id=None if self.target_id is None else renamed.get(self.target_id, self.target_id),
            sources=tuple(renamed.get(id_, id_) for id_ in self.sources),
            doubts=tuple(renamed.get(id_, id_) for id_ in self.doubts),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejection(Record):
    """A rejected proposal of a model: `reason` is a code, `said` a sentence for people."""

    kind: ActionKind
    reason: str
    said: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan(Record):
    """Plan for a batch of episodes; all of them are consolidated by it, also those without an action."""

    episode_ids: tuple[str, ...]
    actions: tuple[Action, ...] = ()
    rejected: tuple[Rejection, ...] = ()
    parse_errors: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionResult(Record):
    """Result of one action: the memory it stored or confirmed, or the error (then nothing of it was written)."""

    kind: ActionKind
    memory_id: str | None = None
    error: Degraded | None = None
