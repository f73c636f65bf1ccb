"""Extents of backups, and rows as they hold them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from engrain.domain.access.scopes import audience_of, user_of
from engrain.domain.records import Record

Row: TypeAlias = Mapping[str, Any]  # by column: texts, numbers, lists and objects alone
Fate = Literal["there", "erased"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Extent(Record):
    """Memories that an operation covers: one agent's, a tenant's (`agent` None), or the database's (both None).

    An agent's are those of its own scope and those of `global` that it wrote, with all that depends on them. Of these
    it covers the memories of one end user, of no user (`user` empty), or of all (None).
    """

    tenant_id: str | None = None
    agent: str | None = None
    user: str | None = None

    @property
    def is_part(self) -> bool:
        """True where it covers less than whole tenants."""
        return self.agent is not None or self.user is not None

    def holds(self, tenant_id: str, scope: str) -> bool:
        """Tell whether it covers what an agent keeps in a scope of its own."""
        return (
            self.tenant_id in (None, tenant_id)
            and self.agent in (None, audience_of(scope))
            and self.user in (None, user_of(scope) or "")
        )

    def __str__(self) -> str:
        if self.user:
            return f"user {self.user} of tenant {self.tenant_id}"
        if self.tenant_id is None:
            return "the whole database"
        return f"tenant {self.tenant_id}" if self.agent is None else f"agent {self.agent} of tenant {self.tenant_id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorSpace(Record):
    """Name and dimensions of the embedder whose vectors are searched."""

    name: str
    dims: int
