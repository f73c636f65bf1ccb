"""Proposals: changes that a model suggests for a batch of episodes, in the right form and not yet proven."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from engrain.domain.records import Permanence, Record

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from engrain.domain.runs.plans import ActionKind

# Reasons of an update: it was true and is no longer, more exact, wrong before, a plan that ended, taken back.
UpdateReason = Literal["changed", "refined", "corrected", "done", "retracted"]
UPDATE_REASONS: tuple[UpdateReason, ...] = get_args(UpdateReason)


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence(Record):
    """A quote from an episode, named as the prompt names it ("e1"), as a model claims it."""

    episode: str
    quote: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement(Record):
    """The content of a proposed fact. `valid_from`: since when it is true, where the model says so."""

    subject: str
    predicate: str
    content: str
    permanence: Permanence = "standard"
    importance: float = 5.0  # 1-10
    confidence: float = 1.0  # 0-1
    valid_from: datetime | None = None
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Guidance(Record):
    """The content of a proposed rule."""

    content: str
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal(Record):
    """One suggested change and the quotes that are to prove it.

    Attributes:
        says: the fact or the rule; None for a confirmation.
        target_id: of what is updated or confirmed: its name in the prompt ("k1") or its id; None for something new.
        reason: why a fact is updated; None for other kinds.
        evidence: None where a confirmation is a bare id, which names no words at all.
    """

    kind: ActionKind
    says: Statement | Guidance | None = None
    target_id: str | None = None
    reason: UpdateReason | None = None
    evidence: tuple[Evidence, ...] | None = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationResult(Record):
    """A model's reply, parsed: each proposal is whole, and `parse_errors` says what was not.

    `is_readable`: whether it says anything of the episodes, be it that there is nothing to learn. A reply whose every
    entry is broken does not.
    """

    new_facts: tuple[Proposal, ...] = ()
    updated_facts: tuple[Proposal, ...] = ()
    new_rules: tuple[Proposal, ...] = ()
    confirmations: tuple[Proposal, ...] = ()
    recap: str | None = None  # of the session that goes on after the batch
    parse_errors: tuple[str, ...] = ()
    is_readable: bool = True

    def __iter__(self) -> Iterator[Proposal]:
        """Every proposal: new facts, updated facts, rules, confirmations, in the order of the reply."""
        yield from (*self.new_facts, *self.updated_facts, *self.new_rules, *self.confirmations)
