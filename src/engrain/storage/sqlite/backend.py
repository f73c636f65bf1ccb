"""Backend of one SQLite file: its connections, its searches, and the work of its index."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np

from engrain.domain.requests import Health, Request
from engrain.storage.search import candidates, matching, word_search
from engrain.storage.search.namespaces import load_search_space
from engrain.storage.search.turn_cache import BYTES_PER_TURN, TurnCache
from engrain.storage.sqlite import index, schema, vector_packs, word_index
from engrain.storage.sqlite.connections import Connections
from engrain.storage.sqlite.statements import STATEMENTS
from engrain.storage.sqlite.vector_cache import MOST_BYTES, Cosines, VectorCache
from engrain.storage.sqlite.word_cache import FEWEST_SEARCHES, SHARE_OF_WORDS, WordCache
from engrain.storage.transaction import Connection, Transaction
from engrain.storage.unit_of_work import Forecasts, Snapshot, UnitOfWork
from engrain.storage.write import embedding_versions

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from numpy.typing import NDArray

    from engrain.domain.maintenance.backups import Row
    from engrain.domain.records import EmbeddingVersion, Fact, Kind
    from engrain.domain.runs.jobs import Compaction
    from engrain.storage.search.candidates import RankedDocs

_Result = TypeVar("_Result")
_ALL = -1  # what SQLite takes for no limit


class SqliteBackend:
    """One SQLite file, or a database in this process's memory. One writer at a time, so that it needs no locks."""

    statements = STATEMENTS
    tables: Sequence[str] = ()

    def __init__(
        self,
        location: str,
        *,
        busy_timeout_s: float = 5.0,
        synchronous: str = "normal",
        narrow: int = matching.NARROW,
        read_all: int = word_index.READ_ALL,
        fewest_searches: int = FEWEST_SEARCHES,
        cache_bytes: int = MOST_BYTES,
    ) -> None:
        """Open or create the file at `location` (":memory:" for none) and bring its schema up to date.

        A search whose filter lets at most `narrow` memories through looks at those alone, and one of namespaces with at
        most `read_all` reads the docs of every word; from `fewest_searches` of a small namespace on its words are read
        into this process. The answer is the same. Of vectors at most `cache_bytes` stay in this process, and of turns
        and words an eighth of that each.
        """
        self.location = location
        self.version: int | None = None
        self.turns = TurnCache(cache_bytes // BYTES_PER_TURN)
        self.forecasts: Forecasts | None = None  # a statement on a file takes no round trip
        self._narrow = narrow
        self._read_all = read_all
        self._connections = Connections(location, busy_timeout_s=busy_timeout_s, synchronous=synchronous)
        self._vectors = VectorCache(cache_bytes)
        self._words = WordCache(cache_bytes // SHARE_OF_WORDS, fewest_searches=fewest_searches)
        self._changes_before = 0  # of the writer's connection, when its transaction began
        self._index = index.SqliteIndex()
        try:
            self.created = schema.prepare(self._connections) == ""
        except BaseException:
            self._connections.close()
            raise

    def read(
        self,
        tenant_id: str | None,  # noqa: ARG002  # one file holds every tenant
        work: Callable[[Connection], _Result],
        *,
        user_id: str | None = None,  # noqa: ARG002  # and every user
    ) -> _Result:
        with self._connections.snapshot() as db:
            return work(db)

    def write(
        self,
        tenant_id: str | None,  # noqa: ARG002  # likewise
        work: Callable[[Connection], _Result],
        *,
        is_repeatable: bool,  # noqa: ARG002  # nothing is lost while committing
        user_id: str | None = None,  # noqa: ARG002  # likewise
    ) -> _Result:
        connections = self._connections
        with connections.lock, connections.transaction as db:
            self._changes_before = db.total_changes()
            return work(db)

    def read_everything(self, tenant_id: str | None, work: Callable[[Connection], _Result]) -> _Result:  # noqa: ARG002  # likewise
        with self._connections.unmapped_snapshot() as db:
            return work(db)

    def restore(self, tenant_id: str | None, work: Callable[[Connection], _Result]) -> _Result:  # noqa: ARG002  # likewise
        with self._connections.unmapped_writing() as db:
            return work(db)

    def restore_vectors(self, tx: Transaction, rows: Sequence[Row]) -> None:
        first = index.take_numbers(tx, "change", len(rows))
        vectors = [{**row, "embedding": row["embedding"].tobytes(), "change": n} for n, row in enumerate(rows, first)]
        tx.run_each("restore_vector", vectors)
        active = embedding_versions.find_active(tx)
        if active is not None:
            docs = [row["doc"] for row in rows if row["version"] == active.version]
            tx.run_each("is_embedded", [{"doc": doc} for doc in docs])
            vector_packs.pack_vectors(tx, active.version, docs, range(first, first + len(rows)))

    def finish_restore(self, tx: Transaction) -> None:
        index.index_all(tx)

    def search_words(self, snapshot: Snapshot, request: Request, terms: Collection[str], limit: int) -> RankedDocs:
        if not terms or limit <= 0:
            return candidates.NONE
        where = load_search_space(snapshot, request)
        columns = None if snapshot.known is None else self._words.find(snapshot, where)

        def ask(count: int, among: Sequence[int] | None) -> RankedDocs:
            if columns is not None:
                return word_search.search_words(columns, where, terms, count, among=among)
            return word_index.search_words(snapshot, where, terms, count, among=among, read_all=self._read_all)

        only_live = not (where.has_expired or where.has_unindexed)
        found = (
            matching.collect_enough(snapshot, request, limit, ask, only_live=only_live, narrow=self._narrow)
            if where.spaces
            else candidates.NONE
        )
        outside = (
            matching.load_matching(snapshot, request, index.unindexed_docs(snapshot, _ALL))
            if where.has_unindexed
            else {}
        )
        outside |= matching.load_inactive(snapshot, request)
        if not outside:
            return found
        unindexed = word_index.search_unindexed(snapshot, where, terms, outside, limit=limit)
        return candidates.merge(found, unindexed, limit=limit)

    def search_vectors(
        self,
        snapshot: Snapshot,
        request: Request,
        vector: NDArray[np.float32],
        limit: int,
        *,
        also: NDArray[np.int64],
    ) -> RankedDocs:
        where = load_search_space(snapshot, request)
        embedding_versions.check_current(snapshot, self.version, where.version)
        if where.dims != len(vector) or not where.spaces:
            return candidates.NONE
        # What a unit of work has written may yet be rolled back: it goes into no cache that outlives it.
        has_written = isinstance(snapshot, UnitOfWork) and self._connections.count_changes() != self._changes_before
        vectors = VectorCache() if has_written else self._vectors
        exact = Cosines(snapshot, where, vector, cache=vectors)

        def ask(count: int, among: Sequence[int] | None) -> RankedDocs:
            only = None if among is None else np.array(among, np.int64)
            docs = vectors.shortlist(snapshot, where, vector, limit=count, among=only)
            return candidates.merge(exact.of(docs, ahead=also), limit=count)

        only_live = not (where.has_expired or where.has_unindexed)
        best = (
            matching.collect_enough(snapshot, request, limit, ask, only_live=only_live, narrow=self._narrow)
            if limit > 0
            else candidates.NONE
        )
        if request.filter.asks_past:
            past = Cosines(snapshot, where, vector, gone=True)
            inactive = np.array(sorted(matching.load_inactive(snapshot, request)), np.int64)
            best = candidates.merge(best, past.of(inactive), limit=limit)
            exact = past
        others = also[~candidates.contains(np.sort(best.docs), also)]
        if request.filter.is_narrow or not only_live:
            others = np.array(matching.filter_docs(snapshot, request, others.tolist()), np.int64)
        return candidates.merge(best, exact.of(others))

    def number_docs(self, tx: Transaction, kind: Kind, count: int) -> list[int]:  # noqa: ARG002  # one row of numbers
        [(first,)] = tx.rows("next_doc")
        return list(range(first, first + count))

    def new_index(self) -> index.SqliteIndex:
        return self._index

    def has_unindexed(self, tx: Transaction) -> bool:
        return tx.one("has_unindexed") == (1,)

    def flush_index(self) -> int:
        with self._connections.reading() as db:
            if not self.has_unindexed(Transaction(db, STATEMENTS)):
                return 0
        with self._connections.writing() as db:
            return index.index_batch(Transaction(db, STATEMENTS))

    def index_all(self, tx: Transaction) -> None:
        index.index_all(tx)

    def find_version(self, tx: Transaction) -> EmbeddingVersion | None:
        return embedding_versions.find_active(tx)

    def prepare_vectors(self, tx: Transaction, version: EmbeddingVersion, *, is_new: bool) -> None:
        """Vectors are compared in this process: there is no index to make."""

    def lock_versions(self, tx: Transaction) -> None:
        """There is one writer at a time."""

    def attach_vectors(
        self,
        tx: Transaction,
        docs: Sequence[int],
        rows: NDArray[np.float32],
        version: EmbeddingVersion,
        *,
        tenants: Sequence[str] | None,  # noqa: ARG002  # a doc is unique in the file
    ) -> None:
        first = index.take_numbers(tx, "change", len(docs))
        placed = zip(range(first, first + len(docs)), docs, rows, strict=True)
        tx.run_each(
            "add_vector",
            [
                {"doc": doc, "version": version.version, "embedding": row.tobytes(), "change": change}
                for change, doc, row in placed
            ],
        )
        if version.state == "active":
            tx.run_each("is_embedded", [{"doc": doc} for doc in docs])
        vector_packs.pack_vectors(tx, version.version, docs, range(first, first + len(docs)))

    def drop_vector_indexes(self, tx: Transaction) -> None:
        tx.run("prune_packs")

    def lock(self, work: UnitOfWork, episode_ids: Sequence[str], facts: Sequence[Fact]) -> None:
        """There is one writer at a time."""

    def lock_removal(self, work: UnitOfWork, episode_ids: Sequence[str], *, everywhere: bool) -> None:
        """There is one writer at a time."""

    def clear_log(self, work: UnitOfWork) -> None:  # noqa: ARG002  # there is one writer at a time
        self._connections.clear_log()

    def count_connections(self) -> None:
        """A file has none to count."""

    def check_health(self, *, thorough: bool) -> Health:
        from engrain.storage.sqlite import health

        with self._connections.unmapped_snapshot() as db:
            active = embedding_versions.find_active(Transaction(db, STATEMENTS))
            memories, indexed, waiting, problems = health.examine(db, thorough=thorough)
            return Health(
                location=self.location,
                backend=f"sqlite {db.execute('SELECT sqlite_version()').get}",
                schema=schema.revision(db, self.location),
                size_bytes=health.count_rows(db, "size"),
                memories=memories,
                indexed=indexed,
                embedded=indexed - waiting,
                waiting=waiting,
                embedder=None if active is None else active.name,
                problems=problems,
            )

    def compact(self) -> Compaction:
        from engrain.storage.sqlite import compaction

        return compaction.compact(self._connections)

    def close(self) -> None:
        self._connections.close()
