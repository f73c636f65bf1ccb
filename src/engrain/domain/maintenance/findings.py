"""What an audit finds in a memory: each finding with its evidence, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, get_args

from engrain.domain.records import Record

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

FindingKind = Literal[
    "secret", "contradiction", "duplicate", "near_duplicate", "echo", "stale", "orphaned", "never_recalled"
]
FINDING_KINDS: tuple[FindingKind, ...] = get_args(FindingKind)  # the most urgent first
Severity = Literal["high", "medium", "low"]
SEVERITIES: tuple[Severity, ...] = get_args(Severity)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding(Record):
    """One thing that looks wrong. Nothing was changed; `command` is what would put it right, if it is wrong."""

    kind: FindingKind
    severity: Severity
    ids: tuple[str, ...]  # of the memories (or the entity) it is about, the oldest first
    says: str
    evidence: Mapping[str, Any] = field(default_factory=dict, hash=False)  # JSON values
    command: str

    @property
    def order(self) -> tuple[int, tuple[str, ...], str]:
        """Where it stands among those of its kind: the most severe first, then by ids."""
        return SEVERITIES.index(self.severity), self.ids, self.says


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit(Record):
    """What an audit looked at, and a page of what it found, by kind and then by severity and ids."""

    at: datetime
    memories: int  # how many were looked at
    is_complete: bool  # whether that was all that the agent sees; if not, the newest facts, rules, then episodes
    counts: Mapping[str, int] = field(default_factory=dict, hash=False)  # of every finding, by kind, whatever the page
    findings: tuple[Finding, ...] = ()
