"""The Store port over one SQLite file."""

from __future__ import annotations

from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import numpy as np

from engrain.domain.ids import IdSource
from engrain.domain.requests import Act, Candidate, Health, Unembedded
from engrain.storage import archive, lookups, readings, shortlists, versions
from engrain.storage.filters import seen_by
from engrain.storage.ledger import Ledger
from engrain.storage.sqlite import checkup, index, restoring, schema, word_index
from engrain.storage.sqlite.connections import Connections
from engrain.storage.sqlite.speech import SPEECH
from engrain.storage.sqlite.vector_cache import Searched, VectorCache, exact_vectors, searched
from engrain.storage.transaction import Transaction

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from numpy.typing import NDArray

    from engrain.domain.aging import Standing
    from engrain.domain.records import (
        Caller,
        EmbeddingVersion,
        Entity,
        Event,
        Fact,
        Link,
        MemoryRecord,
        Relation,
        Stats,
    )
    from engrain.domain.requests import Direction, Ref, Request, TurnPlace

_COUNT_UP_TO = 1_000
_ALL = -1  # what SQLite takes for no limit


class SqliteStore:
    """Memories in one SQLite file, or in this process's memory; `domain.ports.Store` says what each verb promises."""

    def __init__(
        self,
        location: str,
        *,
        busy_timeout_s: float = 5.0,
        synchronous: str = "normal",
        narrow: int = lookups.NARROW,
    ) -> None:
        """Open or create the file at `location` (":memory:" for none) and bring its schema up to date.

        A search whose filter lets at most `narrow` memories through looks at those alone; the answer is the same.
        """
        self.location = location
        self._narrow = narrow
        self._connections = Connections(location, busy_timeout_s=busy_timeout_s, synchronous=synchronous)
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

    def put(self, act: Act, memories: Sequence[MemoryRecord]) -> list[MemoryRecord]:
        if not memories:
            return []
        with self._acting(act) as ledger:
            return ledger.add(memories)

    def get(self, caller: Caller, ids: Sequence[str]) -> list[MemoryRecord]:
        with self._reading() as tx:
            return [memory for _, memory in lookups.visible(tx, caller, ids)]

    def touch(self, act: Act, ids: Sequence[str]) -> list[MemoryRecord]:
        with self._acting(act) as ledger:
            return ledger.touch(ids)

    def confirm(self, act: Act, id_: str) -> MemoryRecord | None:
        with self._acting(act) as ledger:
            return ledger.confirm(id_)

    def age(self, act: Act, id_: str, to: Standing) -> MemoryRecord | None:
        with self._acting(act) as ledger:
            return ledger.age(id_, to)

    def retire(self, act: Act, id_: str) -> MemoryRecord | None:
        with self._acting(act) as ledger:
            return ledger.retire(id_)

    def erase(self, act: Act, ids: Sequence[str]) -> list[str]:
        with self._connections.erasing(), self._acting(act) as ledger:
            return ledger.erase(ids)

    def history(self, caller: Caller, id_: str) -> list[Fact]:
        with self._reading() as tx:
            return readings.history(tx, caller, id_)

    def link(self, act: Act, link: Link) -> bool:
        with self._acting(act) as ledger:
            return ledger.link(link)

    def links(
        self, caller: Caller, id_: str, *, direction: Direction = "both", relation: Relation | None = None
    ) -> list[Link]:
        with self._reading() as tx:
            return readings.links(tx, caller, id_, direction=direction, relation=relation)

    def events(
        self, caller: Caller, *, memory_id: str | None = None, event_type: str | None = None, limit: int = 1_000
    ) -> list[Event]:
        with self._reading() as tx:
            return readings.events(tx, caller, memory_id=memory_id, event_type=event_type, limit=limit)

    def put_entity(self, act: Act, entity: Entity) -> Entity:
        with self._acting(act) as ledger:
            return ledger.put_entity(entity)

    def entities(self, caller: Caller, ids: Sequence[str]) -> list[Entity]:
        with self._reading() as tx:
            return readings.entities(tx, caller, ids)

    def stats(self, caller: Caller, now: datetime) -> Stats:
        with self._reading() as tx:
            return readings.stats(tx, caller, now, waiting=_waiting(tx, caller))

    def keyword(self, request: Request, terms: Collection[str], limit: int) -> list[Candidate]:
        if not terms or limit <= 0:
            return []
        with self._reading() as tx:
            tenant_id = request.caller.tenant_id
            namespaces = lookups.namespaces_of(tx, request.caller, request.filter.kinds)

            def ask(count: int, among: Sequence[int] | None) -> list[Candidate]:
                return word_index.search(tx, namespaces, terms, count, tenant_id=tenant_id, among=among)

            settled = _is_settled(tx, request)
            found = lookups.enough(tx, request, limit, ask, settled=settled, narrow=self._narrow) if namespaces else []
            outside = {} if settled else lookups.records(tx, request, index.unsettled(tx, _ALL))
            outside |= lookups.gone(tx, request)
            if outside:
                found += word_index.search_outside(tx, namespaces, terms, outside, limit=limit, tenant_id=tenant_id)
            return sorted(found, key=shortlists.best_first)[:limit]

    def nearest(
        self, request: Request, vector: NDArray[np.float32], limit: int, *, also: Collection[Ref] = ()
    ) -> list[Candidate]:
        with self._reading() as tx:
            namespaces = lookups.namespaces_of(tx, request.caller, request.filter.kinds)
            now = searched(tx)
            versions.check_current(tx, self._version, None if now is None else now.version)
            if now is None or now.dims != len(vector) or not namespaces:
                return []

            def ask(count: int, among: Sequence[int] | None) -> list[Candidate]:
                only = None if among is None else np.array(among, np.int64)
                docs, cosines = self._vectors.nearest(tx, now, namespaces, vector, limit=count, among=only)
                return [Candidate(doc, raw) for doc, raw in zip(docs.tolist(), cosines.tolist(), strict=True)]

            settled = _is_settled(tx, request)
            best = lookups.enough(tx, request, limit, ask, settled=settled, narrow=self._narrow) if limit > 0 else []
            gone = _cosines(tx, now, list(lookups.gone(tx, request)), vector, namespaces=namespaces, gone=True)
            best = sorted(best + gone, key=shortlists.best_first)[: max(limit, 0)] if gone else best
            others: Sequence[Ref] = list(set(also) - {each.ref for each in best})
            if request.filter.is_narrow or not settled:
                others = lookups.matching(tx, request, others)
            past = request.filter.asks_past
            best += _cosines(tx, now, others, vector, namespaces=namespaces, gone=past)
            return sorted(best, key=shortlists.best_first)

    def speakers(self, request: Request) -> list[str]:
        with self._reading() as tx:
            return lookups.speakers(tx, request.caller)

    def turns(self, request: Request, refs: Collection[Ref]) -> dict[Ref, TurnPlace]:
        with self._reading() as tx:
            return lookups.turns(tx, request, refs)

    def load(self, request: Request, refs: Collection[Ref]) -> dict[Ref, MemoryRecord]:
        with self._reading() as tx:
            return lookups.records(tx, request, refs)

    def recent(self, request: Request, limit: int) -> list[MemoryRecord]:
        with self._reading() as tx:
            return lookups.recent(tx, request, limit)

    def neighbours(self, request: Request, memory: MemoryRecord, reach: int) -> list[MemoryRecord]:
        with self._reading() as tx:
            return lookups.neighbours(tx, request, memory, reach)

    def settle(self) -> int:
        with self._reading() as tx:
            if not index.unsettled(tx, 1):
                return 0
        with self._writing() as tx:
            return index.settle(tx)

    def waiting(self, caller: Caller) -> int:
        with self._reading() as tx:
            return _waiting(tx, caller)

    def use_embedder(self, name: str, dims: int) -> str | None:
        with self._reading() as tx:
            active = versions.active(tx)
        if active is None:
            with self._writing() as tx:
                active = versions.use(tx, name, dims, datetime.now(UTC))  # another process may have been first
        if (active.name, active.dims) != (name, dims):
            return active.name
        self._version = active.version
        return None

    def embedding_versions(self) -> list[EmbeddingVersion]:
        with self._reading() as tx:
            return versions.every(tx)

    def begin_version(self, name: str, dims: int) -> EmbeddingVersion:
        with self._writing() as tx:
            return versions.begin(tx, name, dims, datetime.now(UTC))

    def unembedded(self, limit: int, *, version: int | None = None) -> list[Unembedded]:
        with self._reading() as tx:
            return versions.unembedded(tx, limit, version)

    def attach(self, refs: Sequence[Ref], vectors: NDArray[np.float32], *, version: int | None = None) -> None:
        with self._writing() as tx:
            chosen = versions.chosen(tx, version)
            if version is None:
                versions.check_current(tx, self._version, chosen.version)
            rows = versions.checked(chosen, len(refs), vectors)
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
            index.settle_all(tx)
            return versions.switch(tx, act, version, self._ids)

    def prune_vectors(self, limit: int) -> int:
        with self._writing() as tx:
            return len(tx.rows("prune_vectors", limit=limit))

    @property
    def tables(self) -> Sequence[str]:
        return archive.TABLES

    def rows(self, table: str, *, after: Sequence[Any] | None, limit: int) -> list[Mapping[str, Any]]:
        with self._reading() as tx:
            return archive.rows(tx, table, after=after, limit=limit)

    def key_of(self, table: str, row: Mapping[str, Any]) -> Sequence[Any]:
        return archive.key_of(table, row)

    def last_key(self, table: str) -> Sequence[Any] | None:
        with self._reading() as tx:
            return archive.last_key(tx, table)

    def restore(self, table: str, rows: Iterable[Mapping[str, Any]]) -> None:
        with self._writing() as tx:
            restoring.restore(tx, table, rows)

    def reindex(self, limit: int) -> int:  # noqa: ARG002  # settle has a bound of its own
        return self.settle()

    def health(self) -> Health:
        with self._connections.fresh() as db:
            active = versions.active(Transaction(db, SPEECH))
            return Health(
                location=self.location,
                backend=f"sqlite {db.execute('SELECT sqlite_version()').get}",
                schema=schema.revision(db, self.location),
                size_bytes=checkup.count(db, "size"),
                memories=checkup.count(db, "count_memories"),
                indexed=checkup.count(db, "count_indexed"),
                embedded=checkup.count(db, "count_embedded"),
                waiting=checkup.count(db, "count_unembedded"),
                embedder=None if active is None else active.name,
                problems=tuple(checkup.problems(db)),
            )

    @contextmanager
    def _reading(self) -> Iterator[Transaction]:
        with self._connections.reading() as db:
            yield Transaction(db, SPEECH)

    @contextmanager
    def _writing(self) -> Iterator[Transaction]:
        with self._connections.writing() as db:
            yield Transaction(db, SPEECH)

    @contextmanager
    def _acting(self, act: Act) -> Iterator[Ledger]:
        with self._writing() as tx:
            yield Ledger(tx, self._index, act, self._ids)


def _is_settled(tx: Transaction, request: Request) -> bool:
    """Whether the indexes hold all that is live at the request's time, and nothing else."""
    return tx.one("has_expired", now=tx.dialect.time(request.now)) == (0,)


def _cosines(
    tx: Transaction,
    now: Searched,
    docs: Sequence[Ref],
    vector: NDArray[np.float32],
    *,
    namespaces: Collection[int],
    gone: bool,
) -> list[Candidate]:
    """Exact cosines of those docs that have a vector in the namespaces: the same numbers as the index gives."""
    if not docs:
        return []
    rows = exact_vectors(tx, np.array(docs, np.int64), now, namespaces=namespaces, gone=gone)
    raws = np.vecdot(rows, vector).tolist()
    return [Candidate(doc, raw) for doc, row, raw in zip(docs, rows, raws, strict=True) if row.any()]


def _waiting(tx: Transaction, caller: Caller) -> int:
    found = tx.one("count_waiting", **seen_by(caller, tx.dialect), limit=_COUNT_UP_TO)
    assert found is not None
    return min(int(found[0]), _COUNT_UP_TO)
