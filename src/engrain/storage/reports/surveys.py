"""Pages for an audit: all memories that a caller sees, their links and vectors, and unmentioned entities."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engrain.domain.entities.registry import MERGED_INTO
from engrain.storage import selection
from engrain.storage.filters import compile_request
from engrain.storage.rows import KIND_TABLES
from engrain.storage.write import embedding_versions

if TYPE_CHECKING:
    from collections.abc import Collection

    import numpy as np
    from numpy.typing import NDArray

    from engrain.domain.records import Entity, MemoryRecord
    from engrain.domain.requests import Request
    from engrain.storage.unit_of_work import Snapshot


def load_page(snapshot: Snapshot, request: Request, *, before: str | None, limit: int) -> list[MemoryRecord]:
    """Load the next memories that match, by id from the largest; each kind along the index of its ids."""
    found: list[MemoryRecord] = []
    for kind, table in KIND_TABLES.items() if limit > 0 else ():
        condition, bound = compile_request(snapshot, request, kind, scope="+scope IN :scopes")
        if not bound:
            continue
        if before is not None:
            condition, bound = f"{condition} AND id < :before", {**bound, "before": before}
        order, by = "ORDER BY id DESC LIMIT :limit", f"INDEXED BY {table}_id"
        rows = selection.select(snapshot, kind, condition, {**bound, "limit": limit}, order=order, by=by)
        found += [memory for _, memory in rows]
    return sorted(found, key=lambda memory: memory.id, reverse=True)[: max(limit, 0)]


def load_vectors(snapshot: Snapshot, ids: Collection[str]) -> dict[str, NDArray[np.float32]]:
    """Load the vectors of the active version of those memories that the caller sees."""
    active = embedding_versions.find_active(snapshot) if ids else None
    if active is None:
        return {}
    seen = "SELECT doc, id FROM {} WHERE tenant_id = :tenant_id AND id IN :ids AND +scope IN :scopes"
    statement = " UNION ALL ".join(seen.format(table) for table in KIND_TABLES.values())
    found = snapshot.ask(statement, {**snapshot.bindings(), "ids": snapshot.dialect.listed(ids)})
    id_of: dict[int, str] = {row[0]: row[1] for row in found}
    docs = snapshot.dialect.listed(id_of)
    rows = snapshot.rows("vectors_of", tenant_id=snapshot.tenant_id, version=active.version, docs=docs) if id_of else []
    return {id_of[doc]: _decode_vector(embedding) for doc, embedding in rows}


def find_unmentioned(snapshot: Snapshot, *, after: str | None, limit: int) -> list[Entity]:
    """Find the next unmerged entities, by id, that no memory the caller sees is about or mentions."""
    bound = {**snapshot.bindings(), **snapshot.registry_bindings(), "after": after or "", "limit": max(limit, 0)}
    rest = (
        "FROM entities WHERE tenant_id = :tenant_id AND user_id IN :users AND id > :after "  # noqa: S608  # no input in it
        f"AND {snapshot.dialect.lacks('metadata', MERGED_INTO)} "
        "AND NOT EXISTS (SELECT 1 FROM facts WHERE facts.tenant_id = entities.tenant_id "
        "AND facts.entity_id = entities.id AND facts.scope IN :scopes) "
        "AND NOT EXISTS (SELECT 1 FROM memory_entities WHERE memory_entities.tenant_id = entities.tenant_id "
        "AND memory_entities.entity_id = entities.id AND memory_entities.memory_kind IN ('episode', 'fact', 'rule') "
        "AND memory_entities.scope IN :scopes) ORDER BY id LIMIT :limit"
    )
    return snapshot.load(snapshot.statements.records.entities, rest, bound)


def _decode_vector(embedding: object) -> NDArray[np.float32]:
    """SQLite keeps the bytes, PostgreSQL a vector of its own."""
    import numpy as np  # not by `import engrain`

    if isinstance(embedding, bytes):
        return np.frombuffer(embedding, np.float32)
    to_numpy = getattr(embedding, "to_numpy", None)
    return np.asarray(embedding if to_numpy is None else to_numpy(), np.float32)
