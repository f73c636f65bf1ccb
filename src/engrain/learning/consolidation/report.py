"""Report of a consolidation: what was learned, rejected and failed, and what it cost."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING

from engrain.domain.records import Degraded, Record
from engrain.domain.runs.completions import Usage

if TYPE_CHECKING:
    from datetime import datetime

    from engrain.domain.runs.plans import ActionKind, Rejection
    from engrain.domain.runs.runs import WaitingBacklog


@dataclass(frozen=True, slots=True, kw_only=True)
class Group(Record):
    """The number of an agent's episodes that were due when the consolidation began.

    `leased_until`: another run had the agent under a lease, so that this one left it alone.
    """

    tenant_id: str
    agent: str
    user: str | None = None
    episodes: int
    sessions: int
    leased_until: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Learned(Record):
    """One change that was written: the memory that was stored or confirmed."""

    tenant_id: str
    agent: str
    kind: ActionKind
    memory_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure(Degraded):
    """A batch, or one action of it, that was not done. `code` is the error's; `run_id` None: no run had begun."""

    tenant_id: str
    agent: str
    run_id: str | None = None
    episodes: int = 0  # that wait for another attempt because of it, or are done with


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationReport(Record):
    """Changes learned from episodes, rejected proposals with reasons, failures, and the cost.

    Attributes:
        dry_run: nothing was asked and nothing written, be it that this was wished or that there is no language model.
        groups: what was due when it began, by tenant, agent and user.
        waiting: what waits for another attempt after a failure, as it was at the end: until when, and why.
        learned: in the order in which it was written. `rejected` and `parse_errors` are of what models proposed.
        run_ids: of the runs that wrote, for `undo`, which takes the user from whom a run learned.
    """

    dry_run: bool
    groups: tuple[Group, ...] = ()
    waiting: tuple[WaitingBacklog, ...] = ()
    batches: int = 0
    episodes: int = 0  # consolidated
    learned: tuple[Learned, ...] = ()
    rejected: tuple[Rejection, ...] = ()
    parse_errors: tuple[str, ...] = ()
    failures: tuple[Failure, ...] = ()
    run_ids: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)

    @property
    def new(self) -> int:
        """The number of new facts and rules."""
        return self._count("new_fact", "new_rule")

    @property
    def updated(self) -> int:
        """The number of facts that took the place of another."""
        return self._count("updated_fact")

    @property
    def confirmed(self) -> int:
        """The number of known facts and rules that were said again."""
        return self._count("confirmation")

    def __add__(self, other: ConsolidationReport) -> ConsolidationReport:
        totals = {part.name: getattr(self, part.name) + getattr(other, part.name) for part in fields(self)}
        return replace(self, **(totals | {"dry_run": self.dry_run}))

    def _count(self, *kinds: ActionKind) -> int:
        return sum(change.kind in kinds for change in self.learned)
