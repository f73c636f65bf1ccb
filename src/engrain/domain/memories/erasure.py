"""Erasure: its report, and the memories that were derived from what is erased."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from engrain.domain.records import Kind, Record

if TYPE_CHECKING:
    from datetime import datetime

# none: what is derived stays, and is named. seen: what the agent sees of it goes, too. tenant: whoever's it is.
Cascade = Literal["none", "seen", "tenant"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Erasure(Record):
    """One memory that was erased; its tombstone and its event `memory_erased` say the same later."""

    id: str
    kind: Kind
    scope: str
    digest: str  # SHA-256 of the whole record, hexadecimal
    erased_at: datetime
    derived_from: str | None = None  # the memory for whose sake it went; None for one that was named


@dataclass(frozen=True, slots=True, kw_only=True)
class DerivedMemory(Record):
    """A memory that was derived from an erased one and may have its text: a copy, a summary, what was learned."""

    id: str
    kind: Kind
    scope: str
    derived_from: str  # the erased memory that was named


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasureReport(Record):
    """Report of an erasure: what went, and what is left that was derived from it. True if anything went."""

    erased: tuple[Erasure, ...] = ()
    waiting: tuple[str, ...] = ()  # ids of messages that went before any database had them
    derived: tuple[DerivedMemory, ...] = ()

    @property
    def ids(self) -> list[str]:
        """The ids that went."""
        return [*(erasure.id for erasure in self.erased), *self.waiting]

    def to_dict(self) -> dict[str, Any]:
        return {"ids": self.ids, **Record.to_dict(self)}

    def __bool__(self) -> bool:
        return bool(self.erased or self.waiting)
