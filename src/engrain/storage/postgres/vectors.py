"""Vector search: exact in a small namespace, by HNSW in a large one; and the writes of vectors and their indexes.

Vectors are stored in half precision. Scores are float32 inner products with them, made by the server in one way
whichever way a memory was found: a query of half precision chooses candidates and scores nothing. HNSW's graph has the
vectors of large namespaces alone: one that has become large puts its earlier vectors there batch by batch, and compares
the rest.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
from psycopg.errors import LockNotAvailable

from engrain.storage.postgres import table_maintenance
from engrain.storage.search import candidates, matching
from engrain.storage.search.candidates import RankedDocs, list_candidates
from engrain.storage.write import embedding_versions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from engrain.domain.maintenance.backups import Row
    from engrain.domain.records import EmbeddingVersion
    from engrain.domain.requests import Ref, Request
    from engrain.storage.search.namespaces import SearchSpace
    from engrain.storage.transaction import Transaction
    from engrain.storage.unit_of_work import Snapshot

# Up to so many vectors are all compared at once, and their scores sent.
SCAN_ALL = 5_000
# A namespace's vectors are in the graph where it has more memories than so many times that: a scan takes 0.7 us for
# each vector, a walk 18 ms for the best 150 of a graph of its own (`python -m bench.tenants --scans`).
_GRAPH_PER_SCAN = 4
# HNSW walks past others' vectors, so that a scan of the own ones alone can be less work, and finds all of the best. A
# walk of 60,000 vectors for 15,000 takes 70 ms.
_WALK_PER_SCAN = 150
_GROWTH = 4  # earlier vectors that go into the graph with each new one
_SPARE = 50
_MOST_DIMS = 4_000  # that an index of halfvec takes
_MOST_LOOKED_AT = 1_000  # hnsw.ef_search
_ALL = 1 << 31
_INDEX_MEMORY = "512MB"  # about 300,000 vectors of 384 dimensions
_INDEX_LOCK = 0x656E6769  # "engi": who holds it makes an index of vectors


def find_nearest(
    snapshot: Snapshot,
    request: Request,
    where: SearchSpace,
    vector: NDArray[np.float32],
    *,
    limit: int,
    also: NDArray[np.int64],
    narrow: int,
    scan_all: int,
) -> RankedDocs:
    """Find the best that match the request, and those of `also`; best first, ties newest first."""
    if not where.spaces or where.version is None or where.dims != len(vector):
        return candidates.NONE
    search = VectorSearch(snapshot, where, vector)
    is_small = where.memories <= scan_all

    def ask(count: int, among: Sequence[int] | None) -> RankedDocs:
        if among is not None:
            return search.of(among, limit=count)
        return search.compare_all(count) if is_small else search.walk(count, scan_all=scan_all)

    is_about_the_past = request.filter.asks_past
    only_live = not where.has_expired
    best = (
        matching.collect_enough(snapshot, request, limit, ask, only_live=only_live, narrow=narrow)
        if limit > 0
        else candidates.NONE
    )
    if limit > 0:
        gone = search.of(list(matching.load_inactive(snapshot, request)), past=True)
        best = candidates.merge(best, gone, limit=limit)
    others = also[~candidates.contains(np.sort(best.docs), also)].tolist()
    if request.filter.is_narrow or not only_live:
        others = matching.filter_docs(snapshot, request, others)
    return candidates.merge(best, search.of(others, past=is_about_the_past))


def start_search(snapshot: Snapshot, where: SearchSpace, vector: NDArray[np.float32], *, scan_all: int) -> None:
    """Start the statement that `find_nearest` asks first, where the namespaces are these."""
    if where.memories <= scan_all and where.dims == len(vector):
        snapshot.start("scores_of_all", **_bind(snapshot, where, vector))


class VectorSearch:
    """Comparison of one vector with those of some namespaces."""

    def __init__(self, snapshot: Snapshot, where: SearchSpace, vector: NDArray[np.float32]) -> None:
        """Compare nothing yet."""
        self._tx = snapshot
        self._where = where
        self._bound = _bind(snapshot, where, vector)
        self._all: RankedDocs | None = None  # by doc, once it has compared all

    def compare_all(self, limit: int) -> RankedDocs:
        """The best of a few, all of which are compared: what else is asked of them is known then."""
        if self._all is None:
            [(docs, scores)] = self._tx.rows("scores_of_all", **self._bound)
            numbers, raws = np.frombuffer(docs or b"", ">i8"), np.frombuffer(scores or b"", ">f4")
            self._all = RankedDocs(numbers.astype(np.int64), raws.astype(np.float64))
        found = self._all
        if limit < len(found):
            found = found.where(found.raws >= np.partition(found.raws, -limit)[-limit])
        return candidates.merge(found, limit=limit)

    def scan(self, limit: int) -> RankedDocs:
        """The best of all, one by one."""
        rows = self._tx.rows("nearest_of_all", **self._bound, count=limit + _SPARE, limit=limit)
        return list_candidates(rows)

    def of(self, docs: Sequence[Ref], *, past: bool = False, limit: int = _ALL) -> RankedDocs:
        """The best of some docs, those that are gone included where asked."""
        if not docs:
            return candidates.NONE
        if self._all is not None and not past:
            wanted = np.sort(np.array(docs, np.int64))
            return candidates.merge(self._all.where(candidates.contains(wanted, self._all.docs)), limit=limit)
        rows = self._tx.rows("nearest_of", **self._bound, docs=list(docs), past=past, limit=limit)
        return list_candidates(rows)

    def walk(self, limit: int, *, scan_all: int) -> RankedDocs:
        """The best of all by HNSW; by a scan where that is less work, or finds what HNSW gave up on."""
        if max(space.memories for space in self._where.spaces) <= _GRAPH_PER_SCAN * scan_all:
            return self.scan(limit)
        index = index_name(self._bound["version"])
        found = self._tx.one("how_many_vectors", tenant_id=self._bound["tenant_id"], index=index)
        if found is not None and self._where.memories**2 < _WALK_PER_SCAN * limit * found[0]:
            return self.scan(limit)
        count = 2 * limit + _SPARE  # what half precision puts in another order, and equals of the last
        self._tx.run("walk_settings", looked_at=str(min(count, _MOST_LOOKED_AT)))
        rows = self._tx.ask(_walk_statement(self._where, count), self._bound)
        if len(rows) < limit:
            return self.scan(limit)
        return list_candidates(rows[:limit])


def _bind(snapshot: Snapshot, where: SearchSpace, vector: NDArray[np.float32]) -> dict[str, Any]:
    return {
        "tenant_id": snapshot.tenant_id,
        "version": where.version,
        "namespaces": where.namespaces,
        "vector": vector.astype("float32"),
    }


def attach_vectors(
    tx: Transaction,
    docs: Sequence[int],
    vectors: NDArray[np.float32],
    version: EmbeddingVersion,
    *,
    tenants: Sequence[str] | None,
    scan_all: int,
) -> None:
    """Give memories their vectors, without making whoever writes those memories wait for the index.

    Their places are held at the end alone: who retires a memory before that is seen then, who does it after sees these.
    """
    owners: Sequence[str | None] = tenants or [None] * len(docs)
    first = {place: row for row, place in reversed(list(enumerate(zip(owners, docs, strict=True))))}
    entries = tx.rows(
        "entries_of",
        docs=list({*docs}),
        tenants=None if tenants is None else list({*tenants}),
        graph_from=_GRAPH_PER_SCAN * scan_all,
    )
    rows = {(tenant, doc): first.get((tenant if tenants else None, doc)) for doc, tenant, *_ in entries}
    found = [entry for entry in entries if rows[entry[1], entry[0]] is not None]
    if not found or version.state == "retired":
        return
    places = _columns_of([(tenant, doc) for doc, tenant, *_ in found])
    tx.run(
        "add_vectors",
        **places,
        version=version.version,
        namespaces=[namespace for _, _, namespace, _ in found],
        in_graph=[is_large for *_, is_large in found],
        embeddings=[vectors[rows[tenant, doc]] for doc, tenant, *_ in found],
    )
    locked = {(tenant, doc) for doc, tenant in tx.rows("lock_entries", **places)}
    lost = [(tenant, doc) for doc, tenant, *_ in found if (tenant, doc) not in locked]
    if lost:
        tx.run("remove_vectors", **_columns_of(lost), version=version.version)
    if version.state == "active":
        tx.run("are_embedded", **places)
    grown = Counter((tenant, namespace) for _, tenant, namespace, is_large in found if is_large)
    for (tenant, namespace), count in grown.items():
        _grow_graph(tx, tenant, namespace, version, limit=_GROWTH * count)


def fill_graph(tx: Transaction, *, scan_all: int) -> None:
    """Put all vectors of large namespaces into the graph."""
    large = tx.rows("large_namespaces", graph_from=_GRAPH_PER_SCAN * scan_all)
    for version in embedding_versions.load_versions(tx) if large else ():
        for tenant_id, namespace in large if version.state != "retired" else ():
            _grow_graph(tx, tenant_id, namespace, version, limit=_ALL)


def _grow_graph(tx: Transaction, tenant_id: str, namespace: int, version: EmbeddingVersion, *, limit: int) -> None:
    """Put vectors into the graph that were written while their namespace was small; nobody is waited for."""
    named = {"tenant_id": tenant_id, "version": version.version}
    docs = [doc for (doc,) in tx.rows("outside_graph", **named, namespace=namespace, limit=limit)]
    if docs:
        tx.run("put_in_graph", **named, docs=docs)


def restore_vectors(tx: Transaction, rows: Sequence[Row]) -> None:
    """Store the vectors of rows with doc and version, in place of earlier ones."""
    # One by one they go in binary, which in an array they would not: a tenth of the time.
    tx.run_each("restore_vector", rows)
    active = embedding_versions.find_active(tx)
    embedded = [row for row in rows if active is not None and row["version"] == active.version]
    if embedded:
        tx.run("are_embedded", **_columns_of([(row["tenant_id"], row["doc"]) for row in embedded]))


def _columns_of(pairs: Sequence[tuple[str, int]]) -> dict[str, list[Any]]:
    """Make a column of tenants and one of docs, side by side."""
    return {"tenants": [tenant for tenant, _ in pairs], "docs": [doc for _, doc in pairs]}


def add_index(tx: Transaction, version: EmbeddingVersion) -> None:
    """Make the HNSW index of a version, where its dimensions allow one and this role may."""
    if takes_index(version) and tx.one("may_index") == (True,):
        # Making an index tells how many rows there are, and so the table would be unknown no longer.
        table_maintenance.analyse_unknown_tables(tx)
        tx.run("index_settings", memory=_INDEX_MEMORY)
        tx.db.execute(
            f"CREATE INDEX IF NOT EXISTS {index_name(version.version)} ON memory_vectors "
            f"USING hnsw ((embedding::halfvec({version.dims:d})) halfvec_cosine_ops) "
            f"WITH (m = 16, ef_construction = 64) WHERE version = {version.version:d} AND NOT gone AND in_graph"
        )


def find_indexed_version(tx: Transaction) -> EmbeddingVersion | None:
    """Find the active version; None where there is none, or it lacks an index that this role may make."""
    active = embedding_versions.find_active(tx)
    return None if active is not None and _lacks_index(tx, active) else active


def add_missing_index(tx: Transaction, version: EmbeddingVersion) -> None:
    """Make the index of a version, unless it is there or somebody who restores vectors is about to make it."""
    if _lacks_index(tx, version) and tx.one("are_indexes_free", lock=_INDEX_LOCK) == (True,):
        add_index(tx, version)


def add_missing_indexes(tx: Transaction) -> None:
    """Make the indexes of the active and the building version, as `add_missing_index` does."""
    for version in embedding_versions.load_versions(tx):
        if version.state != "retired":
            add_missing_index(tx, version)


def drop_empty_index(tx: Transaction) -> None:
    """Remove the index of the active version where there is no vector at all, and nobody who looks for one now."""
    active = embedding_versions.find_active(tx)
    is_there = active is not None and takes_index(active) and tx.one("has_index", name=index_name(active.version))
    if active is None or not is_there or tx.one("may_index") != (True,) or tx.one("has_any_vector"):
        return

    def drop() -> None:
        tx.run("lock_vectors")
        if tx.one("has_any_vector") is None:
            tx.db.execute(f"DROP INDEX IF EXISTS {index_name(active.version)}")

    with contextlib.suppress(LockNotAvailable):
        tx.savepoint(drop)


def queue_for_index(tx: Transaction) -> None:
    """Until the end of the transaction nobody else makes a missing index of the active version; wait for who does.

    Two who have both written vectors would wait for each other to make it.
    """
    if find_indexed_version(tx) is None:
        tx.run("queue_for_indexes", lock=_INDEX_LOCK)


def _lacks_index(tx: Transaction, version: EmbeddingVersion) -> bool:
    return (
        takes_index(version)
        and tx.one("has_index", name=index_name(version.version)) is None
        and tx.one("may_index") == (True,)
    )


def drop_indexes(tx: Transaction) -> None:
    """Remove the indexes of retired versions."""
    if tx.one("may_index") == (True,):
        for version in embedding_versions.load_versions(tx):
            if version.state == "retired":
                tx.db.execute(f"DROP INDEX IF EXISTS {index_name(version.version)}")


def takes_index(version: EmbeddingVersion) -> bool:
    """Tell whether an index can hold vectors of so many dimensions."""
    return version.dims <= _MOST_DIMS


def index_name(version: int) -> str:
    """Name the HNSW index of a version."""
    return f"memory_vectors_version_{version:d}"


def _walk_statement(where: SearchSpace, limit: int) -> str:
    """The statement that HNSW serves: numbers of the schema stand in it as they are, as a partial index needs them.

    What is not in its graph is compared one by one.
    """
    own = f"tenant_id = :tenant_id AND version = {where.version:d} AND namespace IN :namespaces AND NOT gone"
    query = f"CAST(:vector AS vector)::halfvec({where.dims:d})"
    return (
        "SELECT doc, -(CAST(embedding AS vector) <#> CAST(:vector AS vector)) AS raw FROM ("  # noqa: S608  # numbers alone
        f"(SELECT doc, embedding FROM memory_vectors WHERE {own} AND in_graph "
        f"ORDER BY embedding::halfvec({where.dims:d}) <=> {query} LIMIT {limit:d}) UNION ALL "
        f"(SELECT doc, embedding FROM memory_vectors WHERE {own} AND NOT in_graph "
        f"ORDER BY embedding <#> (SELECT {query}), doc DESC LIMIT {limit:d})"
        ") AS near ORDER BY raw DESC, doc DESC"
    )
