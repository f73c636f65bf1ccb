"""The Store port over one SQLite file."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np

from engrain.domain.indexing import embedding_text
from engrain.domain.ports import Candidate, Health, TurnPlace, Unembedded
from engrain.domain.records import Caller, Episode, MemoryRecord, Stats
from engrain.errors import InvalidInput
from engrain.storage.named_sql import load
from engrain.storage.sqlite import checkup, lookups, schema, word_index, writes
from engrain.storage.sqlite.connections import Connections
from engrain.storage.sqlite.filters import HAPPENED_AT, compiled
from engrain.storage.sqlite.rows import micros, moment
from engrain.storage.sqlite.vector_cache import VectorCache, exact_vectors

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from datetime import datetime

    import apsw
    from numpy.typing import NDArray

    from engrain.domain.ports import Ref, Request

SQL = load("engrain.storage.sqlite", "queries.sql")
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
        try:
            self.created = schema.prepare(self._connections) == ""
        except BaseException:
            self._connections.close()
            raise

    def close(self) -> None:
        self._connections.close()

    def put(self, memories: Sequence[MemoryRecord]) -> list[MemoryRecord]:
        if not memories:
            return []
        with self._connections.writing() as db:
            return writes.add(db, memories)

    def settle(self) -> int:
        with self._connections.reading() as db:
            if not writes.unsettled(db, 1):
                return 0
        with self._connections.writing() as db:
            return writes.settle(db)

    def retire(self, caller: Caller, id_: str, *, at: datetime) -> MemoryRecord | None:
        with self._connections.writing() as db:
            for doc, memory in lookups.visible(db, caller, [id_]):
                if memory.is_live(at):
                    writes.retire(db, doc, memory, at)
            return next((memory for _, memory in lookups.visible(db, caller, [id_])), None)

    def keyword(self, request: Request, terms: Collection[str], limit: int) -> list[Candidate]:
        with self._connections.reading() as db:
            namespaces = lookups.namespaces_of(db, request.caller, request.filter.kinds)
            if not terms or limit <= 0:
                return []

            def ask(count: int, among: Sequence[int] | None) -> list[Candidate]:
                return word_index.search(db, namespaces, terms, count, among=among)

            settled = lookups.is_settled(db, request)
            found = lookups.enough(db, request, limit, ask, settled=settled, narrow=self._narrow) if namespaces else []
            new = {} if settled else lookups.live_records(db, request, writes.unsettled(db, _ALL))
            if new:
                found += word_index.search_new(db, namespaces, terms, new)
            return sorted(found, key=word_index.best_first)[:limit]

    def nearest(
        self, request: Request, vector: NDArray[np.float32], limit: int, *, also: Collection[Ref] = ()
    ) -> list[Candidate]:
        with self._connections.reading() as db:
            namespaces = lookups.namespaces_of(db, request.caller, request.filter.kinds)

            def ask(count: int, among: Sequence[int] | None) -> list[Candidate]:
                only = None if among is None else np.array(among, np.int64)
                docs, cosines = self._vectors.nearest(db, namespaces, vector, count, among=only)
                return [Candidate(doc, raw) for doc, raw in zip(docs.tolist(), cosines.tolist(), strict=True)]

            if not namespaces:
                return []
            settled = lookups.is_settled(db, request)
            best = lookups.enough(db, request, limit, ask, settled=settled, narrow=self._narrow) if limit > 0 else []
            others: Sequence[Ref] = list(set(also) - {each.ref for each in best})
            if request.filter.is_narrow or not settled:
                others = lookups.matching(db, request, others)
            return sorted(best + _cosines(db, namespaces, others, vector), key=word_index.best_first)

    def speakers(self, request: Request) -> list[str]:
        caller = request.caller
        bound = {"tenant_id": caller.tenant_id, "scopes": json.dumps(caller.scopes), "limit": _COUNT_UP_TO}
        with self._connections.reading() as db:
            return [speaker for (speaker,) in db.execute(SQL["speakers"], bound)]

    def get(self, caller: Caller, ids: Sequence[str]) -> list[MemoryRecord]:
        with self._connections.reading() as db:
            return [memory for _, memory in lookups.visible(db, caller, ids)]

    def turns(self, request: Request, refs: Collection[Ref]) -> dict[Ref, TurnPlace]:
        bound = {
            "tenant_id": request.caller.tenant_id,
            "scopes": json.dumps(request.caller.scopes),
            "docs": json.dumps(list(refs)),
        }
        with self._connections.reading() as db:
            rows = db.execute(SQL["turn_places"], bound)
            return {
                doc: TurnPlace(scope=scope, session=session, role=role, speaker=speaker)
                for doc, scope, session, role, speaker in rows
            }

    def load(self, request: Request, refs: Collection[Ref]) -> dict[Ref, MemoryRecord]:
        with self._connections.reading() as db:
            return lookups.live_records(db, request, refs)

    def recent(self, request: Request, limit: int) -> list[MemoryRecord]:
        found: list[MemoryRecord] = []
        with self._connections.reading() as db:
            for kind in request.filter.kinds:
                condition, bound = compiled(request, kind)
                order = f"ORDER BY {HAPPENED_AT[kind]} DESC, id DESC LIMIT :limit"
                rows = lookups.select(db, kind, condition, {**bound, "limit": limit}, order=order)
                found.extend(memory for _, memory in rows)
        return sorted(found, key=lambda memory: (memory.happened_at, memory.id), reverse=True)[:limit]

    def neighbours(self, request: Request, memory: MemoryRecord, reach: int) -> list[MemoryRecord]:
        if not isinstance(memory, Episode) or memory.session is None:
            return []
        condition, bound = compiled(request, "episode")
        around = "session = :around AND turn BETWEEN :first AND :last AND id <> :id"
        where = {"around": memory.session, "first": memory.turn - reach, "last": memory.turn + reach, "id": memory.id}
        with self._connections.reading() as db:
            rows = lookups.select(db, "episode", f"{around} AND {condition}", {**bound, **where}, order="ORDER BY turn")
            return [turn for _, turn in rows if turn.scope == memory.scope]

    def waiting(self, caller: Caller) -> int:
        with self._connections.reading() as db:
            return _waiting(db, caller)

    def unembedded(self, limit: int) -> list[Unembedded]:
        with self._connections.reading() as db:
            docs = [doc for (doc,) in db.execute(SQL["unembedded"], {"limit": limit})]
            found = lookups.of_docs(db, docs)
            return [Unembedded(ref=doc, text=embedding_text(found[doc])) for doc in docs if doc in found]

    def attach(self, refs: Sequence[Ref], vectors: NDArray[np.float32]) -> None:
        with self._connections.writing() as db:
            rows = _checked(_recorded_embedder(db), len(refs), vectors)
            first = writes.take_numbers(db, "change", len(refs))
            db.executemany(
                SQL["attach_vector"],
                (
                    {"doc": doc, "embedding": row.tobytes(), "change": first + place}
                    for place, (doc, row) in enumerate(zip(refs, rows, strict=True))
                ),
            )

    def use_embedder(self, name: str, dims: int) -> str | None:
        with self._connections.reading() as db:
            recorded = _recorded_embedder(db)
        if recorded is None:
            with self._connections.writing() as db:
                value = json.dumps({"name": name, "dims": dims})
                db.execute(SQL["set_setting"], {"key": "embedder", "value": value})
                recorded = _recorded_embedder(db)  # another process may have been first
        return None if recorded in (None, (name, dims)) else recorded[0]

    def stats(self, caller: Caller, now: datetime) -> Stats:
        bound = {"tenant_id": caller.tenant_id, "scopes": json.dumps(caller.scopes), "now": micros(now)}
        with self._connections.reading() as db:
            [(episodes, sessions, speakers, first, last)] = db.execute(SQL["episode_stats"], bound)
            [(active, inactive)] = db.execute(SQL["fact_stats"], bound)
            waiting = _waiting(db, caller)
        return Stats(
            tenant_id=caller.tenant_id,
            agent=caller.agent,
            episodes=episodes,
            facts=active,
            inactive_facts=inactive,
            sessions=sessions,
            speakers=speakers,
            first_event_at=None if first is None else moment(first),
            last_event_at=None if last is None else moment(last),
            pending_embeddings=waiting,
        )

    def health(self) -> Health:
        with self._connections.fresh() as db:
            embedder = _recorded_embedder(db)
            return Health(
                location=self.location,
                backend=f"sqlite {db.execute('SELECT sqlite_version()').get}",
                schema=schema.revision(db, self.location),
                size_bytes=checkup.count(db, "size"),
                memories=checkup.count(db, "count_memories"),
                indexed=checkup.count(db, "count_indexed"),
                embedded=checkup.count(db, "count_embedded"),
                waiting=checkup.count(db, "count_unembedded"),
                embedder=None if embedder is None else embedder[0],
                problems=tuple(checkup.problems(db)),
            )


def _cosines(
    db: apsw.Connection, namespaces: Collection[int], docs: Sequence[Ref], vector: NDArray[np.float32]
) -> list[Candidate]:
    """Exact cosines of those docs that have a vector in the namespaces: the same numbers as the index gives."""
    rows = exact_vectors(db, np.array(docs, np.int64), len(vector), namespaces=namespaces)
    raws = np.vecdot(rows, vector).tolist()
    return [Candidate(doc, raw) for doc, row, raw in zip(docs, rows, raws, strict=True) if row.any()]


def _waiting(db: apsw.Connection, caller: Caller) -> int:
    bound = {
        "tenant_id": caller.tenant_id,
        "scopes": json.dumps(caller.scopes),
        "limit": _COUNT_UP_TO,
    }
    return min(int(db.execute(SQL["count_waiting"], bound).get), _COUNT_UP_TO)


def _recorded_embedder(db: apsw.Connection) -> tuple[str, int] | None:
    value = db.execute(SQL["get_setting"], {"key": "embedder"}).get
    if value is None:
        return None
    recorded = json.loads(value)
    return str(recorded["name"]), int(recorded["dims"])


def _checked(embedder: tuple[str, int] | None, count: int, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """The vectors as float32, if they are what the recorded embedder makes."""
    if embedder is None:
        raise InvalidInput("no embedder is recorded for this file; call use_embedder before attaching vectors")
    rows = np.asarray(vectors, np.float32)
    if rows.shape != (count, embedder[1]):
        raise InvalidInput(f"{embedder[0]} makes vectors of shape {(count, embedder[1])}, not {rows.shape}")
    if not np.isfinite(rows).all():
        raise InvalidInput(f"{embedder[0]} returned a vector with NaN or infinity; nothing was written")
    return rows
