"""The Store port over one SQLite file."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from engrain.domain.ids import IdSource
from engrain.domain.requests import Act, Candidate, Health
from engrain.storage.access.keys import SqlAccessKeys
from engrain.storage.access.pools import SqlPools
from engrain.storage.backup import archive
from engrain.storage.backup.store import SqlBackups
from engrain.storage.entities.store import SqlRegistry
from engrain.storage.jobs import SqlJobs
from engrain.storage.reports.overviews import SqlOverviews
from engrain.storage.reports.store import SqlSurveys
from engrain.storage.reports.vitals import SqlVitals
from engrain.storage.runs.store import SqlRuns
from engrain.storage.search import candidates, matching
from engrain.storage.search.namespaces import load_search_space
from engrain.storage.search.store import SqlSearches
from engrain.storage.sqlite import compaction, health, index, restoration, schema, word_index
from engrain.storage.sqlite.connections import Connections
from engrain.storage.sqlite.statements import STATEMENTS
from engrain.storage.sqlite.vector_cache import Cosines, VectorCache
from engrain.storage.transaction import Transaction, refuse_in_snapshot
from engrain.storage.write import embedding_versions
from engrain.storage.write.memories import MemoryWrites
from engrain.storage.write.store import SqlRecords

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from numpy.typing import NDArray

    from engrain.domain.records import Caller, EmbeddingVersion, Fact
    from engrain.domain.requests import Ref, Request
    from engrain.domain.runs.jobs import Compaction
    from engrain.storage.backup.restoration import RestoreIndex

T = TypeVar("T")
_ALL = -1  # what SQLite takes for no limit


class _Snapshot(threading.local):
    """The snapshot that a thread is in."""

    tx: Transaction | None = None


class SqliteStore(
    SqlRecords,
    SqlSearches,
    SqlSurveys,
    SqlRegistry,
    SqlRuns,
    SqlJobs,
    SqlPools,
    SqlAccessKeys,
    SqlOverviews,
    SqlVitals,
    SqlBackups,
):
    """Memories in one SQLite file, or in this process's memory; `domain.ports.Store` says what each verb promises."""

    def __init__(
        self,
        location: str,
        *,
        busy_timeout_s: float = 5.0,
        synchronous: str = "normal",
        narrow: int = matching.NARROW,
    ) -> None:
        """Open or create the file at `location` (":memory:" for none) and bring its schema up to date.

        A search whose filter lets at most `narrow` memories through looks at those alone; the answer is the same.
        """
        self.location = location
        self._narrow = narrow
        self._connections = Connections(location, busy_timeout_s=busy_timeout_s, synchronous=synchronous)
        self._snapshot = _Snapshot()
        self._vectors = VectorCache()
        self._index = index.SqliteIndex()
        self._ids = IdSource(lambda: datetime.now(UTC))
        self._version: int | None = None  # the embedder's whose questions come here
        try:
            self.created = schema.prepare(self._connections) == ""
        except BaseException:
            self._connections.close()
            raise

    def close(self) -> None:
        self._connections.close()

    def erase(self, act: Act, ids: Sequence[str]) -> list[str]:
        with self._connections.erasing():
            return super().erase(act, ids)

    def keyword(self, request: Request, terms: Collection[str], limit: int) -> list[Candidate]:
        if not terms or limit <= 0:
            return []
        with self._reading() as tx:
            where = load_search_space(tx, request)

            def ask(count: int, among: Sequence[int] | None) -> list[Candidate]:
                return word_index.search_words(tx, where, terms, count, among=among)

            only_live = not (where.has_expired or where.has_unindexed)
            found = (
                matching.collect_enough(tx, request, limit, ask, only_live=only_live, narrow=self._narrow)
                if where.spaces
                else []
            )
            outside = matching.load_matching(tx, request, index.unindexed_docs(tx, _ALL)) if where.has_unindexed else {}
            outside |= matching.load_inactive(tx, request)
            if outside:
                found += word_index.search_unindexed(tx, where, terms, outside, limit=limit)
            return sorted(found, key=candidates.best_first)[:limit]

    def nearest(
        self, request: Request, vector: NDArray[np.float32], limit: int, *, also: Collection[Ref] = ()
    ) -> list[Candidate]:
        with self._reading() as tx:
            where = load_search_space(tx, request)
            embedding_versions.check_current(tx, self._version, where.version)
            if where.dims != len(vector) or not where.spaces:
                return []
            exact = Cosines(tx, where, vector)

            def ask(count: int, among: Sequence[int] | None) -> list[Candidate]:
                only = None if among is None else np.array(among, np.int64)
                docs = self._vectors.shortlist(tx, where, vector, limit=count, among=only)
                return sorted(exact.of(docs, ahead=also), key=candidates.best_first)[:count]

            only_live = not (where.has_expired or where.has_unindexed)
            best = (
                matching.collect_enough(tx, request, limit, ask, only_live=only_live, narrow=self._narrow)
                if limit > 0
                else []
            )
            if request.filter.asks_past:
                exact = Cosines(tx, where, vector, gone=True)
                gone = exact.of(list(matching.load_inactive(tx, request)), ahead=also)
                best = sorted(best + gone, key=candidates.best_first)[: max(limit, 0)]
            others: Sequence[Ref] = list(set(also) - {candidate.ref for candidate in best})
            if request.filter.is_narrow or not only_live:
                others = matching.filter_docs(tx, request, others)
            return sorted(best + exact.of(others), key=candidates.best_first)

    def in_one_snapshot(self, caller: Caller, work: Callable[[], T]) -> T:  # noqa: ARG002  # one file, one state
        if self._snapshot.tx is not None:
            return work()
        with self._connections.snapshot() as db:
            self._snapshot.tx = Transaction(db, STATEMENTS, {})
            try:
                return work()
            finally:
                self._snapshot.tx = None

    def flush_index(self) -> int:
        with self._reading() as tx:
            if not index.unindexed_docs(tx, 1):
                return 0
        with self._writing() as tx:
            return index.index_batch(tx)

    def use_embedder(self, name: str, dims: int) -> str | None:
        with self._reading() as tx:
            active = embedding_versions.find_active(tx)
        if active is None:
            with self._writing() as tx:
                # Another process may have been first.
                active = embedding_versions.use_embedder(tx, name, dims, datetime.now(UTC))
        if (active.name, active.dims) != (name, dims):
            return active.name
        self._version = active.version
        return None

    def begin_version(self, name: str, dims: int) -> EmbeddingVersion:
        with self._writing() as tx:
            return embedding_versions.begin_version(tx, name, dims, datetime.now(UTC))

    def attach(self, refs: Sequence[Ref], vectors: NDArray[np.float32], *, version: int | None = None) -> None:
        with self._writing() as tx:
            chosen = embedding_versions.require_version(tx, version)
            if version is None:
                embedding_versions.check_current(tx, self._version, chosen.version)
            rows = embedding_versions.check_vectors(chosen, len(refs), vectors)
            if chosen.state == "retired":
                return  # the vectors of another embedder are searched by now
            first = index.take_numbers(tx, "change", len(refs))
            placed = zip(range(first, first + len(refs)), refs, rows, strict=True)
            tx.run_each(
                "add_vector",
                [
                    {"doc": doc, "version": chosen.version, "embedding": row.tobytes(), "change": change}
                    for change, doc, row in placed
                ],
            )
            if chosen.state == "active":
                tx.run_each("is_embedded", [{"doc": doc} for doc in refs])

    def switch_version(self, act: Act, version: int) -> bool:
        with self._writing() as tx:
            index.index_all(tx)
            return embedding_versions.switch_version(tx, act, version, self._ids)

    def prune_vectors(self, limit: int) -> int:
        with self._writing() as tx:
            return len(tx.rows("prune_vectors", limit=limit))

    def rows(self, table: str, *, after: Sequence[Any] | None, limit: int) -> list[Mapping[str, Any]]:
        with self._reading() as tx:
            return archive.load_rows(tx, table, after=after, limit=limit)

    def restore(self, table: str, rows: Iterable[Mapping[str, Any]]) -> None:
        with self._writing() as tx:
            restoration.restore_rows(tx, table, rows)

    def reindex(self, limit: int) -> int:  # noqa: ARG002  # flush_index has a bound of its own
        return self.flush_index()

    def compact(self) -> Compaction:
        return compaction.compact(self._connections)

    def health(self) -> Health:
        with self._connections.unmapped_snapshot() as db:
            active = embedding_versions.find_active(Transaction(db, STATEMENTS))
            return Health(
                location=self.location,
                backend=f"sqlite {db.execute('SELECT sqlite_version()').get}",
                schema=schema.revision(db, self.location),
                size_bytes=health.count_rows(db, "size"),
                memories=health.count_rows(db, "count_memories"),
                indexed=health.count_rows(db, "count_indexed"),
                embedded=health.count_rows(db, "count_embedded"),
                waiting=health.count_rows(db, "count_unembedded"),
                embedder=None if active is None else active.name,
                problems=tuple(health.find_problems(db)),
            )

    @contextmanager
    def _reading(self) -> Iterator[Transaction]:
        """The snapshot that this thread is in, or one of its own: all statements of a verb see one state."""
        if self._snapshot.tx is not None:
            yield self._snapshot.tx
            return
        with self._connections.snapshot() as db:
            yield Transaction(db, STATEMENTS, {})

    @contextmanager
    def _writing(self) -> Iterator[Transaction]:
        refuse_in_snapshot(is_inside=self._snapshot.tx is not None)
        with self._connections.writing() as db:
            yield Transaction(db, STATEMENTS)

    def _read(self, caller: Caller | None, work: Callable[[Transaction], T]) -> T:  # noqa: ARG002  # one file holds every tenant
        tx = self._snapshot.tx
        if tx is not None:
            return work(tx)
        with self._connections.snapshot() as db:
            return work(Transaction(db, STATEMENTS, {}))

    def _write(self, act: Act, work: Callable[[MemoryWrites], T], *, repeatable: bool = False) -> T:  # noqa: ARG002  # nothing is lost while committing
        refuse_in_snapshot(is_inside=self._snapshot.tx is not None)
        with self._connections.writing() as db:
            return work(MemoryWrites(Transaction(db, STATEMENTS), self._index, act, self._ids))

    def _execute(self, tenant_id: str | None, work: Callable[[Transaction], T], *, repeatable: bool = False) -> T:  # noqa: ARG002  # likewise
        with self._writing() as tx:
            return work(tx)

    def _read_snapshot(self, tenant_id: str | None, work: Callable[[Transaction], T]) -> T:  # noqa: ARG002  # one file holds every tenant
        with self._connections.unmapped_snapshot() as db:
            return work(Transaction(db, STATEMENTS))

    def _restore_backup(self, tenant_id: str | None, work: Callable[[Transaction, RestoreIndex], T]) -> T:  # noqa: ARG002  # likewise
        refuse_in_snapshot(is_inside=self._snapshot.tx is not None)
        with self._connections.unmapped_writing() as db:
            return work(Transaction(db, STATEMENTS), restoration.SqliteRestoreIndex())

    def _lock(self, unit: MemoryWrites, episode_ids: Sequence[str], facts: Sequence[Fact]) -> None:
        """There is one writer at a time."""

    def _lock_removal(self, unit: MemoryWrites, episode_ids: Sequence[str], *, everywhere: bool = False) -> None:
        """There is one writer at a time."""
