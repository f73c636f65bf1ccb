"""Membership of agents in pools, locked while it is relied upon."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engrain.domain.access.pools import pool_scope
from engrain.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Collection

    from engrain.storage.unit_of_work import UnitOfWork

_PREFIX = pool_scope("")


def lock_membership(work: UnitOfWork, name: str, *, lock: str | None = None) -> bool:
    """Tell whether the acting agent is in a pool, and lock the pool until the end of the transaction."""
    by = work.dialect.lock_whole if lock is None else lock
    locked = f"SELECT name FROM pools WHERE tenant_id = :tenant_id AND name = :pool {by}"  # noqa: S608  # the dialect's own words
    if not work.ask(locked, {"tenant_id": work.tenant_id, "pool": name}):
        return False
    return (name,) in work.rows("pools_of", tenant_id=work.tenant_id, agent=work.agent)


def check_membership(work: UnitOfWork, scopes: Collection[str]) -> None:
    """Check that the acting agent is still in the pools that it writes to, and lock them against deletion.

    Raises:
        InvalidInput: it is not; nothing was written.
    """
    lock = work.dialect.hold
    for scope in sorted(scope for scope in scopes if scope.startswith(_PREFIX)):
        if not lock_membership(work, scope.removeprefix(_PREFIX), lock=lock):
            reason = f"agent {work.agent} is in no pool {scope.removeprefix(_PREFIX)!r:.80} any more"
            raise InvalidInput(f"{reason}; nothing was written")
