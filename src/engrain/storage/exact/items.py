"""Items: written with a check of their versions, read, listed, removed, and what searches read of them."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from engrain.domain import events
from engrain.domain.items import (
    IndexEntry,
    ItemAddress,
    ItemChange,
    Namespace,
    StoredItem,
    WrittenItem,
    below,
    decode_namespace,
    digest_item,
    encode_namespace,
    matches,
)
from engrain.errors import VersionConflict
from engrain.storage.dialects import micros
from engrain.storage.filters import position_bindings
from engrain.storage.transaction import Transaction, for_every_user, repeatable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from engrain.domain.filters import TimePosition
    from engrain.domain.requests import Act
    from engrain.storage.unit_of_work import Snapshot, UnitOfWork

_AT_ONCE = 500


class ItemRow(NamedTuple):
    """An item as it is found, with its id and its time to live."""

    id: str
    item: StoredItem
    ttl_s: float | None
    is_past: bool = False
    entry: IndexEntry | None = None


class Unindexed(NamedTuple):
    """A version of an item whose index is missing, or is by another embedder."""

    id: str
    scope: str
    version: int
    value: dict[str, Any]
    fields: tuple[str, ...]


@repeatable
def write(work: UnitOfWork, changes: Sequence[ItemChange], *, ids: Sequence[str]) -> list[WrittenItem]:
    """Write and delete items in their order, all or none; `ids` are two for each change.

    Raises:
        VersionConflict: an item has another version than its change expects.
    """
    order = sorted(
        range(len(changes)), key=lambda number: changes[number].address
    )  # whoever writes several takes turns
    written = {place: _write_one(work, changes[place], ids[2 * place : 2 * place + 2]) for place in order}
    for event_type, is_put in (("items_put", True), ("items_deleted", False)):
        of_type = [item for item in written.values() if (item.version > 0) is is_put and (is_put or item.existed)]
        if of_type:
            work.record(events.items_changed(work.act, event_type, of_type, work.ids))
    if any(item.existed for item in written.values()):
        work.backend.clear_log(work)
    return [written[place] for place in range(len(changes))]


def _write_one(work: UnitOfWork, change: ItemChange, ids: Sequence[str]) -> WrittenItem:
    named, at = _named(work, change.address), work.act.at
    held = work.one("hold_item", **named)
    if held is not None and held[2] is not None and work.dialect.moment(held[2]) <= at:
        _drop_key(work, named)
        held = None
    if change.expected_version is not None and (found := 0 if held is None else held[1]) != change.expected_version:
        raise VersionConflict(
            f"the item {change.address.key!r:.80} has version {found}, not {change.expected_version}; "
            "read it again, then write"
        )
    result = WrittenItem(**change.address._asdict(), version=0, existed=held is not None)
    if change.text is None:
        if held is not None:
            digest = digest_item(change.address, held[1])
            _leave_tombstones(work, dict.fromkeys(_drop_key(work, named), digest), work.own_scope)
        return result
    expires_at = None if change.ttl_s is None else at + timedelta(seconds=change.ttl_s)
    version = max(micros(at), 0 if held is None else held[1] + 1)
    id_ = ids[0] if held is None else held[0]
    values = {
        "id": id_,
        "version": version,
        "value": change.text,
        "fields": json.dumps(change.fields) if change.fields else None,
        "ttl_s": change.ttl_s,
        "at": work.at,
        "expires_at": None if expires_at is None else work.dialect.time(expires_at),
    }
    if held is None:
        work.run("add_item", **named, **values)
    else:
        if change.keep_history:
            work.run("keep_version", tenant_id=work.tenant_id, id=id_, new_id=ids[1], at=work.at)
        work.run("drop_item_indexes", tenant_id=work.tenant_id, ids=work.dialect.listed([id_]))
        work.run("overwrite_item", tenant_id=work.tenant_id, **values)
    if change.entry is not None:
        index(work, work.tenant_id, Unindexed(id_, work.own_scope, version, {}, ()), change.entry)
    return replace(result, version=version, expires_at=expires_at)


def insert(
    work: UnitOfWork, item: StoredItem, text: str, *, id_: str, fields: Sequence[str], ttl_s: float | None
) -> bool:
    """Insert an item that was written elsewhere, where its key is free; return whether it was."""
    time = work.dialect.time
    named = _named(work, ItemAddress(item.namespace, item.key))
    values = {"version": item.version, "value": text, "fields": json.dumps(fields) if fields else None, "ttl_s": ttl_s}
    times = {
        "at": time(item.created_at),
        "updated_at": time(item.updated_at),
        "expires_at": None if item.expires_at is None else time(item.expires_at),
    }
    return work.one("insert_item", **named, **values, **times, id=id_) is not None


def index(tx: Transaction, tenant_id: str, item: Unindexed, entry: IndexEntry) -> None:
    """Set what a search reads of a version of an item, unless a later version has it."""
    named = {"tenant_id": tenant_id, "id": item.id, "scope": item.scope, "version": item.version}
    tx.run("index_item", **named, **entry._asdict())


def index_all(tx: Transaction, tenant_id: str, entries: Sequence[tuple[Unindexed, IndexEntry]]) -> None:
    """Set what a search reads of items."""
    for item, entry in entries:
        index(tx, tenant_id, item, entry)


def refresh(tx: Transaction, tenant_id: str, rows: Sequence[ItemRow], at: datetime) -> None:
    """Begin the time to live of items anew."""
    values = [
        {"tenant_id": tenant_id, "id": row.id, "expires_at": tx.dialect.time(at + timedelta(seconds=row.ttl_s))}
        for row in rows
        if row.ttl_s is not None
    ]
    tx.run_each("refresh_item", values)


def scored(row: ItemRow, score: float) -> ItemRow:
    """Return an item with its score."""
    return row._replace(item=replace(row.item, score=score))


def refreshed(row: ItemRow, at: datetime) -> StoredItem:
    """Return an item with the time to live that it has once it was refreshed."""
    return row.item if row.ttl_s is None else replace(row.item, expires_at=at + timedelta(seconds=row.ttl_s))


def find(snapshot: Snapshot, address: ItemAddress, *, now: datetime) -> ItemRow | None:
    """Find the item of a key; None where there is none, or its time to live is over."""
    return next(iter(list_versions(snapshot, address, now=now)), None)


def list_versions(snapshot: Snapshot, address: ItemAddress, *, now: datetime) -> list[ItemRow]:
    """List the versions of an item that are there, the newest first; none once its time to live is over.

    A restore may have brought versions of another item of this key, which began at another time.
    """
    rows = [_read_row(snapshot, row) for row in snapshot.rows("versions_of_item", **_named(snapshot, address))]
    item = next((row.item for row in rows if not row.is_past), None)
    if item is None or (item.expires_at is not None and item.expires_at <= now):
        return []
    return [row for row in rows if row.item.created_at == item.created_at]


def list_items(
    snapshot: Snapshot,
    namespace: Namespace,
    conditions: Mapping[str, Any],
    limit: int,
    *,
    now: datetime,
    after: TimePosition | None = None,
) -> list[ItemRow]:
    """List the items of a namespace and of those below that meet the conditions, last written first, then larger id."""
    found: list[ItemRow] = []
    named = {**_bounds(snapshot, namespace, now), "limit": limit if not conditions else max(limit, _AT_ONCE)}
    while len(found) < limit:
        if after is None:
            rows = snapshot.rows("items_below", **named)
        else:
            rows = snapshot.rows("more_items_below", **named, **position_bindings(after, snapshot.dialect))
        page = [_read_row(snapshot, row) for row in rows]
        found += (row for row in page if matches(row.item.value, conditions))
        if len(page) < named["limit"]:
            break
        after = page[-1].item.updated_at, page[-1].id
    return found[:limit]


def list_indexed(
    snapshot: Snapshot, namespace: Namespace, conditions: Mapping[str, Any], *, now: datetime
) -> list[ItemRow]:
    """List the items of a namespace and of those below that a search reads, with their index, last written first."""
    rows = [_read_row(snapshot, row) for row in snapshot.rows("indexed_items", **_bounds(snapshot, namespace, now))]
    return [row for row in rows if matches(row.item.value, conditions)]


def list_unindexed(snapshot: Snapshot, namespace: Namespace, embedder: str | None, *, now: datetime) -> list[Unindexed]:
    """List the items below a namespace whose index is missing, or has no vectors of an embedder."""
    named = _bounds(snapshot, namespace, now)
    rows = snapshot.rows("unindexed_items", **named, embedder=embedder or "")
    return [
        Unindexed(id_, scope, version, json.loads(text), tuple(json.loads(fields)))
        for id_, scope, version, text, fields in rows
    ]


def count_namespaces(snapshot: Snapshot, namespace: Namespace, *, now: datetime) -> Counter[Namespace]:
    """Count the items of each namespace below one."""
    rows = snapshot.rows("item_namespaces", **_bounds(snapshot, namespace, now))
    return Counter({decode_namespace(text): count for text, count in rows})


@for_every_user
@repeatable
def remove_expired(work: UnitOfWork, limit: int) -> int:
    """Remove items of a tenant whose time to live is over, at most so many; they leave no tombstone."""
    rows = work.rows("expired_items", tenant_id=work.tenant_id, now=work.at, limit=limit)
    for scope, namespace, key in rows:
        _drop_key(work, {"tenant_id": work.tenant_id, "scope": scope, "namespace": namespace, "item_key": key})
    return len(rows)


@for_every_user
def count_expired(tx: Transaction, act: Act) -> int:
    """Count the items of a tenant whose time to live is over."""
    named = {"tenant_id": act.caller.tenant_id, "now": tx.dialect.time(act.at), "limit": 2**62}
    return len(tx.rows("expired_items", **named))


def remove(work: UnitOfWork, digests: Mapping[str, str]) -> None:
    """Remove items and versions of them by id; each leaves a tombstone with its digest."""
    listed = work.dialect.listed(digests)
    gone = work.rows("drop_items", tenant_id=work.tenant_id, ids=listed)
    work.run("drop_item_indexes", tenant_id=work.tenant_id, ids=listed)
    for id_, scope in sorted(map(tuple, gone)):
        _leave_tombstones(work, {id_: digests[id_]}, scope)


def _leave_tombstones(work: UnitOfWork, digests: Mapping[str, str], scope: str) -> None:
    named = {"tenant_id": work.tenant_id, "kind": "item", "scope": scope, "erased_at": work.at}
    work.run_each("add_tombstone", [{**named, "id": id_, "digest": digest} for id_, digest in digests.items()])


def _drop_key(work: UnitOfWork, named: Mapping[str, Any]) -> list[str]:
    """Remove the item of a key with its versions; return their ids."""
    gone = [id_ for (id_,) in work.rows("drop_key", **named)]
    work.run("drop_item_indexes", tenant_id=work.tenant_id, ids=work.dialect.listed(gone))
    return gone


def _read_row(snapshot: Snapshot, row: Sequence[Any]) -> ItemRow:
    moment = snapshot.dialect.moment
    id_, namespace, key, version, text, created_at, updated_at, expires_at, ttl_s, *more = row
    item = StoredItem(
        namespace=decode_namespace(namespace),
        key=key,
        value=json.loads(text),
        version=version,
        created_at=moment(created_at),
        updated_at=moment(updated_at),
        expires_at=None if expires_at is None else moment(expires_at),
    )
    match more:
        case []:
            return ItemRow(id_, item, ttl_s)
        case [replaced_at]:
            return ItemRow(id_, item, ttl_s, is_past=replaced_at is not None)
        case _:
            words, packed, embedder, vectors = more
            return ItemRow(id_, item, ttl_s, entry=IndexEntry(words, bytes(packed), embedder, vectors))


def _named(snapshot: Snapshot, address: ItemAddress) -> dict[str, Any]:
    """Return the bindings of an item: the caller's own, whatever it is called."""
    namespace = encode_namespace(address.namespace)
    return {
        "tenant_id": snapshot.tenant_id,
        "scope": snapshot.own_scope,
        "namespace": namespace,
        "item_key": address.key,
    }


def _bounds(snapshot: Snapshot, namespace: Namespace, now: datetime) -> dict[str, Any]:
    """Return the bindings of what a caller has in a namespace and below."""
    own = {"tenant_id": snapshot.tenant_id, "scope": snapshot.own_scope, "now": snapshot.dialect.time(now)}
    return own | below(namespace)
