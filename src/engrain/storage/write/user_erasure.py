"""Erasure of all that a tenant has of one end user, with a proof of what went."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from engrain.domain import events
from engrain.domain.maintenance.erasure import ErasedRows, UserErasure
from engrain.domain.records import KINDS, Episode, MemoryRecord
from engrain.storage import selection
from engrain.storage.entities import registry
from engrain.storage.exact import items, logs
from engrain.storage.rows import KIND_TABLES
from engrain.storage.transaction import for_every_user
from engrain.storage.write import removal

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from engrain.storage.unit_of_work import UnitOfWork

_AT_ONCE = 500
# What a user has besides memories, with the statement that lists the ids.
_OTHERS = {
    "entities": "entities_of_user",
    "runs": "runs_of_user",
    "access_keys": "access_keys_of_user",
    "log_sessions": "logs_of_user",
    "items": "items_of_user",
}


@for_every_user
def erase_user(work: UnitOfWork, user: str, *, dry_run: bool) -> tuple[UserErasure, list[Episode]]:
    """Erase a user's memories as `removal.erase` does, registry, runs and keys, and the payloads of their events.

    Returns the proof and the episodes that went, for what caches them. The event `user_erased` has the counts and the
    hash of the proof. Tombstones, and events without payloads, stay: they name the user.
    """
    named = {"tenant_id": work.tenant_id, "user_id": user}
    memories = {table: _list_ids(work, table, named) for table in KIND_TABLES.values()}
    every = [id_ for ids in memories.values() for id_ in ids]
    others = {table: [id_ for (id_,) in work.rows(listed, **named)] for table, listed in _OTHERS.items()}
    if not dry_run:
        work.backend.lock_removal(work, every, everywhere=True)
        work.backend.clear_log(work)
    copies = removal.find_derived(work, every, everywhere=True)
    # All as they were: what one takes with it would be missing in the digest of another.
    found = list(_load(work, memories, lock="" if dry_run else work.dialect.lock_whole))
    digests = {memory.id: events.digest_memory(memory) for _, memory in found}
    if not dry_run:
        removal.erase_locked(work, found, {})
    rows = {**memories, **others}
    erasure = UserErasure(
        tenant_id=work.tenant_id,
        user_id=user,
        erased_at=work.act.at,
        tables=tuple(ErasedRows(table=table, rows=len(ids), ids=tuple(ids)) for table, ids in rows.items() if ids),
        copies=tuple(sorted(copies.keys() - set(every))),
        sha256=_hash(rows, digests),
        dry_run=dry_run,
    )
    if not dry_run:
        _remove_others(work, named, others["entities"])
        logs.remove(work, dict.fromkeys(others["log_sessions"], erasure.sha256))
        items.remove(work, dict.fromkeys(others["items"], erasure.sha256))
        work.record(events.user_erased(work.act, erasure, work.ids))
    return erasure, [memory for _, memory in found if isinstance(memory, Episode)]


def _list_ids(work: UnitOfWork, table: str, named: Mapping[str, str]) -> list[str]:
    """List the ids of a user's memories, by its scopes, which have an index."""
    scopes = work.dialect.listed([scope for (scope,) in work.rows("scopes_of_user", **named)])
    statement = f"SELECT id FROM {table} WHERE tenant_id = :tenant_id AND scope IN :scopes ORDER BY id"  # noqa: S608  # names of the schema
    return [id_ for (id_,) in work.ask(statement, {"tenant_id": named["tenant_id"], "scopes": scopes})]


def _load(work: UnitOfWork, memories: Mapping[str, Sequence[str]], *, lock: str) -> Iterable[tuple[int, MemoryRecord]]:
    for kind in KINDS:
        ids = memories[KIND_TABLES[kind]]
        for start in range(0, len(ids), _AT_ONCE):
            yield from selection.load_by_ids(work, kind, work.tenant_id, ids[start:][:_AT_ONCE], lock=lock)


def _remove_others(work: UnitOfWork, named: Mapping[str, str], entities: Sequence[str]) -> None:
    for entity in registry.lock_entities(work, work.tenant_id, entities, lock=work.dialect.lock_whole).values():
        registry.remove_names(work, entity)
        work.run("drop_mentions_of", tenant_id=work.tenant_id, entity_id=entity.id)
        work.run("remove_entity", tenant_id=work.tenant_id, id=entity.id)
    for statement in ("erase_runs_of_user", "erase_keys_of_user"):
        work.run(statement, **named)
    work.run("erase_payloads_of_user", **named, payload=work.dialect.json({}))


def _hash(rows: Mapping[str, Sequence[str]], digests: Mapping[str, str]) -> str:
    """Hash a line for each row that goes: table, id, and the digest of a memory as its tombstone has it."""
    lines = sorted(f"{table} {id_} {digests.get(id_, '-')}\n" for table, ids in rows.items() for id_ in ids)
    return hashlib.sha256("".join(lines).encode()).hexdigest()
