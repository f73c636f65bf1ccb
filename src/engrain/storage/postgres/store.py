"""The Store port over one PostgreSQL database with pgvector."""

from __future__ import annotations

import threading
import zlib
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeVar

import psycopg

from engrain.domain.ids import IdSource
from engrain.domain.memories.maturity import DEFAULT_THRESHOLDS
from engrain.domain.records import Caller, Fact
from engrain.domain.requests import Act, Candidate, Health, Unembedded
from engrain.errors import IntegrityViolated, OutcomeUnknown
from engrain.storage import selection
from engrain.storage.access.keys import SqlAccessKeys
from engrain.storage.access.pools import SqlPools
from engrain.storage.backup import archive
from engrain.storage.backup.store import SqlBackups
from engrain.storage.entities import mentions
from engrain.storage.entities.store import SqlRegistry
from engrain.storage.filters import caller_bindings
from engrain.storage.jobs import SqlJobs
from engrain.storage.postgres import compaction, health, keywords, restoration, schema, vectors
from engrain.storage.postgres.connections import Connection, Connections
from engrain.storage.postgres.index import PostgresIndex
from engrain.storage.postgres.planner_statistics import PlannerStatistics
from engrain.storage.postgres.statements import STATEMENTS
from engrain.storage.postgres.vitals import PostgresVitals
from engrain.storage.reports import stats
from engrain.storage.reports.overviews import SqlOverviews
from engrain.storage.reports.store import SqlSurveys
from engrain.storage.runs.store import SqlRuns
from engrain.storage.search import history, matching, recency, traits
from engrain.storage.search.namespaces import has_waiting, load_search_space
from engrain.storage.search.store import SqlHistory
from engrain.storage.transaction import Transaction, refuse_in_snapshot
from engrain.storage.write import cleanup, embedding_versions, sweeps
from engrain.storage.write.ledger import Ledger

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from typing import Any

    import numpy as np
    from numpy.typing import NDArray

    from engrain.domain.maintenance.retention import CleanupBatch, Retention
    from engrain.domain.maintenance.stats import Stats
    from engrain.domain.memories.aging import AgingKind, Standing
    from engrain.domain.memories.decay import DecayPolicy, SweepBatch
    from engrain.domain.memories.maturity import Outcome, Thresholds
    from engrain.domain.records import EmbeddingVersion, Link, MemoryRecord, Rule
    from engrain.domain.requests import Ref, Request, Traits
    from engrain.domain.runs.jobs import Compaction
    from engrain.storage.backup.restoration import RestoreIndex

T = TypeVar("T")
_COUNT_UP_TO = 1_000
# Somebody else took an id, or the place of a fact, or what a memory names went, between our look and our write. The
# next run sees what they did; a second such race is rare, and a row that breaks a rule of itself breaks it every time.
_RACES = (psycopg.errors.UniqueViolation, psycopg.errors.ForeignKeyViolation)
_MOST_RACES = 5
_QUEUES = 256  # of a tenant, for the places of its facts


class _Held(threading.local):
    """The snapshot that a thread is in, and whose it is."""

    tenant_id: str | None = None
    tx: Transaction | None = None


class PostgresStore(
    SqlSurveys,
    SqlHistory,
    SqlRegistry,
    SqlRuns,
    SqlJobs,
    SqlPools,
    SqlAccessKeys,
    SqlOverviews,
    PostgresVitals,
    SqlBackups,
):
    """Memories in one PostgreSQL database; `domain.ports.Store` says what each verb promises.

    Each call is one transaction of the caller's tenant, the second wall behind the tenant in each statement; what is
    done for every tenant at once says so to the database.
    """

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
        self._held = _Held()
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

    def put(self, act: Act, memories: Sequence[MemoryRecord]) -> list[MemoryRecord]:
        if not memories:
            return []
        added: list[MemoryRecord] = []

        def work(ledger: Ledger) -> list[MemoryRecord]:
            _queue_for_places(ledger, memories)
            added[:] = ledger.add(memories)
            return list(added)

        try:
            return self._act(act, work, repeatable=False)
        except OutcomeUnknown:
            ids = [memory.id for memory in added]
            return added if self.get(act.caller, ids) == added else self._act(act, work, repeatable=False)

    def get(self, caller: Caller, ids: Sequence[str]) -> list[MemoryRecord]:
        return self._read(caller, lambda tx: [memory for _, memory in selection.load_visible(tx, caller, ids)])

    def held(self, caller: Caller, *, scope: str, subject: str, predicate: str) -> Fact | None:
        return self._read(
            caller, lambda tx: history.find_active_fact(tx, caller, scope=scope, subject=subject, predicate=predicate)
        )

    def put_related(
        self, act: Act, fact: Fact, related: Mapping[str, float], *, after: Callable[[Fact, Fact], Fact] | None = None
    ) -> Fact | None:
        def work(ledger: Ledger) -> Fact | None:
            _queue_for_places(ledger, [fact])
            return ledger.add_related(fact, related, after)

        return self._act(act, work, repeatable=False)

    def supersede(self, act: Act, fact: Fact, ids: Sequence[str], *, derives: bool = True) -> Fact | None:
        def work(ledger: Ledger) -> Fact | None:
            _queue_for_places(ledger, [fact, *(old for _, old in selection.load_visible(ledger.tx, act.caller, ids))])
            return ledger.supersede(fact, ids, derives=derives)

        return self._act(act, work, repeatable=False)

    def touch(self, act: Act, ids: Sequence[str]) -> list[MemoryRecord]:
        return self._act(act, lambda ledger: ledger.touch(ids), repeatable=False)

    def confirm(self, act: Act, id_: str) -> MemoryRecord | None:
        return self._act(act, lambda ledger: ledger.confirm(id_), repeatable=False)

    def age(self, act: Act, id_: str, to: Standing) -> MemoryRecord | None:
        return self._act(act, lambda ledger: ledger.age(id_, to))

    def mark(
        self,
        act: Act,
        id_: str,
        outcome: Outcome,
        *,
        reason: str | None = None,
        thresholds: Thresholds = DEFAULT_THRESHOLDS,
    ) -> Rule | None:
        return self._act(act, lambda ledger: ledger.mark(id_, outcome, reason, thresholds), repeatable=False)

    def forget(self, act: Act, id_: str) -> MemoryRecord | None:
        def work(ledger: Ledger) -> MemoryRecord | None:
            _hold_sessions(ledger, [id_], act.caller.scopes)
            return ledger.forget(id_)

        return self._act(act, work)

    def erase(self, act: Act, ids: Sequence[str]) -> list[str]:
        def work(ledger: Ledger) -> list[str]:
            _hold_sessions(ledger, ids, act.caller.scopes)
            _hold_speakers(ledger, ids, act.caller.scopes)
            return ledger.erase(ids)

        return self._act(act, work, repeatable=False)

    def link(self, act: Act, link: Link) -> bool:
        return self._act(act, lambda ledger: ledger.link(link), repeatable=False)

    def stats(self, caller: Caller, now: datetime, *, scope: str | None = None) -> Stats:
        return self._read(
            caller, lambda tx: stats.count_memories(tx, caller, now, scope=scope, waiting=_waiting(tx, caller))
        )

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

    def speakers(self, request: Request) -> list[str]:
        return self._read(request.caller, lambda tx: matching.list_speakers(tx, request.caller))

    def newest(self, request: Request, limit: int) -> list[Candidate]:
        return self._read(request.caller, lambda tx: recency.find_newest(tx, request, limit))

    def important(self, request: Request, limit: int) -> list[Candidate]:
        return self._read(request.caller, lambda tx: recency.find_important(tx, request, limit))

    def mentioning(self, request: Request, names: Collection[str], limit: int) -> list[Candidate]:
        return self._read(request.caller, lambda tx: mentions.find_mentioning(tx, request, names, limit))

    def traits(self, request: Request, refs: Collection[Ref]) -> dict[Ref, Traits]:
        return self._read(request.caller, lambda tx: traits.load_traits(tx, request, refs))

    def in_one_snapshot(self, caller: Caller, work: Callable[[], T]) -> T:
        def held(tx: Transaction) -> T:
            before, self._held.tenant_id, self._held.tx = (self._held.tenant_id, self._held.tx), caller.tenant_id, tx
            try:
                return work()
            finally:
                self._held.tenant_id, self._held.tx = before

        return self._read(caller, held)

    def load(self, request: Request, refs: Collection[Ref]) -> dict[Ref, MemoryRecord]:
        return self._read(request.caller, lambda tx: matching.load_matching(tx, request, refs))

    def recent(self, request: Request, limit: int) -> list[MemoryRecord]:
        return self._read(request.caller, lambda tx: recency.load_newest(tx, request, limit))

    def neighbours(self, request: Request, memory: MemoryRecord, reach: int) -> list[MemoryRecord]:
        return self._read(request.caller, lambda tx: matching.load_neighbours(tx, request, memory, reach))

    def settle(self) -> int:
        return 0

    def waiting(self, caller: Caller) -> int:
        return self._read(caller, lambda tx: _waiting(tx, caller))

    def use_embedder(self, name: str, dims: int) -> str | None:
        active = self._read(None, vectors.find_indexed_version)
        if active is None:

            def record(tx: Transaction) -> EmbeddingVersion:
                used = embedding_versions.use_embedder(
                    tx, name, dims, datetime.now(UTC)
                )  # another process may have been first
                vectors.add_missing_index(tx, used)
                return used

            active = self._write(None, record)
        if (active.name, active.dims) != (name, dims):
            return active.name
        self._version = active.version
        return None

    def embedding_versions(self) -> list[EmbeddingVersion]:
        return self._read(None, embedding_versions.load_versions)

    def begin_version(self, name: str, dims: int) -> EmbeddingVersion:
        def work(tx: Transaction) -> EmbeddingVersion:
            version = embedding_versions.begin_version(tx, name, dims, datetime.now(UTC))
            vectors.add_index(tx, version)
            return version

        return self._write(None, work)

    def unembedded(self, limit: int, *, version: int | None = None) -> list[Unembedded]:
        return self._read(None, lambda tx: embedding_versions.find_unembedded(tx, limit, version))

    def attach(self, refs: Sequence[Ref], vectors_: NDArray[np.float32], *, version: int | None = None) -> None:
        def work(tx: Transaction) -> None:
            tx.run("hold_versions")
            chosen = embedding_versions.require_version(tx, version)
            if version is None:
                embedding_versions.check_current(tx, self._version, chosen.version)
            rows = embedding_versions.check_vectors(chosen, len(refs), vectors_)
            vectors.attach_vectors(tx, [int(ref) for ref in refs], rows, chosen)

        self._write(None, work)

    def switch_version(self, act: Act, version: int) -> bool:
        return self._write(
            None, lambda tx: embedding_versions.switch_version(tx, act, version, self._ids), repeatable=False
        )

    def prune_vectors(self, limit: int) -> int:
        def work(tx: Transaction) -> int:
            removed = len(tx.rows("prune_vectors", limit=limit))
            if removed < limit:
                vectors.drop_indexes(tx)
            return removed

        return self._write(None, work)

    def sweep(
        self, act: Act, kind: AgingKind, policy: DecayPolicy, *, after: str, limit: int, dry_run: bool = False
    ) -> SweepBatch:
        seen = self._read(act.caller, lambda tx: sweeps.find_due(tx, act, kind, policy, after=after, limit=limit))
        if dry_run or not seen.ids:
            return self._read(act.caller, lambda tx: sweeps.preview_sweep(tx, act, kind, policy, seen=seen))
        return self._act(act, lambda ledger: sweeps.sweep(ledger, kind, policy, seen))

    def clean(self, act: Act, retention: Retention, *, limit: int, dry_run: bool = False) -> CleanupBatch:
        if dry_run:
            return self._read(act.caller, lambda tx: cleanup.preview_cleanup(tx, act, retention))
        planned = self._read(act.caller, lambda tx: cleanup.plan_cleanup(tx, act, retention, limit))

        def work(ledger: Ledger) -> CleanupBatch:
            everywhere = [scope for (scope,) in ledger.tx.rows("scopes_of", tenant_id=act.caller.tenant_id)]
            _hold_sessions(ledger, list(planned.removals), everywhere)
            _hold_speakers(ledger, list(planned.removals), everywhere)
            return cleanup.clean_up(ledger, retention, planned)

        return self._act(act, work)

    @property
    def tables(self) -> Sequence[str]:
        return archive.TABLES

    def rows(self, table: str, *, after: Sequence[Any] | None, limit: int) -> list[Mapping[str, Any]]:
        return self._read(None, lambda tx: restoration.load_rows(tx, table, after=after, limit=limit))

    def key_of(self, table: str, row: Mapping[str, Any]) -> Sequence[Any]:
        return archive.row_key(table, row)

    def last_key(self, table: str) -> Sequence[Any] | None:
        return self._read(None, lambda tx: archive.find_last_key(tx, table))

    def restore(self, table: str, rows: Iterable[Mapping[str, Any]]) -> None:
        given = list(rows)
        self._write(None, lambda tx: restoration.restore_rows(tx, table, given))

    def reindex(self, limit: int) -> int:
        count, self._reindexed = self._write(None, lambda tx: restoration.reindex(tx, self._reindexed, limit))
        return count

    def compact(self) -> Compaction:
        return compaction.compact(self._connections)

    def health(self) -> Health:
        def work(db: Connection) -> Health:
            tx = Transaction(db, STATEMENTS)
            active = embedding_versions.find_active(tx)
            [(memories,)] = tx.rows("count_memories")
            [(indexed, embedded, waiting)] = tx.rows("count_places")
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

    def _read(self, caller: Caller | None, work: Callable[[Transaction], T]) -> T:
        """In the snapshot that this thread is in, if it is of this tenant; else in a transaction of its own."""
        tenant = None if caller is None else caller.tenant_id
        if self._held.tx is not None and self._held.tenant_id == tenant:
            return work(self._held.tx)
        return self._connections.read(tenant, lambda db: work(Transaction(db, STATEMENTS, {})))

    def _write(self, tenant: str | None, work: Callable[[Transaction], T], *, repeatable: bool = True) -> T:
        refuse_in_snapshot(is_inside=self._held.tx is not None)
        for _ in range(_MOST_RACES):
            try:
                return self._connections.write(
                    tenant, lambda db: work(Transaction(db, STATEMENTS)), repeatable=repeatable
                )
            except IntegrityViolated as error:
                if not isinstance(error.__cause__, _RACES):
                    raise
        return self._connections.write(tenant, lambda db: work(Transaction(db, STATEMENTS)), repeatable=repeatable)

    def _copying(self, tenant_id: str | None, work: Callable[[Transaction], T]) -> T:
        def copied(tx: Transaction) -> T:
            tx.run("along_indexes")
            return work(tx)

        return self._connections.read(tenant_id, lambda db: copied(Transaction(db, STATEMENTS)))

    def _filling(self, tenant_id: str | None, work: Callable[[Transaction, RestoreIndex], T]) -> T:
        return restoration.restore_backup(self._write, tenant_id, work)

    def _ask(self, caller: Caller | None, work: Callable[[Transaction], T]) -> T:
        return self._read(caller, work)

    def _change(self, tenant_id: str | None, work: Callable[[Transaction], T]) -> T:
        return self._write(tenant_id, work, repeatable=False)

    def _do(self, act: Act, work: Callable[[Ledger], T]) -> T:
        return self._act(act, work, repeatable=False)

    def _hold(self, ledger: Ledger, episode_ids: Sequence[str], facts: Sequence[Fact]) -> None:
        if episode_ids:
            _hold_sessions(ledger, episode_ids, ledger.act.caller.scopes)
        _queue_for_places(ledger, facts)

    def _act(self, act: Act, work: Callable[[Ledger], T], *, repeatable: bool = True) -> T:
        def acted(tx: Transaction) -> T:
            index = PostgresIndex()
            result = work(Ledger(tx, index, act, self._ids))
            index.finish(tx, act.caller.tenant_id)
            self._growth.note(tx, index.added)
            return result

        return self._write(act.caller.tenant_id, acted, repeatable=repeatable)


def _queue_for_places(ledger: Ledger, memories: Sequence[MemoryRecord]) -> None:
    """Whoever states the same fact waits here until the end of the transaction.

    Otherwise each finds, once the fact it waited for is superseded, that another took its place, and begins again. In
    one order for all, and by few locks however many facts there are: the server's table of locks is small.
    """
    places = (each.place for each in memories if isinstance(each, Fact) and each.validity == "active")
    queues = sorted({zlib.crc32("\0".join(place).encode()) % _QUEUES for place in places})
    if queues:
        ledger.tx.run("queue", tenant_id=ledger.act.caller.tenant_id, queues=queues)


def _hold_sessions(ledger: Ledger, ids: Sequence[str], scopes: Sequence[str]) -> None:
    """Nobody else writes the sessions of these episodes, in these scopes, until the end of the transaction.

    In the order in which every writer takes them: sessions, then memories.
    """
    tenant_id = ledger.act.caller.tenant_id
    ledger.tx.run("lock_sessions_of", tenant_id=tenant_id, scopes=list(scopes), ids=list(ids))


def _hold_speakers(ledger: Ledger, ids: Sequence[str], scopes: Sequence[str]) -> None:
    """Whoever writes down what the speakers of these episodes say has finished, or waits."""
    tenant_id = ledger.act.caller.tenant_id
    ledger.tx.run("lock_speakers_of", tenant_id=tenant_id, scopes=list(scopes), ids=list(ids))


def _waiting(tx: Transaction, caller: Caller) -> int:
    if not has_waiting(tx, caller):
        return 0
    [(found,)] = tx.rows("count_waiting", **caller_bindings(caller, tx.dialect), limit=_COUNT_UP_TO)
    return int(found)
