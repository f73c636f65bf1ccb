"""What a model proposes to learn from a batch of episodes, in the right form and not yet believed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from engrain.domain.records import Record

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from engrain.domain.records import Permanence
    from engrain.domain.runs.plans import ActionKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence(Record):
    """Words that are said to stand in an episode, named as the prompt names it ("e1")."""

    episode: str
    quote: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement(Record):
    """What a fact would say. `valid_from`: since when it is true, where the model says so."""

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
    """What a rule would say."""

    content: str
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal(Record):
    """One thing to learn and what is to prove it.

    Attributes:
        says: the fact or the rule; None for a confirmation.
        target_id: of what is updated or confirmed, a UUID in lower case; None for something new.
        evidence: None where a confirmation is a bare id, which names no words at all.
    """

    kind: ActionKind
    says: Statement | Guidance | None = None
    target_id: str | None = None
    evidence: tuple[Evidence, ...] | None = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationResult(Record):
    """A model's reply, read: each proposal is whole, and what was not is told in `parse_errors`.

    `is_readable`: whether it says anything of the episodes, be it that there is nothing to learn. A reply whose every
    entry is broken does not.
    """

    new_facts: tuple[Proposal, ...] = ()
    updated_facts: tuple[Proposal, ...] = ()
    new_rules: tuple[Proposal, ...] = ()
    confirmations: tuple[Proposal, ...] = ()
    parse_errors: tuple[str, ...] = ()
    is_readable: bool = True

    def __iter__(self) -> Iterator[Proposal]:
        """Every proposal: what is new, what changed, rules, confirmations, each as the reply has it."""
        yield from (*self.new_facts, *self.updated_facts, *self.new_rules, *self.confirmations)
