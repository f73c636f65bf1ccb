"""The vectors of a file as this process knows them: an index for each namespace, caught up before every search."""

from __future__ import annotations

import itertools
import json
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from engrain.storage.named_sql import load
from engrain.storage.sqlite.vector_index import VectorIndex

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    import apsw
    from numpy.typing import NDArray

SQL = load("engrain.storage.sqlite", "queries.sql")
_ROWS_AT_ONCE = 4096


@dataclass(slots=True)
class _Seen:
    """One namespace's index and the newest change it holds."""

    index: VectorIndex
    change: int = 0
    checked: int = -1  # the file's newest change when this namespace was last caught up


class VectorCache:
    """Exact nearest-neighbour search over the vectors of a file that any number of processes write.

    Every write of a vector takes a number that only grows, so whatever is new to this process is `change > seen`: a few
    microseconds when nothing is. Searches of one process run one at a time.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._namespaces: dict[tuple[int, int], _Seen] = {}

    def nearest(
        self,
        db: apsw.Connection,
        namespaces: Collection[int],
        vector: NDArray[np.float32],
        limit: int,
        *,
        among: NDArray[np.int64] | None = None,
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Docs and cosines of the best `limit` over all the namespaces, best first, ties newest doc first."""
        with self._lock:
            newest = _newest_change(db)
            indexes = [self._caught_up(db, namespace, len(vector), newest) for namespace in namespaces]
            found = [
                index.nearest(
                    vector,
                    limit,
                    exact=lambda docs: exact_vectors(db, docs, len(vector), namespaces=namespaces),
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

    def catch_up(self, db: apsw.Connection, namespace: int, dims: int) -> int:
        """Take in what is new in a namespace; the number of vectors it holds now."""
        with self._lock:
            return len(self._caught_up(db, namespace, dims, _newest_change(db)))

    def _caught_up(self, db: apsw.Connection, namespace: int, dims: int, newest: int) -> VectorIndex:
        seen = self._namespaces.get((namespace, dims))
        if seen is None:
            seen = self._namespaces[namespace, dims] = _Seen(VectorIndex(dims))
        if seen.checked != newest:
            changes = db.execute(SQL["changed_vectors"], {"namespace": namespace, "seen": seen.change})
            while rows := list(itertools.islice(changes, _ROWS_AT_ONCE)):
                _take_in(seen, rows, dims)
            seen.checked = newest
        return seen.index


def _newest_change(db: apsw.Connection) -> int:
    return int(db.execute(SQL["last_change"]).get)


def exact_vectors(
    db: apsw.Connection, docs: NDArray[np.int64], dims: int, *, namespaces: Collection[int]
) -> NDArray[np.float32]:
    """The stored float32 rows of `docs`, in their order; zeros for one that went away or is of another namespace."""
    places = {doc: place for place, doc in enumerate(docs.tolist())}
    rows = np.zeros((len(places), dims), np.float32)
    bound = {"docs": json.dumps(list(places)), "namespaces": json.dumps(list(namespaces))}
    for doc, blob in db.execute(SQL["exact_vectors"], bound):
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
