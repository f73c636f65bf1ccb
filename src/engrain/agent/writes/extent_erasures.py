"""Erasures of all of a user, an agent or a tenant: from the database, the queues and the caches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engrain.agent.reads.lookups import check_extent
from engrain.errors import NotFound
from engrain.storage import jobs
from engrain.storage.shards.moves import move_tenant
from engrain.storage.shards.store import ShardedStore
from engrain.storage.write.part_erasure import erase_part, list_sessions
from engrain.storage.write.tenant_erasure import erase_tenant

if TYPE_CHECKING:
    from engrain.agent.wiring.parts import Parts
    from engrain.domain.maintenance.backups import Extent
    from engrain.domain.maintenance.erasure import ErasureProof
    from engrain.domain.requests import Act


def erase_extent(parts: Parts, act: Act, extent: Extent, *, dry_run: bool) -> ErasureProof:
    """Erase all of an extent of one tenant, or only say what would go. Ended anywhere, a repeat completes it.

    Raises:
        NotFound: there never was anything of it.
    """
    tenant_id = act.caller.tenant_id
    if isinstance(parts.store, ShardedStore) and not parts.store.directory.has(tenant_id):
        raise NotFound(f"there is no tenant {tenant_id!r:.80}; tenants list shows those that have memories")
    check_extent(parts, extent)
    sessions: set[tuple[str, str, str]] = set()
    if not dry_run:
        parts.buffers.erase_extent(extent)
        if parts.buffers.recent is not None:  # once the rows are gone nobody could tell which there are
            found = parts.store.inspect(tenant_id, list_sessions, extent)
            sessions = {(tenant_id, scope, session) for scope, session in found}
        parts.buffers.drop_sessions(sessions)
    try:
        if extent.is_part:
            return parts.store.write(act, erase_part, extent, dry_run=dry_run)
        return parts.store.write(act, erase_tenant, dry_run=dry_run)
    finally:
        parts.note_cache.clear()
        parts.buffers.drop_sessions(sessions)


def erase_leftovers(parts: Parts, tenant_id: str) -> None:
    """Erase what there is of a tenant beside its rows: its jobs, and what a move has left on other servers.

    Raises:
        DatabaseBusy: the tenant is being moved.
    """
    parts.store.maintain(None, jobs.remove_jobs, tenant_id)
    if isinstance(parts.store, ShardedStore):
        move_tenant(parts.store, tenant_id, parts.store.directory.look_up(tenant_id))
