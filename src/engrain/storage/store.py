"""Store: memories in one database, read in snapshots and written in units of work."""

from __future__ import annotations

from copy import copy
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Concatenate, ParamSpec, Protocol, TypeVar

from engrain.domain.ids import fresh_id
from engrain.errors import UNWRITABLE
from engrain.storage.transaction import Connection, Transaction, repeatable
from engrain.storage.unit_of_work import Snapshot, UnitOfWork
from engrain.storage.write import embedding_versions
from engrain.storage.write.leftovers import finish_upgrade, has_leftovers

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from engrain.domain.maintenance.backups import Extent
    from engrain.domain.maintenance.vitals import Vitals
    from engrain.domain.records import Caller, EmbeddingVersion
    from engrain.domain.requests import Act, Health, Ref
    from engrain.domain.runs.jobs import Compaction
    from engrain.storage.backend import Backend
    from engrain.storage.backup.extraction import SqlExtraction
    from engrain.storage.backup.restoration import SqlRestoration

HOME = "home"  # the name of the first server of a memory
_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")


class TenantCheck(Protocol):
    """Check that a tenant is on the server of a transaction, and on demand that it stays until the end of it."""

    def __call__(self, tx: Transaction, tenant_id: str | None, *, holds: bool) -> None: ...


class SqlStore:
    """Memories in one SQLite file or one PostgreSQL database. Thread-safe.

    What a call looks at, decides and writes is one function of the rooms beside this module (`write.arrivals.put`,
    `runs.claims.claim_run`), or several that one function of the caller's composes: it runs in one transaction, begun
    and ended here. It may be run again from its beginning, where another transaction came in between or the connection
    was lost: what it does outside the database has to bear that, which is why it is a function and no `with` block. A
    call that raises has written nothing (except OutcomeUnknown). Driver errors arrive as the StorageError that fits.
    """

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self.check_tenant: TenantCheck | None = None
        if self.inspect(None, has_leftovers):  # where a host's Alembic has upgraded the schema
            self.maintain(None, finish_upgrade, backend.new_index)
        self._ids = fresh_id

    def with_check(self, check: TenantCheck) -> SqlStore:
        """Return this store for one server of several: `check` comes first in each transaction of a tenant."""
        store = copy(self)
        store.check_tenant = check
        return store

    @property
    def servers(self) -> Mapping[str, SqlStore]:
        """The servers of the memory by name, of which the first has the jobs: this store, where it is on one."""
        return {HOME: self}

    @property
    def location(self) -> str:
        """Path or URL of the database, without a password."""
        return self.backend.location

    @property
    def created(self) -> bool:
        """True if opening the store created its schema."""
        return self.backend.created

    def read(
        self,
        caller: Caller,
        work: Callable[Concatenate[Snapshot, _Parameters], _Result],
        /,
        *arguments: _Parameters.args,
        **options: _Parameters.kwargs,
    ) -> _Result:
        """Return what `work` reads in one snapshot: all its statements see one state, and what this caller sees."""
        backend = self.backend

        def attempt(db: Connection) -> _Result:
            snapshot = Snapshot(db, caller, backend, {})
            if self.check_tenant is not None:
                self.check_tenant(snapshot, caller.tenant_id, holds=False)
            return work(snapshot, *arguments, **options)

        return backend.read(caller.tenant_id, attempt, user_id=_user_of(caller, work))

    def search(
        self,
        caller: Caller,
        work: Callable[Concatenate[Snapshot, _Parameters], _Result],
        /,
        *arguments: _Parameters.args,
        **options: _Parameters.kwargs,
    ) -> _Result:
        """`read`, once the search index has caught up with what was written.

        Where the database cannot be written now, be it busy, full or read-only, `index_is_behind` of the snapshot is
        true: the newest memories are found by their own words alone.
        """
        backend, is_current, is_behind = self.backend, False, False

        def attempt(db: Connection) -> tuple[_Result] | None:
            snapshot = Snapshot(db, caller, backend, {})
            if not is_current and backend.has_unindexed(snapshot):
                return None
            snapshot.index_is_behind = is_behind
            if self.check_tenant is not None:
                self.check_tenant(snapshot, caller.tenant_id, holds=False)
            return (work(snapshot, *arguments, **options),)

        found = backend.read(caller.tenant_id, attempt, user_id=caller.user_id)
        if found is not None:
            return found[0]
        is_current = True
        try:
            backend.flush_index()
        except UNWRITABLE:
            is_behind = True
        found = backend.read(caller.tenant_id, attempt, user_id=caller.user_id)
        assert found is not None
        return found[0]

    def write(
        self,
        act: Act,
        work: Callable[Concatenate[UnitOfWork, _Parameters], _Result],
        /,
        *arguments: _Parameters.args,
        **options: _Parameters.kwargs,
    ) -> _Result:
        """Return what `work` writes in one transaction with its events, durable when this returns.

        Row-level security lets it touch what is the caller's user's or no user's; where it is marked
        `transaction.for_every_user`, whatever is the tenant's.

        Raises:
            OutcomeUnknown: the connection was lost while committing, and `work` is not `transaction.repeatable`.
        """
        backend = self.backend
        done: tuple[UnitOfWork, _Result] | None = None

        def attempt(db: Connection) -> _Result:
            nonlocal done
            index = backend.new_index()
            unit = UnitOfWork(db, act, backend, index=index, ids=self._ids)
            if done is not None and unit.has_event(done[0].proof):
                return done[1]  # it was committed, though the answer to that was lost
            if self.check_tenant is not None:
                self.check_tenant(unit, act.caller.tenant_id, holds=True)
            result = work(unit, *arguments, **options)
            index.finish(unit, act.caller.tenant_id)
            done = unit, result
            return result

        caller, is_repeatable = act.caller, getattr(work, "is_repeatable", False)
        user_id = None if getattr(work, "is_for_every_user", False) else caller.user or ""
        return backend.write(caller.tenant_id, attempt, is_repeatable=is_repeatable, user_id=user_id)

    def inspect(
        self,
        tenant_id: str | None,
        work: Callable[Concatenate[Transaction, _Parameters], _Result],
        /,
        *arguments: _Parameters.args,
        **options: _Parameters.kwargs,
    ) -> _Result:
        """Return what `work` reads of a whole tenant, or of every one: maintenance, never an answer to a caller."""

        def attempt(db: Connection) -> _Result:
            tx = Transaction(db, self.backend.statements, {})
            if self.check_tenant is not None:
                self.check_tenant(tx, tenant_id, holds=False)
            return work(tx, *arguments, **options)

        return self.backend.read(tenant_id, attempt)

    def maintain(
        self,
        tenant_id: str | None,
        work: Callable[Concatenate[Transaction, _Parameters], _Result],
        /,
        *arguments: _Parameters.args,
        **options: _Parameters.kwargs,
    ) -> _Result:
        """Return what `work` writes for a whole tenant, or for every one, without an audit record: maintenance."""

        def attempt(db: Connection) -> _Result:
            tx = Transaction(db, self.backend.statements)
            if self.check_tenant is not None:
                self.check_tenant(tx, tenant_id, holds=True)
            return work(tx, *arguments, **options)

        return self.backend.write(tenant_id, attempt, is_repeatable=getattr(work, "is_repeatable", False))

    def use_embedder(self, name: str, dims: int) -> str | None:
        """Set the embedder of this store's searches; returns the active embedder's name if it is another, else None.

        If no embedder is recorded yet, this one becomes version 1, active.
        """
        active = self.inspect(None, self.backend.find_version)
        if active is None:

            @repeatable
            def record(tx: Transaction) -> EmbeddingVersion:
                # Another process may have been first.
                used = embedding_versions.use_embedder(tx, name, dims, datetime.now(UTC))
                self.backend.prepare_vectors(tx, used, is_new=False)
                return used

            active = self.maintain(None, record)
        if (active.name, active.dims) != (name, dims):
            return active.name
        self.backend.version = active.version
        return None

    def begin_version(self, name: str, dims: int) -> EmbeddingVersion:
        """Begin or continue a building version for this embedder.

        Raises:
            InvalidInput: this embedder is the active one, none is, or another version is being built.
        """

        @repeatable
        def begin(tx: Transaction) -> EmbeddingVersion:
            version = embedding_versions.begin_version(tx, name, dims, datetime.now(UTC))
            self.backend.prepare_vectors(tx, version, is_new=True)
            return version

        return self.maintain(None, begin)

    def attach(
        self,
        refs: Sequence[Ref],
        vectors: NDArray[np.float32],
        *,
        version: int | None = None,
        tenants: Sequence[str] | None = None,
    ) -> None:
        """Store vectors of memories; memories removed, forgotten or embedded meanwhile are skipped.

        `tenants` are theirs, in their order; it may be absent where no two tenants have a handle in common.

        Raises:
            InvalidInput: the shape is not [len(refs), dims] of the version's embedder, or a value is not finite.
            EngineUnavailable: the searches use another embedder by now, where no version is named.
        """

        @repeatable
        def attach(tx: Transaction) -> None:
            self.backend.lock_versions(tx)
            chosen = embedding_versions.require_version(tx, version)
            if version is None:
                embedding_versions.check_current(tx, self.backend.version, chosen.version)
            rows = embedding_versions.check_vectors(chosen, len(refs), vectors)
            if chosen.state != "retired":  # else the vectors of another embedder are searched by now
                self.backend.attach_vectors(tx, [int(ref) for ref in refs], rows, chosen, tenants=tenants)

        self.maintain(None, attach)

    def switch_version(self, act: Act, version: int) -> bool:
        """Make a building version the active one, in one transaction; False if a memory still lacks its vector.

        Searches use the old vectors before and the new ones after; the old version is retired. Memories that the
        searches no longer have lose their vectors.

        Raises:
            InvalidInput: the version is not being built.
        """

        def switch(tx: Transaction) -> bool:
            self.backend.index_all(tx)
            return embedding_versions.switch_version(tx, act, version, self._ids)

        return self.maintain(None, switch)

    def prune_vectors(self, limit: int) -> int:
        """Remove vectors of retired versions, at most `limit`; returns their number."""

        @repeatable
        def prune(tx: Transaction) -> int:
            removed = len(tx.rows("prune_vectors", limit=limit))
            if removed < limit:
                self.backend.drop_vector_indexes(tx)
            return removed

        return self.maintain(None, prune)

    def flush_index(self) -> int:
        """Finish the indexing of single puts, at most 1,000 memories a call; returns their number."""
        return self.backend.flush_index()

    def extract(self, extent: Extent, work: Callable[[SqlExtraction], _Result]) -> _Result:
        """Return what `work` reads of an extent in one snapshot of all its rows."""
        from engrain.storage.backup.extraction import SqlExtraction

        def attempt(db: Connection) -> _Result:
            tx = Transaction(db, self.backend.statements)
            if self.check_tenant is not None:
                self.check_tenant(tx, extent.tenant_id, holds=False)
            return work(SqlExtraction(tx, extent))

        return self.backend.read_everything(extent.tenant_id, attempt)

    def restore(
        self, tenant_id: str | None, work: Callable[[SqlRestoration], _Result], *, is_part: bool = False
    ) -> _Result:
        """Return what `work` restores in one transaction of a tenant, or of all; an error of it leaves nothing.

        `is_part`: more rows follow in transactions of their own, and the last one makes the index of vectors.
        """
        from engrain.storage.backup.restoration import SqlRestoration

        backend = self.backend

        def attempt(db: Connection) -> _Result:
            restoration = SqlRestoration(Transaction(db, backend.statements), backend, self._ids)
            if self.check_tenant is not None:
                self.check_tenant(restoration.tx, tenant_id, holds=True)
            result = work(restoration)
            restoration.write_totals()
            return result

        if is_part:
            return backend.write(tenant_id, attempt, is_repeatable=True)
        return backend.restore(tenant_id, attempt)

    def vitals(self, now: datetime) -> Vitals:
        """Measure the database, over all tenants: maintenance. A few short statements, whatever its size."""
        from engrain.storage.reports import vitals

        backend = self.backend

        def measure(tx: Transaction) -> Vitals:  # whose connection is one of those in use
            return vitals.measure_vitals(tx, now, tables=backend.tables, pool=backend.count_connections())

        return self.inspect(None, measure)

    def health(self, *, thorough: bool = True) -> Health:
        """Check that rows, index and file agree; reads everything, so seconds on a large database.

        One that is not thorough compares no rows, and counts memories by the totals that are kept of them.
        """
        return self.backend.check_health(thorough=thorough)

    def compact(self) -> Compaction:
        """Free the space of removed rows, and renew the statistics of the query planner.

        Reads go on meanwhile. A SQLite file is rewritten if a quarter of it is empty; writers wait while it is copied.
        """
        return self.backend.compact()

    def close(self) -> None:
        """Close connections; a second call does nothing."""
        self.backend.close()


def _user_of(caller: Caller, work: Callable[..., object]) -> str | None:
    """The user whose rows the database shows to a function; None for one that is for every user."""
    return None if getattr(work, "is_for_every_user", False) else caller.user or ""
