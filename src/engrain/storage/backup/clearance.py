"""Clearance: removal of the memories of an extent, to make room for those of a backup."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engrain.storage import selection
from engrain.storage.backup.extents import bindings, extent_condition, memory_of_kind_exists
from engrain.storage.rows import KIND_TABLES

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from engrain.domain.maintenance.backups import Extent
    from engrain.storage.search.index import SearchIndex
    from engrain.storage.transaction import Transaction

_AT_ONCE = 500
# What a whole tenant has besides memories, in an order that satisfies every reference; events and tombstones stay.
_OF_TENANT = (
    "entity_names entity_trigrams entities speakers sessions_consolidations pool_members pools memory_metadata".split()
)


def clear_extent(tx: Transaction, extent: Extent, index: Callable[[str], SearchIndex], at: datetime) -> int:
    """Remove the memories of an extent with all that hangs off them, and return how many."""
    _clear_references(tx, extent)
    count = sum(_clear_table(tx, extent, table, index=index, at=at) for table in ("facts", "rules", "episodes"))
    if extent.agent is None:
        for table in _OF_TENANT:
            _delete_rows(tx, extent, table)
    else:
        for table, column in (("speakers", "speaker"), ("sessions_consolidations", "session")):
            _delete_rows(tx, extent, table, _is_unused(column))
    return count


def _clear_references(tx: Transaction, extent: Extent) -> None:
    """Clear what names or links a memory that goes, once nobody links or mentions one any more."""
    if tx.dialect.lock_whole:
        for table in ("episodes", "facts", "rules"):
            condition = extent_condition(extent, table)
            going = f"SELECT 1 FROM {table} AS kept WHERE {condition} ORDER BY id {tx.dialect.lock_whole}"  # noqa: S608  # names of the schema
            tx.ask(f"SELECT count(*) FROM ({going}) AS going", bindings(extent))  # noqa: S608  # likewise
    for table, column, target in (
        ("facts", "supersedes_id", "facts"),
        ("facts", "source_episode_id", "episodes"),
        ("rules", "source_episode_id", "episodes"),
    ):
        _execute(
            tx,
            f"UPDATE {table} AS named SET {column} = NULL WHERE {column} IS NOT NULL AND EXISTS ("  # noqa: S608  # names of the schema
            f"SELECT 1 FROM {target} AS kept WHERE kept.tenant_id = named.tenant_id AND kept.id = named.{column} "
            f"AND {extent_condition(extent, target)})",
            bindings(extent),
        )
    for table in ("memory_entities", "rule_applications"):
        _delete_rows(tx, extent, table, "1 = 1" if extent.agent is None else extent_condition(extent, table))
    ends = (("source_kind", "source_id"), ("target_kind", "target_id"))
    edges = " OR ".join(memory_of_kind_exists(extent, kind, column) for kind, column in ends)
    _delete_rows(tx, extent, "memory_links", "1 = 1" if extent.agent is None else f"({edges})")


def _clear_table(
    tx: Transaction, extent: Extent, table: str, *, index: Callable[[str], SearchIndex], at: datetime
) -> int:
    """Remove the memories of a kind: rows first, so that hardly any is indexed again when its neighbour goes."""
    order = "kept.scope, kept.session, kept.turn, kept.doc" if table == "episodes" else "kept.doc"
    [kind] = [kind for kind, name in KIND_TABLES.items() if name == table]
    count = 0
    while True:
        found = tx.ask(
            f"SELECT kept.doc, kept.tenant_id FROM {table} AS kept WHERE {extent_condition(extent, table)} "  # noqa: S608  # names of the schema
            f"ORDER BY kept.tenant_id, {order} LIMIT :limit",
            {**bindings(extent), "limit": _AT_ONCE},
        )
        if not found:
            return count
        where = "doc IN :docs AND tenant_id IN :tenants"
        docs = [doc for doc, _ in found]
        values = {"docs": tx.dialect.listed(docs), "tenants": tx.dialect.listed({tenant for _, tenant in found})}
        memories = selection.select(tx, kind, where, values, by="NOT INDEXED")
        _execute(tx, f"DELETE FROM {table} WHERE {where}", values)  # noqa: S608  # names of the schema
        for doc, memory in memories:
            index(memory.tenant_id).erase(tx, doc, memory, at)
        count += len(found)


def _delete_rows(tx: Transaction, extent: Extent, table: str, condition: str = "1 = 1") -> None:
    tenant = "kept.tenant_id <> ''" if extent.tenant_id is None else "kept.tenant_id = :tenant_id"
    _execute(tx, f"DELETE FROM {table} AS kept WHERE {tenant} AND {condition}", bindings(extent))  # noqa: S608  # names of the schema


def _execute(tx: Transaction, statement: str, values: dict[str, Any]) -> None:
    tx.db.execute(tx.dialect.statement(statement), values)


def _is_unused(column: str) -> str:
    """Build a condition: no episode of a speaker or a session is left."""
    return (
        f"kept.scope IN (:agent, 'global') AND NOT EXISTS (SELECT 1 FROM episodes AS memory "  # noqa: S608  # names of the schema
        f"WHERE memory.tenant_id = kept.tenant_id AND memory.scope = kept.scope AND memory.{column} = kept.{column})"
    )
