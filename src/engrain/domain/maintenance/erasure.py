"""Proof of the erasure of an end user: what went, by table, id and hash."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from engrain.domain.records import Record

if TYPE_CHECKING:
    from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasedRows(Record):
    """The rows of one table that went, by id."""

    table: str
    rows: int
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class UserErasure(Record):
    """Proof of the erasure of a user, or in a dry run the plan of one.

    Attributes:
        tables: those that had rows of the user.
        copies: memories of others that are derived from the user's, which stay; erase them by their ids.
        sha256: of a line `table id digest` for each row, sorted; the digest of a memory is that of its tombstone, and
            `-` for other rows. The event `user_erased` has it, too.
    """

    tenant_id: str
    user_id: str
    erased_at: datetime
    tables: tuple[ErasedRows, ...]
    copies: tuple[str, ...]
    sha256: str
    dry_run: bool
