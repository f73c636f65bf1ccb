"""Membership of agents in pools, locked while it is relied upon."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engrain.domain.access.scopes import audience_of, pool_scope

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from engrain.storage.unit_of_work import UnitOfWork

_PREFIX = pool_scope("")


def lock_pools(work: UnitOfWork, names: Collection[str], lock: str) -> Collection[str]:
    """Lock pools until the end of the transaction, and look up anew which ones the acting agent is in."""
    if lock:
        locked = f"SELECT name FROM pools WHERE tenant_id = :tenant_id AND name IN :names ORDER BY name {lock}"  # noqa: S608  # the dialect's own words
        work.ask(locked, {"tenant_id": work.tenant_id, "names": work.dialect.listed(names)})
    return work.look_up_pools().pools


def hold_scopes(work: UnitOfWork, scopes: Iterable[str]) -> None:
    """Hold the pools among scopes: until the end of the transaction nobody deletes one, or leaves it."""
    audiences = map(audience_of, scopes)
    lock_pools(work, [name.removeprefix(_PREFIX) for name in audiences if name.startswith(_PREFIX)], work.dialect.hold)
