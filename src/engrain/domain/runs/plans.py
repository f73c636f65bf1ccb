"""What consolidation makes of episodes: a plan of actions, decided before anything is written, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, get_args

from engrain.domain.records import Record

if TYPE_CHECKING:
    from collections.abc import Mapping

    from engrain.domain.records import Fact, Rule
    from engrain.domain.wording import Wording

ActionKind = Literal["new_fact", "updated_fact", "new_rule", "confirmation"]
ACTION_KINDS: tuple[ActionKind, ...] = get_args(ActionKind)

# What a fact is still worth once a newer one speaks against it.
DOUBTED_CONFIDENCE = 0.3


@dataclass(frozen=True, slots=True, kw_only=True)
class Action(Record):
    """One thing to be written, with where it comes from.

    Attributes:
        memory: what is stored; its id is derived from its sources and words, so that a repeat adds nothing. None for
            a confirmation.
        target_id: what is confirmed, or what an update takes the place of; None for something new.
        sources: ids of the episodes, or facts, that say so: the memory is linked `derived_from` each of them.
        doubts: ids of facts that this one speaks against from another place: their confidence falls to
            DOUBTED_CONFIDENCE at most, and the new one is linked `supersedes` to them.
    """

    kind: ActionKind
    memory: Fact | Rule | None = None
    target_id: str | None = None
    sources: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()

    def with_ids(self, renamed: Mapping[str, str]) -> Action:
        """The same about memories that are known by other ids now."""
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
    """Something a model proposed that is not done, and why: `reason` is a code, `said` a sentence for people."""

    kind: ActionKind
    reason: str
    said: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan(Record):
    """What a batch of episodes comes to: every episode of the batch is consolidated by it, also where nothing is."""

    episode_ids: tuple[str, ...]
    actions: tuple[Action, ...] = ()
    rejected: tuple[Rejection, ...] = ()
    parse_errors: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionResult(Record):
    """What came of one action: the memory it made or confirmed, or why it could not be done (nothing of it was)."""

    kind: ActionKind
    memory_id: str | None = None
    error: Wording | None = None
