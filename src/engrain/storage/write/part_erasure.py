"""Erasure of all that a tenant has of one end user or one agent, with a proof of what went."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from engrain.domain import events
from engrain.domain.maintenance.erasure import ErasureProof
from engrain.domain.records import KINDS
from engrain.storage import selection
from engrain.storage.backup.tables import extent_bindings, extent_condition, in_own_scopes_of_agent
from engrain.storage.entities import registry
from engrain.storage.exact import items, logs
from engrain.storage.rows import KIND_TABLES
from engrain.storage.transaction import for_every_user
from engrain.storage.write import removal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from engrain.domain.maintenance.backups import Extent
    from engrain.domain.records import MemoryRecord
    from engrain.storage.transaction import Transaction
    from engrain.storage.unit_of_work import UnitOfWork

_AT_ONCE = 500
_OWN = in_own_scopes_of_agent()
# What a user has besides memories, with the statement that lists the ids.
_OF_USER = {
    "entities": "entities_of_user",
    "runs": "runs_of_user",
    "access_keys": "access_keys_of_user",
    "log_sessions": "logs_of_user",
    "items": "items_of_user",
}
# What an agent has besides memories, and what makes a row one of its own. The registry of entities is the tenant's.
_OF_AGENT = {
    **dict.fromkeys(("runs", "access_keys"), "kept.tenant_id = :tenant_id AND kept.agent = :agent"),
    **dict.fromkeys(("log_sessions", "items"), ""),
}


@for_every_user
def erase_part(work: UnitOfWork, extent: Extent, *, dry_run: bool) -> ErasureProof:
    """Erase memories of a user or agent as `removal.erase` does, runs and keys, and the payloads of their events.

    Of a user the registry, too; an agent leaves its pools. A few hundred memories at a time: of each only the id and
    the digest are held until the end. The event has the counts and the hash of the proof.
    Tombstones, and events without payloads, stay: they name the user or the agent.
    """
    memories = {table: list_ids(work, extent, table) for table in KIND_TABLES.values()}
    every = [id_ for ids in memories.values() for id_ in ids]
    others = _list_others(work, extent)
    if not dry_run:
        work.backend.lock_removal(work, every, everywhere=True)
        work.backend.clear_log(work)
    copies = removal.find_derived(work, every, everywhere=True)
    # All as they were, before the first goes: what one takes with it would be missing in the digest of another.
    lock = "" if dry_run else work.dialect.lock_whole
    digests = {memory.id: events.digest_memory(memory) for batch in _load(work, memories, lock) for _, memory in batch}
    rows = {**memories, **others}
    proof = ErasureProof(ids=rows, copies=tuple(sorted(copies.keys() - set(every))), sha256=hash_rows(rows, digests))
    if not dry_run:
        for batch in _load(work, memories, lock):
            removal.erase_locked(work, batch, {}, digests)
        _remove_others(work, extent, others)
        logs.remove(work, dict.fromkeys(others["log_sessions"], proof.sha256))
        items.remove(work, dict.fromkeys(others["items"], proof.sha256))
        work.record(events.extent_erased(work.act, extent, proof, work.ids))
    return proof


def list_sessions(tx: Transaction, extent: Extent) -> list[tuple[str, str]]:
    """List the sessions that episodes of an extent are of, by scope and name."""
    statement = "SELECT DISTINCT scope, session FROM episodes AS kept WHERE session IS NOT NULL AND "
    return [
        (scope, session)
        for scope, session in tx.ask(statement + extent_condition(extent, "episodes"), extent_bindings(extent))
    ]


def hash_rows(rows: Mapping[str, Sequence[str]], digests: Mapping[str, str]) -> str:
    """Hash a line for each row that goes: table, id, and the digest of a memory as its tombstone has it."""
    lines = sorted(f"{table} {id_} {digests.get(id_, '-')}\n" for table, ids in rows.items() for id_ in ids)
    hashed = hashlib.sha256()
    for line in lines:
        hashed.update(line.encode())
    return hashed.hexdigest()


def list_ids(work: UnitOfWork, extent: Extent, table: str, condition: str = "") -> list[str]:
    """List the ids of an extent's rows: of a user's memories by its scopes, which have an index."""
    named: dict[str, Any] = extent_bindings(extent)
    condition = condition or extent_condition(extent, table)
    if extent.user and table in KIND_TABLES.values():
        condition = "kept.tenant_id = :tenant_id AND kept.scope IN :scopes"
        scopes = work.rows("scopes_of_user", **named)
        named = {"tenant_id": extent.tenant_id, "scopes": work.dialect.listed([scope for (scope,) in scopes])}
    statement = f"SELECT id FROM {table} AS kept WHERE {condition} ORDER BY id"  # noqa: S608  # names of the schema
    return [id_ for (id_,) in work.ask(statement, named)]


def _list_others(work: UnitOfWork, extent: Extent) -> dict[str, list[str]]:
    if not extent.user:
        return {table: list_ids(work, extent, table, condition) for table, condition in _OF_AGENT.items()}
    named = extent_bindings(extent)
    return {table: [id_ for (id_,) in work.rows(listed, **named)] for table, listed in _OF_USER.items()}


def _load(
    work: UnitOfWork, memories: Mapping[str, Sequence[str]], lock: str
) -> Iterator[list[tuple[int, MemoryRecord]]]:
    """Yield memories in batches, ordered by kind and id."""
    for kind in KINDS:
        ids = memories[KIND_TABLES[kind]]
        for start in range(0, len(ids), _AT_ONCE):
            yield selection.load_by_ids(work, kind, work.tenant_id, ids[start:][:_AT_ONCE], lock=lock)


def _remove_others(work: UnitOfWork, extent: Extent, others: Mapping[str, Sequence[str]]) -> None:
    named: dict[str, Any] = extent_bindings(extent)
    entities = others.get("entities", ())
    for entity in registry.lock_entities(work, work.tenant_id, entities, lock=work.dialect.lock_whole).values():
        registry.remove_row(work, entity)
    for table in ("runs", "access_keys"):
        ids = {"tenant_id": work.tenant_id, "ids": work.dialect.listed(others[table])}
        work.execute(f"DELETE FROM {table} WHERE tenant_id = :tenant_id AND id IN :ids", ids)  # noqa: S608  # names of the schema
    payload = work.dialect.json({})
    if extent.user:
        work.run("erase_payloads_of_user", **named, payload=payload)
        return
    statement = f"UPDATE memory_events AS kept SET payload = :payload WHERE kept.tenant_id = :tenant_id AND {_OWN}"  # noqa: S608  # names of the schema
    work.execute(statement, {**named, "payload": payload})
    work.execute("DELETE FROM pool_members WHERE tenant_id = :tenant_id AND agent = :agent", named)
