"""Proofs of the erasure of an end user, an agent or a tenant: what went, by table, id and hash."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from engrain.domain.records import Record

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime


@dataclass(frozen=True, slots=True)
class ErasureProof:
    """Proof of what went of an extent, or would go.

    Attributes:
        ids: of the rows that went, by table.
        copies: memories of others that are derived from what went.
        sha256: of a line `table id digest` for each row, sorted; the digest of a memory is that of its tombstone, and
            `-` for other rows.
    """

    ids: Mapping[str, Sequence[str]]
    copies: tuple[str, ...]
    sha256: str

    @property
    def rows(self) -> dict[str, int]:
        """The number of rows of each table that had any."""
        return {table: len(ids) for table, ids in self.ids.items() if ids}


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


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantErasure(Record):
    """Proof of the erasure of a tenant or of one of its agents, or in a dry run the plan of one.

    Attributes:
        agent: None where all of the tenant went.
        rows: how many, of each table that had any.
        copies: memories of others that are derived from the agent's, which stay; erase them by their ids.
        sha256: as of the erasure of a user. The event `tenant_erased` or `agent_erased` has it, too.
    """

    tenant_id: str
    agent: str | None
    erased_at: datetime
    rows: Mapping[str, int]
    copies: tuple[str, ...]
    sha256: str
    dry_run: bool
