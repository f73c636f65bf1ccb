"""Audits of a memory: findings with evidence and a command to fix them."""

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
    """One probable problem. Nothing was changed; `command` would fix it."""

    kind: FindingKind
    severity: Severity
    ids: tuple[str, ...]  # of the memories (or the entity) it is about, the oldest first
    says: str
    evidence: Mapping[str, Any] = field(default_factory=dict, hash=False)  # JSON values
    command: str

    @property
    def order(self) -> tuple[int, tuple[str, ...], str]:
        """Sort key among findings of one kind: the most severe first, then by ids."""
        return SEVERITIES.index(self.severity), self.ids, self.says


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit(Record):
    """Result of an audit with a page of its findings, by kind, then severity and ids."""

    at: datetime
    memories: int  # number of memories looked at
    is_complete: bool  # these were all that the agent sees; if not, the newest facts, rules, then episodes
    counts: Mapping[str, int] = field(default_factory=dict, hash=False)  # of all findings, by kind, whatever the page
    findings: tuple[Finding, ...] = ()
