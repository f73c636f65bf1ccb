"""Vector cache of a process: a bounded number of indexes, one a namespace, brought up to date before every search."""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from engrain.storage.search import candidates
from engrain.storage.search.candidates import RankedDocs
from engrain.storage.search.namespaces import SearchSpace
from engrain.storage.sqlite import vector_packs
from engrain.storage.sqlite.connections import release_mapped_pages
from engrain.storage.sqlite.vector_index import VectorIndex

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from engrain.storage.transaction import Transaction

_ROWS_AT_ONCE = 2048
_PACKS_AT_ONCE = 8
MOST_BYTES = 2**30
# What a snapshot begun before may still find: a snapshot lasts milliseconds, in which a sweep takes one batch out.
_DROPS_KEPT = 8_192


@dataclass(slots=True)
class _CachedNamespace:
    """One namespace's index and the newest change it holds."""

    index: VectorIndex
    change: int = 0
    checked: int = -1  # the file's newest change when this namespace was last caught up
    nbytes: int = 0  # as counted in the cache
    dropped: deque[tuple[int, int]] = field(default_factory=lambda: deque(maxlen=_DROPS_KEPT))  # changes and docs


class VectorCache:
    """Exact nearest-neighbour search over the vectors of a file that any number of processes write.

    Every write of a vector takes a number that only grows, so whatever is new to this process is `change > seen`: a few
    microseconds when nothing is. Searches of one process run one at a time. Beyond `most_bytes` the least used
    namespaces leave; those of the search at hand stay.
    """

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._lock = threading.Lock()
        self._most_bytes = most_bytes
        self.nbytes = 0  # held by the indexes
        # By namespace and version of the embedder, the least used first.
        self._namespaces: OrderedDict[tuple[int, int], _CachedNamespace] = OrderedDict()

    def shortlist(
        self,
        tx: Transaction,
        where: SearchSpace,
        vector: NDArray[np.float32],
        *,
        limit: int,
        among: NDArray[np.int64] | None = None,
    ) -> NDArray[np.int64]:
        """Return the docs among which the best `limit` of all namespaces are, for float32 to decide."""
        with self._lock:
            indexes = [self._caught_up(tx, namespace, where) for namespace in where.namespaces]
            found = [index.shortlist(vector, limit, among=among) for index in indexes]
            lost = self._dropped_since(where, among)
            self._evict(len(indexes))
        return candidates.sort_docs(*found, np.array(lost, np.int64))

    def cosines(
        self, where: SearchSpace, vector: NDArray[np.float32], docs: NDArray[np.int64]
    ) -> tuple[RankedDocs, bool]:
        """Find the exact cosines that are at hand of some docs, and whether the others have no vector in this view.

        Only of namespaces that are as the searcher's own view of the file has them.
        """
        parts, is_whole = [], True
        with self._lock:
            for namespace in where.namespaces:
                seen = self._current(where, namespace)
                is_whole &= seen is not None and seen.index.is_exact
                if seen is not None:
                    found, raws = seen.index.cosines(vector, docs)
                    parts.append(RankedDocs(found, raws.astype(np.float64)))
        return candidates.join(parts), is_whole

    def keep(self, where: SearchSpace, docs: NDArray[np.int64], vectors: NDArray[np.float32]) -> None:
        """Keep the float32 rows of docs, as the searcher's view of the file has them, for the next cosines."""
        with self._lock:
            for namespace in where.namespaces:
                seen = self._current(where, namespace)
                if seen is not None:
                    seen.index.keep(docs, vectors)
                    self._count_bytes(seen)

    def _current(self, where: SearchSpace, namespace: int) -> _CachedNamespace | None:
        """The namespace, where its index is as the searcher's view of the file has it."""
        seen = self._namespaces.get((namespace, where.version or 0))
        return seen if seen is not None and seen.checked == where.change >= seen.change else None

    def _count_bytes(self, seen: _CachedNamespace) -> None:
        self.nbytes += seen.index.nbytes - seen.nbytes
        seen.nbytes = seen.index.nbytes

    def _evict(self, used: int) -> None:
        """Let the least used namespaces go, none of the `used` last ones."""
        while self.nbytes > self._most_bytes and len(self._namespaces) > used:
            _, gone = self._namespaces.popitem(last=False)
            self.nbytes -= gone.nbytes

    def catch_up(self, tx: Transaction, namespace: int) -> int:
        """Take in what is new in a namespace; the number of vectors it holds now."""
        with self._lock:
            [(change, version, dims)] = tx.rows("newest_change")
            if version is None:
                return 0
            now = SearchSpace(
                spaces=(), places=(), version=version, dims=dims, change=change, indexed=0, has_unindexed=False
            )
            return len(self._caught_up(tx, namespace, now))

    def _dropped_since(self, where: SearchSpace, among: NDArray[np.int64] | None) -> list[int]:
        """List docs that the cache dropped after this snapshot began, of some or of all."""
        views = [self._namespaces[namespace, where.version] for namespace in where.namespaces if where.version]
        lost = [
            doc for seen in views if seen.change > where.change for change, doc in seen.dropped if change > where.change
        ]
        return lost if among is None else list(set(lost).intersection(among.tolist()))

    def _caught_up(self, tx: Transaction, namespace: int, where: SearchSpace) -> VectorIndex:
        assert where.version is not None
        assert where.dims is not None
        seen = self._namespaces.get((namespace, where.version))
        if seen is None:
            seen = self._namespaces[namespace, where.version] = _CachedNamespace(VectorIndex(where.dims))
        if seen.checked != where.change:
            self._read_changes(tx, seen, version=where.version, namespace=namespace)
            seen.checked = where.change
            self._count_bytes(seen)
        self._namespaces.move_to_end((namespace, where.version))
        return seen.index

    @staticmethod
    def _read_changes(tx: Transaction, seen: _CachedNamespace, *, version: int, namespace: int) -> None:
        """Take in the changes of a namespace; of many, a few megabytes of the file are mapped at a time."""
        bound: dict[str, Any] = {"version": version, "namespace": namespace}
        if seen.change == 0:
            _read_packs(tx, seen, bound)
        rows = _read_rows(tx, seen, bound)
        if len(rows) == _ROWS_AT_ONCE:
            [(changes,)] = tx.rows("count_vector_changes", **bound, seen=seen.change)
            seen.index.reserve(len(seen.index) + changes)
        _apply_rows(tx, seen, bound, rows)
        seen.index.flush()


class Cosines:
    """Exact cosines of memories to one vector, each asked of the file once.

    With `gone`, of those too that left the searches and were not erased; else those that a cache has at hand are its.
    """

    def __init__(
        self,
        tx: Transaction,
        where: SearchSpace,
        vector: NDArray[np.float32],
        *,
        cache: VectorCache | None = None,
        gone: bool = False,
    ) -> None:
        """Nothing is known yet."""
        self._tx = tx
        self._where = where
        self._vector = vector
        self._cache = cache
        self._bound = {"version": where.version, "namespaces": tx.dialect.listed(where.namespaces), "gone": gone}
        self._asked = candidates.NONE.docs
        self._known = candidates.NONE  # in any order

    def of(self, docs: NDArray[np.int64], *, ahead: NDArray[np.int64] = candidates.NONE.docs) -> RankedDocs:
        """Those of `docs`, which ascend, that have a vector in the namespaces; `ahead` are read for later, too."""
        missing = docs[~candidates.contains(self._asked, docs)]
        if len(missing):
            self._read(candidates.sort_docs(missing, ahead[~candidates.contains(self._asked, ahead)]))
        is_wanted = candidates.contains(docs, self._known.docs)
        return RankedDocs(self._known.docs[is_wanted], self._known.raws[is_wanted])

    def _read(self, docs: NDArray[np.int64]) -> None:
        if self._cache is not None:
            known, is_whole = self._cache.cosines(self._where, self._vector, docs)
            self._asked = candidates.sort_docs(self._asked, docs if is_whole else np.sort(known.docs))
            self._known = candidates.join([self._known, known])
            if is_whole:
                return
            docs = docs[~candidates.contains(np.sort(known.docs), docs)]
            if not len(docs):
                return
        rows = self._tx.rows("exact_vectors", **self._bound, docs=self._tx.dialect.listed(docs.tolist()))
        self._asked = candidates.sort_docs(self._asked, docs)
        if rows:
            found, blobs = zip(*rows, strict=True)
            vectors, read = _to_matrix(blobs, len(self._vector)), np.array(found, np.int64)
            if self._cache is not None:
                self._cache.keep(self._where, read, vectors)
            raws = np.vecdot(vectors, self._vector).astype(np.float64)
            self._known = candidates.join([self._known, RankedDocs(read, raws)])


def _read_packs(tx: Transaction, seen: _CachedNamespace, bound: dict[str, Any]) -> None:
    """Take in the packs of a namespace, and the changes between them."""
    *stretches, _ = vector_packs.list_stretches(tx, bound)
    packs = sum(pack is not None for pack, *_ in stretches)
    centre = vector_packs.load_centre(tx, bound)
    if centre is None or packs < vector_packs.FEWEST:
        return
    seen.index.begin(centre, (packs + 2) * vector_packs.ROWS)  # of which the last changes take one
    for place, (pack, _, last) in enumerate(stretches, 1):
        if pack is None:
            _apply_rows(tx, seen, bound, _read_rows(tx, seen, bound, until=last), until=last)
        else:
            [(docs, scales, codes, bits)] = tx.rows("vector_pack", pack=pack)
            seen.index.put_packed(np.frombuffer(docs, np.int64), scales, codes, bits)
        seen.change = last
        if place % _PACKS_AT_ONCE == 0:
            release_mapped_pages(tx.db)
    seen.index.check_centre()


def _read_rows(
    tx: Transaction, seen: _CachedNamespace, bound: dict[str, Any], *, until: int = vector_packs.LAST_CHANGE
) -> list[Sequence[Any]]:
    return tx.rows("changed_vectors", **bound, seen=seen.change, until=until, limit=_ROWS_AT_ONCE)


def _apply_rows(
    tx: Transaction,
    seen: _CachedNamespace,
    bound: dict[str, Any],
    rows: list[Sequence[Any]],
    *,
    until: int = vector_packs.LAST_CHANGE,
) -> None:
    """Apply changes that were read, and those that follow up to one."""
    while rows:
        is_last = len(rows) < _ROWS_AT_ONCE
        _apply_changes(seen, rows)
        rows.clear()
        if not is_last:
            release_mapped_pages(tx.db)
            rows = _read_rows(tx, seen, bound, until=until)


def _apply_changes(seen: _CachedNamespace, rows: Sequence[Sequence[Any]]) -> None:
    """Apply changes in their order: doc, number, and the vector or None.

    A doc changes at most once between two looks, or its last state counts.
    """
    last = {doc: blob for doc, _, blob in rows}
    seen.dropped.extend((change, doc) for doc, change, blob in rows if blob is None)
    gone = [doc for doc, blob in last.items() if blob is None]
    there = [(doc, blob) for doc, blob in last.items() if blob is not None]
    if gone:
        seen.index.drop(np.array(gone, np.int64))
    if there:
        docs = np.array([doc for doc, _ in there], np.int64)
        seen.index.put(docs, _to_matrix([blob for _, blob in there], seen.index.dims))
    seen.change = rows[-1][1]


def _to_matrix(blobs: Sequence[bytes], dims: int) -> NDArray[np.float32]:
    return np.frombuffer(b"".join(blobs), np.float32).reshape(len(blobs), dims)
