"""Backend of one PostgreSQL database: its connections, its locks, and its searches."""

from __future__ import annotations

import contextlib
import zlib
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeVar

from engrain.domain.ids import NumberSource
from engrain.domain.records import KINDS, EmbeddingVersion, Fact, Kind
from engrain.domain.requests import Health, Request
from engrain.errors import IntegrityViolated, StorageError
from engrain.storage.postgres import health, keywords, schema, table_maintenance, vectors
from engrain.storage.postgres.citus.statements import CITUS_STATEMENTS
from engrain.storage.postgres.common_words import COMMON, CommonWords
from engrain.storage.postgres.connections import Connection, Connections
from engrain.storage.postgres.driver_errors import is_race
from engrain.storage.postgres.forecasts import SearchForecasts
from engrain.storage.postgres.index import READ_ALL, PostgresIndex
from engrain.storage.postgres.statements import STATEMENTS
from engrain.storage.search import candidates, matching
from engrain.storage.search.namespaces import load_search_space
from engrain.storage.search.turn_cache import BYTES_PER_TURN, TurnCache
from engrain.storage.transaction import Transaction
from engrain.storage.write import embedding_versions

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from engrain.domain.maintenance.backups import Row
    from engrain.domain.maintenance.vitals import PoolVitals
    from engrain.domain.runs.jobs import Compaction
    from engrain.storage.search.candidates import RankedDocs
    from engrain.storage.unit_of_work import Forecasts, Snapshot, UnitOfWork

_Result = TypeVar("_Result")
_MOST_RACES = 5
# Of all stores of this process. A kind of its own, since the unique keys that find out an accident are those of tables.
_DOCS = NumberSource(lambda: datetime.now(UTC))
_QUEUES = 256  # of a tenant, for the places of its facts


class PostgresBackend:
    """One PostgreSQL database with pgvector.

    Each transaction is one of the caller's tenant, the second wall behind the tenant in each statement; what is done
    for every tenant at once says so to the database.
    """

    tables: Sequence[str] = tuple(schema.OUR_TABLES)

    def __init__(
        self,
        url: str,
        *,
        pool_size: int = 8,
        timeout_s: float = 5.0,
        narrow: int = matching.NARROW,
        read_all: int = READ_ALL,
        scan_all: int = vectors.SCAN_ALL,
        common: int = COMMON,
        cache_bytes: int = 2**30,
    ) -> None:
        """Connect to the database at `url` and bring its schema up to date.

        At most `pool_size` connections; `timeout_s` bounds the wait for one, and for a server that went away. A search
        whose filter lets at most `narrow` memories through looks at those alone; one of namespaces with at most
        `read_all` memories reads all their words, with at most `scan_all` compares all their vectors: otherwise
        indexes choose, and of the vectors nearly all of the best are found. Which memories hold a word that `common` of
        them hold is read only where that can decide. Turns that searches found stay in this
        process, in at most an eighth of `cache_bytes`.
        """
        self._narrow = narrow
        self._read_all = read_all
        self._scan_all = scan_all
        self._common = CommonWords(common)
        self._connections = Connections(url, pool_size=pool_size, timeout_s=timeout_s)
        self.location = self._connections.location
        self.version: int | None = None
        self.turns = TurnCache(cache_bytes // BYTES_PER_TURN)
        self.docs = _DOCS
        self.statements = STATEMENTS
        self.forecasts: Forecasts | None = SearchForecasts(read_all=read_all, scan_all=scan_all, common=self._common)
        self._growth = table_maintenance.PlannerStatistics(every=100)
        try:
            self.created = schema.prepare(self._connections, self.new_index) == ""
        except BaseException:
            self._connections.close()
            raise
        if self._connections.is_cluster:
            self.statements = CITUS_STATEMENTS

    def read(
        self, tenant_id: str | None, work: Callable[[Connection], _Result], *, user_id: str | None = None
    ) -> _Result:
        return self._connections.read(tenant_id, work, user=user_id)

    def write(
        self,
        tenant_id: str | None,
        work: Callable[[Connection], _Result],
        *,
        is_repeatable: bool,
        user_id: str | None = None,
    ) -> _Result:
        for _ in range(_MOST_RACES):
            try:
                return self._connections.write(tenant_id, work, repeatable=is_repeatable, user=user_id)
            except IntegrityViolated as error:
                if not is_race(error.__cause__):
                    raise
        return self._connections.write(tenant_id, work, repeatable=is_repeatable, user=user_id)

    def read_everything(self, tenant_id: str | None, work: Callable[[Connection], _Result]) -> _Result:
        def work_along_indexes(db: Connection) -> _Result:
            Transaction(db, self.statements).run("along_indexes")
            return work(db)

        return self._connections.read(tenant_id, work_along_indexes)

    def restore(self, tenant_id: str | None, work: Callable[[Connection], _Result]) -> _Result:
        """Write without an index of vectors that holds nothing, and make it afterwards.

        HNSW takes a vector in twice the time that it takes where a graph is made of all at once (`bench.portability`).
        So an index that holds nothing, and is of use to nobody, goes before, in a transaction of its own: others search
        meanwhile. Where a process ends before it is made again, whoever next opens the memory makes it.
        """

        def restore_all(db: Connection) -> _Result:
            tx = Transaction(db, self.statements)
            vectors.queue_for_index(tx)
            answer = work(db)
            vectors.fill_graph(tx, scan_all=self._scan_all)
            vectors.add_missing_indexes(tx)
            return answer

        self._change_indexes(vectors.drop_empty_index)
        try:
            return self.write(tenant_id, restore_all, is_repeatable=True)
        except BaseException:
            with contextlib.suppress(StorageError):  # what went wrong first says more
                self._change_indexes(vectors.add_missing_indexes)
            raise

    def restore_vectors(self, tx: Transaction, rows: Sequence[Row]) -> None:
        vectors.restore_vectors(tx, rows)
        self._growth.note(tx, len(rows))

    def finish_restore(self, tx: Transaction) -> None:
        tx.run("restore_sessions")

    def _change_indexes(self, change: Callable[[Transaction], None]) -> None:
        self.write(None, lambda db: change(Transaction(db, self.statements)), is_repeatable=True)

    def search_words(self, snapshot: Snapshot, request: Request, terms: Collection[str], limit: int) -> RankedDocs:
        if not terms or limit <= 0:
            return candidates.NONE
        where = load_search_space(snapshot, request)
        if not where.spaces:
            return candidates.NONE
        return keywords.search_keywords(
            snapshot,
            request,
            where,
            terms,
            limit=limit,
            narrow=self._narrow,
            read_all=self._read_all,
            common=self._common,
        )

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
        sizes = {"narrow": self._narrow, "scan_all": self._scan_all}
        return vectors.find_nearest(snapshot, request, where, vector, limit=limit, also=also, **sizes)

    def number_docs(self, tx: Transaction, kind: Kind, count: int) -> list[int]:  # noqa: ARG002  # without the server
        return self.docs.several(count, kind=KINDS.index(kind))

    def new_index(self) -> PostgresIndex:
        return PostgresIndex(self._growth, read_all=self._read_all)

    def has_unindexed(self, tx: Transaction) -> bool:  # noqa: ARG002  # all of it is written with the memories
        return False

    def flush_index(self) -> int:
        """All of it is written with the memories."""
        return 0

    def index_all(self, tx: Transaction) -> None:
        """All of it is written with the memories."""

    def find_version(self, tx: Transaction) -> EmbeddingVersion | None:
        return vectors.find_indexed_version(tx)

    def prepare_vectors(self, tx: Transaction, version: EmbeddingVersion, *, is_new: bool) -> None:
        (vectors.add_index if is_new else vectors.add_missing_index)(tx, version)

    def lock_versions(self, tx: Transaction) -> None:
        tx.run("lock_versions")

    def attach_vectors(
        self,
        tx: Transaction,
        docs: Sequence[int],
        rows: NDArray[np.float32],
        version: EmbeddingVersion,
        *,
        tenants: Sequence[str] | None,
    ) -> None:
        vectors.attach_vectors(tx, docs, rows, version, tenants=tenants, scan_all=self._scan_all)

    def drop_vector_indexes(self, tx: Transaction) -> None:
        vectors.drop_indexes(tx)

    def lock(self, work: UnitOfWork, episode_ids: Sequence[str], facts: Sequence[Fact]) -> None:
        """Lock sessions, then slots: in the order in which every writer takes them, and before any memory.

        Whoever states the same fact waits here. Otherwise each finds, once the fact it waited for is superseded, that
        another took its slot, and begins again. In one order for all, and by few locks however many facts there are:
        the server's table of locks is small.
        """
        tenant_id = work.tenant_id
        if episode_ids:
            scopes = list(work.caller.scopes)
            work.run("lock_sessions_of", tenant_id=tenant_id, scopes=scopes, ids=list(episode_ids))
        # Without its subject, which has other names that are not known yet.
        places = (f"{fact.scope}\0{fact.key.predicate}" for fact in facts if fact.validity == "active")
        queues = sorted({zlib.crc32(place.encode()) % _QUEUES for place in places})
        if queues:
            work.run("queue_for_slots", tenant_id=tenant_id, queues=queues)

    def lock_removal(self, work: UnitOfWork, episode_ids: Sequence[str], *, everywhere: bool) -> None:
        """Lock sessions, then speakers: whoever writes down that a speaker speaks has finished, or waits."""
        caller = work.caller
        scopes = list(caller.scopes)
        if everywhere:
            scopes = [scope for (scope,) in work.rows("scopes_of", tenant_id=caller.tenant_id)]
        for statement in ("lock_sessions_of", "lock_speakers_of"):
            work.run(statement, tenant_id=caller.tenant_id, scopes=scopes, ids=list(episode_ids))

    def clear_log(self, work: UnitOfWork) -> None:
        """The server reuses the room of removed rows by itself."""

    def count_connections(self) -> PoolVitals:
        return self._connections.vitals()

    def check_health(self, *, thorough: bool) -> Health:
        def work(db: Connection) -> Health:
            tx = Transaction(db, self.statements)
            active = embedding_versions.find_active(tx)
            memories, indexed, waiting = health.count_memories(tx, active, thorough=thorough)
            [(size,)] = tx.rows("size", tables=list(schema.OUR_TABLES))
            return Health(
                location=self.location,
                backend=schema.server_version(db),
                schema=schema.revision(db, self.location),
                size_bytes=size,
                memories=memories,
                indexed=indexed,
                embedded=indexed - waiting,
                waiting=waiting,
                embedder=None if active is None else active.name,
                problems=tuple(health.find_problems(tx, thorough=thorough)),
            )

        return self._connections.read(None, work)

    def compact(self) -> Compaction:
        return table_maintenance.compact_tables(self._connections, self.statements)

    def close(self) -> None:
        self._connections.close()
