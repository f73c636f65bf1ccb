"""Embedding versions: the one whose vectors are searched, and the one that is being built."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from engrain.domain import events
from engrain.domain.records import EmbeddingVersion
from engrain.domain.requests import Act, Ref, Unembedded
from engrain.domain.text.indexing import embedding_text
from engrain.errors import EngineUnavailable, InvalidInput
from engrain.storage import selection

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from datetime import datetime

    import numpy as np
    from numpy.typing import NDArray

    from engrain.storage.transaction import Transaction


def load_versions(tx: Transaction) -> list[EmbeddingVersion]:
    """Load all versions, oldest first."""
    rest = "FROM embedding_versions WHERE tenant_id = '' ORDER BY version"
    return tx.load(tx.statements.records.embedding_versions, rest, {})


def find_active(tx: Transaction) -> EmbeddingVersion | None:
    """Find the version that is searched."""
    return next((known for known in load_versions(tx) if known.state == "active"), None)


def check_current(tx: Transaction, query_version: int | None, searched: int | None) -> None:
    """Refuse to compare vectors of different embedders: those asked with, and those searched.

    Raises:
        EngineUnavailable: another embedder has taken over.
    """
    if searched is None or query_version in (None, searched):
        return
    now = find_active(tx)
    name = "another embedder" if now is None else now.name
    raise EngineUnavailable(f"the vectors here are of {name} now; open the memory again with embedder={name}")


def use_embedder(tx: Transaction, name: str, dims: int, now: datetime) -> EmbeddingVersion:
    """Return the active version, which becomes this embedder's where there is none yet."""
    return find_active(tx) or _add_version(tx, name, dims, state="active", now=now)


def begin_version(tx: Transaction, name: str, dims: int, now: datetime) -> EmbeddingVersion:
    """Return a building version for this embedder: the unfinished one, or a new one."""
    versions = load_versions(tx)
    if not versions:
        raise InvalidInput("no embedder made vectors here yet; open the memory with the one you want")
    for known in versions:
        if known.state == "active" and (known.name, known.dims) == (name, dims):
            raise InvalidInput(f"the vectors here are of {name} already; there is nothing to re-embed")
        if known.state == "building":
            if (known.name, known.dims) != (name, dims):
                raise InvalidInput(f"vectors of {known.name} are being built; finish that with embedder={known.name}")
            return known
    return _add_version(tx, name, dims, state="building", now=now)


def require_version(tx: Transaction, version: int | None) -> EmbeddingVersion:
    """Return the version of a number, or the active one."""
    found = (
        find_active(tx)
        if version is None
        else next((known for known in load_versions(tx) if known.version == version), None)
    )
    if found is None:
        reason = "no embedder is recorded" if version is None else f"there is no embedding version {version}"
        raise InvalidInput(f"{reason}; call use_embedder before attaching vectors")
    return found


def find_unembedded(
    tx: Transaction, limit: int, version: int | None = None, *, skipped: Collection[tuple[str, Ref]] = ()
) -> list[Unembedded]:
    """Find indexed live memories that lack a vector of the version, or of the active one; oldest first.

    Those whose tenant and handle are `skipped` are left out.
    """
    most = limit + len(skipped)
    if version is None:
        rows = tx.rows("unembedded", limit=most)
    else:
        rows = tx.rows("without_vector", limit=most, version=require_version(tx, version).version)
    if tx.dialect.name == "sqlite":  # where a doc is one memory's
        skipped_docs = {doc for _, doc in skipped}
        docs = [doc for (doc,) in rows if doc not in skipped_docs][:limit]
        loaded = sorted(selection.load_docs(tx, docs).items())
        waiting = {(memory.tenant_id, doc): memory for doc, memory in loaded}
    else:
        rows = [row for row in rows if (row[1], row[0]) not in skipped][:limit]
        found = selection.load_of_tenants(tx, [(tenant_id, doc) for doc, tenant_id in rows])
        waiting = {(tenant_id, doc): found[tenant_id, doc] for doc, tenant_id in rows if (tenant_id, doc) in found}
    return [
        Unembedded(ref=doc, tenant_id=tenant_id, id=memory.id, text=embedding_text(memory))
        for (tenant_id, doc), memory in waiting.items()
    ]


def switch_version(tx: Transaction, act: Act, version: int, ids: Callable[[], str]) -> bool:
    """Make a building version the active one; False where a live memory still lacks its vector."""
    building = require_version(tx, version)
    if building.state != "building":
        raise InvalidInput(
            f"embedding version {version} is {building.state}; only one that is being built can take over"
        )
    if tx.rows("without_vector", limit=1, version=version):
        return False
    tx.run("retire_version")
    tx.run("activate_version", version=version, at=tx.dialect.time(act.at))
    tx.run("mark_embedded", version=version)
    tx.add(tx.statements.records.events, "memory_events", events.embeddings_switched(act, building, ids))
    return True


def check_vectors(version: EmbeddingVersion, count: int, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the vectors as they are stored, if they are what the version's embedder makes."""
    import numpy as np  # not by `import engrain`

    rows = round_vectors(np.asarray(vectors, np.float32))
    if rows.shape != (count, version.dims):
        raise InvalidInput(f"{version.name} makes vectors of shape {(count, version.dims)}, not {rows.shape}")
    if not np.isfinite(rows).all():
        raise InvalidInput(f"{version.name} returned a vector with NaN or infinity; nothing was written")
    return rows


def round_vectors(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Round to half precision, in which PostgreSQL stores vectors: both databases have the same."""
    import numpy as np  # not by `import engrain`

    with np.errstate(over="ignore"):  # infinity is refused
        return vectors.astype(np.float16).astype(np.float32)


def _add_version(
    tx: Transaction, name: str, dims: int, *, state: Literal["building", "active"], now: datetime
) -> EmbeddingVersion:
    found = tx.one("last_version")
    assert found is not None
    version = EmbeddingVersion(
        version=int(found[0]) + 1,
        name=name,
        dims=dims,
        state=state,
        created_at=now,
        activated_at=now if state == "active" else None,
    )
    tx.add(tx.statements.records.embedding_versions, "embedding_versions", version, tenant_id="")
    return version
