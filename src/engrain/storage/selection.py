"""Selection of memories by a condition: rows as records, what a caller sees by id, locks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engrain.domain.access.scopes import GLOBAL_SCOPE
from engrain.domain.memories.fact_keys import fact_key
from engrain.domain.records import KINDS, Fact, Kind, MemoryRecord
from engrain.storage.filters import same_slot
from engrain.storage.rows import KIND_TABLES

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence
    from datetime import datetime

    from engrain.domain.memories.fact_keys import FactKey
    from engrain.domain.requests import Ref
    from engrain.storage.transaction import Transaction
    from engrain.storage.unit_of_work import Snapshot

# Where docs or ids are given, an index on any of the other conditions would read a whole scope.
BY_DOC = "NOT INDEXED"
DOCS = "doc IN :docs"
_SEEN_BY_ID = "tenant_id = :tenant_id AND id IN :ids AND +scope IN :scopes"


def select(
    tx: Transaction, kind: Kind, condition: str, bound: dict[str, Any], *, order: str = "", by: str = ""
) -> list[tuple[int, MemoryRecord]]:
    """Select docs and records of one kind; the condition is made of this room's own words, values are bound."""
    return start_select(tx, kind, condition, bound, order=order, by=by)()


def start_select(
    tx: Transaction, kind: Kind, condition: str, bound: dict[str, Any], *, order: str = "", by: str = ""
) -> Callable[[], list[tuple[int, MemoryRecord]]]:
    """Start `select`, and return a function that returns its answer: several that are started take one round trip."""
    rows = tx.statements.records.kinds[kind]
    statement = f"SELECT doc, {rows.columns} FROM {KIND_TABLES[kind]} {by} WHERE {condition} {order}"  # noqa: S608  # no input in it
    answer = tx.start_ask(statement, bound)
    return lambda: [(row[0], rows.record(row[1:])) for row in answer()]


def select_facts(
    tx: Transaction, condition: str, bound: dict[str, Any], *, order: str = "", by: str = ""
) -> list[tuple[int, Fact]]:
    """Select docs and facts as `select` does."""
    found = select(tx, "fact", condition, bound, order=order, by=by)
    return [(doc, fact) for doc, fact in found if isinstance(fact, Fact)]


def load_holders(
    tx: Transaction, key: FactKey, *, tenant_id: str, scope: str, entity_id: str | None, lock: str = ""
) -> list[tuple[int, Fact]]:
    """Load the active facts in the slot of a key, of an entity or of the key's subject, whoever sees them."""
    same, bound = same_slot(key, tenant_id=tenant_id, scope=scope, entity_id=entity_id)
    found = select_facts(tx, f"{same} AND validity = 'active'", bound, order=lock)
    return [(doc, fact) for doc, fact in found if fact.key.value == key.value]


def load_slot(tx: Transaction, fact: Fact, *, lock: str = "") -> list[tuple[int, Fact]]:
    """Load the active facts in the slot of a fact, itself among them, whoever sees them."""
    return load_holders(tx, fact.key, tenant_id=fact.tenant_id, scope=fact.scope, entity_id=fact.entity_id, lock=lock)


def load_visible(snapshot: Snapshot, ids: Sequence[str], *, lock: str = "") -> list[tuple[int, MemoryRecord]]:
    """Load those of `ids` the caller may see, live or not, in their order, under one of the dialect's locks.

    Whoever locks several takes them in one order: by kind, then id.
    """
    bound = {**snapshot.bindings(), "ids": snapshot.dialect.listed(ids)}
    order = f"ORDER BY id {lock}" if lock else ""
    found = {
        memory.id: (doc, memory)
        for kind in KINDS
        for doc, memory in select(snapshot, kind, _SEEN_BY_ID, bound, order=order)
    }
    return [found[id_] for id_ in dict.fromkeys(ids) if id_ in found]


def load_memories(snapshot: Snapshot, ids: Sequence[str]) -> list[MemoryRecord]:
    """Load those of `ids` that the caller sees, live or not, in their order; other ids are absent."""
    return [memory for _, memory in load_visible(snapshot, ids)]


def is_active_fact(snapshot: Snapshot, id_: str, now: datetime) -> bool:
    """Tell whether an active fact has this id whose period is not over, that the caller sees and that is no pool's."""
    caller = snapshot.identity
    scopes = snapshot.dialect.listed({GLOBAL_SCOPE, caller.agent, caller.own_scope, caller.shared_scope})
    bound = {"tenant_id": snapshot.tenant_id, "id": id_, "scopes": scopes, "now": snapshot.dialect.time(now)}
    return snapshot.one("active_fact", **bound) is not None


def find_erased(snapshot: Snapshot, ids: Sequence[str]) -> set[str]:
    """Find those of `ids` that were erased in the caller's scopes."""
    bound = {**snapshot.bindings(), "ids": snapshot.dialect.listed(ids)}
    return {id_ for (id_,) in snapshot.rows("erased_among", **bound)} if ids else set()


def load_learned(snapshot: Snapshot, ids: Sequence[str]) -> list[MemoryRecord]:
    """Load the facts and rules that the caller sees and that were learned from some episodes, live or not."""
    bound = {**snapshot.bindings(), "ids": snapshot.dialect.listed(ids)}
    condition = "tenant_id = :tenant_id AND source_episode_id IN :ids AND +scope IN :scopes"
    kinds: tuple[Kind, ...] = ("fact", "rule")
    return [memory for kind in kinds for _, memory in select(snapshot, kind, condition, bound, order="ORDER BY id")]


def load_by_ids(
    tx: Transaction, kind: Kind, tenant_id: str, ids: Iterable[str], *, lock: str = ""
) -> list[tuple[int, MemoryRecord]]:
    """Load docs and records of one kind by id, whoever sees them, in the order of ids, under one of the locks."""
    bound = {"tenant_id": tenant_id, "ids": tx.dialect.listed(ids)}
    return select(tx, kind, "tenant_id = :tenant_id AND id IN :ids", bound, order=f"ORDER BY id {lock}")


def lock_ids(tx: Transaction, tenant_id: str, ids: Iterable[str]) -> list[str]:
    """Lock those of `ids` that exist, whoever sees them: nobody removes them until the end of the transaction."""
    bound = {"tenant_id": tenant_id, "ids": tx.dialect.listed(ids)}
    return [
        id_
        for table in KIND_TABLES.values()
        for (id_,) in tx.ask(
            f"SELECT id FROM {table} WHERE tenant_id = :tenant_id AND id IN :ids ORDER BY id {tx.dialect.hold}",  # noqa: S608  # names of the schema
            bound,
        )
    ]


def load_docs(tx: Transaction, docs: Iterable[Ref], tenants: Iterable[str] | None = None) -> dict[int, MemoryRecord]:
    """Load the records of docs, whoever sees them; with their tenants, a sharded database can look there alone."""
    bound = {"docs": tx.dialect.listed(docs)}
    condition = DOCS
    if tenants is not None:
        condition = f"{DOCS} AND tenant_id IN :tenants"
        bound["tenants"] = tx.dialect.listed(set(tenants))
    return {doc: memory for kind in KINDS for doc, memory in select(tx, kind, condition, bound, by=BY_DOC)}


def load_of_tenants(tx: Transaction, docs: Collection[tuple[str, int]]) -> dict[tuple[str, int], MemoryRecord]:
    """Load the records of docs with their tenants, whoever sees them: two tenants of a server may have one doc."""
    bound = {
        "tenants": tx.dialect.listed({tenant for tenant, _ in docs}),
        "docs": tx.dialect.listed({doc for _, doc in docs}),
    }
    return {
        found: memory
        for kind in KINDS
        for doc, memory in select(tx, kind, f"{DOCS} AND tenant_id IN :tenants", bound, by=BY_DOC)
        if (found := (memory.tenant_id, doc)) in docs
    }


def find_active_fact(
    snapshot: Snapshot,
    *,
    scope: str,
    subject: str,
    predicate: str,
    content: str = "",
    tags: Sequence[str] = (),
    at: datetime | None = None,
) -> Fact | None:
    """Find the active fact about no entity in the slot of these, live `at` a time, if the caller sees it."""
    if not snapshot.sees(scope):
        return None
    key = fact_key(scope=scope, subject=subject, predicate=predicate, content=content, tags=tags)
    found = load_holders(snapshot, key, tenant_id=snapshot.tenant_id, scope=scope, entity_id=None)
    return next((fact for _, fact in found if at is None or fact.is_live(at)), None)
