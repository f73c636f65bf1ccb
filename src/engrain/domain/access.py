"""Who may do what over a network: roles, whom a request speaks for, and the keys that prove it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, get_args

from engrain.domain.records import Record

if TYPE_CHECKING:
    from datetime import datetime

Role = Literal["reader", "writer", "admin"]
ROLES: tuple[Role, ...] = get_args(Role)  # each may what those before it may


def allows(has: Role, needs: Role) -> bool:
    """Whether who has one role may do what needs another."""
    return ROLES.index(has) >= ROLES.index(needs)


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant(Record):
    """Whom a request speaks for; nothing in the request itself can widen it.

    Attributes:
        key_id: the key that was shown; None where none is asked for.
        agent: the only agent it may speak for; None: any agent of the tenant.
    """

    key_id: str | None
    tenant_id: str
    agent: str | None
    role: Role


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessKey(Record):
    """A key as it is listed: all but its secret, which nobody can read again."""

    id: str
    tenant_id: str
    agent: str | None = None  # the only agent it speaks for; None: any agent of the tenant
    role: Role
    name: str | None = None
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    last_used_at: datetime | None = None  # to the minute

    def is_valid(self, now: datetime) -> bool:
        """Whether it opens anything: neither revoked nor expired."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)

    @property
    def grant(self) -> Grant:
        """What showing it gives, while it is valid."""
        return Grant(key_id=self.id, tenant_id=self.tenant_id, agent=self.agent, role=self.role)


@dataclass(frozen=True, slots=True, kw_only=True)
class CreatedKey(Record):
    """A key just made. The secret is here and nowhere else: keep it now or make another key."""

    secret: str = field(repr=False)
    key: AccessKey
