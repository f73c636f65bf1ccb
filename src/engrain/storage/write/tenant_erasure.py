"""Erasure of all that a tenant has, with a proof of what went."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engrain.domain import events
from engrain.domain.access.scopes import GLOBAL_SCOPE
from engrain.domain.maintenance.backups import Extent
from engrain.domain.maintenance.erasure import ErasureProof
from engrain.domain.records import KINDS
from engrain.storage import selection
from engrain.storage.backup import clearance
from engrain.storage.backup.tables import tenant_condition
from engrain.storage.dialects import as_json
from engrain.storage.rows import KIND_TABLES
from engrain.storage.transaction import for_every_user
from engrain.storage.write.part_erasure import hash_rows, list_ids

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from engrain.domain.records import MemoryRecord
    from engrain.storage.unit_of_work import UnitOfWork

_AT_ONCE = 500
_TOMBSTONES_AT_ONCE = 5_000
_KINDS = {**{table: kind for kind, table in KIND_TABLES.items()}, "log_sessions": "log", "items": "item"}
_OTHERS = ("entities", "runs", "access_keys", "log_sessions", "items")


@for_every_user
def erase_tenant(work: UnitOfWork, *, dry_run: bool) -> ErasureProof:
    """Remove every row of a tenant but tombstones, which name nobody, and the event `tenant_erased`.

    A few hundred memories at a time: of each only the id and the digest are held until the end.
    """
    extent = Extent(tenant_id=work.tenant_id)
    if not dry_run:
        work.backend.clear_log(work)
        clearance.lock_memories(work, extent)
    digests = {memory.id: (table, events.digest_memory(memory)) for table, memory in _iterate_memories(work)}
    rows: dict[str, list[str]] = {table: [] for table in KIND_TABLES.values()}
    for id_, (table, _) in digests.items():
        rows[table].append(id_)
    rows |= {table: list_ids(work, extent, table, tenant_condition(extent)) for table in _OTHERS}
    proof = ErasureProof(
        ids=rows, copies=(), sha256=hash_rows(rows, {id_: found for id_, (_, found) in digests.items()})
    )
    if not dry_run:
        clearance.clear_extent(work, extent, lambda _: work.index, work.act.at)
        clearance.clear_records(work, extent)
        _leave_tombstones(work, proof, digests)
        work.record(events.extent_erased(work.act, extent, proof, work.ids))
    return proof


def _iterate_memories(work: UnitOfWork) -> Iterator[tuple[str, MemoryRecord]]:
    """Yield all memories of the tenant with their tables, ordered by kind and id."""
    bound: dict[str, Any] = {"tenant_id": work.tenant_id, "limit": _AT_ONCE}
    for kind in KINDS:
        last = ""
        while page := selection.select(
            work,
            kind,
            "tenant_id = :tenant_id AND id > :last",
            {**bound, "last": last},
            order="ORDER BY id LIMIT :limit",
        ):
            yield from ((KIND_TABLES[kind], memory) for _, memory in page)
            last = page[-1][1].id


def _leave_tombstones(work: UnitOfWork, proof: ErasureProof, digests: Mapping[str, tuple[str, str]]) -> None:
    """Leave a tombstone of each memory, log and item in the scope that every agent of the tenant sees."""
    going = [
        (id_, kind, GLOBAL_SCOPE, digests[id_][1] if id_ in digests else proof.sha256)
        for table, kind in _KINDS.items()
        for id_ in proof.ids[table]
    ]
    for start in range(0, len(going), _TOMBSTONES_AT_ONCE):
        rows = as_json(going[start:][:_TOMBSTONES_AT_ONCE])
        work.run("add_tombstones", tenant_id=work.tenant_id, rows=rows, erased_at=work.at)
