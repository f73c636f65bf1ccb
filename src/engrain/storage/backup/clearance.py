"""Clearance: removal of the memories of an extent, to make room for those of a backup."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from engrain.domain.access.scopes import GLOBAL_SCOPE
from engrain.storage import selection
from engrain.storage.backup.tables import (
    MEMORIES,
    MEMORIES_OF_KIND,
    TABLES,
    extent_bindings,
    extent_condition,
    in_scopes_of_agent,
    reference_conditions,
    tenant_condition,
)
from engrain.storage.rows import KIND_TABLES

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from engrain.domain.maintenance.backups import Extent
    from engrain.domain.records import Kind, MemoryRecord
    from engrain.storage.search.index import SearchIndex
    from engrain.storage.transaction import Transaction

_AT_ONCE = 500
# What a whole tenant has besides memories, in an order that satisfies every reference; events and tombstones stay.
_OF_TENANT = (
    "entity_names entity_trigrams entities speakers sessions_consolidations pool_members pools memory_metadata".split()
)
_OF_USER = _OF_TENANT[:5]
_EXACT = ("log_entries", "log_sessions", "items")  # what is kept beside memories

_IS_EMPTY = (
    "NOT EXISTS (SELECT 1 FROM memory_index AS placed WHERE placed.tenant_id = kept.tenant_id "
    "AND placed.namespace = kept.namespace AND placed.state < 3)"
)
_WITHOUT_ITEM = (
    "NOT EXISTS (SELECT 1 FROM items AS item WHERE item.tenant_id = kept.tenant_id AND item.id = kept.item_id)"
)


def clear_extent(tx: Transaction, extent: Extent, index: Callable[[str], SearchIndex], at: datetime) -> int:
    """Remove the memories of an extent with all that hangs off them, and return how many."""
    lock_memories(tx, extent)
    _clear_references(tx, extent)
    kinds: tuple[Kind, ...] = ("fact", "rule", "episode")
    count = sum(_clear_memories(tx, extent, kind, index=index, at=at) for kind in kinds)
    for table in _EXACT:
        _delete_rows(tx, extent, table, extent_condition(extent, table))
    _delete_rows(tx, extent, "item_index", _WITHOUT_ITEM)
    if not extent.is_part:
        for table in _OF_TENANT:
            _delete_rows(tx, extent, table, "kept.key NOT LIKE 'server%'" if table == "memory_metadata" else "1 = 1")
    elif extent.agent is None:
        for table in _OF_USER:
            _delete_rows(tx, extent, table, "kept.user_id = :user_id")
    else:
        for table, column in (("speakers", "speaker"), ("sessions_consolidations", "session")):
            _delete_rows(tx, extent, table, _is_unused(column))
    return count


def clear_records(tx: Transaction, extent: Extent) -> None:
    """Remove what whole tenants have besides memories and what hangs off them; of its tombstones the scopes.

    A namespace that somebody writes to at this moment stays.
    """
    for table in ("runs", "access_keys", "memory_events"):
        _delete_rows(tx, extent, table)
    named = extent_bindings(extent)
    tx.execute(f"UPDATE tombstones AS kept SET scope = '{GLOBAL_SCOPE}' WHERE {tenant_condition(extent)}", named)  # noqa: S608  # names of the schema
    _delete_rows(tx, extent, "namespaces", _IS_EMPTY)


def lock_memories(tx: Transaction, extent: Extent) -> None:
    """Wait until nobody links or mentions a memory of an extent any more, and let nobody until the end."""
    if tx.dialect.lock_whole:
        for name in MEMORIES:
            condition = extent_condition(extent, name)
            going = f"SELECT 1 FROM {name} AS kept WHERE {condition} ORDER BY id {tx.dialect.lock_whole}"  # noqa: S608  # names of the schema
            tx.ask(f"SELECT count(*) FROM ({going}) AS going", extent_bindings(extent))  # noqa: S608  # likewise


def _clear_references(tx: Transaction, extent: Extent) -> None:
    """Clear what names or links a memory that goes."""
    for name, table in TABLES.items():
        if table.is_dependent and name not in _EXACT:
            ends = " OR ".join(reference_conditions(extent, name))
            _delete_rows(tx, extent, name, f"({ends})" if extent.is_part else "1 = 1")
            continue
        for column, kind in table.references.items() if table.kind else ():
            if kind in MEMORIES_OF_KIND:
                target = MEMORIES_OF_KIND[kind]
                tx.execute(
                    f"UPDATE {name} AS named SET {column} = NULL WHERE {column} IS NOT NULL AND EXISTS ("  # noqa: S608  # names of the schema
                    f"SELECT 1 FROM {target} AS kept WHERE kept.tenant_id = named.tenant_id "
                    f"AND kept.id = named.{column} AND {extent_condition(extent, target)})",
                    extent_bindings(extent),
                )


def _clear_memories(
    tx: Transaction, extent: Extent, kind: Kind, *, index: Callable[[str], SearchIndex], at: datetime
) -> int:
    """Remove the memories of a kind: rows first, so that hardly any is indexed again when its neighbour goes."""
    order = "kept.scope, kept.session, kept.turn, kept.doc" if kind == "episode" else "kept.doc"
    table = KIND_TABLES[kind]
    count = 0
    while True:
        found = tx.ask(
            f"SELECT kept.doc, kept.tenant_id FROM {table} AS kept WHERE {extent_condition(extent, table)} "  # noqa: S608  # names of the schema
            f"ORDER BY kept.tenant_id, {order} LIMIT :limit",
            {**extent_bindings(extent), "limit": _AT_ONCE},
        )
        if not found:
            return count
        where = "doc IN :docs AND tenant_id IN :tenants"
        docs = [doc for doc, _ in found]
        values = {"docs": tx.dialect.listed(docs), "tenants": tx.dialect.listed({tenant for _, tenant in found})}
        memories = selection.select(tx, kind, where, values, by="NOT INDEXED")
        tx.execute(f"DELETE FROM {table} WHERE {where}", values)  # noqa: S608  # names of the schema
        for tenant_id, of_tenant in groupby(sorted(memories, key=_tenant_of), _tenant_of):
            index(tenant_id).erase(tx, tenant_id, dict(of_tenant), at)
        count += len(found)


def _tenant_of(row: tuple[int, MemoryRecord]) -> str:
    return row[1].tenant_id


def _delete_rows(tx: Transaction, extent: Extent, table: str, condition: str = "1 = 1") -> None:
    statement = f"DELETE FROM {table} AS kept WHERE {tenant_condition(extent)} AND {condition}"  # noqa: S608  # names of the schema
    tx.execute(statement, extent_bindings(extent))


def _is_unused(column: str) -> str:
    """Build a condition: no episode of a speaker or a session is left."""
    return (
        f"{in_scopes_of_agent()} AND NOT EXISTS (SELECT 1 FROM episodes AS memory "  # noqa: S608  # names of the schema
        f"WHERE memory.tenant_id = kept.tenant_id AND memory.scope = kept.scope AND memory.{column} = kept.{column})"
    )
