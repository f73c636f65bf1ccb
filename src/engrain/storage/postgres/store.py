"""The Store port over one PostgreSQL database with pgvector."""

from __future__ import annotations

import threading
import zlib
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import psycopg

from engrain.domain.ids import IdSource
from engrain.domain.requests import Act, Candidate, Health
from engrain.errors import IntegrityViolated
from engrain.storage.access.keys import SqlAccessKeys
from engrain.storage.access.pools import SqlPools
from engrain.storage.backup.store import SqlBackups
from engrain.storage.entities.store import SqlRegistry
from engrain.storage.jobs import SqlJobs
from engrain.storage.postgres import compaction, health, keywords, restoration, schema, vectors
from engrain.storage.postgres.connections import Connection, Connections
from engrain.storage.postgres.index import PostgresIndex
from engrain.storage.postgres.planner_statistics import PlannerStatistics
from engrain.storage.postgres.statements import STATEMENTS
from engrain.storage.reports.overviews import SqlOverviews
from engrain.storage.reports.store import SqlSurveys
from engrain.storage.reports.vitals import SqlVitals
from engrain.storage.runs.store import SqlRuns
from engrain.storage.search import matching
from engrain.storage.search.namespaces import load_search_space
from engrain.storage.search.store import SqlSearches
from engrain.storage.transaction import Transaction, refuse_in_snapshot
from engrain.storage.write import embedding_versions
from engrain.storage.write.memories import MemoryWrites
from engrain.storage.write.store import SqlRecords

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from typing import Any

    import numpy as np
    from numpy.typing import NDArray

    from engrain.domain.maintenance.vitals import PoolVitals
    from engrain.domain.records import Caller, EmbeddingVersion, Fact
    from engrain.domain.requests import Ref, Request
    from engrain.domain.runs.jobs import Compaction
    from engrain.storage.backup.restoration import RestoreIndex

T = TypeVar("T")
# Somebody else took an id, or the place of a fact, or what a memory names went, between our look and our write. The
# next run sees what they did; a second such race is rare, and a row that breaks a rule of itself breaks it every time.
_RACES = (psycopg.errors.UniqueViolation, psycopg.errors.ForeignKeyViolation)
_MOST_RACES = 5
_QUEUES = 256  # of a tenant, for the places of its facts


class _Snapshot(threading.local):
    """The snapshot that a thread is in, and whose it is."""

    tenant_id: str | None = None
    tx: Transaction | None = None


class PostgresStore(
    SqlRecords,
    SqlSurveys,
    SqlSearches,
    SqlRegistry,
    SqlRuns,
    SqlJobs,
    SqlPools,
    SqlAccessKeys,
    SqlOverviews,
    SqlVitals,
    SqlBackups,
):
    """Memories in one PostgreSQL database; `domain.ports.Store` says what each verb promises.

    Each call is one transaction of the caller's tenant, the second wall behind the tenant in each statement; what is
    done for every tenant at once says so to the database.
    """

    _tables = tuple(schema.OUR_TABLES)

    def __init__(
        self,
        url: str,
        *,
        pool_size: int = 8,
        timeout_s: float = 5.0,
        narrow: int = matching.NARROW,
        read_all: int = keywords.READ_ALL,
        scan_all: int = vectors.SCAN_ALL,
    ) -> None:
        """Connect to the database at `url` and bring its schema up to date.

        At most `pool_size` connections; `timeout_s` bounds the wait for one, and for a server that went away. A search
        whose filter lets at most `narrow` memories through looks at those alone; one of namespaces with at most
        `read_all` memories reads all their words, with at most `scan_all` compares all their vectors: otherwise
        indexes choose, and of the vectors nearly all of the best are found.
        """
        self._snapshot = _Snapshot()
        self._narrow = narrow
        self._read_all = read_all
        self._scan_all = scan_all
        self._connections = Connections(url, pool_size=pool_size, timeout_s=timeout_s)
        self.location = self._connections.location
        self._ids = IdSource(lambda: datetime.now(UTC))
        self._version: int | None = None  # the embedder's whose questions come here
        self._reindexed = restoration.START
        self._growth = PlannerStatistics(every=100)
        try:
            self.created = schema.prepare(self._connections) == ""
        except BaseException:
            self._connections.close()
            raise

    def close(self) -> None:
        self._connections.close()

    def keyword(self, request: Request, terms: Collection[str], limit: int) -> list[Candidate]:
        def work(tx: Transaction) -> list[Candidate]:
            where = load_search_space(tx, request)
            if not where.spaces:
                return []
            return keywords.search_keywords(
                tx, request, where, terms, limit=limit, narrow=self._narrow, read_all=self._read_all
            )

        return self._read(request.caller, work) if terms and limit > 0 else []

    def nearest(
        self, request: Request, vector: NDArray[np.float32], limit: int, *, also: Collection[Ref] = ()
    ) -> list[Candidate]:
        def work(tx: Transaction) -> list[Candidate]:
            where = load_search_space(tx, request)
            embedding_versions.check_current(tx, self._version, where.version)
            sizes = {"narrow": self._narrow, "scan_all": self._scan_all}
            return vectors.find_nearest(tx, request, where, vector, limit=limit, also=also, **sizes)

        return self._read(request.caller, work)

    def in_one_snapshot(self, caller: Caller, work: Callable[[], T]) -> T:
        def work_inside(tx: Transaction) -> T:
            snapshot = self._snapshot
            before, snapshot.tenant_id, snapshot.tx = (snapshot.tenant_id, snapshot.tx), caller.tenant_id, tx
            try:
                return work()
            finally:
                snapshot.tenant_id, snapshot.tx = before

        return self._read(caller, work_inside)

    def flush_index(self) -> int:
        return 0

    def use_embedder(self, name: str, dims: int) -> str | None:
        active = self._read(None, vectors.find_indexed_version)
        if active is None:

            def record(tx: Transaction) -> EmbeddingVersion:
                # Another process may have been first.
                used = embedding_versions.use_embedder(tx, name, dims, datetime.now(UTC))
                vectors.add_missing_index(tx, used)
                return used

            active = self._execute(None, record, repeatable=True)
        if (active.name, active.dims) != (name, dims):
            return active.name
        self._version = active.version
        return None

    def begin_version(self, name: str, dims: int) -> EmbeddingVersion:
        def work(tx: Transaction) -> EmbeddingVersion:
            version = embedding_versions.begin_version(tx, name, dims, datetime.now(UTC))
            vectors.add_index(tx, version)
            return version

        return self._execute(None, work, repeatable=True)

    def attach(self, refs: Sequence[Ref], vectors_: NDArray[np.float32], *, version: int | None = None) -> None:
        def work(tx: Transaction) -> None:
            tx.run("lock_versions")
            chosen = embedding_versions.require_version(tx, version)
            if version is None:
                embedding_versions.check_current(tx, self._version, chosen.version)
            rows = embedding_versions.check_vectors(chosen, len(refs), vectors_)
            vectors.attach_vectors(tx, [int(ref) for ref in refs], rows, chosen)

        self._execute(None, work, repeatable=True)

    def switch_version(self, act: Act, version: int) -> bool:
        return self._execute(None, lambda tx: embedding_versions.switch_version(tx, act, version, self._ids))

    def prune_vectors(self, limit: int) -> int:
        def work(tx: Transaction) -> int:
            removed = len(tx.rows("prune_vectors", limit=limit))
            if removed < limit:
                vectors.drop_indexes(tx)
            return removed

        return self._execute(None, work, repeatable=True)

    def rows(self, table: str, *, after: Sequence[Any] | None, limit: int) -> list[Mapping[str, Any]]:
        return self._read(None, lambda tx: restoration.load_rows(tx, table, after=after, limit=limit))

    def restore(self, table: str, rows: Iterable[Mapping[str, Any]]) -> None:
        batch = list(rows)
        self._execute(None, lambda tx: restoration.restore_rows(tx, table, batch), repeatable=True)

    def reindex(self, limit: int) -> int:
        def work(tx: Transaction) -> tuple[int, restoration.Progress]:
            return restoration.reindex(tx, self._reindexed, limit)

        count, self._reindexed = self._execute(None, work, repeatable=True)
        return count

    def compact(self) -> Compaction:
        return compaction.compact(self._connections)

    def health(self) -> Health:
        def work(db: Connection) -> Health:
            tx = Transaction(db, STATEMENTS)
            active = embedding_versions.find_active(tx)
            [(memories,)] = tx.rows("count_memories")
            [(indexed, embedded, waiting)] = tx.rows("count_entries")
            [(size,)] = tx.rows("size", tables=list(schema.OUR_TABLES))
            return Health(
                location=self.location,
                backend=schema.server_version(db),
                schema=schema.revision(db, self.location),
                size_bytes=size,
                memories=memories,
                indexed=indexed,
                embedded=embedded,
                waiting=waiting,
                embedder=None if active is None else active.name,
                problems=tuple(health.find_problems(tx)),
            )

        return self._connections.read(None, work)

    def _pool(self) -> PoolVitals:
        return self._connections.vitals()

    def _read(self, caller: Caller | None, work: Callable[[Transaction], T]) -> T:
        """Read in the snapshot that this thread is in, if it is of this tenant; else in a transaction of its own."""
        tenant = None if caller is None else caller.tenant_id
        if self._snapshot.tx is not None and self._snapshot.tenant_id == tenant:
            return work(self._snapshot.tx)
        return self._connections.read(tenant, lambda db: work(Transaction(db, STATEMENTS, {})))

    def _write(self, act: Act, work: Callable[[MemoryWrites], T], *, repeatable: bool = False) -> T:
        def work_indexed(tx: Transaction) -> T:
            index = PostgresIndex()
            result = work(MemoryWrites(tx, index, act, self._ids))
            index.finish(tx, act.caller.tenant_id)
            self._growth.note(tx, index.added)
            return result

        return self._execute(act.caller.tenant_id, work_indexed, repeatable=repeatable)

    def _execute(self, tenant_id: str | None, work: Callable[[Transaction], T], *, repeatable: bool = False) -> T:
        refuse_in_snapshot(is_inside=self._snapshot.tx is not None)

        def attempt() -> T:
            return self._connections.write(
                tenant_id, lambda db: work(Transaction(db, STATEMENTS)), repeatable=repeatable
            )

        for _ in range(_MOST_RACES):
            try:
                return attempt()
            except IntegrityViolated as error:
                if not isinstance(error.__cause__, _RACES):
                    raise
        return attempt()

    def _read_snapshot(self, tenant_id: str | None, work: Callable[[Transaction], T]) -> T:
        def work_along_indexes(db: Connection) -> T:
            tx = Transaction(db, STATEMENTS)
            tx.run("along_indexes")
            return work(tx)

        return self._connections.read(tenant_id, work_along_indexes)

    def _restore_backup(self, tenant_id: str | None, work: Callable[[Transaction, RestoreIndex], T]) -> T:
        return restoration.restore_backup(partial(self._execute, repeatable=True), tenant_id, work)

    def _lock(self, unit: MemoryWrites, episode_ids: Sequence[str], facts: Sequence[Fact]) -> None:
        """Lock sessions, then slots: in the order in which every writer takes them, and before any memory.

        Whoever states the same fact waits here. Otherwise each finds, once the fact it waited for is superseded, that
        another took its slot, and begins again. In one order for all, and by few locks however many facts there are:
        the server's table of locks is small.
        """
        tenant_id = unit.act.caller.tenant_id
        if episode_ids:
            scopes = list(unit.act.caller.scopes)
            unit.tx.run("lock_sessions_of", tenant_id=tenant_id, scopes=scopes, ids=list(episode_ids))
        slots = (fact.slot for fact in facts if fact.validity == "active")
        queues = sorted({zlib.crc32("\0".join(slot).encode()) % _QUEUES for slot in slots})
        if queues:
            unit.tx.run("queue_for_slots", tenant_id=tenant_id, queues=queues)

    def _lock_removal(self, unit: MemoryWrites, episode_ids: Sequence[str], *, everywhere: bool = False) -> None:
        """Lock sessions, then speakers: whoever writes down that a speaker speaks has finished, or waits."""
        caller = unit.act.caller
        scopes = list(caller.scopes)
        if everywhere:
            scopes = [scope for (scope,) in unit.tx.rows("scopes_of", tenant_id=caller.tenant_id)]
        for statement in ("lock_sessions_of", "lock_speakers_of"):
            unit.tx.run(statement, tenant_id=caller.tenant_id, scopes=scopes, ids=list(episode_ids))
