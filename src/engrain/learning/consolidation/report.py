"""What a consolidation came to."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from engrain.domain.records import Record
from engrain.domain.runs.completions import Usage

if TYPE_CHECKING:
    from engrain.domain.runs.plans import ActionKind, Rejection
    from engrain.domain.wording import Wording


@dataclass(frozen=True, slots=True, kw_only=True)
class Group(Record):
    """An agent's episodes that were due when the consolidation began."""

    tenant_id: str
    agent: str
    episodes: int
    sessions: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Learned(Record):
    """One thing that was written: the memory that was made or confirmed."""

    tenant_id: str
    agent: str
    kind: ActionKind
    memory_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure(Record):
    """A batch, or one action of it, that was not done. `code` is the error's; `run_id` None: no run had begun."""

    tenant_id: str
    agent: str
    code: str
    said: Wording
    run_id: str | None = None
    episodes: int = 0  # that wait for another attempt because of it, or are done with


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationReport(Record):
    """What was learned of how many episodes, what was not and why, and what it cost.

    Attributes:
        dry_run: nothing was asked and nothing written, be it that this was wished or that there is no language model.
        groups: what was due when it began, by tenant and agent.
        learned: in the order in which it was written. `rejected` and `parse_errors` are of what models proposed.
        run_ids: of the runs that wrote, for `undo`.
    """

    dry_run: bool
    groups: tuple[Group, ...] = ()
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
        """Facts and rules that are new."""
        return self._of("new_fact") + self._of("new_rule")

    @property
    def updated(self) -> int:
        """Facts that took the place of another."""
        return self._of("updated_fact")

    @property
    def confirmed(self) -> int:
        """Facts and rules that were known and said again."""
        return self._of("confirmation")

    def __add__(self, other: ConsolidationReport) -> ConsolidationReport:
        return replace(
            self,
            groups=self.groups + other.groups,
            batches=self.batches + other.batches,
            episodes=self.episodes + other.episodes,
            learned=self.learned + other.learned,
            rejected=self.rejected + other.rejected,
            parse_errors=self.parse_errors + other.parse_errors,
            failures=self.failures + other.failures,
            run_ids=self.run_ids + other.run_ids,
            usage=self.usage + other.usage,
        )

    def _of(self, kind: ActionKind) -> int:
        return sum(each.kind == kind for each in self.learned)
