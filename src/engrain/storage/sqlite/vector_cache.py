"""The vectors of a file as this process knows them: an index for each namespace, caught up before every search."""

from __future__ import annotations

import itertools
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from engrain.storage.sqlite.vector_index import VectorIndex

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from numpy.typing import NDArray

    from engrain.storage.transaction import Transaction

_ROWS_AT_ONCE = 4096


@dataclass(slots=True)
class _Seen:
    """One namespace's index and the newest change it holds."""

    index: VectorIndex
    change: int = 0
    checked: int = -1  # the file's newest change when this namespace was last caught up


@dataclass(frozen=True, slots=True)
class Searched:
    """Whose vectors are searched, and the newest change of the file."""

    change: int
    version: int
    dims: int


class VectorCache:
    """Exact nearest-neighbour search over the vectors of a file that any number of processes write.

    Every write of a vector takes a number that only grows, so whatever is new to this process is `change > seen`: a few
    microseconds when nothing is. Searches of one process run one at a time.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._namespaces: dict[tuple[int, int], _Seen] = {}  # by namespace and version of the embedder

    def nearest(
        self,
        tx: Transaction,
        searched: Searched,
        namespaces: Collection[int],
        vector: NDArray[np.float32],
        *,
        limit: int,
        among: NDArray[np.int64] | None = None,
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Docs and cosines of the best `limit` over all the namespaces, best first, ties newest doc first."""
        with self._lock:
            indexes = [self._caught_up(tx, namespace, searched) for namespace in namespaces]
            found = [
                index.nearest(
                    vector,
                    limit,
                    exact=lambda docs: exact_vectors(tx, docs, searched, namespaces=namespaces),
                    among=among,
                )
                for index in indexes
                if len(index)
            ]
        if not found:
            return np.empty(0, np.int64), np.empty(0, np.float32)
        docs = np.concatenate([docs for docs, _ in found])
        cosines = np.concatenate([cosines for _, cosines in found])
        order = np.lexsort((-docs, -cosines))[:limit]
        return docs[order], cosines[order]

    def catch_up(self, tx: Transaction, namespace: int) -> int:
        """Take in what is new in a namespace; the number of vectors it holds now."""
        with self._lock:
            now = searched(tx)
            return 0 if now is None else len(self._caught_up(tx, namespace, now))

    def _caught_up(self, tx: Transaction, namespace: int, searched: Searched) -> VectorIndex:
        seen = self._namespaces.get((namespace, searched.version))
        if seen is None:
            seen = self._namespaces[namespace, searched.version] = _Seen(VectorIndex(searched.dims))
        if seen.checked != searched.change:
            bound = {"version": searched.version, "namespace": namespace, "seen": seen.change}
            changes = iter(tx.db.execute(tx.speech.statements["changed_vectors"], bound))
            while rows := list(itertools.islice(changes, _ROWS_AT_ONCE)):
                _take_in(seen, rows, searched.dims)
            seen.checked = searched.change
        return seen.index


def searched(tx: Transaction) -> Searched | None:
    """Whose vectors are searched now, and how far they have come; None where no embedder is recorded."""
    [(change, version, dims)] = tx.rows("searched")
    return None if version is None else Searched(change, version, dims)


def exact_vectors(
    tx: Transaction, docs: NDArray[np.int64], searched: Searched, *, namespaces: Collection[int], gone: bool = False
) -> NDArray[np.float32]:
    """The stored float32 rows of `docs`, in their order; zeros for one that went away or is of another namespace.

    With `gone`, those too that left the searches and were not erased.
    """
    places = {doc: place for place, doc in enumerate(docs.tolist())}
    rows = np.zeros((len(places), searched.dims), np.float32)
    bound = {"docs": tx.dialect.listed(places), "namespaces": tx.dialect.listed(namespaces)}
    for doc, blob in tx.rows("exact_vectors", **bound, version=searched.version, gone=gone):
        rows[places[doc]] = np.frombuffer(blob, np.float32)
    return rows


def _take_in(seen: _Seen, rows: list[tuple[int, int, bytes | None]], dims: int) -> None:
    """Apply changes in their order; a doc changes at most once between two looks, or its last state counts."""
    last = {doc: blob for doc, _, blob in rows}
    gone = [doc for doc, blob in last.items() if blob is None]
    there = [(doc, blob) for doc, blob in last.items() if blob is not None]
    if gone:
        seen.index.drop(np.array(gone, np.int64))
    if there:
        seen.index.put(_docs(doc for doc, _ in there), _matrix([blob for _, blob in there], dims))
    seen.change = rows[-1][1]


def _docs(docs: Iterable[int]) -> NDArray[np.int64]:
    return np.fromiter(docs, np.int64)


def _matrix(blobs: list[bytes], dims: int) -> NDArray[np.float32]:
    return np.frombuffer(b"".join(blobs), np.float32).reshape(len(blobs), dims)
